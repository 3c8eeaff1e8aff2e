// NCCL's collectives between GPUs' memories, by the names of MPI's in small letters: "allreduce".
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "world/world.hpp"

namespace plumb {

class NcclCollectives {
 public:
  // Operands in memory of the device. `count` is of a rank's input, of an all-to-all and a scattered result of one
  // block.
  struct Call {
    const void* send;
    void* receive;
    std::size_t count;
    int type, operation, root;  // numbers of NCCL's
  };

  // Collective. Throws Unsupported if NCCL is unavailable, or not each rank has a GPU of runtime `cuda`.
  NcclCollectives(World& world, Device& device);
  ~NcclCollectives();
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  static bool has(const std::string& collective);
  // NCCL's numbers of an operation ("sum") and of a type of so many bytes; none if it lacks them.
  static std::optional<int> operation(const std::string& name);
  static std::optional<int> type(bool is_real, bool is_signed, std::size_t bytes);
  static std::string library();  // "NCCL 2.18.5"

  // Complete on return. Throws Error.
  void run(const std::string& collective, const Call& call);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plumb
