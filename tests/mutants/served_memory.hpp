// One-sided memory that another one serves, with operations made wrong on purpose.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "world/one_sided.hpp"

namespace plumb::mutants {

// Memory served by another one unchanged; mutants override its functions.
class ServedMemory : public OneSided {
 public:
  explicit ServedMemory(std::unique_ptr<OneSided> right) : right_(std::move(right)) {}
  std::byte* local() const override { return right_->local(); }
  std::size_t size() const override { return right_->size(); }
  int contexts() const override { return right_->contexts(); }
  void put(int c, std::size_t at, const void* from, std::size_t bytes, int rank) override {
    right_->put(c, at, from, bytes, rank);
  }
  void put_nb(int c, std::size_t at, const void* from, std::size_t bytes, int rank) override {
    right_->put_nb(c, at, from, bytes, rank);
  }
  void get(int c, void* to, std::size_t at, std::size_t bytes, int rank) override {
    right_->get(c, to, at, bytes, rank);
  }
  void put_word(int c, std::size_t word, std::uint64_t value, int rank) override {
    right_->put_word(c, word, value, rank);
  }
  std::uint64_t get_word(int c, std::size_t word, int rank) override { return right_->get_word(c, word, rank); }
  void atomic_xor(int c, std::size_t word, std::uint64_t value, int rank) override {
    right_->atomic_xor(c, word, value, rank);
  }
  void atomic_or(int c, std::size_t word, std::uint64_t value, int rank) override {
    right_->atomic_or(c, word, value, rank);
  }
  void atomic_add(int c, std::size_t word, std::uint64_t value, int rank) override {
    right_->atomic_add(c, word, value, rank);
  }
  std::uint64_t fetch_xor(int c, std::size_t word, std::uint64_t value, int rank) override {
    return right_->fetch_xor(c, word, value, rank);
  }
  std::uint64_t fetch_or(int c, std::size_t word, std::uint64_t value, int rank) override {
    return right_->fetch_or(c, word, value, rank);
  }
  std::uint64_t fetch_add(int c, std::size_t word, std::uint64_t value, int rank) override {
    return right_->fetch_add(c, word, value, rank);
  }
  std::uint64_t compare_swap(int c, std::size_t word, std::uint64_t expected, std::uint64_t value, int rank) override {
    return right_->compare_swap(c, word, expected, value, rank);
  }
  void quiet(int c) override { right_->quiet(c); }
  void notify(int c, std::size_t word, std::uint64_t value, int rank) override { right_->notify(c, word, value, rank); }
  bool reached(std::size_t word, std::uint64_t value) override { return right_->reached(word, value); }
  void synchronise() override { right_->synchronise(); }

 private:
  std::unique_ptr<OneSided> right_;
};

// Words are put at quiet(), as the standard allows.
class LateWords : public ServedMemory {
 public:
  using ServedMemory::ServedMemory;
  void put_word(int, std::size_t word, std::uint64_t value, int rank) override { late_.push_back({word, value, rank}); }
  void quiet(int c) override {
    for (const Put& put : late_) ServedMemory::put_word(c, put.word, put.value, put.rank);
    late_.clear();
    ServedMemory::quiet(c);
  }

 private:
  struct Put {
    std::size_t word;
    std::uint64_t value;
    int rank;
  };
  std::vector<Put> late_;
};

}  // namespace plumb::mutants
