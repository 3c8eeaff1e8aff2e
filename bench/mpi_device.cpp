// Cost of libplumb-mpi-device. Prints one JSON object: nanoseconds of a call on host memory through the library and by
// MPI alone, and microseconds of a round trip between two devices, by MPI calls on device addresses and by the engine's
// transport of the same name (PLUMB_MPI_TRANSPORT; peer: host-scheduled, into the receiver's buffer); MPI_Allreduce on
// devices, on the host, and by NCCL (runtime cuda, one GPU per rank); MPI_Allgather and MPI_Alltoall on devices and on
// the host; the minimum of alternating rounds, as disturbances only add time.
//
//   PLUMB_MPI_RUNTIME=opencl mpirun -np 2 --bind-to core build/release/bin/mpi_device [LOG2_LARGEST]
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>

#include "core/json.hpp"
#include "device/select.hpp"
#include "interpose/api/plumb_mpi.h"
#include "transport/idle.hpp"
#include "transport/nccl.hpp"
#include "transport/transport.hpp"
#include "world/mpi.hpp"

namespace plumb {

namespace {

constexpr int rounds = 15;

using Way = std::function<void(std::uint64_t)>;

// Minimum seconds of one of `count` calls, for each of several methods in turn.
template <std::size_t N>
std::array<double, N> least(std::uint64_t count, const std::array<Way, N>& ways) {
  std::array<double, N> best{};
  best.fill(std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t way = 0; way < N; ++way) {
      MPI_Barrier(MPI_COMM_WORLD);
      const auto begin = std::chrono::steady_clock::now();
      ways.at(way)(count);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      best.at(way) = std::min(best.at(way), took.count() / static_cast<double>(count));
    }
  return best;
}

template <class Call>
Way loop(Call call) {
  return [call](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) call();
  };
}

// Calls without work: a send to MPI_PROC_NULL, and a wait for eight null requests.
void print_host_calls() {
  constexpr std::uint64_t calls = 200000;
  static int value = 0;
  static std::array<MPI_Request, 8> none;
  none.fill(MPI_REQUEST_NULL);
  const auto send = least<2>(calls, {loop([] { MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); }),
                                     loop([] { PMPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); })});
  const auto wait = least<2>(calls, {loop([] { MPI_Waitall(8, none.data(), MPI_STATUSES_IGNORE); }),
                                     loop([] { PMPI_Waitall(8, none.data(), MPI_STATUSES_IGNORE); })});
  fmt::print("\"host_calls_ns\": {{\"send\": [{:.1f}, {:.1f}], \"waitall_8\": [{:.1f}, {:.1f}]}}", 1e9 * send[0],
             1e9 * send[1], 1e9 * wait[0], 1e9 * wait[1]);
}

class PingPong {
 public:
  PingPong(World& world, Device& device, Transport& transport, std::size_t bytes, bool shared)
      : rank_(world.rank()), bytes_(static_cast<int>(bytes)), buffer_(device.allocate(bytes, {.shared = shared})) {
    const Transfer transfer{1 - rank_, 0, {whole(*buffer_)}};
    const Step send{{transfer}, {}}, receive{{}, {transfer}};
    exchange_ = transport.compile(rank_ == 0 ? Exchange{{send, receive}, 1} : Exchange{{receive, send}, 1});
    if (plumb_mpi_alloc(bytes, &address_) != 0) throw Error(plumb_mpi_error());
  }
  ~PingPong() { plumb_mpi_free(address_); }
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;

  std::array<double, 2> measure(std::uint64_t count) {
    return least<2>(count, {[&](std::uint64_t n) { by_calls(n); }, [&](std::uint64_t n) { exchange_->run(0, n); }});
  }

 private:
  void by_calls(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (rank_ == 0) MPI_Send(address_, bytes_, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(address_, bytes_, MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank_ == 1) MPI_Send(address_, bytes_, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }

  int rank_;
  int bytes_;
  void* address_ = nullptr;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<CompiledExchange> exchange_;
};

// NCCL between the ranks' GPUs, or the reason for its absence.
class NcclPeer {
 public:
  NcclPeer(World& world, Device& device) : device_(device.info()), queue_(device.make_queue()) {
    if (device_.runtime != "cuda") {
      absence_ = "NCCL needs GPUs of runtime cuda";
      return;
    }
    device.allocate(1, {});  // makes the GPU current
    try {
      ranks_.emplace(world, device);
    } catch (const Unsupported& reason) {
      absence_ = reason.what();
    }
  }
  const std::string& absence() const { return absence_; }
  // A sum of floats in place; without effect if there is no NCCL.
  void sum(void* pointer, std::size_t count) {
    if (!ranks_) return;
    auto& queue = dynamic_cast<cuda::CudaQueue&>(*queue_);
    queue.enqueue_foreign([&] {
      check_nccl(
          nccl().all_reduce(pointer, pointer, count, nccl_float, nccl_sum, ranks_->communicator(), queue.stream()),
          "reduce");
    });
    wait_for(queue, device_);
  }

 private:
  DeviceInfo device_;
  std::unique_ptr<Queue> queue_;
  std::optional<NcclRanks> ranks_;
  std::string absence_;
};

// Microseconds of a sum of floats over all ranks, in place: by MPI on memory of devices, on as much memory of the host,
// and by NCCL on that of devices.
std::array<double, 3> reduce(std::size_t bytes, NcclPeer& peer) {
  const auto count = static_cast<int>(bytes / sizeof(float));
  void *address = nullptr, *pointer = nullptr;
  if (plumb_mpi_alloc(bytes, &address) != 0) throw Error(plumb_mpi_error());
  if (peer.absence().empty() && plumb_mpi_pointer(address, &pointer) != 0) throw Error(plumb_mpi_error());
  std::vector<float> host(static_cast<std::size_t>(count), 0.5F);
  plumb_mpi_copy(address, host.data(), bytes);
  const auto sum = [count](void* at) {
    return loop([=] { MPI_Allreduce(MPI_IN_PLACE, at, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  };
  auto seconds =
      least<3>(std::clamp<std::uint64_t>((1 << 22) / bytes, 1, 100),
               {sum(address), sum(host.data()), loop([&] { peer.sum(pointer, static_cast<std::size_t>(count)); })});
  plumb_mpi_free(address);
  for (double& each : seconds) each *= 1e6;
  return seconds;
}

// {"bytes": [device, host]}, and with NCCL {"bytes": [device, host, NCCL, device / NCCL]}.
void print_reductions(World& world, Device& device, int log2_largest) {
  NcclPeer peer(world, device);
  const std::string what = peer.absence().empty() ? nccl_name() : "none: " + peer.absence();
  fmt::print("}}, \"nccl\": {}, \"allreduce_us\": {{", Json(what).dump());
  for (int log2 = 10; log2 <= log2_largest; log2 += 2) {
    const auto [device_us, host_us, nccl_us] = reduce(std::size_t{1} << log2, peer);
    fmt::print("{}\"{}\": [{:.1f}, {:.1f}", log2 == 10 ? "" : ", ", std::size_t{1} << log2, device_us, host_us);
    if (peer.absence().empty()) fmt::print(", {:.1f}, {:.3f}", nccl_us, device_us / nccl_us);
    fmt::print("]");
  }
  fmt::print("}}");
}

// Microseconds of a collective in which each rank sends `bytes` to each: on memory of devices, and of the host.
std::array<double, 2> move(std::size_t bytes, bool to_all_alike) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::size_t size = bytes * static_cast<std::size_t>(ranks);
  const auto count = static_cast<int>(bytes);
  std::array<void*, 2> device{};
  std::array<std::vector<std::byte>, 2> host{std::vector<std::byte>(size), std::vector<std::byte>(size)};
  for (std::size_t i = 0; i < 2; ++i) {
    if (plumb_mpi_alloc(size, &device.at(i)) != 0) throw Error(plumb_mpi_error());
    plumb_mpi_copy(device.at(i), host.at(i).data(), size);
  }
  const auto moved = [=](void* from, void* to) {
    return loop([=] {
      if (to_all_alike)
        MPI_Allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, MPI_COMM_WORLD);
      else
        MPI_Alltoall(from, count, MPI_BYTE, to, count, MPI_BYTE, MPI_COMM_WORLD);
    });
  };
  auto seconds = least<2>(std::clamp<std::uint64_t>((1 << 22) / bytes, 1, 100),
                          {moved(device[0], device[1]), moved(host[0].data(), host[1].data())});
  for (void* address : device) plumb_mpi_free(address);
  for (double& each : seconds) each *= 1e6;
  return seconds;
}

// {"bytes": [device, host]}
void print_moves(int log2_largest) {
  for (const bool to_all_alike : {true, false}) {
    fmt::print(", \"{}_us\": {{", to_all_alike ? "allgather" : "alltoall");
    for (int log2 = 10; log2 <= std::min(log2_largest, 24); log2 += 2) {
      const auto [device_us, host_us] = move(std::size_t{1} << log2, to_all_alike);
      fmt::print("{}\"{}\": [{:.1f}, {:.1f}]", log2 == 10 ? "" : ", ", std::size_t{1} << log2, device_us, host_us);
    }
    fmt::print("}}");
  }
  fmt::print("}}\n");
}

std::string text_of(const char* variable, const char* otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : text;
}

void run(World& world, int log2_largest) {
  const DeviceCatalogue catalogue;
  DeviceWish wish;
  wish.runtime = text_of("PLUMB_MPI_RUNTIME", "");
  wish.device = text_of("PLUMB_MPI_DEVICE", "");
  const auto device = catalogue.open(catalogue.choose(wish, world.rank(), world.size(), world.local_rank()));
  const std::string name = text_of("PLUMB_MPI_TRANSPORT", "staged");
  const auto transport = find_transport(name).make(world, *device, {.approach = name == "peer" ? "host-buffered" : ""});
  const bool speaks = world.rank() == 0;
  if (!speaks && std::freopen("/dev/null", "w", stdout) == nullptr) throw Error("could not silence a rank");
  fmt::print("{{\"device\": \"{}\", \"transport\": \"{}\", ", device->info().name, name);
  print_host_calls();
  fmt::print(", \"round_trip_us\": {{");
  for (int log2 = 3; log2 <= log2_largest; ++log2) {
    const std::size_t bytes = std::size_t{1} << log2;
    const auto [calls, direct] = PingPong(world, *device, *transport, bytes, name == "peer")
                                     .measure(std::clamp<std::uint64_t>((1 << 24) / bytes, 1, 500));
    fmt::print("{}\"{}\": [{:.3f}, {:.3f}, {:.3f}]", log2 == 3 ? "" : ", ", bytes, 1e6 * calls, 1e6 * direct,
               calls / direct);
  }
  print_reductions(world, *device, log2_largest);
  print_moves(log2_largest);
}

}  // namespace

}  // namespace plumb

int main(int argc, char** argv) {
  const auto world = plumb::make_mpi_world(argc, argv);
  try {
    plumb::run(*world, argc > 1 ? std::atoi(argv[1]) : 26);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mpi_device: {}\n", error.what());
    world->abort(3);
  }
}
