#include "benchmarks/hpcc/fft/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace plumb::fft {

namespace {

constexpr int cpu_log_at_once = 10;  // vectors of 64 bytes of a transform in cache, log2
constexpr int gpu_log_run = 7,
              gpu_log_long_run = 6;  // bytes that a pass, a long one, reads and writes contiguously, log2
constexpr unsigned gpu_most_items = 512;

std::uint64_t complex_bytes(ScalarType type) {
  return 2 * size_of(type);
}

int bits_reversed(int i, int bits) {
  int reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1) << (bits - 1 - bit);
  return reversed;
}

// In the order read by the stages of cpu.cl: for each, w(point * k, block) by point and then k = 1 .. radix - 1.
void add_stage_roots(Table& table, const Factors& factors) {
  int block = factors.length;
  for (int stage = 0; stage <= factors.eights; ++stage) {
    const int radix = stage < factors.eights ? 8 : factors.last;
    for (int point = 0; point < block / radix; ++point)
      for (int k = 1; k < radix; ++k) table.add(static_cast<std::uint64_t>(point) * k, block);
    block /= radix;
  }
  table.add(0, 1);  // pads the length - 1 roots: the next table begins at 2 * length reals
}

}  // namespace

void Table::add(std::uint64_t k, std::uint64_t n) {
  // The angle within a quarter turn, so that w(n/4, n) is exactly -i.
  const std::uint64_t quarters = 4 * (k % n) / n;
  const std::uint64_t rest = 4 * (k % n) % n;  // quarters of w(1, n)
  const long double angle =
      std::numbers::pi_v<long double> / 2 * static_cast<long double>(rest) / static_cast<long double>(n);
  const auto cosine = static_cast<double>(std::cos(angle)), sine = static_cast<double>(std::sin(angle));
  const double re[] = {cosine, -sine, -cosine, sine}, im[] = {-sine, -cosine, sine, cosine};
  values_.push_back(re[quarters]);
  values_.push_back(im[quarters]);
}

std::vector<std::byte> Table::bytes(ScalarType type) const {
  std::vector<std::byte> bytes(values_.size() * size_of(type));
  store_scalars(values_, type, bytes);
  return bytes;
}

Factors factors_of(int log_length) {
  if (log_length == 0) return {};
  int eights = (log_length - 1) / 3;
  if (eights > 0 && log_length - 3 * eights == 1) --eights;  // 16 instead of 8 * 2
  return {1 << log_length, eights, 1 << (log_length - 3 * eights)};
}

int lane_order(int i, int lanes) {
  const int pairs = lanes / 4;  // complex numbers in 16 bytes
  const int half = lanes / 2;
  const int in_half = i % half;
  return in_half / pairs * half + i / half * pairs + in_half % pairs;
}

CpuPlan::CpuPlan(ScalarType type_of, int log_points) : type(type_of), lanes(type_of == ScalarType::f64 ? 4 : 8) {
  const int log_lanes = lanes == 4 ? 2 : 3;
  by_lanes_ = log_points < 2 * log_lanes;
  const int log_vectors = by_lanes_ ? log_points : log_points - log_lanes;
  // Measured: rows of 64 are fastest, except for columns of more than 512.
  int log_columns = 0;
  if (!by_lanes_ && log_vectors > cpu_log_at_once)
    log_columns = log_vectors <= 16 ? std::min(log_vectors - 6, 9) : log_vectors / 2;
  columns = factors_of(log_columns);
  rows = factors_of(log_vectors - log_columns);
}

std::uint64_t CpuPlan::vectors_of_middle() const {
  return static_cast<std::uint64_t>(columns.length) * (rows.length + 1);
}

std::uint64_t CpuPlan::vectors_of_work(bool with_middle) const {
  if (by_lanes_) return 2 * static_cast<std::uint64_t>(rows.length);
  if (!has_columns()) return rows.length;
  return static_cast<std::uint64_t>(columns.length) * lanes + (with_middle ? vectors_of_middle() : 0);
}

Table CpuPlan::table() const {
  Table table;
  const std::uint64_t points = static_cast<std::uint64_t>(columns.length) * rows.length * lanes;
  const auto add_lane_roots = [&](std::uint64_t point) {  // w(point * lane, points) of every lane, re and then im
    Table of_lanes;
    for (int i = 0; i < lanes; ++i) of_lanes.add(point * lane_order(i, lanes), points);
    for (int part = 0; part < 2; ++part)
      for (int i = 0; i < lanes; ++i) table.values_.push_back(of_lanes.values_[2 * i + part]);
  };
  if (by_lanes_) {
    add_stage_roots(table, rows);
    return table;
  }
  if (has_columns())
    for (int row = 0; row < columns.length; ++row) add_lane_roots(static_cast<std::uint64_t>(row) * rows.length);
  for (int column = 0; column < rows.length; ++column) add_lane_roots(column);
  if (has_columns()) add_stage_roots(table, columns);
  add_stage_roots(table, rows);
  if (has_columns())
    for (std::uint64_t frequency = 0; frequency < static_cast<std::uint64_t>(columns.length); ++frequency)
      for (std::uint64_t column = 0; column < static_cast<std::uint64_t>(rows.length); ++column)
        table.add(frequency * column, points / lanes);
  return table;
}

std::uint64_t GpuPass::groups(std::uint64_t batch, int log_total) const {
  if (kind == Kind::whole) return (batch + (1u << log_tile) - 1) >> log_tile;
  return batch << (log_total - log_length - log_tile);
}

std::uint64_t GpuPass::local_bytes(ScalarType type) const {
  return (complex_bytes(type) / (split ? 2 : 1)) << (log_length + log_tile);
}

std::uint64_t GpuPass::padded_bytes(ScalarType type) const {
  const std::uint64_t element = complex_bytes(type) / (split ? 2 : 1), banks = (split ? 128 : 64) / size_of(type);
  const auto padded = [&](std::uint64_t i) { return i + i / banks; };
  const std::uint64_t length = std::uint64_t{1} << log_length, tile = std::uint64_t{1} << log_tile;
  if (kind == Kind::columns) return element * padded(length * tile);
  return element * tile * (padded(length) + (tile < banks ? banks / tile : 1));
}

Table GpuPass::table() const {
  Table table;
  std::uint64_t done = 1;
  for (const int log_radix : log_radices) {
    for (std::uint64_t k = 1; k < 1u << log_radix; ++k)
      for (std::uint64_t j = 0; j < done; ++j) table.add(k * j, done << log_radix);
    done <<= log_radix;
  }
  if (kind != Kind::columns) return table;
  const std::uint64_t stride = std::uint64_t{1} << log_stride, total = stride << log_length;
  for (std::uint64_t t = 0; t < 1u << log_items(); ++t)
    for (std::uint64_t column = 0; column < stride; ++column) table.add(t * column, total);
  for (std::uint64_t q = 0; q < 1u << log_points; ++q)
    for (std::uint64_t column = 0; column < stride; ++column) table.add((q << log_items()) * column, total);
  return table;
}

std::string GpuPass::options(ScalarType type, int log_total, bool inverse) const {
  std::string text =
      fmt::format("-DREAL_BYTES={} -DTOTAL={} -DLENGTH={} -DPOINTS={} -DTILE={} -DSTRIDE={} -DFIRST={}", size_of(type),
                  1 << log_total, 1 << log_length, 1 << log_points, 1 << log_tile, 1 << log_stride, 1 << log_first);
  for (std::size_t i = 0; i < 4; ++i)
    text += fmt::format(" -DRADIX_{}={}", i, i < log_radices.size() ? 1 << log_radices[i] : 1);
  text += kind == Kind::whole ? " -DWHOLE" : kind == Kind::columns ? " -DCOLUMNS" : " -DROWS";
  if (split) text += " -DSPLIT";
  if (staged) text += " -DSTAGED";
  if (inverse) text += " -DINVERSE";
  return text;
}

namespace {

// 16 if it saves an exchange, or groups would otherwise span too few columns.
int log_points_for(GpuPass::Kind kind, int log_length, int unroll) {
  const int longest_with_8 = kind == GpuPass::Kind::whole ? 9 : 6;
  int log_points = log_length == 5 || (log_length % 3 == 0 && log_length <= longest_with_8) ? 3 : 4;
  if (unroll > 0) log_points = static_cast<int>(std::log2(unroll));
  return std::min(log_length, std::max(log_points, (log_length + 3) / 4));
}

// As even as possible, the larger first.
std::vector<int> radices_for(int log_length, int log_points) {
  const int stages = (log_length + log_points - 1) / log_points;
  std::vector<int> radices;
  for (int i = 0; i < stages; ++i) radices.push_back(log_length / stages + (i < log_length % stages ? 1 : 0));
  return radices;
}

GpuPass pass_of(GpuPass::Kind kind, int log_length, int unroll) {
  GpuPass pass;
  pass.kind = kind;
  pass.log_length = log_length;
  pass.log_points = log_points_for(kind, log_length, unroll);
  pass.log_radices = radices_for(log_length, pass.log_points);
  return pass;
}

// A part of a transform, of 512 points or more, that has local memory for 16 points a work item. Measured: these are
// faster than 8 points and wider runs, which would take two exchanges for each.
bool is_long(GpuPass::Kind kind, int log_length, const GpuLimits& limits) {
  const std::uint64_t bytes = std::uint64_t{1} << (log_length + gpu_log_long_run);  // a run of each point
  return kind != GpuPass::Kind::whole && log_length >= 9 && bytes <= std::max(limits.local_bytes, limits.long_bytes);
}

// Number of transforms for a full group, within local memory and the device's group size.
void choose_tile(GpuPass& pass, ScalarType type, const GpuLimits& limits) {
  const bool as_long = pass.log_points == 4 && is_long(pass.kind, pass.log_length, limits);
  const std::uint64_t most = as_long ? std::max(limits.local_bytes, limits.long_bytes) : limits.local_bytes;
  const auto local_fits = [&](int log_tile) {
    GpuPass wider = pass;
    wider.log_tile = log_tile;
    return wider.local_bytes(type) <= most ||
           (pass.kind == GpuPass::Kind::whole && log_tile == 0 && wider.local_bytes(type) <= limits.whole_bytes);
  };
  const auto group_fits = [&](int log_tile) {
    return std::uint64_t{1} << (pass.log_items() + log_tile) <= std::min(limits.group, gpu_most_items);
  };
  const int run = (as_long ? gpu_log_long_run : gpu_log_run) - (type == ScalarType::f64 ? 4 : 3);
  pass.split = !local_fits(pass.kind == GpuPass::Kind::whole ? 0 : run);
  const int wanted = pass.kind == GpuPass::Kind::whole ? 8 - pass.log_items() : std::max(run, 7 - pass.log_items());
  while (pass.log_tile < wanted && local_fits(pass.log_tile + 1) && group_fits(pass.log_tile + 1)) ++pass.log_tile;
}

}  // namespace

std::vector<GpuPass> gpu_passes(ScalarType type, int log_points, int unroll, const GpuLimits& limits) {
  int log_whole = type == ScalarType::f64 ? 11 : 12;
  while (complex_bytes(type) << (log_whole + 1) <= limits.whole_bytes && 1u << (log_whole + 1 - 4) <= limits.group)
    ++log_whole;
  std::vector<GpuPass> passes;
  if (log_points <= log_whole) {
    passes.push_back(pass_of(GpuPass::Kind::whole, log_points, unroll));
    passes[0].staged = complex_bytes(type) << passes[0].log_items() < 64;
  } else if (log_points <= 20) {
    const auto add = [&](GpuPass::Kind kind, int log_length) {
      passes.push_back(pass_of(kind, log_length, unroll > 0 ? unroll : is_long(kind, log_length, limits) ? 16 : 8));
    };
    add(GpuPass::Kind::columns, log_points / 2);
    add(GpuPass::Kind::rows, log_points - log_points / 2);
  } else {
    const int first = log_points / 3, second = (log_points - first) / 2;
    passes.push_back(pass_of(GpuPass::Kind::columns, first, unroll));
    passes.push_back(pass_of(GpuPass::Kind::columns, second, unroll));
    passes.push_back(pass_of(GpuPass::Kind::rows, log_points - first - second, unroll));
  }
  int log_left = log_points;
  for (GpuPass& pass : passes) {
    choose_tile(pass, type, limits);
    log_left -= pass.log_length;
    if (pass.kind == GpuPass::Kind::columns) pass.log_stride = log_left;
    if (pass.kind == GpuPass::Kind::rows) pass.log_stride = log_points - pass.log_length;
    pass.log_first = pass.kind == GpuPass::Kind::rows ? passes[0].log_length : 0;
  }
  return passes;
}

PipelinePlan::PipelinePlan(ScalarType type_of, int points, int unroll) : type(type_of), log_points(points) {
  log_unroll = std::min(static_cast<int>(std::log2(unroll)), points / 2);
  log_cycles = points - log_unroll;
}

std::uint64_t PipelinePlan::local_bytes() const {
  // Delay lines, roots between streams and lanes, both halves of the sorting buffer, and the stages' roots.
  return ((std::uint64_t{4} << log_points) + (std::uint64_t{1} << log_cycles)) * complex_bytes(type);
}

Table PipelinePlan::table() const {
  Table table;
  table.add(0, 1);
  for (std::uint64_t delay = 1; delay < 1u << log_cycles; delay *= 2)
    for (std::uint64_t i = 0; i < delay; ++i) table.add(i, 2 * delay);
  for (int i = 0; i < 1 << log_cycles; ++i)
    for (int lane = 0; lane < 1 << log_unroll; ++lane)
      table.add(static_cast<std::uint64_t>(bits_reversed(i, log_cycles)) * lane, std::uint64_t{1} << log_points);
  return table;
}

std::string type_options(const std::string& type) {
  return fmt::format("-DREAL_BYTES={}", size_of(parse_scalar_type(type)));
}

std::string PipelinePlan::options(int replication, bool channels) const {
  return fmt::format("{} -DLOG_UNROLL={} -DLOG_POINTS={} -DREPLICATION={}{}", type_options(to_string(type)), log_unroll,
                     log_unroll + log_cycles, replication, channels ? " -DCHANNELS" : "");
}

}  // namespace plumb::fft
