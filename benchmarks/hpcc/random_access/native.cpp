// nd_range.cl's kernel as functions of this process: a share after the other, as threads come to them.
#include <algorithm>
#include <array>
#include <atomic>

#include "benchmarks/hpcc/random_access/kernels.hpp"

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

// A share of the stream, `lanes` words side by side so that none waits for the one before.
template <Stream stream, std::uint64_t lanes>
class Generator {
 public:
  explicit Generator(std::uint64_t before) {
    const Leap one = leap(stream, 1);
    for (std::uint64_t& lane : lanes_) lane = before = one.from(before);
  }
  void fill(std::uint64_t* words, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; i += lanes)
      for (std::uint64_t l = 0; l < lanes; ++l) {
        words[i + l] = lanes_[l];
        lanes_[l] = after_all_lanes(lanes_[l]);
      }
  }

 private:
  std::uint64_t after_all_lanes(std::uint64_t word) const {
    if constexpr (stream == Stream::lcg) {
      return leap_.factor * word + leap_.summand;
    } else {
      const std::uint64_t top = word >> (64 - lanes);
      return (word << lanes) ^ top ^ (top << 1) ^ (top << 2);
    }
  }

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

// While a look-ahead is applied, the words of the next one are fetched.
template <Stream stream, Updates updates, std::uint64_t lanes>
void update_share(const Form& form, const Arguments& to, std::uint64_t item) {
  const std::uint64_t begin = item * to.share;
  if (begin >= to.updates) return;
  const std::uint64_t length = std::min(to.share, to.updates - begin);
  const auto place = [&](std::uint64_t word) {
    return (stream == Stream::lcg ? word >> (64 - form.log2_table)
                                  : word & ((std::uint64_t{1} << form.log2_table) - 1)) -
           to.first;
  };
  Generator<stream, lanes> generator(to.starts[item]);
  std::array<std::array<std::uint64_t, most_look_ahead>, 2> blocks;
  generator.fill(blocks[0].data(), form.look_ahead);
  for (std::uint64_t done = 0, block = 0; done < length; done += form.look_ahead, block = 1 - block) {
    const auto& now = blocks[block];
    auto& ahead = blocks[1 - block];
    generator.fill(ahead.data(), form.look_ahead);
    for (std::uint64_t i = 0; i < form.look_ahead; ++i) {
      if (const std::uint64_t at = place(ahead[i]); at < to.words) __builtin_prefetch(to.table + at, 1);
      if (const std::uint64_t at = place(now[i]); at < to.words) change<updates>(to.table[at], now[i]);
    }
  }
}

template <Stream stream, Updates updates>
void update(const Form& form, const Arguments& to, const KernelRange& range) {
#pragma omp parallel for schedule(dynamic)
  for (std::uint64_t item = 0; item < range.global; ++item) {
    if (form.look_ahead < most_lanes)
      update_share<stream, updates, 1>(form, to, item);
    else
      update_share<stream, updates, most_lanes>(form, to, item);
  }
}

template <Stream stream>
void update(const Form& form, const Arguments& to, const KernelRange& range) {
  if (form.updates == Updates::buffered)
    update<stream, Updates::buffered>(form, to, range);
  else
    update<stream, Updates::atomic>(form, to, range);
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const Form& form) {
  return {{"update", [form](std::span<const KernelArgument> arguments, const KernelRange& range) {
             const auto run = form.stream == Stream::lcg ? update<Stream::lcg> : update<Stream::polynomial>;
             run(form, arguments_of(arguments), range);
           }}};
}

}  // namespace plumb::random_access
