#include "benchmarks/shmem/gups/gups.hpp"
#include "world/mpi_one_sided.hpp"

namespace plumb::gups {

namespace {

const RegisteredBenchmark registered_gups("gups", [] { return std::make_unique<Gups>(make_updater<MpiOneSided>); });

}  // namespace

}  // namespace plumb::gups
