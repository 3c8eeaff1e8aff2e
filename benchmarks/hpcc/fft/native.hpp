// cpu.cl as C++, once for each instruction set; which of them runs is chosen on the machine.
#pragma once

#include <cstdint>

#include "benchmarks/hpcc/fft/plan.hpp"

namespace plumb::fft {

// What one thread has to do: the arguments of cpu.cl's kernels.
struct Share {
  enum class Step { lanes, at_once, wholes, columns, rows } step = Step::wholes;
  Factors columns, rows;
  const void* from = nullptr;
  void* to = nullptr;
  const void* tables = nullptr;
  void* middle = nullptr;
  void* work = nullptr;  // of this thread alone
  std::uint64_t batch = 1, group = 0, groups = 1;
};

using ShareFunction = void (*)(const Share&);

// The fastest that this processor runs.
ShareFunction native_share(ScalarType type, bool inverse);

// Null where the processor or the compiler has no such instructions.
ShareFunction baseline_share(ScalarType type, bool inverse);
ShareFunction avx2_share(ScalarType type, bool inverse);
ShareFunction avx512_share(ScalarType type, bool inverse);

}  // namespace plumb::fft
