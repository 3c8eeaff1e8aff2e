// Random operations of MPI on device memory and, the same, on memory of the host; both must leave the same bytes, in
// all of the memory, and the same statuses.
//   stress [--seed N] [--operations N] [--first N] [--bytes N] [--devices PERCENT] [--only NAME]
//          [--print]
// --devices: how many of the operands lie on a device; 0 tries MPI itself. --only: one kind of operations.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "operations.hpp"
#include "plumb_mpi.h"

namespace plumb::stress {

namespace {

struct Options {
  std::uint64_t seed = 1;
  int operations = 100;
  int first = 0;
  int bytes = 1 << 17;  // at most
  int devices = 80;
  bool print = false;
  std::string only;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto text = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(word + " needs a value");
      return argv[++i];
    };
    const auto number = [&] { return std::stoi(text()); };
    if (word == "--seed")
      options.seed = static_cast<std::uint64_t>(number());
    else if (word == "--operations")
      options.operations = number();
    else if (word == "--first")
      options.first = number();
    else if (word == "--bytes")
      options.bytes = number();
    else if (word == "--devices")
      options.devices = number();
    else if (word == "--only")
      options.only = text();
    else if (word == "--print")
      options.print = true;
    else
      throw std::runtime_error("unknown option " + word);
  }
  if (const std::string names = operation_names();
      !options.only.empty() && (", " + names + ",").find(" " + options.only + ",") == std::string::npos)
    throw std::runtime_error("no operation " + options.only + "; there are " + names);
  return options;
}

void check(int code) {
  if (code != 0) throw std::runtime_error(plumb_mpi_error());
}

// One operand's memory on the host and, in a copy, where the operation under test works: on a device or on the host.
class Area {
 public:
  Area(Random& random, int rank, std::size_t size, bool on_device)
      : expected_(size), copy_(size), on_device_(on_device) {
    Random bytes(random.next() + static_cast<std::uint64_t>(rank));
    for (std::byte& byte : expected_) byte = static_cast<std::byte>(bytes.next());
    copy_ = expected_;
    if (!on_device_) return;
    check(plumb_mpi_alloc(size, &address_));
    check(plumb_mpi_copy(address_, copy_.data(), size));
  }
  ~Area() { plumb_mpi_free(address_); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  std::byte* expected() { return expected_.data(); }
  std::byte* tested() { return on_device_ ? static_cast<std::byte*>(address_) : copy_.data(); }

  // The first byte that differs; -1 when none does.
  std::ptrdiff_t difference() {
    if (on_device_) check(plumb_mpi_copy(copy_.data(), address_, copy_.size()));
    for (std::size_t i = 0; i < copy_.size(); ++i)
      if (copy_[i] != expected_[i]) return static_cast<std::ptrdiff_t>(i);
    return -1;
  }

 private:
  std::vector<std::byte> expected_, copy_;
  bool on_device_;
  void* address_ = nullptr;
};

// The world, a copy of it, its halves, and its ranks the other way round.
std::vector<MPI_Comm> make_communicators() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<MPI_Comm> all(4, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &all[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &all[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all[3]);
  return all;
}

// "" when both gave the same.
std::string run_one(const Options& options, int number, const std::vector<MPI_Comm>& communicators) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Random random(options.seed * 1000003 + static_cast<std::uint64_t>(number));
  const MPI_Comm comm = communicators[static_cast<std::size_t>(random.between(0, 3))];
  const auto size =
      static_cast<std::size_t>(random.between(64, random.chance(50) ? options.bytes : std::min(options.bytes, 4096)));
  // A rank each, whose operands may lie on the host while others' do not.
  Random own(random.next() + static_cast<std::uint64_t>(rank));
  Area from(random, rank, size, own.chance(options.devices));
  Area to(random, rank, size, own.chance(options.devices));
  std::string name;
  const std::vector<int> expected = operate(random, comm, {from.expected(), to.expected(), size}, options.only, name);
  MPI_Barrier(MPI_COMM_WORLD);
  if (options.print && rank == 0) fmt::print(stderr, "operation {}: {}, {} bytes\n", number, name, size);
  const std::vector<int> seen = operate(random, comm, {from.tested(), to.tested(), size}, options.only, name);
  const auto where = fmt::format("rank {}, seed {}, operation {} ({})", rank, options.seed, number, name);
  if (const auto at = from.difference(); at >= 0) return fmt::format("{}: byte {} of what is sent differs", where, at);
  if (const auto at = to.difference(); at >= 0)
    return fmt::format("{}: byte {} of what is received differs", where, at);
  return seen == expected ? "" : where + ": what was seen of it (a status, a window) differs";
}

int run(const Options& options) {
  const std::vector<MPI_Comm> communicators = make_communicators();
  int wrong = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = options.first; i < options.first + options.operations && wrong == 0; ++i) {
    const std::string difference = run_one(options, i, communicators);
    if (!difference.empty()) fmt::print(stderr, "{}\n", difference);
    const int own = difference.empty() ? 0 : 1;
    MPI_Allreduce(&own, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0 && wrong == 0) fmt::print("{} operations agree, seed {}\n", options.operations, options.seed);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

}  // namespace plumb::stress

int main(int argc, char** argv) {
  // UCX 1.13 (MPICH's in Debian 12) loses the end of a contiguous message of more than 8 KiB that is received into a
  // derived type by its rendezvous.
  setenv("UCX_RNDV_THRESH", "inf", 0);
  // Over UCX's TCP MPICH before 4.2 does not return from MPI_Finalize: `plumb doctor` tries it.
  setenv("UCX_TLS", "sm,self", 0);
  // Open MPI 4.1's osc/rdma, its first choice, makes no window of one rank, gets wrong bytes by derived datatypes and
  // crashes in MPI_Compare_and_swap, all on memory of the host.
  setenv("OMPI_MCA_osc", "pt2pt", 1);
  // Open MPI 4.1's op/avx, its first choice, adds integers of 8 and 16 bits so that they end at their type's bounds,
  // but for the last ones of an operand, which wrap.
  setenv("OMPI_MCA_op", "^avx", 1);
  MPI_Init(&argc, &argv);
  try {
    const int code = plumb::stress::run(plumb::stress::parse(argc, argv));
    MPI_Finalize();
    return code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "stress: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}
