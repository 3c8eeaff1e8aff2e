// The limits measured by `ceilings`, one class each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/data.hpp"
#include "core/scalar.hpp"
#include "measure/benchmark.hpp"
#include "measure/slide.hpp"

namespace plumb::ceilings {

// Distribution of work on a device.
struct Layout {
  std::size_t items = 1;      // work items
  std::size_t group = 1;      // work items per group
  bool interleaved = false;   // work items take every items-th word instead of a contiguous range
  unsigned vector_bytes = 8;  // handled by a work item at a time
  bool by_core = false;       // CPU whose compiler supports non-temporal stores and prefetching

  // Numbers of that size in a vector; OpenCL's have at most 16.
  std::size_t lanes(std::size_t bytes) const { return std::clamp<std::size_t>(vector_bytes / bytes, 1, 16); }
};

// The native functions' vectors: as wide as the widest registers, or a multiple.
inline constexpr unsigned native_vector_bytes = 64;

Layout layout_of(const DeviceInfo& device);

// Independent chains of the arithmetic kernel per work item: latency of a multiply-add in cycles times multiply-adds
// started per cycle (4 times 2).
inline constexpr std::size_t chains = 8;

// Timed operation of a case.
struct Point {
  std::string limit, operation;  // as in the case's key: "memory", "copy"
  std::uint64_t bytes = 0;       // of an array, a table or a copy
  std::string type = {};         // of flops: half, float, tf32 or double
  bool matrix = false;           // of flops: by matrix units
};

// Timed part of a case.
class Part {
 public:
  virtual ~Part() = default;
  // Before `count` operations. If results depend on the number of launches, nothing is restored between repetitions:
  // old results are wrong.
  virtual void reset(std::uint64_t) {}
  virtual void run(std::uint64_t count) = 0;
  virtual Validation validate(std::uint64_t count) = 0;  // of operations
};

std::unique_ptr<Part> make_arithmetic(Session& session, const Case& measured);
std::unique_ptr<Part> make_memory(Session& session, const Case& measured);
std::unique_ptr<Part> make_random(Session& session, const Case& measured);
std::unique_ptr<Part> make_launch(Session& session, const Case& measured);
std::unique_ptr<Part> make_link(Session& session, const Case& measured);

// The kernels of ceilings.cl under given options, and the same as functions for `native` (native.cpp).
KernelSource kernels(const std::string& options);
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels();

// Options for a distribution of work.
std::string layout_options(const Layout& layout);

// Options for the kernels of memory and of arithmetic, which are one program if the type is float: each takes a
// compiler tens of milliseconds, even if it has been compiled before.
std::string streaming_options(const Layout& layout, ScalarType numbers = ScalarType::f32);

// The type of a kernel's arguments, which are never half.
const char* number_of(ScalarType type);

// For products by matrix units: `type` is half, tf32 or double, `generation` that of the PTX instructions.
std::string products_options(const std::string& type, int generation);
inline constexpr int matrix_generations[]{90, 80};  // newest first

// Results of comparing items.
class Findings {
 public:
  explicit Findings(std::string reference) { found_.reference = std::move(reference); }

  // Compares items first to first + count - 1, is(i) with should_be(i), on all of this process's cores.
  template <class Is, class ShouldBe>
  void compare(std::uint64_t first, std::uint64_t count, Is is, ShouldBe should_be) {
    std::uint64_t wrong = 0, first_wrong = first + count;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(min : first_wrong)
    for (std::uint64_t i = first; i < first + count; ++i)
      if (is(i) != should_be(i)) {
        ++wrong;
        first_wrong = std::min(first_wrong, i);
      }
    found_.items_checked += count;
    found_.wrong_items += wrong;
    found_.error = static_cast<double>(found_.wrong_items);
    if (wrong > 0 && found_.detail.empty())
      found_.detail = fmt::format("item {} is {}, should be {}", first_wrong, is(first_wrong), should_be(first_wrong));
  }

  // Compares the remaining results, of `length` bytes each, of `count` operations that slide, in items of `item` bytes:
  // item i of the destination is is(i), item i of the operation followed by `later` others should be
  // should_be(later)(i). The remainder of each operation before the last counts as one item. fetch(begin, size) is
  // called before the items of these bytes, of which there are at most `most`.
  template <class Fetch, class Is, class ShouldBe>
  void compare_left(const Slide& slide, std::size_t length, std::size_t item_bytes, std::uint64_t count,
                    std::size_t most, Fetch fetch, Is is, ShouldBe should_be) {
    const auto compare_rest = [&](const Slide::Rest& rest) {
      const std::uint64_t first = slide.target(rest.later) / item_bytes;
      const auto item = should_be(rest.later);
      const std::size_t end = rest.begin + rest.size;
      for (std::size_t begin = rest.begin; begin < end; begin += most) {
        const std::size_t size = std::min(most, end - begin);
        fetch(begin, size);
        compare(begin / item_bytes, size / item_bytes, is, [&](std::uint64_t i) { return item(i - first); });
      }
      if (rest.later > 0) found_.items_checked -= rest.size / item_bytes - 1;
    };
    slide.each_run(length, count, slide.target_room(length), compare_rest, [](std::size_t, std::size_t) {});
  }

  const Validation& all() const {
    return found_;
  }

 private:
  Validation found_;
};

inline constexpr std::uint64_t staging_bytes = std::uint64_t{8} << 20;

// Words in transit between the host and a device buffer, a piece at a time, so long arrays need no copy on the host.
class Words {
 public:
  Words(Device& device, Queue& queue, std::uint64_t most)
      : queue_(queue), piece_(allocate_host(device, std::min(most * sizeof(std::uint64_t), staging_bytes))) {}

  // Writes make(i) to word i of `to`.
  template <class Make>
  void put(Buffer& to, Make make) {
    each_piece(to, [&](const BufferView& view, std::uint64_t first, std::uint64_t count) {
#pragma omp parallel for schedule(static)
      for (std::uint64_t i = 0; i < count; ++i) data()[i] = make(first + i);
      queue_.write(piece_->host_pointer(), view);
    });
  }

  // Compares word i of `from` with should_be(i).
  template <class ShouldBe>
  Validation check(Buffer& from, const std::string& reference, ShouldBe should_be) {
    Findings findings(reference);
    each_piece(from, [&](const BufferView& view, std::uint64_t first, std::uint64_t count) {
      queue_.read(view, piece_->host_pointer());
      findings.compare(
          first, count, [&](std::uint64_t i) { return data()[i - first]; }, should_be);
    });
    return findings.all();
  }

  // Words left by operations that slide, with results of `length` bytes (see Findings::compare_left).
  template <class ShouldBe>
  Validation check_left(Buffer& from, const Slide& slide, std::size_t length, std::uint64_t count,
                        const std::string& reference, ShouldBe should_be) {
    Findings findings(reference);
    std::uint64_t first = 0;
    const auto fetch = [&](std::size_t begin, std::size_t size) {
      std::fill_n(piece_->host_pointer(), size, poison_byte);
      queue_.read({&from, begin, size}, piece_->host_pointer());
      first = begin / sizeof(std::uint64_t);
    };
    findings.compare_left(
        slide, length, sizeof(std::uint64_t), count, piece_->size(), fetch,
        [&](std::uint64_t i) { return data()[i - first]; }, should_be);
    return findings.all();
  }

 private:
  std::uint64_t* data() const {
    return reinterpret_cast<std::uint64_t*>(piece_->host_pointer());
  }

  template <class Use>
  void each_piece(Buffer& buffer, Use use) {
    const std::uint64_t words = buffer.size() / sizeof(std::uint64_t);
    const std::uint64_t most = piece_->size() / sizeof(std::uint64_t);
    for (std::uint64_t first = 0; first < words; first += most) {
      const std::uint64_t count = std::min(most, words - first);
      use({&buffer, first * sizeof(std::uint64_t), count * sizeof(std::uint64_t)}, first, count);
    }
  }

  Queue& queue_;
  std::unique_ptr<Buffer> piece_;
};

}  // namespace plumb::ceilings
