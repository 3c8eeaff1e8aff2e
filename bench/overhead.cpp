// The engine's own overhead: b_eff over transport mpi, run by the engine, beside a bare loop over the same MPI
// calls in the same launch. Prints one JSON object: medians of both in seconds a message, alternating rounds, and their
// ratios.
//
//   mpirun -np 2 --bind-to core build/release/bin/overhead LOG2_BYTES [ROUNDS]
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "device/select.hpp"
#include "measure/runner.hpp"
#include "transport/transport.hpp"
#include "world/collect.hpp"
#include "world/mpi.hpp"

namespace plumb {

namespace {

constexpr int samples = 60;
constexpr std::uint64_t slots_of_b_eff = 3;  // areas of a lane; here messages stay at their beginning

// What the engine's compiled exchange does, written out: the same calls, on slots that stay where
// they are.
class BareLoop {
 public:
  BareLoop(int bytes, std::uint64_t slots, Device& device) : bytes_(bytes), slots_(slots) {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &ranks_);
    for (std::uint64_t i = 0; i < 2 * slots; ++i)
      buffers_.push_back(device.allocate(static_cast<std::size_t>(bytes), {}));
  }
  ~BareLoop() { MPI_Comm_free(&communicator_); }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  // Seconds a message, slowest rank.
  double sample(std::uint64_t count) {
    const int right = (rank_ + 1) % ranks_, left = (rank_ + ranks_ - 1) % ranks_;
    MPI_Barrier(communicator_);
    const double begin = now_seconds();
    std::uint64_t from = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t to = from + 1 == slots_ ? 0 : from + 1;
      MPI_Request requests[4];
      MPI_Irecv(slot(0, to), bytes_, MPI_BYTE, left, 0, communicator_, &requests[0]);
      MPI_Irecv(slot(1, to), bytes_, MPI_BYTE, right, 1, communicator_, &requests[1]);
      MPI_Isend(slot(0, from), bytes_, MPI_BYTE, right, 0, communicator_, &requests[2]);
      MPI_Isend(slot(1, from), bytes_, MPI_BYTE, left, 1, communicator_, &requests[3]);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      from = to;
    }
    double mine = (now_seconds() - begin) / static_cast<double>(count), slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, communicator_);
    return slowest;
  }

 private:
  std::byte* slot(std::uint64_t lane, std::uint64_t index) { return buffers_[lane * slots_ + index]->host_pointer(); }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1, bytes_;
  std::uint64_t slots_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

struct Measured {
  double seconds = 0;  // a message
  std::uint64_t count = 1;
};

Measured by_engine(World& world, Device& device, const std::string& exponent) {
  const auto benchmark = (*Registry<BenchmarkFactory>::instance().find("b_eff"))();
  for (const char* option : {"min-size", "max-size"}) benchmark->find(option)->parse(exponent);
  const auto transport = find_transport("mpi").make(world, device, {});
  Session session{world, device, transport.get(), {}, 1};
  RunSettings settings;
  settings.policy.fixed = samples;
  const auto listener = make_listener("none");
  const auto groups = benchmark->groups({world.rank(), world.size(), 1});
  const RunResult result =
      run_benchmark(*benchmark, groups, session, settings, gather_places(world), {}, "", *listener);
  Measured measured;
  if (world.rank() == 0) {
    const Json& one = result.record["cases"][0];
    if (one["outcome"]["status"] != "passed") throw Error("b_eff did not pass: " + one["outcome"].dump());
    measured.count = one["count"];
    measured.seconds = one["summary"]["median_s"].get<double>() / static_cast<double>(measured.count);
  }
  return broadcast_value(world, measured);
}

int run(World& world, const std::string& exponent, int rounds) {
  const DeviceCatalogue catalogue;
  const auto device =
      catalogue.open(catalogue.choose({"native", "", "", "native"}, world.rank(), world.size(), world.local_rank()));
  BareLoop bare(1 << std::stoi(exponent), slots_of_b_eff, *device);
  std::vector<double> engine_times, bare_times, ratios;
  for (int round = 0; round < rounds; ++round) {
    const Measured engine = by_engine(world, *device, exponent);
    bare.sample(engine.count);
    std::vector<double> times;
    for (int i = 0; i < samples; ++i) times.push_back(bare.sample(engine.count));
    engine_times.push_back(engine.seconds);
    bare_times.push_back(median(times));
    ratios.push_back(engine_times.back() / bare_times.back());
  }
  if (world.rank() == 0)
    fmt::print("{}\n", Json{{"bytes", 1 << std::stoi(exponent)},
                            {"engine_s", median(engine_times)},
                            {"bare_s", median(bare_times)},
                            {"ratio", median(ratios)},
                            {"ratios", ratios}}
                           .dump());
  return 0;
}

}  // namespace

}  // namespace plumb

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: overhead LOG2_BYTES [ROUNDS]\n");
    return 2;
  }
  const std::string exponent = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const auto world = plumb::make_mpi_world(argc, argv);
  return plumb::run(*world, exponent, rounds);
}
