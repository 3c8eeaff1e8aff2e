// The symmetric heap: cost of allocation and deallocation.
#pragma once

#include "benchmarks/shmem/api/shmem_region.hpp"

namespace plumb::shmem_api {

// Pieces of the heap, up to 16 MiB in total and at most 64. Untimed: each is filled by the previous PE.
class Pieces : public Pattern {
 public:
  enum class Action { have, give_back };
  using Allocate = void* (*)(std::size_t bytes);

  static Needs needs(const Setting& s);
  Pieces(Action part, Allocate allocate, const Setting& setting);
  ~Pieces() override { give_back(); }
  void reset(std::uint64_t repetition, std::uint64_t count) override;
  void run(std::uint64_t count) override;
  Validation validate(std::uint64_t repetition, std::uint64_t count) override;

 private:
  static std::uint64_t number(const Setting& s);
  void have();
  void give_back();

  Action part_;
  Allocate allocate_;
  Setting setting_;
  std::vector<void*> pieces_;
};

Row piece_row(std::string name, std::string set, Pieces::Action part, Pieces::Allocate allocate);

}  // namespace plumb::shmem_api
