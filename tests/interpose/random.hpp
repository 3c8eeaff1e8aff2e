// Random numbers, datatypes and places that all ranks choose alike.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plumb::stress {

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the same on every machine, and a copy goes on alike.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  // from low to high, both included
  int between(int low, int high) { return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1)); }
  bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

// A committed datatype, freed at the end where it is a derived one.
class Type {
 public:
  Type(MPI_Datatype handle, MPI_Datatype basic, bool derived) : handle_(handle), basic_(basic), derived_(derived) {}
  ~Type() {
    if (derived_) MPI_Type_free(&handle_);
  }
  Type(Type&& other) noexcept : handle_(other.handle_), basic_(other.basic_), derived_(other.derived_) {
    other.derived_ = false;
  }
  Type& operator=(Type&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(basic_, other.basic_);
    std::swap(derived_, other.derived_);
    return *this;
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;

  MPI_Datatype handle() const { return handle_; }
  // The basic type that it is made of, and how many of them; MPI_DATATYPE_NULL where there are several.
  MPI_Datatype basic() const { return basic_; }
  int basics() const;
  // Bytes from the address to the first and past the last byte of `count` elements.
  std::ptrdiff_t low(int count) const { return bounds(count).first; }
  std::ptrdiff_t high(int count) const { return bounds(count).second; }
  std::ptrdiff_t extent() const;

 private:
  std::pair<std::ptrdiff_t, std::ptrdiff_t> bounds(int count) const;

  MPI_Datatype handle_, basic_;
  bool derived_;
};

// MPICH, of which 4.0 does some operations wrong by itself (the places say which).
bool over_mpich();

Type random_type(Random& random);

}  // namespace plumb::stress
