// The symmetric heap: what it costs to have and to give back pieces of it.
#pragma once

#include "benchmarks/shmem/api/shmem_region.hpp"

namespace plumb::shmem_api {

// Pieces of the heap, as many as 16 MiB hold, 64 at most. Untimed: each is filled by the PE before this one.
class Pieces : public Pattern {
 public:
  enum class Part { have, give_back };
  using Allocate = void* (*)(std::size_t bytes);

  static Needs needs(const Setting& s);
  Pieces(Part part, Allocate allocate, const Setting& setting);
  ~Pieces() override { give_back(); }
  void reset(std::uint64_t repetition, std::uint64_t count) override;
  void run(std::uint64_t count) override;
  Validation validate(std::uint64_t repetition, std::uint64_t count) override;

 private:
  static std::uint64_t number(const Setting& s);
  void have();
  void give_back();

  Part part_;
  Allocate allocate_;
  Setting setting_;
  std::vector<void*> pieces_;
};

Row piece_row(std::string name, std::string set, Pieces::Part part, Pieces::Allocate allocate);

}  // namespace plumb::shmem_api
