// The table of the OpenSHMEM API (measure/operations.hpp). Its patterns: one-sided transfers (shmem_transfer.hpp),
// atomics (shmem_atomic.hpp), collectives (shmem_collective.hpp), ordering and waiting (shmem_order.hpp), the symmetric
// heap (shmem_heap.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/operations.hpp"

namespace plumb::shmem_api {

// Partners of one-sided operations: PE 0 acts on all others in turn, or PE i of the first half on PE i of the second.
enum class Who { first_on_all, halves };

// PEs, threads and sizes of a test.
struct Setting {
  int pe = 0, pes = 2;
  Who who = Who::first_on_all;
  std::size_t bytes = 8;  // of a message to one PE; whole elements of the row's type
  int threads = 1;
  std::size_t slots = 2;     // more than two: messages cycle through that many places, to avoid cache hits
  bool scattered = false;    // the target's `slots`, a power of two, in an order that prefetchers do not predict
  std::uint64_t window = 1;  // operations between two completions
  bool global = false;       // in global variables instead of the symmetric heap
  std::uint64_t seed = 1;
};

// The targets of a PE, [first, end), and the PE that targets it; none: empty, or -1.
struct Partners {
  explicit Partners(const Setting& s) {
    const int half = s.pes / 2;
    if (s.who == Who::first_on_all) {
      end = s.pe == 0 ? s.pes : 1;
      actor = s.pe == 0 ? -1 : 0;
      actors = 1;
      each = s.pes - 1;
    } else {
      first = s.pe + half;
      end = s.pe < half ? first + 1 : first;
      actor = s.pe >= half && s.pe < 2 * half ? s.pe - half : -1;
      actors = half;
    }
  }
  bool acts() const { return end > first; }
  int first = 1, end = 1, actor = -1;
  int actors = 1, each = 1;  // number of acting PEs, and of targets of each
};

using operations::Needs;
using operations::Pattern;
// `set`: "shoms" for the list of SHOMS 1.0, "later" for newer functions of OpenSHMEM. `threads`: one context each.
using Row = operations::Row<Setting>;

// The whole table, in SHOMS' order, followed by newer functions.
const std::vector<Row>& api_table();

// By kind, each in its own file.
std::vector<Row> transfer_rows();
std::vector<Row> atomic_rows();
std::vector<Row> reduction_rows();
std::vector<Row> collective_rows();
std::vector<Row> order_rows();
std::vector<Row> heap_rows();
std::vector<Row> later_rows();    // functions of OpenSHMEM 1.5
std::vector<Row> startup_rows();  // init, finalize

}  // namespace plumb::shmem_api
