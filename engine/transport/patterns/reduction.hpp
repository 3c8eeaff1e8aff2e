// Sums (or maxima, minima) over some ranks of the numbers in a view, in place, on the devices: all of them then hold
// the same bits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/patterns/combine.hpp"
#include "transport/transport.hpp"

namespace plumb {

// What is reduced: `view` holds the same number of numbers on each of the ranks `members`, which name the ring's order
// (each the same list; this rank is one of them). `lane` is the links' number, of which it takes one.
struct Reduction {
  std::vector<int> members;
  BufferView view;
  NumberType type = NumberType::f32;
  Operation operation = Operation::sum;
  int lane = 0;
};

// Round a ring in blocks: each block goes round once while the members add to it, and once more to be known to all:
// 2 (p - 1) / p of the view's bytes sent by each of p members (Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", JPDC 69(2), 2009). A block is added up in one order, on one device, so all
// members get the same bits. One round of the exchange is one reduction; the next reduces what the last one left.
// Collective like Transport::compile(), and all ranks' lists have one length. Throws Error where the view holds no
// whole number of numbers, Unsupported where the device has no such type.
std::unique_ptr<CompiledExchange> compile_reduction(const Reduction& reduction, World& world, Device& device,
                                                    Transport& transport);

}  // namespace plumb
