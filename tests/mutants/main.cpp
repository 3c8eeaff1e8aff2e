// plumb-mpi-mutants: the engine over MPI, with transports and benchmarks that are wrong on purpose.
//
//   plumb-mpi-mutants …                as plumb-mpi
//   plumb-mpi-mutants --many FILE      many runs in one launch (many.hpp)
//   PLUMBLINE_MUTANT_WAITS=…           benchmarks that are right, and slow (waits.hpp)
#include <fmt/format.h>

#include <string_view>

#include "main/program.hpp"
#include "tests/mutants/many.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/waits.hpp"
#include "world/mpi.hpp"

int main(int argc, char** argv) {
  plumb::mutants::register_wrong_transports();
  try {
    plumb::mutants::register_waiting_benchmarks();
  } catch (const plumb::UsageError& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(plumb::ExitStatus::usage);
  }
  if (argc != 3 || std::string_view(argv[1]) != "--many")
    return plumb::run_program(argc, argv, {"plumb-mpi", plumb::make_mpi_world, plumb::mpi_info});
  const std::string path = argv[2];
  const auto world = plumb::make_mpi_world(argc, argv);
  try {
    plumb::mutants::run_many(*world, path);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", world->rank(), error.what());
    world->abort(static_cast<int>(plumb::ExitStatus::error));
  }
  return 0;
}
