// One-sided memory over MPI-3: a window locked by every rank for all, permanently; operations are completed by flushes
// (unified memory model).
#pragma once

#include <array>
#include <atomic>
#include <climits>
#include <vector>

#include "world/mpi.hpp"
#include "world/one_sided.hpp"

namespace plumb {

class MpiOneSided final : public OneSided {
 public:
  MpiOneSided(World& world, std::size_t bytes, int contexts);
  ~MpiOneSided() override;
  MpiOneSided(const MpiOneSided&) = delete;
  MpiOneSided& operator=(const MpiOneSided&) = delete;

  std::byte* local() const override { return memory_; }
  std::size_t size() const override { return size_; }
  int contexts() const override { return static_cast<int>(values_.size()); }

  void put(int context, std::size_t offset, const void* from, std::size_t bytes, int rank) override {
    put_nb(context, offset, from, bytes, rank);
    checked(MPI_Win_flush_local(rank, window_), "complete a put here");
  }
  void put_nb(int, std::size_t offset, const void* from, std::size_t bytes, int rank) override {
    const int length = checked_length(bytes);
    checked(MPI_Put(from, length, MPI_BYTE, rank, static_cast<MPI_Aint>(offset), length, MPI_BYTE, window_), "put");
  }
  void get(int, void* to, std::size_t offset, std::size_t bytes, int rank) override {
    const int length = checked_length(bytes);
    checked(MPI_Get(to, length, MPI_BYTE, rank, static_cast<MPI_Aint>(offset), length, MPI_BYTE, window_), "get");
    checked(MPI_Win_flush(rank, window_), "complete a get");
  }
  void put_word(int, std::size_t word, std::uint64_t value, int rank) override {
    checked(MPI_Put(&value, 1, MPI_UINT64_T, rank, displacement(word), 1, MPI_UINT64_T, window_), "put");
    checked(MPI_Win_flush_local(rank, window_), "complete a put here");
  }
  std::uint64_t get_word(int, std::size_t word, int rank) override {
    std::uint64_t value = 0;
    checked(MPI_Get(&value, 1, MPI_UINT64_T, rank, displacement(word), 1, MPI_UINT64_T, window_), "get");
    checked(MPI_Win_flush(rank, window_), "complete a get");
    return value;
  }

  void atomic_xor(int context, std::size_t word, std::uint64_t value, int rank) override {
    accumulate(context, word, value, rank, MPI_BXOR);
  }
  void atomic_or(int context, std::size_t word, std::uint64_t value, int rank) override {
    accumulate(context, word, value, rank, MPI_BOR);
  }
  void atomic_add(int context, std::size_t word, std::uint64_t value, int rank) override {
    accumulate(context, word, value, rank, MPI_SUM);
  }
  std::uint64_t fetch_xor(int, std::size_t word, std::uint64_t value, int rank) override {
    return fetch(word, value, rank, MPI_BXOR);
  }
  std::uint64_t fetch_or(int, std::size_t word, std::uint64_t value, int rank) override {
    return fetch(word, value, rank, MPI_BOR);
  }
  std::uint64_t fetch_add(int, std::size_t word, std::uint64_t value, int rank) override {
    return fetch(word, value, rank, MPI_SUM);
  }
  std::uint64_t compare_swap(int, std::size_t word, std::uint64_t expected, std::uint64_t value, int rank) override {
    std::uint64_t before = 0;
    checked(MPI_Compare_and_swap(&value, &expected, &before, MPI_UINT64_T, rank, displacement(word), window_),
            "compare and swap");
    checked(MPI_Win_flush(rank, window_), "complete a compare-and-swap");
    return before;
  }

  void quiet(int) override { checked(MPI_Win_flush_all(window_), "complete all operations"); }
  void notify(int context, std::size_t word, std::uint64_t value, int rank) override {
    checked(MPI_Win_flush(rank, window_), "complete puts");
    accumulate(context, word, value, rank, MPI_REPLACE);
    checked(MPI_Win_flush(rank, window_), "complete a notification");
  }
  bool reached(std::size_t word, std::uint64_t value) override {
    MPI_Win_sync(window_);
    if (std::atomic_ref(words()[word]).load(std::memory_order_acquire) >= value) return true;
    move_on();
    return false;
  }
  void synchronise() override;

 private:
  // Operands must persist until completion: limit of accumulations in progress per context.
  static constexpr std::size_t under_way = 1024;
  struct Values {
    std::array<std::uint64_t, under_way> values{};
    std::size_t next = 0;
  };

  static void checked(int code, const char* action) {
    if (code != MPI_SUCCESS) [[unlikely]]
      check_mpi(code, action);
  }
  static int checked_length(std::size_t bytes) {
    if (bytes > INT_MAX) throw Unsupported("one MPI message holds at most 2 GiB");
    return static_cast<int>(bytes);
  }
  static MPI_Aint displacement(std::size_t word) { return static_cast<MPI_Aint>(word * sizeof(std::uint64_t)); }

  void accumulate(int context, std::size_t word, std::uint64_t value, int rank, MPI_Op operation) {
    Values& own = values_[static_cast<std::size_t>(context)];
    if (own.next == under_way) {
      own.next = 0;
      checked(MPI_Win_flush_local_all(window_), "complete accumulations here");
    }
    std::uint64_t& kept = own.values[own.next++];
    kept = value;
    checked(MPI_Accumulate(&kept, 1, MPI_UINT64_T, rank, displacement(word), 1, MPI_UINT64_T, operation, window_),
            "accumulate");
  }
  std::uint64_t fetch(std::size_t word, std::uint64_t value, int rank, MPI_Op operation) {
    std::uint64_t before = 0;
    checked(MPI_Fetch_and_op(&value, &before, MPI_UINT64_T, rank, displacement(word), operation, window_),
            "fetch and change");
    checked(MPI_Win_flush(rank, window_), "complete a fetch");
    return before;
  }
  void move_on();  // a call that lets the library progress other ranks' operations

  World& world_;
  std::size_t size_;
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<Values> values_;
};

}  // namespace plumb
