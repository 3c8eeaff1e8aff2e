// The world over OpenSHMEM (1.4 or later), and what its own transports and benchmarks need of it. Of the standard
// alone: no direct load or store to another PE's memory is assumed.
#pragma once

#include <shmem.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "shmem_features.hpp"
#include "world/world.hpp"

namespace plumb {

// Symmetric words, as the library's atomics and waits take them: of the types that every library has, the one of 64
// bits.
using SymmetricWord = unsigned long;
static_assert(sizeof(SymmetricWord) == sizeof(std::uint64_t));

// Initialises OpenSHMEM; the destructor finalises it. Throws Error where threads are needed and the library has none.
std::unique_ptr<World> make_shmem_world(int& argc, char**& argv, const WorldNeeds& needs);
// Library and standard without initialising (for --describe).
WorldInfo shmem_info();
// How long this PE took to initialise OpenSHMEM; 0 before it has.
double shmem_init_seconds();

// Zeroed memory at the same symmetric address on every PE. Making and ending it is collective. Throws Error, with what
// is needed and the variable to set, where the symmetric heap has too little.
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

// Sets a word of another PE, after all that this PE has put there before.
inline void set_after_puts(SymmetricWord* word, SymmetricWord value, int pe) {
  shmem_fence();
  shmem_ulong_atomic_set(word, value, pe);
}

// Whether the library's fetching xor does what it should, tried on this PE's own word, which is 0 before and after.
bool shmem_fetches_bits(SymmetricWord* word);

// What a loop does that finds nothing: lets other processes have the core, and sleeps when that has not helped for
// long.
class Backoff {
 public:
  void wait();

 private:
  unsigned looks_ = 0;
};

// Waits until this PE's word is at least `value`, letting other processes have the core. Within a Waiting of the
// caller.
void wait_at_least(SymmetricWord* word, SymmetricWord value);

}  // namespace plumb
