// Functions of OpenSHMEM 1.5, null if the library lacks them (shmem_features.hpp). All act on all PEs (the world team)
// or on 64-bit words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumb::shmem_later {

struct Functions {
  // Teams. Elements of the named types; mem: bytes. Return 0 on success.
  int (*team_sync)() = nullptr;
  int (*broadcastmem)(void* target, const void* source, std::size_t bytes, int root) = nullptr;
  int (*collectmem)(void* target, const void* source, std::size_t bytes) = nullptr;
  int (*fcollectmem)(void* target, const void* source, std::size_t bytes) = nullptr;
  int (*alltoallmem)(void* target, const void* source, std::size_t bytes) = nullptr;
  int (*int_sum_reduce)(int* target, const int* source, std::size_t elements) = nullptr;
  int (*long_sum_reduce)(long* target, const long* source, std::size_t elements) = nullptr;
  int (*long_max_reduce)(long* target, const long* source, std::size_t elements) = nullptr;
  int (*double_sum_reduce)(double* target, const double* source, std::size_t elements) = nullptr;
  int (*double_max_reduce)(double* target, const double* source, std::size_t elements) = nullptr;

  // Signals: puts that set a word afterwards, and waits for it.
  void (*putmem_signal)(void* target, const void* source, std::size_t bytes, std::uint64_t* signal, std::uint64_t value,
                        int pe) = nullptr;
  void (*putmem_signal_nbi)(void* target, const void* source, std::size_t bytes, std::uint64_t* signal,
                            std::uint64_t value, int pe) = nullptr;
  std::uint64_t (*signal_wait_until_at_least)(std::uint64_t* signal, std::uint64_t value) = nullptr;

  // Non-blocking atomics: the old value is valid after shmem_quiet.
  void (*fetch_add_nbi)(std::uint64_t* old, std::uint64_t* word, std::uint64_t value, int pe) = nullptr;
  void (*fetch_xor_nbi)(std::uint64_t* old, std::uint64_t* word, std::uint64_t value, int pe) = nullptr;
  void (*swap_nbi)(std::uint64_t* old, std::uint64_t* word, std::uint64_t value, int pe) = nullptr;
  void (*compare_swap_nbi)(std::uint64_t* old, std::uint64_t* word, std::uint64_t condition, std::uint64_t value,
                           int pe) = nullptr;

  // Wait until all, or any, of several words satisfy a comparison.
  void (*wait_until_all)(std::uint64_t* words, std::size_t number, std::uint64_t value) = nullptr;
  std::size_t (*wait_until_any)(std::uint64_t* words, std::size_t number, std::uint64_t value) = nullptr;

  void* (*malloc_for_atomics)(std::size_t bytes) = nullptr;
};

const Functions& functions();

}  // namespace plumb::shmem_later
