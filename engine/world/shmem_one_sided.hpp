// One-sided memory over OpenSHMEM: the symmetric heap, with several communication contexts.
#pragma once

#include <vector>

#include "world/one_sided.hpp"
#include "world/shmem.hpp"

namespace plumb {

class ShmemOneSided final : public OneSided {
 public:
  // A single context is the library's default; several are serialized, one per thread.
  ShmemOneSided(World& world, std::size_t bytes, int contexts);
  ~ShmemOneSided() override;
  ShmemOneSided(const ShmemOneSided&) = delete;
  ShmemOneSided& operator=(const ShmemOneSided&) = delete;

  std::byte* local() const override { return memory_.data(); }
  std::size_t size() const override { return memory_.size(); }
  int contexts() const override { return static_cast<int>(contexts_.size()); }

  void put(int context, std::size_t offset, const void* from, std::size_t bytes, int rank) override {
    shmem_ctx_putmem(at(context), local() + offset, from, bytes, rank);
  }
  void put_nb(int context, std::size_t offset, const void* from, std::size_t bytes, int rank) override {
    shmem_ctx_putmem_nbi(at(context), local() + offset, from, bytes, rank);
  }
  void get(int context, void* to, std::size_t offset, std::size_t bytes, int rank) override {
    shmem_ctx_getmem(at(context), to, local() + offset, bytes, rank);
  }
  void put_word(int context, std::size_t word, std::uint64_t value, int rank) override {
    shmem_ctx_ulong_p(at(context), word_at(word), value, rank);
  }
  std::uint64_t get_word(int context, std::size_t word, int rank) override {
    return shmem_ctx_ulong_g(at(context), word_at(word), rank);
  }

  void atomic_xor(int context, std::size_t word, std::uint64_t value, int rank) override {
    shmem_ctx_ulong_atomic_xor(at(context), word_at(word), value, rank);
  }
  void atomic_or(int context, std::size_t word, std::uint64_t value, int rank) override {
    shmem_ctx_ulong_atomic_or(at(context), word_at(word), value, rank);
  }
  void atomic_add(int context, std::size_t word, std::uint64_t value, int rank) override {
    shmem_ctx_ulong_atomic_add(at(context), word_at(word), value, rank);
  }
  std::uint64_t fetch_xor(int context, std::size_t word, std::uint64_t value, int rank) override {
    if (fetches_bits_) return shmem_ctx_ulong_atomic_fetch_xor(at(context), word_at(word), value, rank);
    return change(context, word, rank, [value](std::uint64_t before) { return before ^ value; });
  }
  std::uint64_t fetch_or(int context, std::size_t word, std::uint64_t value, int rank) override {
    if (fetches_bits_) return shmem_ctx_ulong_atomic_fetch_or(at(context), word_at(word), value, rank);
    return change(context, word, rank, [value](std::uint64_t before) { return before | value; });
  }
  std::uint64_t fetch_add(int context, std::size_t word, std::uint64_t value, int rank) override {
    return shmem_ctx_ulong_atomic_fetch_add(at(context), word_at(word), value, rank);
  }
  std::uint64_t compare_swap(int context, std::size_t word, std::uint64_t expected, std::uint64_t value,
                             int rank) override {
    return shmem_ctx_ulong_atomic_compare_swap(at(context), word_at(word), expected, value, rank);
  }

  void quiet(int context) override { shmem_ctx_quiet(at(context)); }
  void notify(int context, std::size_t word, std::uint64_t value, int rank) override {
    shmem_ctx_fence(at(context));
    shmem_ctx_ulong_atomic_set(at(context), word_at(word), value, rank);
  }
  bool reached(std::size_t word, std::uint64_t value) override { return at_least(word_at(word), value); }
  void synchronise() override;

 private:
  shmem_ctx_t at(int context) const { return contexts_[static_cast<std::size_t>(context)]; }
  // By compare-and-swap; returns the value before.
  std::uint64_t change(int context, std::size_t word, int rank, auto changed) {
    std::uint64_t before = get_word(context, word, rank);
    for (;;) {
      const std::uint64_t found = compare_swap(context, word, before, changed(before), rank);
      if (found == before) return before;
      before = found;
    }
  }
  SymmetricWord* word_at(std::size_t word) const { return memory_.as<SymmetricWord>() + word; }

  World& world_;
  SymmetricMemory memory_;
  std::vector<shmem_ctx_t> contexts_;
  bool fetches_bits_;  // false for Open MPI 4.1, which stores a wrong value in fetching and, or, xor
};

}  // namespace plumb
