// Memory of every rank that others reach without its help, over OpenSHMEM or windows of MPI-3 alike. Loops that live on
// one operation are templates over the world's own class (world/shmem_one_sided.hpp, world/mpi_one_sided.hpp), whose
// operations are inlined; all else goes through this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/registry.hpp"
#include "world/world.hpp"

namespace plumb {

// `offset` and `bytes` are in bytes, `word` counts words of 8 B; both from the beginning of a rank's memory. A context
// is used by one thread at a time; what is issued in it is completed by its own quiet().
class OneSided {
 public:
  virtual ~OneSided() = default;
  virtual std::byte* local() const = 0;  // this rank's own memory
  virtual std::size_t size() const = 0;  // bytes of each rank
  virtual int contexts() const = 0;
  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(local()); }

  // On return `from` may be used again; the bytes are there after quiet().
  virtual void put(int context, std::size_t offset, const void* from, std::size_t bytes, int rank) = 0;
  // `from` stays as it is until quiet().
  virtual void put_nb(int context, std::size_t offset, const void* from, std::size_t bytes, int rank) = 0;
  virtual void get(int context, void* to, std::size_t offset, std::size_t bytes, int rank) = 0;  // complete on return
  virtual void put_word(int context, std::size_t word, std::uint64_t value, int rank) = 0;       // as put
  virtual std::uint64_t get_word(int context, std::size_t word, int rank) = 0;

  // Atomics. On one word only the same operation may be under way at a time, from whichever ranks: or with fetch_or,
  // xor with fetch_xor, add with fetch_add, compare_swap with itself; then they are atomic with each other. That is
  // what MPI promises (info key accumulate_ops, by default same_op_no_op); OpenSHMEM promises it of all atomics on
  // words of one type. Between different operations on a word lies synchronise(), or a message to whoever comes next
  // after they are done. Neither promises anything of an atomic beside a put or get of the same word. Done after
  // quiet().
  virtual void atomic_xor(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual void atomic_or(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual void atomic_add(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  // What was there before; complete on return.
  virtual std::uint64_t fetch_xor(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual std::uint64_t fetch_or(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual std::uint64_t fetch_add(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  virtual std::uint64_t compare_swap(int context, std::size_t word, std::uint64_t expected, std::uint64_t value,
                                     int rank) = 0;

  // All that was issued in the context is done where it was aimed at.
  virtual void quiet(int context) = 0;
  // Sets a word once all puts of this context to that rank are there: for reached() on that rank. Nothing else acts on
  // such a word, and one rank alone notifies it.
  virtual void notify(int context, std::size_t word, std::uint64_t value, int rank) = 0;
  // Whether this rank's own word, which others notify, is at least so much; then what was put before is there. Never
  // waits, and lets the library move on.
  virtual bool reached(std::size_t word, std::uint64_t value) = 0;
  // Collective: whatever any rank issued is done, and each rank's own loads see it.
  virtual void synchronise() = 0;
};

// Zeroed memory of `bytes` on each rank, with so many contexts. Collective, as is its end. Throws Unsupported in a
// world that has none, Error where there is too little memory.
std::unique_ptr<OneSided> make_one_sided(World& world, std::size_t bytes, int contexts);

using OneSidedFactory = std::function<std::unique_ptr<OneSided>(World&, std::size_t, int)>;
using RegisteredOneSided = Registered<OneSidedFactory>;  // by the world's kind

}  // namespace plumb
