// A row of the table of the OpenSHMEM API: what it is called, of which kind it is, and the pattern that runs it. Rows
// are data; patterns are few: one side moves (shmem_transfer.hpp), atomics (shmem_atomic.hpp), collectives
// (shmem_collective.hpp), what orders and waits (shmem_order.hpp), the symmetric heap (shmem_heap.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/benchmark.hpp"

namespace plumb::shmem_api {

// Who acts on whom in what one side does: PE 0 on all others in turn, or PE i of the first half on PE i of the second.
enum class Who { first_on_all, halves };

// Who runs a test, and how large.
struct Setting {
  int pe = 0, pes = 2;
  Who who = Who::first_on_all;
  std::size_t bytes = 8;  // of a message to one PE; whole elements of the row's type
  int threads = 1;
  std::size_t slots = 2;     // more than two: places that messages go round through, to keep out of the caches
  bool scattered = false;    // `slots`, a power of two, of the far side's, in an order that no prefetcher knows
  std::uint64_t window = 1;  // operations between two completions
  bool global = false;       // in the program's own global variables, not in the symmetric heap
  std::uint64_t seed = 1;
};

// The PEs that a PE acts on, [first, end), and the one that it is acted on by; none: empty, or -1.
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
  int actors = 1, each = 1;  // of all PEs: how many act, on how many
};

// What a test does and needs, by arithmetic alone.
struct Shape {
  Work work;                         // of one count on this PE
  std::uint64_t moved = 0;           // bytes that one count moves between PEs, all together; 0 where no data moves
  std::uint64_t items_to_check = 0;  // on this PE
  std::uint64_t symmetric_bytes = 0;
  std::uint64_t fixed_count = 0;     // operations of a sample; 0 = as many as make it long enough
  bool once = false;                 // one repetition only
  std::uint64_t count_multiple = 1;  // which the operations of a sample must be
};

// A test that is ready to run. All members are collective.
class Test {
 public:
  virtual ~Test() = default;
  virtual void reset(std::uint64_t repetition, std::uint64_t count) = 0;
  virtual void run(std::uint64_t count) = 0;
  virtual Validation validate(std::uint64_t repetition, std::uint64_t count) = 0;
  // Seconds and number of operations that were begun and not waited for, so far; of puts.
  struct Injection {
    double seconds = 0, operations = 0;
  };
  virtual Injection injection() { return {}; }
  // What validating found out beside right and wrong, for the record; of the PE that acted.
  //   completion: how it was told that what it began was done before the clock stopped, or why that is not proven;
  //   overlaps: how often each PE at least found another's atomic between its own, where atomicity was tried;
  //   atomicity: why it is not proven, where these are too few.
  virtual Json facts() const { return Json::object(); }
  // Seconds of what could not be timed where it was run (shmem_init, before anything could be measured).
  virtual std::optional<double> seconds_elsewhere() const { return std::nullopt; }
};

struct Row {
  std::string name;               // "int_put"
  std::string kind;               // "put", "reduction", …
  std::string set;                // "shoms": in the list of SHOMS 1.0; "later": what came to OpenSHMEM after it
  std::size_t element_bytes = 0;  // 0 = a test without sizes
  bool threads = false;           // can be run by several threads, with a context each
  std::string missing = {};       // why this library has it not; "" = it has
  std::string fault = {};         // how this library is known to break on it; "" = it is not
  std::function<Shape(const Setting&)> shape = {};
  std::function<std::unique_ptr<Test>(const Setting&)> make = {};
};

// The whole table, in SHOMS' order, what came later behind it.
const std::vector<Row>& api_table();

// By kind, each in its own file.
std::vector<Row> transfer_rows();
std::vector<Row> atomic_rows();
std::vector<Row> reduction_rows();
std::vector<Row> collective_rows();
std::vector<Row> order_rows();
std::vector<Row> heap_rows();
std::vector<Row> later_rows();    // what OpenSHMEM 1.5 added
std::vector<Row> startup_rows();  // init, finalize

}  // namespace plumb::shmem_api
