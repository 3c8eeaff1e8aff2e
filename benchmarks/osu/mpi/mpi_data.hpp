// Messages of OSU's tests: datatypes and reductions, senders and receivers, places in memory, and expected
// contents. Every received byte has one right value, a function of its sender, its place and the
// repetition; reduced values are whole numbers, so small that the result is the same in any order of operations.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
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
  MPI_Datatype reduced = MPI_DATATYPE_NULL;  // in reductions, if another type of the same values replaces it
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
// The reason why MPI does not define this operation on this type, or "".
std::string refusal(const Operation& operation, const Type& type);

// A derived datatype of a message (-D): of each `period` elements some runs are transmitted, the rest are holes.
struct Layout {
  struct Run {
    std::size_t begin, length;
  };
  std::string kind = "";  // "cont", "vect", "indx"; "": messages are of elements
  std::size_t period = 1;
  std::vector<Run> runs = {{0, 1}};
  // cont, vect:STRIDE:BLOCK, indx:FILE (a line DISPLACEMENT,LENGTH for each run, at most 100), ""; throws UsageError.
  static Layout read(const std::string& text);
  Layout in_bytes(const Type& type) const;
  std::size_t sent_of(std::size_t length) const;  // of a message, in the layout's unit
};

// A message of so many bytes in a layout (in bytes), as one element of an MPI datatype.
class Derived {
 public:
  Derived(const Layout& layout, const Type& base, std::size_t bytes);
  ~Derived();
  Derived(const Derived&) = delete;
  Derived& operator=(const Derived&) = delete;
  Type type;
};

// How places of operations follow each other.
struct Sliding {
  std::size_t period = 1;    // of a layout with holes: steps are multiples of it
  std::uint64_t rotate = 0;  // bytes over which operations are spread in turn (-b rotate); 0: not
};

// Places of a sample's messages in a buffer, in bytes. Those of one operation (`window` of them) do not overlap. From
// operation to operation short messages follow each other; long ones slide, so that each leaves its first `stride`
// bytes, which no later one overwrites.
struct Places {
  std::size_t length = 0, stride = 0, pitch = 0;
  std::uint64_t window = 1, most = 1;  // messages of an operation; operations
  bool backwards = false;              // the first operation's messages are last: of sources
  std::uint64_t turns = 1;             // operations take turns among so many regions
  std::size_t region = 0;              // bytes from one to the next
  // Messages of at most `packed` bytes follow each other.
  static Places targets(std::size_t length, std::uint64_t window, std::uint64_t most, std::size_t packed,
                        const Sliding& how = {});
  static Places sources(std::size_t length, std::uint64_t window, std::uint64_t most, std::size_t packed,
                        const Sliding& how = {});
  static Places fixed(std::size_t length, std::uint64_t window);  // the same place in each operation

  // In timed loops: only operations that take turns divide, which is slow.
  std::size_t at(std::uint64_t operation, std::uint64_t slot = 0) const {
    const std::uint64_t step = turns == 1 ? operation : operation / turns;
    const std::uint64_t turn = turns == 1 ? 0 : operation % turns;
    return turn * region + slot * pitch + (backwards ? steps() - 1 - step : step) * stride;
  }
  // Bytes of the operation's message left after `count` operations.
  std::size_t left(std::uint64_t operation, std::uint64_t count) const {
    return operation + turns >= count || length < stride ? length : stride;
  }
  std::uint64_t steps() const { return turns == 1 ? most : (most + turns - 1) / turns; }  // operations in a region
  std::size_t room() const;  // including the guard behind the end

 private:
  void spread(const Sliding& how);
};

// A whole number as a value of the type.
void store_value(const Type& type, std::int64_t value, std::byte* to);

// Content of all ranks' source buffers in one repetition.
struct Contents {
  const Type* type = nullptr;
  const Operation* operation = nullptr;  // of a reduction: bytes are values of the type
  int ranks = 1;
  std::uint64_t seed = 1, repetition = 0;
  // Bytes [first, first + out.size()) sent by `rank`. Whole elements in reductions.
  void message(std::span<std::byte> out, int rank, std::size_t first) const;
  // The number of element `index` of a rank's values.
  std::int64_t value(int rank, std::size_t index) const;
  // The same, reduced over all ranks.
  void reduced(std::span<std::byte> out, std::size_t first) const;
};

// OSU's letter of a memory kind: H of the host; of the device D (its usual, or DDR), B (HBM), P (on the chip).
struct Where {
  char letter = 'H';
  std::string runtime = "opencl";
  std::string device = "";  // a number or a part of the name; "": the ranks of a host take the devices in turn
  bool touched = true;      // by a kernel before each operation
  Device* own = nullptr;    // the run's device, whose memory is used as such, without that library
};

// Memory of a rank: of the host, of a device for MPI through libplumb-mpi-device, or of the run's device itself.
class Area {
 public:
  Area() = default;
  // Throws Unsupported if there is no such memory.
  explicit Area(std::size_t size, const Where& where = {});
  ~Area();
  Area(Area&& other) noexcept { *this = std::move(other); }
  Area& operator=(Area&& other) noexcept;
  std::byte* at(std::size_t offset) const { return base_ + offset; }
  std::size_t size() const { return size_; }
  bool on_device() const { return device_; }
  // On a device: a kernel takes the buffer as argument, and counts that it ran.
  void touch() const;
  // Throws Error unless every kernel of touch() ran.
  void check_touches() const;
  void write(std::span<const std::byte> from) const;
  void read(std::span<std::byte> to) const;

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  bool device_ = false;  // base_ is an address of libplumb-mpi-device, invalid on the host
  bool touched_ = true;
  std::unique_ptr<Buffer> buffer_;  // of the run's device
  std::unique_ptr<Queue> queue_;
};

// Between addresses of the host or, if one is of an Area on a device, by its library.
void copy_bytes(void* to, const void* from, std::size_t size, bool by_library);

// The largest rate of copies between the host and the device of `where`, or of those within it, in B/s: measured once.
// 0 for H.
double copying_roof(const Where& where, bool within);

// Expected final content of a receive buffer, and the opposite as its initial content.
class Image {
 public:
  explicit Image(std::size_t size = 0) : should_(size), is_(size) {}
  std::size_t size() const { return should_.size(); }
  bool padded = false;  // the last six of each 16 bytes are undefined: computed values of long double
  // Resets: nothing is written anywhere.
  void clear(std::uint64_t key);
  // Declares that [offset, offset + length) will be written; returns the place for its content.
  std::span<std::byte> expect(std::size_t offset, std::size_t length);
  void poison(const Area& area);             // with bytes that differ from the expected ones
  void poison(std::span<std::byte> memory);  // of the host
  // A message of this length from `from`'s place `source`, at `target`, without its holes.
  void expect_message(const struct Contents& contents, int from, std::size_t source, std::size_t target,
                      std::size_t length, const Layout* layout);
  Validation compare(const Area& area, const char* reference);
  Validation compare(std::span<const std::byte> memory, const char* reference);

 private:
  void make_opposite();
  Validation judge(const char* reference);

  std::vector<std::byte> should_, is_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;
};

}  // namespace plumb::osu
