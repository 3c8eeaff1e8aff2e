// The limits that `ceilings` measures, one class each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "measure/benchmark.hpp"

namespace plumb::ceilings {

// How work is laid out on a device.
struct Layout {
  std::size_t items = 1;      // work items
  std::size_t group = 1;      // of them in a group
  bool interleaved = false;   // each takes every items-th word, not a run of its own
  unsigned vector_bytes = 8;  // that a work item handles at once
  bool streaming = false;     // stores that go past the caches

  // Numbers of so many bytes in a vector; OpenCL's have at most 16.
  std::size_t lanes(std::size_t bytes) const { return std::clamp<std::size_t>(vector_bytes / bytes, 1, 16); }
};

// The native functions' vectors: as wide as the widest registers, or several of these.
inline constexpr unsigned native_vector_bytes = 64;

Layout layout_of(const DeviceInfo& device);

// Independent chains of the arithmetic kernel in one work item: as many as a multiply-add takes cycles, times how many
// of them a core begins in a cycle (4 times 2).
inline constexpr std::size_t chains = 8;

// Where a case's size stands among its labels.
std::uint64_t bytes_of(const Case& measured);

// What a case times.
class Part {
 public:
  virtual ~Part() = default;
  // Where what one launch leaves depends on how many there were, nothing need be restored between repetitions: what is
  // left of an earlier one is wrong.
  virtual void reset() {}
  virtual void run(std::uint64_t count) = 0;
  virtual Validation validate() = 0;
};

std::unique_ptr<Part> make_arithmetic(Session& session, const Case& measured);
std::unique_ptr<Part> make_memory(Session& session, const Case& measured);
std::unique_ptr<Part> make_random(Session& session, const Case& measured);
std::unique_ptr<Part> make_launch(Session& session, const Case& measured);
std::unique_ptr<Part> make_link(Session& session, const Case& measured);

// The kernels of ceilings.cl under some options, and the same as functions for `native` (native.cpp).
KernelSource kernels(const std::string& options);
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels();

// Options that lay work out as `layout` says.
std::string layout_options(const Layout& layout);

// What is wrong among `count` items of which item i is is(i) and should be should_be(i). Uses all of this process's
// cores.
template <class Is, class ShouldBe>
Validation compare(std::uint64_t count, const std::string& reference, Is is, ShouldBe should_be) {
  std::uint64_t wrong = 0, first = count;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(min : first)
  for (std::uint64_t i = 0; i < count; ++i)
    if (is(i) != should_be(i)) {
      ++wrong;
      first = std::min(first, i);
    }
  Validation found;
  found.items_checked = count;
  found.wrong_items = wrong;
  found.error = static_cast<double>(wrong);
  found.reference = reference;
  if (wrong > 0) found.detail = fmt::format("item {} is {}, should be {}", first, is(first), should_be(first));
  return found;
}

// Words made on all of this process's cores.
template <class Make>
std::vector<std::uint64_t> made_words(std::uint64_t count, Make make) {
  std::vector<std::uint64_t> words(count);
#pragma omp parallel for schedule(static)
  for (std::uint64_t i = 0; i < count; ++i) words[i] = make(i);
  return words;
}

void put(Queue& queue, const std::vector<std::uint64_t>& words, Buffer& buffer);
std::vector<std::uint64_t> get(Queue& queue, Buffer& buffer);

}  // namespace plumb::ceilings
