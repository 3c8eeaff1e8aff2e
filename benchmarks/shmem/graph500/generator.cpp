#include "benchmarks/shmem/graph500/generator.hpp"

#include "benchmarks/shmem/graph500/cores.hpp"
#include "benchmarks/shmem/graph500/edges_file.hpp"

namespace plumb::graph500 {

namespace {

using Matrix = std::array<std::array<std::uint64_t, 5>, 5>;

// Random::reduced() accepts sums below 2^63: one product of two numbers below 2^31, and a sum below 2^31.
std::uint64_t dot(const std::array<std::uint64_t, 5>& row, const Random::State& column) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 5; ++i) sum = Random::reduced(row[i] * column[i] + sum);
  return sum;
}

Random::State product(const Matrix& matrix, const Random::State& state) {
  Random::State result{};
  for (std::size_t i = 0; i < 5; ++i) result[i] = dot(matrix[i], state);
  return result;
}

Matrix square(const Matrix& matrix) {
  Matrix result{};
  for (std::size_t j = 0; j < 5; ++j) {
    Random::State column{};
    for (std::size_t i = 0; i < 5; ++i) column[i] = matrix[i][j];
    column = product(matrix, column);
    for (std::size_t i = 0; i < 5; ++i) result[i][j] = column[i];
  }
  return result;
}

// Element k: 2^k steps.
const std::array<Matrix, 192>& powers() {
  static const std::array<Matrix, 192> all = [] {
    std::array<Matrix, 192> made{};
    made[0][0][0] = 107374182;
    made[0][0][4] = 104480;
    for (std::size_t i = 1; i < 5; ++i) made[0][i][i - 1] = 1;
    for (std::size_t k = 1; k < made.size(); ++k) made[k] = square(made[k - 1]);
    return made;
  }();
  return all;
}

Vertex reversed_bits(Vertex word) {
  const auto swap = [&](int by, Vertex mask) { word = ((word >> by) & mask) | ((word & mask) << by); };
  swap(1, 0x5555555555555555u);
  swap(2, 0x3333333333333333u);
  swap(4, 0x0f0f0f0f0f0f0f0fu);
  return __builtin_bswap64(word);
}

constexpr std::uint64_t quadrants_of = 10000;   // A = 5700, B = C = 1900, D = 500
constexpr std::uint64_t least_draw_3_0 = 3647;  // 2^31 - 1 modulo 10000
constexpr std::uint64_t least_draw_2_1 = 7295;  // 2^32 - 1 modulo 10000
constexpr std::uint64_t edges_of_a_thread = std::uint64_t{1} << 14;
constexpr double draw_unit = 4.65661287524579692e-10, second_unit = 2.168404346990492787e-19;

}  // namespace

Random::Random(std::uint64_t seed_1, std::uint64_t seed_2) {
  constexpr std::uint64_t low = 0x3fffffff;
  state_ = {(seed_1 & low) + 1, (seed_1 >> 30 & low) + 1, (seed_2 & low) + 1, (seed_2 >> 30 & low) + 1,
            (seed_2 >> 60 << 4) + (seed_1 >> 60) + 1};
}

double Random::number() {
  const double first = static_cast<double>(draw()) * draw_unit;
  return first + static_cast<double>(draw()) * second_unit;
}

Random Random::skipped(std::uint64_t high, std::uint64_t middle, std::uint64_t low) const {
  State state = state_;
  const std::uint64_t words[] = {low, middle, high};
  for (std::size_t word = 0; word < 3; ++word)
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1)
      state = product(powers()[64 * word + static_cast<std::size_t>(std::countr_zero(bits))], state);
  return Random(state);
}

const std::array<std::array<std::uint64_t, 5>, 5>& Random::power(std::size_t k) {
  return powers()[k];
}

EdgeRange share_of(std::uint64_t edges, int rank, int ranks) {
  const auto begin = [&](int of) {
    const auto place = static_cast<std::uint64_t>(of), all = static_cast<std::uint64_t>(ranks);
    return edges / all * place + std::min(place, edges % all);
  };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

Generator::Generator(const GraphPlan& plan)
    : plan_(plan), start_(plan.seed_1, plan.seed_2), least_draw_(plan.generator_2_1 ? least_draw_2_1 : least_draw_3_0) {
  Random random = start_.skipped(50, 7, 0);
  for (std::uint64_t& word : scramble_) {
    word = random.draw() * 0xffffffffu;
    word += random.draw();
  }
}

// Bit 1: the second half of the sources; bit 0: of the targets.
int Generator::quadrant(Random& random) const {
  std::uint64_t draw = random.draw();
  while (draw < least_draw_) draw = random.draw();
  draw %= quadrants_of;
  if (draw < 1900) return 1;
  if (draw < 3800) return 2;
  return draw < 9500 ? 0 : 3;
}

Vertex Generator::scrambled(Vertex vertex) const {
  const int unused = 64 - plan_.scale;
  vertex += scramble_[0] + scramble_[1];
  vertex *= scramble_[0] | 0x4519840211493211u;
  vertex = reversed_bits(vertex) >> unused;
  vertex *= scramble_[1] | 0x3050852102c843a5u;
  return reversed_bits(vertex) >> unused;
}

Vertex Generator::any_vertex(Random& random) const {
  return static_cast<Vertex>(random.number() * static_cast<double>(plan_.vertices()));
}

Edge Generator::edge(Random& random) const {
  if (plan_.kind == GraphPlan::Kind::erdos_renyi) {
    const Vertex from = any_vertex(random);
    return {from, any_vertex(random)};
  }
  Vertex from = 0, to = 0;
  for (int bit = plan_.scale; bit-- > 0;) {
    const int chosen = quadrant(random);
    // Folds the lower triangle onto the upper one: as long as both are equal, the target gets the one.
    const bool flipped = from == to && chosen == 2;
    from |= static_cast<Vertex>(flipped ? 0 : chosen >> 1) << bit;
    to |= static_cast<Vertex>(flipped ? 1 : chosen & 1) << bit;
  }
  return {scrambled(from), scrambled(to)};
}

void Generator::make(const EdgeRange& range, std::span<Edge> edges, std::span<float> weights) const {
  if (plan_.kind == GraphPlan::Kind::file) return read_edges(plan_.file, range, edges, weights);
  on_cores(parts_of(range.count, edges_of_a_thread), range.count,
           [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
             draw_edges(range.first + begin, edges.subspan(begin, end - begin),
                        weights.empty() ? weights : weights.subspan(begin, end - begin));
           });
}

void Generator::draw_edges(std::uint64_t first, std::span<Edge> edges, std::span<float> weights) const {
  const Matrix& next_edge = powers()[64];
  Random::State state = start_.skipped(0, first, 0).state();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    Random random(state);
    edges[i] = edge(random);
    if (!weights.empty())
      weights[i] = static_cast<float>(static_cast<double>(static_cast<float>(random.draw())) * draw_unit);
    state = product(next_edge, state);
  }
}

Vertex Generator::root_candidate(std::uint64_t k) const {
  Random random = start_.skipped(2, 0, 4 * k);
  const double first = random.number();
  return static_cast<Vertex>((first + random.number()) * static_cast<double>(plan_.vertices())) % plan_.vertices();
}

}  // namespace plumb::graph500
