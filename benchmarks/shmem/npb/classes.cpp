// Classes of the NPB with their official values (NPB 3.4, for verification).
#include <map>

#include "benchmarks/shmem/npb/npb.hpp"

namespace plumb::npb {

namespace {

// IS: five test keys' indices, then their ranks. EP: sums of X and Y. MG: the residual's norm; `largest`
// is 1 for the smoother of large classes. BT, SP, LU: five root mean
// squares of the residual, five of the error, and LU's surface integral.
const std::map<std::string, std::vector<ClassRow>> table{
    {"npb_is",
     {{'S', 16, 11, 10, 0, {48427, 17148, 23627, 62548, 4431, 0, 18, 346, 64917, 65463}},
      {'W', 20, 16, 10, 0, {357773, 934767, 875723, 898999, 404505, 1249, 11698, 1039987, 1043896, 1048018}},
      {'A', 23, 19, 10, 0, {2112377, 662041, 5336171, 3642833, 4250760, 104, 17523, 123928, 8288932, 8388264}},
      {'B', 25, 21, 10, 0, {41869, 812306, 5102857, 18232239, 26860214, 33422937, 10244, 59149, 33135281, 99}},
      {'C', 27, 23, 10, 0, {44172927, 72999161, 74326391, 129606274, 21736814, 61147, 882988, 266290, 133997595,
                            133525895}}}},
    {"npb_ep",
     {{'S', 24, 0, 1, 0, {-3.247834652034740e3, -6.958407078382297e3}},
      {'W', 25, 0, 1, 0, {-2.863319731645753e3, -6.320053679109499e3}},
      {'A', 28, 0, 1, 0, {-4.295875165629892e3, -1.580732573678431e4}},
      {'B', 30, 0, 1, 0, {4.033815542441498e4, -2.660669192809235e4}},
      {'C', 32, 0, 1, 0, {4.764367927995374e4, -8.084072988043731e4}}}},
    {"npb_mg",
     {{'S', 32, 0, 4, 0, {.530770700573e-4}},
      {'W', 128, 0, 4, 0, {.646732937534e-5}},
      {'A', 256, 0, 4, 0, {.243336530907e-5}},
      {'B', 256, 1, 20, 0, {.180056440136e-5}},
      {'C', 512, 1, 20, 0, {.570673228574e-6}}}},
};

}  // namespace

const std::vector<ClassRow>& classes_of(const std::string& benchmark) {
  return table.at(benchmark);
}

}  // namespace plumb::npb
