// What the messages of OSU's tests are: datatypes and reductions, who sends what, where it lies, and what a rank should
// find. Every byte that a rank receives has one right value, which follows from its sender, its place and the
// repetition; values that are reduced are whole numbers, so small that every order of the operations gives the same.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/benchmark.hpp"

namespace plumb::osu {

// A predefined datatype, by MPI's name in small letters: "mpi_int".
struct Type {
  enum class Kind { integer, unsigned_integer, real, complex, logical, byte };
  std::string name;
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  std::size_t bytes = 1;
  Kind kind = Kind::integer;
  MPI_Datatype reduced = MPI_DATATYPE_NULL;  // in reductions, where another of the same values must stand for it
  bool is_whole() const { return kind == Kind::integer || kind == Kind::unsigned_integer; }
};
const std::vector<Type>& types();
const Type& type_called(const std::string& name);  // throws UsageError

// A predefined operation: "sum", "prod", "max", "min", "band", "bor", "bxor", "land", "lor", "lxor".
struct Operation {
  std::string name;
  MPI_Op handle = MPI_OP_NULL;
};
const Operation& operation_called(const std::string& name);  // throws UsageError
// Why MPI has not this operation on this type, or "".
std::string refusal(const Operation& operation, const Type& type);

// Where the messages of a sample lie in a buffer, in bytes. Those of one operation (`window` of them) lie apart. Of
// operation to operation short ones follow each other; long ones slide, so that each leaves its first `stride` bytes,
// which no later one overwrites.
struct Places {
  std::size_t length = 0, stride = 0, pitch = 0;
  std::uint64_t window = 1, most = 1;  // messages of an operation; operations
  bool backwards = false;              // the first operation's lie last: of sources
  // Messages of at most `packed` bytes follow each other.
  static Places targets(std::size_t length, std::uint64_t window, std::uint64_t most, std::size_t packed);
  static Places sources(std::size_t length, std::uint64_t window, std::uint64_t most, std::size_t packed);
  static Places fixed(std::size_t length, std::uint64_t window);  // the same place in each operation

  std::size_t at(std::uint64_t operation, std::uint64_t slot = 0) const {
    return slot * pitch + (backwards ? most - 1 - operation : operation) * stride;
  }
  // What the operation leaves of a message, of `count`.
  std::size_t left(std::uint64_t operation, std::uint64_t count) const {
    return operation + 1 == count || length < stride ? length : stride;
  }
  std::size_t room() const;  // with what nobody may write behind the end
};

// A whole number as a value of the type.
void store_value(const Type& type, std::int64_t value, std::byte* to);

// Content of all ranks' source buffers in one repetition.
struct Contents {
  const Type* type = nullptr;
  const Operation* operation = nullptr;  // of a reduction: bytes are values of the type
  int ranks = 1;
  std::uint64_t seed = 1, repetition = 0;
  // Bytes [first, first + out.size()) of what `rank` sends. Whole elements in reductions.
  void message(std::span<std::byte> out, int rank, std::size_t first) const;
  // The number that stands for element `index` of a rank's values.
  std::int64_t value(int rank, std::size_t index) const;
  // The same of all ranks' reduced.
  void reduced(std::span<std::byte> out, std::size_t first) const;
};

// OSU's letter for a kind of memory: H of the host; of the device D (its usual, or DDR), B (HBM), P (on the chip).
struct Where {
  char letter = 'H';
  std::string runtime = "opencl";
};

// Memory of a rank that MPI reads or writes: of the host, or of a device through libplumb-mpi-device.
class Area {
 public:
  Area() = default;
  // Throws Unsupported where there is no such memory.
  explicit Area(std::size_t size, const Where& where = {});
  ~Area();
  Area(Area&& other) noexcept { *this = std::move(other); }
  Area& operator=(Area&& other) noexcept;
  std::byte* at(std::size_t offset) const { return base_ + offset; }
  std::size_t size() const { return size_; }
  bool on_device() const { return device_; }
  void write(std::span<const std::byte> from) const;
  void read(std::span<std::byte> to) const;

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  bool device_ = false;  // base_ is an address of libplumb-mpi-device, which the host cannot follow
};

// What a received buffer should hold in the end, and its opposite until then.
class Image {
 public:
  explicit Image(std::size_t size = 0) : should_(size), is_(size) {}
  std::size_t size() const { return should_.size(); }
  bool padded = false;  // of each 16 bytes the last six mean nothing: computed values of long double
  // Begins anew: nothing is written anywhere.
  void clear(std::uint64_t key);
  // [offset, offset + length) will be written: returns where to say with what.
  std::span<std::byte> expect(std::size_t offset, std::size_t length);
  void poison(const Area& area);             // as nothing that is expected
  void poison(std::span<std::byte> memory);  // of the host
  Validation compare(const Area& area, const char* reference);
  Validation compare(std::span<const std::byte> memory, const char* reference);

 private:
  void make_opposite();
  Validation judge(const char* reference);

  std::vector<std::byte> should_, is_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;
};

}  // namespace plumb::osu
