#include <algorithm>
#include <thread>

#include "benchmarks/shmem/api/shmem_atomic.hpp"
#include "benchmarks/shmem/api/shmem_collective.hpp"
#include "benchmarks/shmem/api/shmem_order.hpp"
#include "benchmarks/shmem/api/shmem_transfer.hpp"
#include "tests/mutants/shmem_mutants.hpp"
#include "tests/mutants/shmem_wrong_shoms.hpp"

namespace plumb::mutants {

namespace {

using namespace shmem_api;

void add(const std::string& name, const Row& row) {
  add_to_shoms(name, row);
}

// --- one side moves

template <class Move>
void add_put(const std::string& row, const std::string& name, Move move, std::size_t stride = 1) {
  add(name, transfer_row<long>(row, "put", "shoms", putter<long>(shmem_long_put, shmem_ctx_long_put, move, stride)));
}

template <class Move>
void add_get(const std::string& row, const std::string& name, Move move) {
  add(name, transfer_row<long>(row, "get", "shoms", getter<long>(shmem_long_get, shmem_ctx_long_get, move)));
}

void register_wrong_transfers() {
  add_put("long_put", "wrong-pe", [](const auto& channel, auto f, long* remote, long* local, std::size_t n, int pe) {
    channel.call(f, remote, local, n, (pe + 1) % shmem_n_pes());
  });
  add_put("long_put", "last-element",
          [](const auto& channel, auto f, long* remote, long* local, std::size_t n, int pe) {
            channel.call(f, remote, local, n - 1, pe);
          });
  add_put("long_put", "nothing", [](const auto&, auto, long*, long*, std::size_t, int) {});
  add_put("long_p", "last-element", [](const auto&, auto, long* remote, long* local, std::size_t n, int pe) {
    for (std::size_t i = 0; i + 1 < n; ++i) shmem_long_p(remote + i, local[i], pe);
  });
  add_put(
      "long_iput", "off-by-one",
      [](const auto&, auto, long* remote, long* local, std::size_t n, int pe) {
        shmem_long_iput(remote + 1, local, 2, 2, n, pe);
      },
      2);
  add_get("long_get", "flip", [](const auto& channel, auto f, long* remote, long* local, std::size_t n, int pe) {
    channel.call(f, local, remote, n, pe);
    local[n / 2] ^= 0x1000;
  });
  add_get("long_get", "own-memory", [](const auto& channel, auto f, long* remote, long* local, std::size_t n, int) {
    channel.call(f, local, remote, n, 0);
  });
}

// --- atomics

template <class Act>
void add_atomic(const std::string& row, const std::string& name, Does does, Act act) {
  add(name, atomic_row<long>(row, "atomic", "shoms", actor<long>(does, true, 0, 0, act)));
}

void register_wrong_atomics() {
  // Overwrites concurrent operations.
  add_atomic("long_fadd", "get-put", Does::add, [](const auto&, auto, long* word, const Operands<long>& given, int pe) {
    const long old = shmem_long_g(word, pe);
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    shmem_long_p(word, word_after(Does::add, old, given), pe);
    shmem_quiet();
    return old;
  });
  add_atomic("long_fadd", "get-put-at-once", Does::add,
             [](const auto&, auto, long* word, const Operands<long>& given, int pe) {
               const long old = shmem_long_g(word, pe);
               shmem_long_p(word, word_after(Does::add, old, given), pe);
               shmem_quiet();
               return old;
             });
  add("get-put-at-once",
      atomic_row<long>(
          "long_add", "add", "shoms",
          actor<long>(Does::add, false, 0, 0, [](const auto&, auto, long* word, const Operands<long>& given, int pe) {
            const long old = shmem_long_g(word, pe);
            shmem_long_p(word, word_after(Does::add, old, given), pe);
            return 0L;
          })));
  add("get-put",
      atomic_row<unsigned long>("ulong_atomic_or", "or", "later",
                                actor<unsigned long>(Does::bit_or, false, 0, 0,
                                                     [](const auto&, auto, unsigned long* word,
                                                        const Operands<unsigned long>& given, int pe) {
                                                       const unsigned long old = shmem_ulong_g(word, pe);
                                                       std::this_thread::sleep_for(std::chrono::microseconds(20));
                                                       shmem_ulong_p(word, old | given.value, pe);
                                                       shmem_quiet();
                                                       return 0ul;
                                                     })));
  add_atomic("long_finc", "new-value", Does::inc, [](const auto&, auto, long* word, const Operands<long>&, int pe) {
    return shmem_long_atomic_fetch_inc(word, pe) + 1;
  });
  add_atomic("long_cswap", "always-swaps", Does::compare_swap,
             [](const auto&, auto, long* word, const Operands<long>& given, int pe) {
               return shmem_long_atomic_swap(word, given.value, pe);
             });
  add_atomic("long_swap", "keeps", Does::swap, [](const auto&, auto, long* word, const Operands<long>&, int pe) {
    return shmem_long_atomic_fetch(word, pe);
  });
}

// --- collectives

Collector<long> sum_of(std::function<void(const Round<long>&)> call) {
  Collector<long> collector{Gathers::reduction, Reduces::sum};
  collector.sync_size = SHMEM_REDUCE_SYNC_SIZE;
  collector.call = std::move(call);
  return collector;
}

Collector<std::uint64_t> of_words(Gathers gathers, std::size_t sync_size,
                                  std::function<void(const Round<std::uint64_t>&)> call) {
  Collector<std::uint64_t> collector{gathers};
  collector.sync_size = sync_size;
  collector.call = std::move(call);
  return collector;
}

void register_wrong_collectives() {
  add("pe-missing", collective_row<long>("long_sum_to_all", "reduction", "shoms", sum_of([](const Round<long>& r) {
                                           shmem_long_sum_to_all(r.target, r.source, static_cast<int>(r.elements), 0, 0,
                                                                 r.pes, r.work, r.sync);
                                           for (std::size_t i = 0; i < r.elements; ++i) r.target[i] -= r.source[i];
                                         })));
  add("maximum", collective_row<long>("long_sum_to_all", "reduction", "shoms", sum_of([](const Round<long>& r) {
                                        shmem_long_max_to_all(r.target, r.source, static_cast<int>(r.elements), 0, 0,
                                                              r.pes, r.work, r.sync);
                                      })));
  add("own-part-stale",
      collective_row<std::uint64_t>("fcollect64", "collect", "shoms",
                                    of_words(Gathers::collect, SHMEM_COLLECT_SYNC_SIZE, [](const auto& r) {
                                      std::vector<std::uint64_t> before(r.target, r.target + r.elements);
                                      shmem_fcollect64(r.target, r.source, r.elements, 0, 0, r.pes, r.sync);
                                      if (shmem_my_pe() == 0) std::ranges::copy(before, r.target);
                                    })));
  add("blocks-swapped",
      collective_row<std::uint64_t>("alltoall64", "alltoall", "later",
                                    of_words(Gathers::alltoall, SHMEM_ALLTOALL_SYNC_SIZE, [](const auto& r) {
                                      shmem_alltoall64(r.target, r.source, r.elements, 0, 0, r.pes, r.sync);
                                      std::swap_ranges(r.target, r.target + r.elements, r.target + r.elements);
                                    })));
  add("root-writes-itself",
      collective_row<std::uint64_t>("broadcast64", "broadcast", "shoms",
                                    of_words(Gathers::broadcast, SHMEM_BCAST_SYNC_SIZE, [](const auto& r) {
                                      shmem_broadcast64(r.target, r.source, r.elements, r.root, 0, 0, r.pes, r.sync);
                                      if (shmem_my_pe() == r.root) std::copy(r.source, r.source + r.elements, r.target);
                                    })));
  add("last-element",
      collective_row<std::uint64_t>(
          "broadcast64", "broadcast", "shoms", of_words(Gathers::broadcast, SHMEM_BCAST_SYNC_SIZE, [](const auto& r) {
            shmem_broadcast64(r.target, r.source, r.elements - 1, r.root, 0, 0, r.pes, r.sync);
          })));
}

// --- ordering

void register_wrong_orders() {
  add("does-not-wait", barrier_row("barrier_all", "shoms", {[](int, long*) {}}));
  add("does-not-wait", wait_row<long>(
                           "long_wait_until", "shoms", [](long*, long, long) {}, shmem_long_p));
  LockFunctions open = standard_locks();
  open.set = [](long*) {};
  open.clear = [](long*) {};
  add("does-not-lock", lock_row("set_lock", Lock::Action::set, open));
  LockFunctions kept = standard_locks();
  kept.test = [](long*) { return 0; };
  add("always-free", lock_row("test_lock", Lock::Action::test, kept));
}

}  // namespace

void register_wrong_rows() {
  register_wrong_transfers();
  register_wrong_atomics();
  register_wrong_collectives();
  register_wrong_orders();
}

}  // namespace plumb::mutants
