// The kernels of ceilings.cl as functions of runtime `native`: work items are distributed over this process's cores.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "benchmarks/device/ceilings/parts.hpp"
#include "benchmarks/device/ceilings/reference.hpp"
#include "device/host_simd.hpp"
#include "device/native/past_caches.hpp"

namespace plumb::ceilings {

namespace {

using Arguments = std::span<const KernelArgument>;
using Word = std::uint64_t;

constexpr std::size_t lanes = cache_line / sizeof(Word);
static_assert(lanes * sizeof(Word) == native_vector_bytes);

template <class T>
T* array(Arguments arguments, std::size_t index) {
  return reinterpret_cast<T*>(host_pointer(arguments[index]));
}

template <class T>
T number(Arguments arguments, std::size_t index) {
  return std::get<T>(arguments[index]);
}

// body(share, item) for each work item; `total` words or updates are shared among them.
template <class Body>
void for_each_item(const KernelRange& range, Word total, Body body) {
#pragma omp parallel for schedule(static)
  for (std::size_t item = 0; item < range.global; ++item) body(share_of(item, range.global, total, false), item);
}

// body(i) for the lines of a share: both halves, a block of either in turn, as a core fetches two streams of an array
// faster than one.
template <class Body>
void for_each_line(const Share& share, Body body) {
  constexpr Word block = 2;
  const Word half = ((share.last - share.first + 1) / 2 + block - 1) / block * block;
  for (Word at = share.first; at < share.first + half; at += block)
    for (Word part = at; part < share.last; part += half)
      for (Word i = part; i < std::min(part + block, share.last); ++i) body(i);
}

void memory_read(Arguments arguments, const KernelRange& range) {
  const Word* from = array<Word>(arguments, 0);
  Word* sums = array<Word>(arguments, 1);
  for_each_item(range, number<Word>(arguments, 2), [&](const Share& share, std::size_t item) {
    Word sum[lanes];
    std::copy_n(sums + item * lanes, lanes, sum);
    for_each_line(share, [&](Word i) {
      for (std::size_t lane = 0; lane < lanes; ++lane) sum[lane] += from[i * lanes + lane];
    });
    std::copy_n(sum, lanes, sums + item * lanes);
  });
}

void memory_write(Arguments arguments, const KernelRange& range) {
  Word* to = array<Word>(arguments, 0);
  const Word key = number<Word>(arguments, 2);
  for_each_item(range, number<Word>(arguments, 1), [&](const Share& share, std::size_t) {
    for_each_line(share, [&](Word i) {
      alignas(cache_line) Word line[lanes];
      std::fill_n(line, lanes, key ^ i);
      store_line(to + i * lanes, line);
    });
    finish_stores();
  });
}

void memory_copy(Arguments arguments, const KernelRange& range) {
  const Word* from = array<Word>(arguments, 0);
  Word* to = array<Word>(arguments, 1);
  const Word key = number<Word>(arguments, 3);
  for_each_item(range, number<Word>(arguments, 2), [&](const Share& share, std::size_t) {
    for_each_line(share, [&](Word i) {
      alignas(cache_line) Word line[lanes];
      for (std::size_t lane = 0; lane < lanes; ++lane) line[lane] = from[i * lanes + lane] + key;
      store_line(to + i * lanes, line);
    });
    finish_stores();
  });
}

// change(word, value) for each update. A core waits for few cache misses at a time, so words are prefetched while those
// of the batch before are changed. Positions of short tables hang on the lower halves of products alone, which vector
// units multiply.
template <class Change>
void update_all(Arguments arguments, const KernelRange& range, Change change) {
  Word* table = array<Word>(arguments, 0);
  const Word begin = number<Word>(arguments, 1);
  const unsigned bits = number<std::uint32_t>(arguments, 3);
  for_each_item(range, number<Word>(arguments, 2), [&](const Share& share, std::size_t) {
    constexpr Word batch = 32;
    Word u = begin + share.first;
    const Word last = begin + share.last;
    Word places[2][batch];
    const auto place_all = [&](Word* places_of, Word first) {
      if (bits <= 32)
        for (Word i = 0; i < batch; ++i) places_of[i] = scramble<std::uint32_t>(first + i, bits);
      else
        for (Word i = 0; i < batch; ++i) places_of[i] = scramble(first + i, bits);
    };
    place_all(places[0], u);
    for (int now = 0; u + batch <= last; u += batch, now = 1 - now) {
      place_all(places[1 - now], u + batch);
      for (Word i = 0; i < batch; ++i) {
        __builtin_prefetch(&table[places[1 - now][i]], 1);
        change(table[places[now][i]], update_value(u + i));
      }
    }
    for (; u < last; ++u) change(table[scramble(u, bits)], update_value(u));
  });
}

void random_update(Arguments arguments, const KernelRange& range) {
  update_all(arguments, range, [](Word& word, Word value) { word ^= value; });
}

void random_atomic(Arguments arguments, const KernelRange& range) {
  update_all(arguments, range,
             [](Word& word, Word value) { std::atomic_ref(word).fetch_xor(value, std::memory_order_relaxed); });
}

template <class T>
struct Chains {
  const T* start;
  T* result;
  std::size_t items, item;
  T a1, b1, a2, b2;
  std::uint32_t pairs;
};

template <class T>
[[gnu::always_inline]] inline void run_chains(const Chains<T>& task) {
  using Vector [[gnu::vector_size(native_vector_bytes)]] = T;
  Vector x[chains];
  const auto place = [&](std::size_t chain) {
    return (chain * task.items + task.item) * (native_vector_bytes / sizeof(T));
  };
  for (std::size_t chain = 0; chain < chains; ++chain)
    std::memcpy(&x[chain], task.start + place(chain), sizeof(Vector));
  for (std::uint32_t pair = 0; pair < task.pairs; ++pair) {
#pragma GCC unroll 8
    for (Vector& value : x) value = value * task.a1 + task.b1;
#pragma GCC unroll 8
    for (Vector& value : x) value = value * task.a2 + task.b2;
  }
  for (std::size_t chain = 0; chain < chains; ++chain)
    std::memcpy(task.result + place(chain), &x[chain], sizeof(Vector));
}

// One form for each register width, selected at run time.
template <class T>
PLUMBLINE_VECTORS_OF_64 void run_chains_512(const Chains<T>& task) {
  run_chains(task);
}
template <class T>
PLUMBLINE_VECTORS_OF_32 void run_chains_256(const Chains<T>& task) {
  run_chains(task);
}
template <class T>
void run_chains_128(const Chains<T>& task) {
  run_chains(task);
}

template <class T>
void arithmetic_in(Arguments arguments, const KernelRange& range) {
  const std::size_t width = host_vector_bytes();
  const auto run = width == 64 ? run_chains_512<T> : width == 32 ? run_chains_256<T> : run_chains_128<T>;
  Chains<T> task{array<T>(arguments, 0),
                 array<T>(arguments, 1),
                 range.global,
                 0,
                 number<T>(arguments, 2),
                 number<T>(arguments, 3),
                 number<T>(arguments, 4),
                 number<T>(arguments, 5),
                 number<std::uint32_t>(arguments, 6)};
#pragma omp parallel for schedule(static) firstprivate(task)
  for (std::size_t item = 0; item < range.global; ++item) {
    task.item = item;
    run(task);
  }
}

void arithmetic(Arguments arguments, const KernelRange& range) {
  if (std::holds_alternative<double>(arguments[2]))
    arithmetic_in<double>(arguments, range);
  else
    arithmetic_in<float>(arguments, range);
}

void count_launch(Arguments arguments, const KernelRange&) {
  *array<Word>(arguments, 0) += 1;
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels() {
  return {{"memory_read", memory_read},  {"memory_write", memory_write},   {"memory_copy", memory_copy},
          {"arithmetic", arithmetic},    {"random_update", random_update}, {"random_atomic", random_atomic},
          {"count_launch", count_launch}};
}

}  // namespace plumb::ceilings
