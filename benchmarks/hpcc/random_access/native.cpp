// nd_range.cl's kernel as functions of this process: threads take shares dynamically.
#include <algorithm>
#include <array>
#include <atomic>

#include "benchmarks/hpcc/random_access/kernels.hpp"
#include "device/host_memory.hpp"
#include "device/host_simd.hpp"

namespace plumb::random_access {

namespace {

struct Arguments {
  std::uint64_t* table;
  const std::uint64_t* starts;
  std::uint64_t share, updates, first, words;
};

std::uint64_t* words_of(const KernelArgument& argument) {
  return reinterpret_cast<std::uint64_t*>(std::get<const Buffer*>(argument)->host_pointer());
}

Arguments arguments_of(std::span<const KernelArgument> list) {
  const auto number = [&](std::size_t i) { return std::get<std::uint64_t>(list[i]); };
  return {words_of(list[0]), words_of(list[1]), number(2), number(3), number(4), number(5)};
}

// `lanes` independent words of the stream: the current ones go into `words`, then each leaps over all of them, until
// there are `count`.
template <Stream stream, std::uint64_t lanes>
[[gnu::always_inline]] inline void generate(std::array<std::uint64_t, lanes>& lane, const Leap& leap,
                                            std::uint64_t* words, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; i += lanes)
    for (std::uint64_t l = 0; l < lanes; ++l) {
      const std::uint64_t word = words[i + l] = lane[l];
      const std::uint64_t top = word >> (64 - lanes);
      lane[l] =
          stream == Stream::lcg ? leap.factor * word + leap.summand : (word << lanes) ^ top ^ (top << 1) ^ (top << 2);
    }
}

template <Stream stream, std::uint64_t lanes>
PLUMBLINE_VECTORS_OF_64 void generate_in_64_bytes(std::array<std::uint64_t, lanes>& lane, const Leap& leap,
                                                  std::uint64_t* words, std::uint64_t count) {
  generate<stream, lanes>(lane, leap, words, count);
}

template <Stream stream, std::uint64_t lanes>
void generate_anyhow(std::array<std::uint64_t, lanes>& lane, const Leap& leap, std::uint64_t* words,
                     std::uint64_t count) {
  generate<stream, lanes>(lane, leap, words, count);
}

// A share of the stream.
template <Stream stream, std::uint64_t lanes>
class Generator {
 public:
  explicit Generator(std::uint64_t before) {
    const Leap one = leap(stream, 1);
    for (std::uint64_t& lane : lanes_) lane = before = one.from(before);
  }
  void fill(std::uint64_t* words, std::uint64_t count) { generate_(lanes_, leap_, words, count); }

 private:
  decltype(&generate_anyhow<stream, lanes>) generate_ =
      host_vector_bytes() == 64 ? generate_in_64_bytes<stream, lanes> : generate_anyhow<stream, lanes>;
  Leap leap_ = leap(stream, lanes);
  std::array<std::uint64_t, lanes> lanes_;
};

template <Updates updates>
void change(std::uint64_t& word, std::uint64_t by) {
  const std::atomic_ref shared(word);
  if constexpr (updates == Updates::buffered)
    shared.store(shared.load(std::memory_order_relaxed) ^ by, std::memory_order_relaxed);
  else
    shared.fetch_xor(by, std::memory_order_relaxed);
}

// Prefetches the words of the next look-ahead while one is applied.
template <Stream stream, Updates updates, std::uint64_t lanes, bool all_here>
void update_share(const KernelForm& form, const Arguments& to, std::uint64_t item) {
  const std::uint64_t begin = item * to.share;
  if (begin >= to.updates) return;
  const std::uint64_t length = std::min(to.share, to.updates - begin);
  const int shift = 64 - form.log2_table;
  const std::uint64_t mask = ~std::uint64_t{0} >> shift;
  const auto at = [&](std::uint64_t word) {
    return (stream == Stream::lcg ? word >> shift : word & mask) - (all_here ? 0 : to.first);
  };
  Generator<stream, lanes> generator(to.starts[item]);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled before it is read; initialisation would be timed
  std::array<std::array<std::uint64_t, most_look_ahead>, 2> blocks;
  generator.fill(blocks[0].data(), form.look_ahead);
  for (std::uint64_t done = 0, block = 0; done < length; done += form.look_ahead, block = 1 - block) {
    const auto& now = blocks[block];
    auto& next = blocks[1 - block];
    generator.fill(next.data(), form.look_ahead);
    for (std::uint64_t i = 0; i < form.look_ahead; ++i) {
      if (all_here || at(next[i]) < to.words) fetch_to_write(to.table + at(next[i]));
      if (all_here || at(now[i]) < to.words) change<updates>(to.table[at(now[i])], now[i]);
    }
  }
}

template <Stream stream, Updates updates, std::uint64_t lanes>
void update(const KernelForm& form, const Arguments& to, const KernelRange& range) {
  const auto run =
      form.whole ? update_share<stream, updates, lanes, true> : update_share<stream, updates, lanes, false>;
#pragma omp parallel for schedule(dynamic)
  for (std::uint64_t item = 0; item < range.global; ++item) run(form, to, item);
}

template <Stream stream, Updates updates>
void update(const KernelForm& form, const Arguments& to, const KernelRange& range) {
  const auto run = form.look_ahead < most_lanes ? update<stream, updates, 1> : update<stream, updates, most_lanes>;
  run(form, to, range);
}

template <Stream stream>
void update(const KernelForm& form, const Arguments& to, const KernelRange& range) {
  const auto run =
      form.updates == Updates::buffered ? update<stream, Updates::buffered> : update<stream, Updates::atomic>;
  run(form, to, range);
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const KernelForm& form) {
  return {{"update", [form](std::span<const KernelArgument> arguments, const KernelRange& range) {
             const auto run = form.stream == Stream::lcg ? update<Stream::lcg> : update<Stream::polynomial>;
             run(form, arguments_of(arguments), range);
           }}};
}

}  // namespace plumb::random_access
