// Kernel 1: scores all pairs of codons and finds where alignments end, on all ranks together.
#pragma once

#include <memory>
#include <string>

#include "benchmarks/shmem/ssca1/ends.hpp"
#include "core/json.hpp"
#include "world/one_sided.hpp"

namespace plumb::ssca1 {

struct Problem {
  Strings strings;
  Scores scores;
  std::int64_t minimum = 20;  // ends have more

  std::uint64_t length() const { return strings.main.size(); }
};

// What a rank found and did.
struct Found {
  std::vector<End> ends;
  std::uint64_t cells = 0;  // scored by this rank
  bool overflowed = false;
};

class Kernel1 {
 public:
  virtual ~Kernel1() = default;
  // Collective: poisons the memory that ranks exchange.
  virtual void reset() = 0;
  // Collective; on return this rank's ends are complete.
  virtual Found run() = 0;
  virtual Json facts() const { return Json::object(); }
};

// Variants `put-get` and `threaded`: anti-diagonal by anti-diagonal, its cells divided among all ranks (and a thread
// for each context of the memory), 5 gets and 3 puts of a word for each: the OpenSHMEM Benchmark Suite's.
std::uint64_t put_get_bytes(std::uint64_t length, int ranks);
std::unique_ptr<Kernel1> make_put_get(World& world, const Problem& problem, std::unique_ptr<OneSided> memory);

}  // namespace plumb::ssca1
