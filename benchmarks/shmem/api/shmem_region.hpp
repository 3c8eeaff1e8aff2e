// Memory that other PEs reach: in the symmetric heap, or in the program's own global variables.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "benchmarks/shmem/api/row.hpp"
#include "world/shmem.hpp"

namespace plumb::shmem_api {

inline constexpr std::size_t global_bytes = std::size_t{16} << 20;

// Zeroed; making and ending it is collective. Throws Unsupported for more global memory than there is.
class Region {
 public:
  Region(std::size_t bytes, bool global);
  std::byte* data() const { return heap_ ? heap_->data() : global_; }

 private:
  std::unique_ptr<SymmetricMemory> heap_;
  std::byte* global_ = nullptr;
};

// Arrays one after the other in a region, each on a cache line of its own.
class Layout {
 public:
  // Returns the offset of an array of so many bytes.
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

// A context for each thread; none where the library has no more of them (Unsupported).
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

// How a function of the API is called: as it is, or in a context.
struct Plain {
  explicit Plain(shmem_ctx_t) {}
  auto call(auto function, auto... arguments) const { return function(arguments...); }
};
struct InContext {
  explicit InContext(shmem_ctx_t made) : context(made) {}
  auto call(auto function, auto... arguments) const { return function(context, arguments...); }
  shmem_ctx_t context;
};

// What one thread does, on every thread; the caller's alone where there is one.
void on_threads(int threads, const std::function<void(int)>& action);

// Adds one compared item to what was found.
void note_wrong(Validation& found, const std::string& what);

}  // namespace plumb::shmem_api
