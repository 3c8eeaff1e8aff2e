// Transport `nccl`: NVIDIA's collective library, loaded at run time; the host enqueues its sends and receives on the
// GPU's queue.
#include "transport/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/json.hpp"
#include "device/cuda/shared_library.hpp"
#include "transport/walk.hpp"
#include "world/collect.hpp"
#include "world/hosts.hpp"
#include "world/watchdog.hpp"

namespace plumb {

Nccl::Nccl() {
  cuda::SharedLibrary library({"libnccl.so.2", "libnccl.so"});
  const bool found = library.find(unique_id, "ncclGetUniqueId") && library.find(init_rank, "ncclCommInitRank") &&
                     library.find(destroy, "ncclCommDestroy") && library.find(group_start, "ncclGroupStart") &&
                     library.find(group_end, "ncclGroupEnd") && library.find(send, "ncclSend") &&
                     library.find(receive, "ncclRecv") && library.find(all_reduce, "ncclAllReduce") &&
                     library.find(broadcast, "ncclBroadcast") && library.find(reduce, "ncclReduce") &&
                     library.find(all_gather, "ncclAllGather") && library.find(reduce_scatter, "ncclReduceScatter") &&
                     library.find(version, "ncclGetVersion") && library.find(error_text, "ncclGetErrorString");
  if (!found)
    problem = fmt::format(
        "NCCL could not be loaded ({}): install it (pip install nvidia-nccl-cu13) and name its folder in "
        "LD_LIBRARY_PATH",
        library.problem());
}

const Nccl& nccl() {
  static const Nccl once;
  return once;
}

void check_nccl(int code, const char* action) {
  if (code != 0) [[unlikely]]
    throw Error(library_sentence(action, "NCCL", code, nccl().error_text(code), "NCCL_DEBUG=INFO prints details"));
}

std::string nccl_name() {
  int version = 0;
  check_nccl(nccl().version(&version), "query the version");
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

namespace {

const TransportInfo nccl_info{"nccl", "NVIDIA's NCCL between GPUs' memories", "host", "buffered"};

constexpr std::uint64_t rounds_at_once = 64;  // enqueued before waiting

// NCCL supports one rank per GPU.
void check_own_gpus(World& world, const Device& device) {
  const std::vector<std::string> hosts = hosts_of_ranks(world);
  const std::vector<std::string> gpus = all_texts(world, std::to_string(device.info().ordinal));
  std::map<std::string, std::size_t> users;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank)
    if (const auto [user, alone] = users.emplace(hosts[rank] + " " + gpus[rank], rank); !alone)
      throw Unsupported(
          fmt::format("transport nccl needs a GPU of its own for each rank, but ranks {} and {} share one: start "
                      "fewer ranks, or take peer or pipelined",
                      user->second, rank));
}

// NCCL matches sends and receives in order: both ranks sort by lane. `places` holds the original positions.
std::vector<Transfer> by_lane(const std::vector<Transfer>& transfers, std::vector<std::size_t>& places) {
  std::vector<std::size_t> order(transfers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return transfers[a].lane < transfers[b].lane; });
  std::vector<Transfer> sorted;
  places.resize(order.size());
  for (const std::size_t i : order) {
    places[i] = sorted.size();
    sorted.push_back(transfers[i]);
  }
  return sorted;
}

class NcclExchange : public WalkedExchange {
 public:
  NcclExchange(const Exchange& exchange, NcclCommunicator communicator, cuda::CudaQueue& queue)
      : WalkedExchange(walk_by_rounds(exchange, rounds_at_once, "NCCL's messages")),
        communicator_(communicator),
        queue_(queue),
        window_(exchange.window) {
    for (const Step& step : exchange.steps) {
      steps_.push_back(
          {by_lane(step.sends, send_places_.emplace_back()), by_lane(step.receives, receive_places_.emplace_back())});
      for (const auto* transfers : {&step.sends, &step.receives})
        for (const Transfer& transfer : *transfers) cuda::own(transfer.slots.view);  // throws for other buffers
    }
  }

 private:
  void start_step(std::size_t, std::uint64_t first, std::uint64_t end) override {
    queue_.enqueue_foreign([&] {
      for (std::uint64_t round = first; round < end; round += window_)
        for (const Step& step : steps_) enqueue_window(step, round);
    });
  }
  bool test_step(std::size_t) override { return queue_.finished(); }
  void wait_step(std::size_t) override { queue_.finish(); }
  // Both ends omit empty messages.
  void resize(const std::vector<StepSizes>& sizes) override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (std::size_t k = 0; k < sizes[i].sends.size(); ++k)
        steps_[i].sends[send_places_[i][k]].slots.view.size = sizes[i].sends[k];
      for (std::size_t k = 0; k < sizes[i].receives.size(); ++k)
        steps_[i].receives[receive_places_[i][k]].slots.view.size = sizes[i].receives[k];
    }
  }
  bool follow(Queue& queue) override {
    queue_.follow(queue);
    return true;
  }
  bool lead(Queue& queue) override {
    queue.follow(queue_);
    return true;
  }

  void enqueue_window(const Step& step, std::uint64_t first) {
    check_nccl(nccl().group_start(), "begin a group");
    for (std::uint64_t round = first; round < first + window_; ++round) {
      for (const Transfer& transfer : step.sends) {
        if (transfer.slots.bytes() == 0) continue;
        check_nccl(nccl().send(address(transfer.slots.at(round)), transfer.slots.bytes(), nccl_uint8, transfer.peer,
                               communicator_, queue_.stream()),
                   "send");
      }
      for (const Transfer& transfer : step.receives) {
        if (transfer.slots.bytes() == 0) continue;
        check_nccl(nccl().receive(address(transfer.slots.at(round)), transfer.slots.bytes(), nccl_uint8, transfer.peer,
                                  communicator_, queue_.stream()),
                   "receive");
      }
    }
    check_nccl(nccl().group_end(), "end a group");
  }

  static std::byte* address(const BufferView& view) { return view.device_address(); }

  NcclCommunicator communicator_;
  cuda::CudaQueue& queue_;
  std::vector<Step> steps_;
  std::vector<std::vector<std::size_t>> send_places_, receive_places_;  // of a step's transfers in steps_
  std::uint64_t window_;
};

class NcclTransport : public Transport {
 public:
  NcclTransport(World& world, Device& device) : world_(world) {
    std::unique_ptr<Queue> queue = device.make_urgent_queue();  // else its kernels wait for all groups of others
    if (dynamic_cast<cuda::CudaQueue*>(queue.get()) == nullptr)
      throw Unsupported("transport nccl needs a GPU of runtime cuda: use --runtime cuda");
    queue_.reset(static_cast<cuda::CudaQueue*>(queue.release()));
    ranks_ = std::make_unique<NcclRanks>(world, device);
  }

  const TransportInfo& info() const override { return nccl_info; }
  Json facts() const override { return {{"library", nccl_name()}}; }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    check_exchange(exchange, world_);
    return std::make_unique<NcclExchange>(exchange, ranks_->communicator(), *queue_);
  }

 private:
  World& world_;
  std::unique_ptr<cuda::CudaQueue> queue_;
  std::unique_ptr<NcclRanks> ranks_;
};

TransportEntry entry() {
  TransportEntry entry;
  entry.info = nccl_info;
  entry.runtime = "cuda";
  entry.reason = [](const World&) { return nccl().problem; };
  entry.device_reason = [](const DeviceInfo& info) -> std::string {
    return info.runtime == "cuda" ? "" : "it needs GPU memory of runtime cuda";
  };
  entry.make = [](World& world, Device& device, const TransportWish&) {
    return std::make_unique<NcclTransport>(world, device);
  };
  return entry;
}

const RegisteredTransport registered_nccl("nccl", entry());

}  // namespace

NcclRanks::NcclRanks(World& world, const Device& device) {
  if (const AgreedText problem = first_text(world, nccl().problem); !problem.text.empty())
    throw Unsupported(problem.text);
  check_own_gpus(world, device);
  NcclUniqueId id{};
  if (world.rank() == 0) check_nccl(nccl().unique_id(&id), "create an identifier of a group");
  id = broadcast_value(world, id);
  const Waiting waiting("NCCL to create a communicator");
  check_nccl(nccl().init_rank(&communicator_, world.size(), id, world.rank()), "create a communicator");
}

}  // namespace plumb
