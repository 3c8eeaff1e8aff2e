// Memory accessible to other ranks without its owner's help, over OpenSHMEM or MPI-3 windows. Loops bound by single
// operations are templates over the world's class (world/shmem_one_sided.hpp, world/mpi_one_sided.hpp), whose
// operations are inlined; other code uses this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/registry.hpp"
#include "world/world.hpp"

namespace plumb {

// `offset` and `bytes` are in bytes, `word` counts words of 8 B, from the beginning of a rank's memory. A context is
// used by one thread at a time; quiet() completes its operations.
class OneSided {
 public:
  virtual ~OneSided() = default;
  virtual std::byte* local() const = 0;  // this rank's own memory
  virtual std::size_t size() const = 0;  // bytes per rank
  virtual int contexts() const = 0;
  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(local()); }

  // On return `from` may be reused; the bytes arrive by quiet().
  virtual void put(int context, std::size_t offset, const void* from, std::size_t bytes, int rank) = 0;
  // `from` must not change before quiet().
  virtual void put_nb(int context, std::size_t offset, const void* from, std::size_t bytes, int rank) = 0;
  virtual void get(int context, void* to, std::size_t offset, std::size_t bytes, int rank) = 0;  // complete on return
  virtual void put_word(int context, std::size_t word, std::uint64_t value, int rank) = 0;       // as put
  virtual std::uint64_t get_word(int context, std::size_t word, int rank) = 0;

  // Atomics. Concurrent operations on one word, from any ranks, must be of the same kind (or with fetch_or, xor
  // with fetch_xor, add with fetch_add, compare_swap with itself) to be atomic with each other, as MPI guarantees (info
  // key accumulate_ops, default same_op_no_op); OpenSHMEM guarantees it for all atomics on words of one type. Different
  // operations on a word must be separated by synchronise(), or by a message sent after their completion. Atomics are
  // not ordered with puts or gets of the same word. Complete after quiet().
  virtual void atomic_xor(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual void atomic_or(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual void atomic_add(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  // Returns the old value; complete on return.
  virtual std::uint64_t fetch_xor(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual std::uint64_t fetch_or(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual std::uint64_t fetch_add(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual std::uint64_t compare_swap(int context, std::size_t word, std::uint64_t expected, std::uint64_t value,
                                     int rank) = 0;

  // Completes all operations of the context at their targets.
  virtual void quiet(int context) = 0;
  // Sets a word after all puts of this context to that rank have arrived: for reached() on that rank. No other
  // operation uses such a word, and only one rank notifies it.
  virtual void notify(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  // Returns whether this rank's own, notified word is at least `value`; then the preceding puts have arrived. Never
  // waits; lets the library make progress.
  virtual bool reached(std::size_t word, std::uint64_t value) = 0;
  // Collective: all operations of all ranks are complete and visible to loads.
  virtual void synchronise() = 0;
};

// Zeroed memory of `bytes` on each rank, with `contexts` contexts. Creation and destruction are collective. Throws
// Unsupported in worlds without it, Error if memory is exhausted.
std::unique_ptr<OneSided> make_one_sided(World& world, std::size_t bytes, int contexts);

using OneSidedFactory = std::function<std::unique_ptr<OneSided>(World&, std::size_t, int)>;
using RegisteredOneSided = Registered<OneSidedFactory>;  // by kind of world

}  // namespace plumb
