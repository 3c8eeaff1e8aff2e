// For native_form.hpp only: cpu.cl in one type and direction.
namespace PRECISION {

#if REAL_BYTES == 8
using real = double;
#else
using real = float;
#endif
// NOLINTNEXTLINE(readability-identifier-naming): the kernel's name
using vec [[gnu::vector_size(32)]] = real;

#if defined(__clang__)
#define STREAM(address, value) __builtin_nontemporal_store(value, address)
#else
#define STREAM(address, value) STREAM_VECTOR(address, value)
#endif

#include "benchmarks/hpcc/fft/cpu.cl"

factors as_factors(const Factors& f) {
  return {f.length, f.eights, f.last};
}

void run(const Share& share) {
  const auto* from = static_cast<const real*>(share.from);
  auto* to = static_cast<real*>(share.to);
  const auto* tables = static_cast<const real*>(share.tables);
  auto* middle = static_cast<cvec*>(share.middle);
  auto* work = static_cast<cvec*>(share.work);
  const factors columns = as_factors(share.columns), rows = as_factors(share.rows);
  const ulong batch = share.batch, group = share.group, groups = share.groups;
  switch (share.step) {
    case Share::Step::lanes:
      return share_of_lanes(from, to, tables, work, batch, rows, group, groups);
    case Share::Step::at_once:
      return share_at_once(from, to, tables, work, batch, rows, share.cached, group, groups);
    case Share::Step::wholes:
      return share_of_wholes(from, to, tables, work, batch, columns, rows, group, groups);
    case Share::Step::columns:
      return share_of_columns(from, middle, tables, work, batch, columns, rows, group, groups);
    case Share::Step::rows:
      return share_of_rows(middle, to, tables, batch, columns, rows, group, groups);
  }
}

}  // namespace PRECISION

#undef STREAM
#undef V
#undef SWAPPED
#undef UNPACK_LOW
#undef UNPACK_HIGH
#undef EVEN
#undef ODD
#undef PAIRS_LOW
#undef PAIRS_HIGH
#undef HALVES_LOW
#undef HALVES_HIGH
