// Host memory for a copy of a table: not filled (a fill of tens of GiB takes its time), and on huge pages where the
// system gives them, because it is read and written at random.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "core/error.hpp"
#include "core/units.hpp"

namespace plumb::random_access {

class HostWords {
 public:
  HostWords() = default;
  explicit HostWords(std::uint64_t count) : count_(count) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    const std::size_t bytes = (count * sizeof(std::uint64_t) + huge_page - 1) / huge_page * huge_page;
    words_.reset(static_cast<std::uint64_t*>(std::aligned_alloc(huge_page, bytes)));
    if (!words_)
      throw Error(fmt::format("could not allocate {} of host memory: the system gave none", format_bytes(bytes)));
    madvise(words_.get(), bytes, MADV_HUGEPAGE);
  }
  std::span<std::uint64_t> all() const { return {words_.get(), count_}; }

 private:
  struct Free {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::uint64_t, Free> words_;
  std::uint64_t count_ = 0;
};

}  // namespace plumb::random_access
