#include "transport/nccl_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "transport/nccl.hpp"

namespace plumb {

struct NcclCollectives::State {
  int ranks;
  std::unique_ptr<cuda::CudaQueue> queue;
  std::unique_ptr<NcclRanks> communicator = {};
};

namespace {

using Call = NcclCollectives::Call;
using Function = std::function<int(const Call&, int ranks, NcclCommunicator, cuda::Stream)>;

// A block to each rank and one from each, as one group.
int all_to_all(const Call& o, int ranks, NcclCommunicator all, cuda::Stream stream) {
  int code = nccl().group_start();
  for (int rank = 0; rank < ranks; ++rank) {
    const std::size_t offset = static_cast<std::size_t>(rank) * o.count;  // of bytes: nccl_uint8
    code =
        std::max(code, nccl().send(static_cast<const std::byte*>(o.send) + offset, o.count, o.type, rank, all, stream));
    code =
        std::max(code, nccl().receive(static_cast<std::byte*>(o.receive) + offset, o.count, o.type, rank, all, stream));
  }
  return std::max(code, nccl().group_end());
}

const std::map<std::string, Function>& table() {
  static const std::map<std::string, Function> rows{
      {"allgather",
       [](const Call& o, int, NcclCommunicator all, cuda::Stream stream) {
         return nccl().all_gather(o.send, o.receive, o.count, o.type, all, stream);
       }},
      {"allreduce",
       [](const Call& o, int, NcclCommunicator all, cuda::Stream stream) {
         return nccl().all_reduce(o.send, o.receive, o.count, o.type, o.operation, all, stream);
       }},
      {"alltoall", all_to_all},
      {"bcast",
       [](const Call& o, int, NcclCommunicator all, cuda::Stream stream) {  // in place at the root
         void* target = o.receive == nullptr ? const_cast<void*>(o.send) : o.receive;
         return nccl().broadcast(o.send, target, o.count, o.type, o.root, all, stream);
       }},
      {"reduce",
       [](const Call& o, int, NcclCommunicator all, cuda::Stream stream) {
         return nccl().reduce(o.send, o.receive, o.count, o.type, o.operation, o.root, all, stream);
       }},
      {"reduce_scatter_block", [](const Call& o, int, NcclCommunicator all, cuda::Stream stream) {
         return nccl().reduce_scatter(o.send, o.receive, o.count, o.type, o.operation, all, stream);
       }}};
  return rows;
}

}  // namespace

NcclCollectives::NcclCollectives(World& world, Device& device) {
  if (!nccl().problem.empty()) throw Unsupported(nccl().problem);
  if (device.info().runtime != "cuda") throw Unsupported("NCCL needs a GPU of runtime cuda: use --runtime cuda");
  std::unique_ptr<Queue> queue = device.make_queue();
  auto& own = dynamic_cast<cuda::CudaQueue&>(*queue);
  static_cast<void>(queue.release());
  state_ = std::make_unique<State>(State{world.size(), std::unique_ptr<cuda::CudaQueue>(&own)});
  state_->communicator = std::make_unique<NcclRanks>(world, device);
}

NcclCollectives::~NcclCollectives() = default;

bool NcclCollectives::has(const std::string& collective) {
  return table().contains(collective);
}

std::optional<int> NcclCollectives::operation(const std::string& name) {
  static const std::vector<std::string> names{"sum", "prod", "max", "min"};  // ncclRedOp_t
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<int>(found - names.begin()));
}

// ncclDataType_t.
std::optional<int> NcclCollectives::type(bool is_real, bool is_signed, std::size_t bytes) {
  if (is_real)
    return bytes == 4 ? std::optional(nccl_float) : bytes == 8 ? std::optional(nccl_float + 1) : std::nullopt;
  const int first = bytes == 1 ? 0 : bytes == 4 ? 2 : bytes == 8 ? 4 : -1;
  return first < 0 ? std::nullopt : std::optional(first + (is_signed ? 0 : 1));
}

std::string NcclCollectives::library() {
  return nccl_name();
}

void NcclCollectives::run(const std::string& collective, const Call& call) {
  cuda::CudaQueue& queue = *state_->queue;
  queue.enqueue_foreign([&] {
    check_nccl(table().at(collective)(call, state_->ranks, state_->communicator->communicator(), queue.stream()),
               "begin a collective");
  });
  queue.finish();
}

}  // namespace plumb
