#include "benchmarks/hpcc/hpl/form.hpp"
#include "benchmarks/hpcc/hpl/device_products.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t line = 64;  // bytes of a cache line

std::size_t aligned(std::size_t bytes) {
  return (bytes + line - 1) / line * line;
}

}  // namespace

PanelPlaces panel_places(std::size_t block, std::size_t width, std::size_t rows_below, std::size_t element_bytes) {
  PanelPlaces places;
  places.diagonal = aligned((block + 1) * sizeof(std::int64_t));
  places.lower = places.diagonal + aligned(block * block * element_bytes);
  places.bytes = places.lower + rows_below * width * element_bytes;
  return places;
}

double unit_of(Factors factors, ScalarType type) {
  if (factors != Factors::own) return 0x1p-11;
  return type == ScalarType::f32 ? 0x1p-24 : 0x1p-53;
}

// An odd number of cache lines: consecutive rows map to different sets of a cache.
std::size_t row_pitch(const Layout& layout, std::size_t element_bytes) {
  const std::size_t lines = aligned(layout.columns.count() * element_bytes) / line;
  return (lines | 1) * line / element_bytes;
}

std::uint64_t scratch_bytes(const Layout& layout, std::size_t element_bytes) {
  const std::uint64_t rows = layout.rows.count(), columns = layout.columns.count(), width = layout.block;
  const std::uint64_t panel = panel_places(width, width, rows, element_bytes).bytes;
  // Two panels, one more by columns, its packed form; the block's rows, their packed form, and their send and receive
  // buffers.
  return 5 * panel + TileRoom{}.rows * (rows + width + 32) * element_bytes +
         (3 + 4 * layout.rows.parts) * width * columns * element_bytes;
}

}  // namespace plumb::hpl
