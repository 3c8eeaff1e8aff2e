// The world over OpenSHMEM (1.4 or later), and its interface for SHMEM transports and benchmarks. Uses the standard
// only: no direct load or store to another PE's memory.
#pragma once

#include <shmem.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "shmem_features.hpp"
#include "world/world.hpp"

namespace plumb {

// Symmetric words for the library's atomics and waits: the 64-bit type that every library supports.
using SymmetricWord = unsigned long;
static_assert(sizeof(SymmetricWord) == sizeof(std::uint64_t));

// Initialises OpenSHMEM; the destructor finalises it. Throws Error if threads are needed but not supported.
std::unique_ptr<World> make_shmem_world(int& argc, char**& argv, const WorldNeeds& needs);
// Library and standard, without initialisation (for --describe).
WorldInfo shmem_info();
// Duration of this PE's initialisation of OpenSHMEM; 0 before it.
double shmem_init_seconds();

// Zeroed memory at the same symmetric address on every PE. Creation and destruction are collective. Throws Error, with
// the size needed and the variable to set, if the symmetric heap is exhausted.
class SymmetricMemory {
 public:
  explicit SymmetricMemory(std::size_t bytes);
  ~SymmetricMemory();
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::size_t size_;
  std::byte* data_;
};

// Sets a word of another PE, ordered after this PE's earlier puts to it.
inline void set_after_puts(SymmetricWord* word, SymmetricWord value, int pe) {
  shmem_fence();
  shmem_ulong_atomic_set(word, value, pe);
}

// Whether the library's fetching xor works, tested on this PE's own word, which is 0 before and after.
bool shmem_fetches_bits(SymmetricWord* word);

// Whether this PE's word is at least `value`. Serves what other PEs ask of this one in every call that finds it is not.
bool at_least(SymmetricWord* word, SymmetricWord value);

// Body of polling loops: yields the core, and sleeps after many calls without success.
class Backoff {
 public:
  void wait();

 private:
  unsigned looks_ = 0;
};

// Waits until this PE's word is at least `value`, yielding the core. The caller must hold a Waiting.
void wait_at_least(SymmetricWord* word, SymmetricWord value);

}  // namespace plumb
