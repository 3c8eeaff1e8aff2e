// Collective calls of ACCL's engine, as stages of messages and arithmetic. The algorithms are ACCL's
// (Xilinx/ACCL, ccl_offload_control.c): eager broadcasts and scatters go from the root to each rank, other eager
// collectives around a ring; by rendezvous, broadcasts to more than 3 ranks and reductions of more than 4 are binomial
// trees, and gathers go to the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/accl/command.hpp"

namespace plumb::accl {

struct Part {
  int peer;
  std::byte* at;
  std::uint64_t bytes;
};
// A copy, or the combination of two operands.
struct Local {
  const std::byte *left, *right;  // right: null for a copy
  std::byte* to;                  // may be an operand's address
  std::uint64_t bytes;
};
// Its messages are under way at once; when all are complete, `then` follows in order.
struct Stage {
  std::vector<Part> receives = {}, sends = {};
  std::vector<Local> then = {};
};
// One rank's part of a collective.
struct Schedule {
  std::vector<Stage> stages = {};
  std::vector<std::vector<std::byte>> scratch = {};  // which stages refer to
};

bool is_collective(Call call);
// Status of a call with a type of elements or a function that the engine has not; `done` for others.
std::uint32_t problem_of(const Command& command);
// Elements, of one rank's part where ranks have parts (scatter, gather, allgather, reduce_scatter, alltoall).
std::uint64_t bytes_of(const Command& command);
Schedule schedule_of(const Command& command, int rank, int ranks, bool eager);
// The function of the command, element by element.
void combine(const Command& command, const Local& operands);

}  // namespace plumb::accl
