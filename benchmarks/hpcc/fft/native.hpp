// cpu.cl as C++, once per instruction set, selected at run time.
#pragma once

#include <cstdint>

#include "benchmarks/hpcc/fft/plan.hpp"

namespace plumb::fft {

// Work of one thread: the arguments of cpu.cl's kernels.
struct Share {
  enum class Step { lanes, at_once, wholes, columns, rows } step = Step::wholes;
  Factors columns, rows;
  bool cached = false;  // at_once: results stay in the caches
  const void* from = nullptr;
  void* to = nullptr;
  const void* tables = nullptr;
  void* middle = nullptr;
  void* work = nullptr;  // of this thread
  std::uint64_t batch = 1, group = 0, groups = 1;
};

using ShareFunction = void (*)(const Share&);

// The fastest form for this processor.
ShareFunction native_share(ScalarType type, bool inverse);

// Null if the processor or the compiler lacks the instructions.
ShareFunction baseline_share(ScalarType type, bool inverse);
ShareFunction avx2_share(ScalarType type, bool inverse);
ShareFunction avx512_share(ScalarType type, bool inverse);

}  // namespace plumb::fft
