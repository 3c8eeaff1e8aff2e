#include "world/shmem_later.hpp"

#include <shmem.h>

#include "shmem_features.hpp"

namespace plumb::shmem_later {

namespace {

void add_teams([[maybe_unused]] Functions& f) {
#if PLUMBLINE_SHMEM_TEAMS
  f.team_sync = [] { return shmem_team_sync(SHMEM_TEAM_WORLD); };
  f.broadcastmem = [](void* target, const void* source, std::size_t bytes, int root) {
    return shmem_broadcastmem(SHMEM_TEAM_WORLD, target, source, bytes, root);
  };
  f.collectmem = [](void* target, const void* source, std::size_t bytes) {
    return shmem_collectmem(SHMEM_TEAM_WORLD, target, source, bytes);
  };
  f.fcollectmem = [](void* target, const void* source, std::size_t bytes) {
    return shmem_fcollectmem(SHMEM_TEAM_WORLD, target, source, bytes);
  };
  f.alltoallmem = [](void* target, const void* source, std::size_t bytes) {
    return shmem_alltoallmem(SHMEM_TEAM_WORLD, target, source, bytes);
  };
  f.int_sum_reduce = [](int* target, const int* source, std::size_t elements) {
    return shmem_int_sum_reduce(SHMEM_TEAM_WORLD, target, source, elements);
  };
  f.long_sum_reduce = [](long* target, const long* source, std::size_t elements) {
    return shmem_long_sum_reduce(SHMEM_TEAM_WORLD, target, source, elements);
  };
  f.long_max_reduce = [](long* target, const long* source, std::size_t elements) {
    return shmem_long_max_reduce(SHMEM_TEAM_WORLD, target, source, elements);
  };
  f.double_sum_reduce = [](double* target, const double* source, std::size_t elements) {
    return shmem_double_sum_reduce(SHMEM_TEAM_WORLD, target, source, elements);
  };
  f.double_max_reduce = [](double* target, const double* source, std::size_t elements) {
    return shmem_double_max_reduce(SHMEM_TEAM_WORLD, target, source, elements);
  };
#endif
}

void add_signals([[maybe_unused]] Functions& f) {
#if PLUMBLINE_SHMEM_PUT_SIGNAL
  f.putmem_signal = [](void* target, const void* source, std::size_t bytes, std::uint64_t* signal, std::uint64_t value,
                       int pe) { shmem_putmem_signal(target, source, bytes, signal, value, SHMEM_SIGNAL_SET, pe); };
  f.putmem_signal_nbi = [](void* target, const void* source, std::size_t bytes, std::uint64_t* signal,
                           std::uint64_t value, int pe) {
    shmem_putmem_signal_nbi(target, source, bytes, signal, value, SHMEM_SIGNAL_SET, pe);
  };
  f.signal_wait_until_at_least = [](std::uint64_t* signal, std::uint64_t value) -> std::uint64_t {
    return shmem_signal_wait_until(signal, SHMEM_CMP_GE, value);
  };
#endif
}

void add_atomics([[maybe_unused]] Functions& f) {
#if PLUMBLINE_SHMEM_ATOMIC_NBI
  f.fetch_add_nbi = [](std::uint64_t* old, std::uint64_t* word, std::uint64_t value, int pe) {
    shmem_uint64_atomic_fetch_add_nbi(old, word, value, pe);
  };
  f.fetch_xor_nbi = [](std::uint64_t* old, std::uint64_t* word, std::uint64_t value, int pe) {
    shmem_uint64_atomic_fetch_xor_nbi(old, word, value, pe);
  };
  f.swap_nbi = [](std::uint64_t* old, std::uint64_t* word, std::uint64_t value, int pe) {
    shmem_uint64_atomic_swap_nbi(old, word, value, pe);
  };
  f.compare_swap_nbi = [](std::uint64_t* old, std::uint64_t* word, std::uint64_t condition, std::uint64_t value,
                          int pe) { shmem_uint64_atomic_compare_swap_nbi(old, word, condition, value, pe); };
#endif
}

void add_waits([[maybe_unused]] Functions& f) {
#if PLUMBLINE_SHMEM_WAIT_MANY
  f.wait_until_all = [](std::uint64_t* words, std::size_t number, std::uint64_t value) {
    shmem_uint64_wait_until_all(words, number, nullptr, SHMEM_CMP_EQ, value);
  };
  f.wait_until_any = [](std::uint64_t* words, std::size_t number, std::uint64_t value) -> std::size_t {
    return shmem_uint64_wait_until_any(words, number, nullptr, SHMEM_CMP_EQ, value);
  };
#endif
#if PLUMBLINE_SHMEM_MALLOC_HINTS
  f.malloc_for_atomics = [](std::size_t bytes) { return shmem_malloc_with_hints(bytes, SHMEM_MALLOC_ATOMICS_REMOTE); };
#endif
}

}  // namespace

const Functions& functions() {
  static const Functions made = [] {
    Functions f;
    add_teams(f);
    add_signals(f);
    add_atomics(f);
    add_waits(f);
    return f;
  }();
  return made;
}

}  // namespace plumb::shmem_later
