// cpu.cl for any processor, and selection of the fastest form.
#include "benchmarks/hpcc/fft/native.hpp"

// Vectors wider than the registers are passed in memory; disables GCC's note on an ABI change.
#pragma GCC diagnostic ignored "-Wpsabi"
#define INSTRUCTIONS baseline
#define STREAM_VECTOR(address, value) *(address) = (value)
#include "benchmarks/hpcc/fft/native_form.hpp"

namespace plumb::fft {

ShareFunction baseline_share(ScalarType type, bool inverse) {
  return baseline::choose(type, inverse);
}

ShareFunction native_share(ScalarType type, bool inverse) {
  for (const auto share : {avx512_share, avx2_share})
    if (const ShareFunction function = share(type, inverse)) return function;
  return baseline_share(type, inverse);
}

}  // namespace plumb::fft
