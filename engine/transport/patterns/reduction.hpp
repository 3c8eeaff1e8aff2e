// Reductions (sum, maximum, minimum) over some ranks of the numbers in a view, in place, on the devices. All members
// obtain the same bits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/patterns/combine.hpp"
#include "transport/transport.hpp"

namespace plumb {

// A reduction: `view` has the same length on each rank of `members`, which lists the ring's order, equal on all of them
// and including this rank. `lane` is the one lane in use.
struct Reduction {
  std::vector<int> members;
  BufferView view;
  NumberType type = NumberType::f32;
  Operation operation = Operation::sum;
  int lane = 0;
};

// Ring algorithm in blocks: each block goes around once to be combined and once more to be distributed: 2 (p - 1) / p
// of the view's bytes sent by each of p members (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", JPDC 69(2), 2009). A block is combined in one order, on one device, so all members obtain
// the same bits. One round of the exchange is one reduction; the next one reduces its result. Collective like
// Transport::compile(); lists of members have the same length on all ranks. Throws Error if the view's length is not a
// multiple of the number's, Unsupported if the device lacks the type.
std::unique_ptr<CompiledExchange> compile_reduction(const Reduction& reduction, World& world, Device& device,
                                                    Transport& transport);

}  // namespace plumb
