// NVIDIA's NCCL, loaded at run time.
#pragma once

#include <array>
#include <string>

#include "device/cuda/queue.hpp"
#include "world/world.hpp"

namespace plumb {

using NcclCommunicator = struct OpaqueNcclComm*;

struct NcclUniqueId {
  std::array<char, 128> bytes;
};

constexpr int nccl_uint8 = 1;  // ncclDataType_t
constexpr int nccl_float = 7;
constexpr int nccl_sum = 0;  // ncclRedOp_t

// The part of nccl.h in use.
struct Nccl {
  Nccl();

  int (*unique_id)(NcclUniqueId*) = nullptr;
  int (*init_rank)(NcclCommunicator*, int, NcclUniqueId, int) = nullptr;
  int (*destroy)(NcclCommunicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void*, std::size_t, int, int, NcclCommunicator, cuda::Stream) = nullptr;
  int (*receive)(void*, std::size_t, int, int, NcclCommunicator, cuda::Stream) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, NcclCommunicator, cuda::Stream) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, NcclCommunicator, cuda::Stream) = nullptr;
  int (*reduce)(const void*, void*, std::size_t, int, int, int, NcclCommunicator, cuda::Stream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, NcclCommunicator, cuda::Stream) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, NcclCommunicator, cuda::Stream) = nullptr;
  int (*version)(int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  std::string problem;  // reason if unavailable; "" = loaded
};

const Nccl& nccl();

// Throws Error with NCCL's text for a code.
void check_nccl(int code, const char* action);

// "NCCL 2.18.5"
std::string nccl_name();

// A communicator of all ranks of a world, each with a GPU of its own, of which this thread has used a queue.
// Collective. Throws Unsupported if NCCL is unavailable or two ranks share a GPU.
class NcclRanks {
 public:
  NcclRanks(World& world, const Device& device);
  ~NcclRanks() { nccl().destroy(communicator_); }
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;
  NcclCommunicator communicator() const { return communicator_; }

 private:
  NcclCommunicator communicator_ = nullptr;
};

}  // namespace plumb
