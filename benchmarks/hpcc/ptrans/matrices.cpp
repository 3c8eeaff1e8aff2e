#include "benchmarks/hpcc/ptrans/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace plumb::ptrans {

namespace {

constexpr std::uint64_t worth_comparing_together = std::uint64_t{1} << 15;  // numbers, minimum for several cores

int significant_bits_of(ScalarType type) {
  return type == ScalarType::f16 ? 11 : type == ScalarType::f32 ? 24 : 53;
}

// Adjacent numbers of one row of a block, `at` numbers after the first one requested.
struct Run {
  const Block* block;
  std::uint64_t row, column, numbers, at;
};

std::vector<Run> runs_of(const Portion& part, std::uint64_t first, std::uint64_t count) {
  std::vector<Run> runs;
  for (std::uint64_t at = 0; at < count;) {
    const Block& block = part.block_of(first + at);
    const std::uint64_t within = first + at - block.at;
    const std::uint64_t row = within / block.columns, column = within % block.columns;
    const std::uint64_t numbers = std::min(block.columns - column, count - at);
    runs.push_back({&block, row, column, numbers, at});
    at += numbers;
  }
  return runs;
}

template <class NumberAt>
void fill_rows(const Portion& part, std::uint64_t first, ScalarType type, std::span<std::byte> bytes,
               NumberAt number_at) {
  const std::size_t size = size_of(type);
  const std::vector<Run> runs = runs_of(part, first, bytes.size() / size);
#pragma omp parallel if (bytes.size() / size >= worth_comparing_together)
  {
    std::vector<double> row;
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run& run = runs[i];
      row.resize(run.numbers);
      for (std::uint64_t k = 0; k < run.numbers; ++k) row[k] = number_at(*run.block, run.row, run.column + k);
      store_scalars(row, type, bytes.subspan(run.at * size, run.numbers * size));
    }
  }
}

void compare_number(Finding& finding, std::uint64_t row, std::uint64_t column, double is, double should_be) {
  if (is == should_be) return;
  const double difference = std::abs(is - should_be);
  finding.error =
      std::max(finding.error, std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
  if (finding.wrong++ > 0) return;
  finding.row = row;
  finding.column = column;
  finding.is = is;
  finding.should_be = should_be;
}

void add(Finding& all, const Finding& more) {
  const std::uint64_t wrong = all.wrong + more.wrong;
  const double error = std::max(all.error, more.error);
  if (all.wrong == 0) all = more;
  all.wrong = wrong;
  all.error = error;
}

// Number `at` of the part, after an operation: its position in the whole matrix, and its expected value.
struct Element {
  std::uint64_t row, column;
  double value;
};

Finding check_begin(std::span<const std::byte> bytes, ScalarType type,
                    const std::function<Element(std::uint64_t)>& element_at) {
  std::vector<double> is(bytes.size() / size_of(type));
  load_scalars(bytes, type, is);
  Finding finding;
  for (std::uint64_t at = 0; at < is.size(); ++at) {
    const Element element = element_at(at);
    compare_number(finding, element.row, element.column, is[at], element.value);
  }
  return finding;
}

}  // namespace

Contents::Contents(const Problem& problem, ScalarType type, const Provenance& origin)
    : size_(problem.size),
      type_(type),
      a_(origin.key()),
      b_(Provenance{origin.seed, 0, 1}.key()),
      before_(mix64(a_)),
      bits_(significant_bits_of(type) - 1),
      unit_(std::ldexp(1.0, -bits_)) {}

double Contents::number(std::uint64_t word) const {
  const auto drawn = static_cast<std::int64_t>(mix64(word) >> (64 - bits_));
  return static_cast<double>(2 * drawn + 1 - (std::int64_t{1} << bits_)) * unit_;
}

double Contents::before(const Portion& part, int rank, std::uint64_t numbers) const {
  const auto place = mix64((static_cast<std::uint64_t>(rank) << 32) + static_cast<std::uint64_t>(part.partner));
  return number(before_ + mix64(place + part.stage) + numbers);
}

double Contents::sent(const Portion& part, int rank, std::uint64_t at, std::uint64_t later) const {
  const std::uint64_t back = (slide.source(0) - slide.source(later)) / size_of(type_);
  if (at < back) return before(part, rank, back - at);
  const Block& block = part.block_of(at - back);
  const std::uint64_t within = at - back - block.at;
  return a(block.top + within / block.columns, block.left + within % block.columns);
}

LocalPortion::LocalPortion(Portion of, int own) : part(std::move(of)), rank(own) {
  source = is_exchanged() ? mirrored(part, rank) : part;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> places;
  for (const Block& block : source.blocks) places[{block.top, block.left}] = block.at;
  for (const Block& block : part.blocks) images.push_back(places.at({block.left, block.top}));
}

void fill_a(const Contents& contents, const LocalPortion& of, std::int64_t first, std::span<std::byte> bytes) {
  const std::size_t size = size_of(contents.type());
  std::vector<double> before;
  for (; first < 0 && before.size() * size < bytes.size(); ++first)
    before.push_back(contents.before(of.part, of.rank, static_cast<std::uint64_t>(-first)));
  store_scalars(before, contents.type(), bytes.first(before.size() * size));
  fill_rows(of.part, static_cast<std::uint64_t>(first), contents.type(), bytes.subspan(before.size() * size),
            [&](const Block& block, std::uint64_t row, std::uint64_t column) {
              return contents.a(block.top + row, block.left + column);
            });
}

void fill_b(const Contents& contents, const LocalPortion& of, std::uint64_t first, std::span<std::byte> bytes) {
  fill_rows(of.part, first, contents.type(), bytes, [&](const Block& block, std::uint64_t row, std::uint64_t column) {
    return contents.b(block.top + row, block.left + column);
  });
}

Finding check_c(const Contents& contents, const LocalPortion& of, std::span<const std::byte> bytes) {
  const std::size_t size = size_of(contents.type());
  const std::vector<Run> runs = runs_of(of.part, 0, of.part.items);
  Finding finding;
#pragma omp parallel if (of.part.items >= worth_comparing_together)
  {
    std::vector<double> is;
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run& run = runs[i];
      const std::uint64_t row = run.block->top + run.row, left = run.block->left + run.column;
      is.resize(run.numbers);
      load_scalars(bytes.subspan(run.at * size, run.numbers * size), contents.type(), is);
      Finding mine;
      for (std::uint64_t k = 0; k < run.numbers; ++k)
        compare_number(mine, row, left + k, is[k], contents.b(row, left + k) + contents.a(left + k, row));
      if (mine.wrong == 0) continue;
#pragma omp critical
      add(finding, mine);
    }
  }
  return finding;
}

Finding check_c_begin(const Contents& contents, const LocalPortion& of, std::uint64_t later,
                      std::span<const std::byte> bytes) {
  return check_begin(bytes, contents.type(), [&](std::uint64_t at) {
    const Block& block = of.part.block_of(at);
    const std::uint64_t row = (at - block.at) / block.columns, column = (at - block.at) % block.columns;
    const auto index = static_cast<std::size_t>(&block - of.part.blocks.data());
    const double a = contents.sent(of.source, of.part.partner, of.images[index] + column * block.rows + row, later);
    return Element{block.top + row, block.left + column, contents.b(block.top + row, block.left + column) + a};
  });
}

Finding check_received_begin(const Contents& contents, const LocalPortion& of, std::uint64_t later,
                             std::span<const std::byte> bytes) {
  return check_begin(bytes, contents.type(), [&](std::uint64_t at) {
    const Block& block = of.source.block_of(at);
    const std::uint64_t within = at - block.at;
    return Element{block.top + within / block.columns, block.left + within % block.columns,
                   contents.sent(of.source, of.part.partner, at, later)};
  });
}

}  // namespace plumb::ptrans
