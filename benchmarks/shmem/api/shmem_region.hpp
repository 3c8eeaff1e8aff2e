// Memory accessible to other PEs: in the symmetric heap, or in the program's global variables.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <vector>

#include "benchmarks/shmem/api/row.hpp"
#include "world/shmem.hpp"

namespace plumb::shmem_api {

inline constexpr std::size_t global_bytes = std::size_t{16} << 20;

// Zeroed; construction and destruction are collective. Throws Unsupported if global memory is too small.
class Region {
 public:
  Region(std::size_t bytes, bool global);
  std::byte* data() const { return heap_ ? heap_->data() : global_; }

 private:
  std::unique_ptr<SymmetricMemory> heap_;
  std::byte* global_ = nullptr;
};

// Contiguous arrays in a region, each aligned to a cache line.
class Layout {
 public:
  // Returns the offset of an array of that many bytes.
  std::size_t add(std::size_t bytes) {
    const std::size_t offset = end_;
    end_ += (bytes + 127) / 128 * 128;
    return offset;
  }
  std::size_t bytes() const { return end_; }

 private:
  std::size_t end_ = 0;
};

template <class T>
std::span<T> array_in(const Region& region, std::size_t offset, std::size_t elements) {
  return {reinterpret_cast<T*>(region.data() + offset), elements};
}

// A context for each thread; throws Unsupported if the library has too few.
class Contexts {
 public:
  explicit Contexts(int number);
  ~Contexts();
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  shmem_ctx_t operator[](int thread) const { return contexts_[static_cast<std::size_t>(thread)]; }

 private:
  std::vector<shmem_ctx_t> contexts_;
};

// A call of an API function: plain, or with a context.
struct Plain {
  explicit Plain(shmem_ctx_t) {}
  auto call(auto function, auto... arguments) const { return function(arguments...); }
};
struct InContext {
  explicit InContext(shmem_ctx_t made) : context(made) {}
  auto call(auto function, auto... arguments) const { return function(context, arguments...); }
  shmem_ctx_t context;
};

// Runs an action on every thread; on the caller alone if there is one.
void on_threads(int threads, const std::function<void(int)>& action);

// Adds one compared item to the findings.
void note_wrong(Validation& found, const std::string& what);
// The same, for one of many items: only the first is put into words.
void note_wrong(Validation& found, const std::invocable auto& what) {
  note_wrong(found, found.wrong_items == 0 ? what() : std::string());
}

}  // namespace plumb::shmem_api
