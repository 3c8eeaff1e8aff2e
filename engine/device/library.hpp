// Well-kept libraries (a vendor's BLAS and FFT) behind one interface, so that a benchmark's variant `library` calls
// whichever belongs to the runtime of its device. A runtime's folder registers what it reaches.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/scalar.hpp"
#include "device/device.hpp"

namespace plumb {

// C = alpha A B + beta C: A is rows x inner, B inner x columns, C rows x columns, all row by row without gaps.
struct GemmShape {
  ScalarType type = ScalarType::f32;
  std::size_t rows = 0, columns = 0, inner = 0;
  double alpha = 1, beta = 0;
  bool tf32 = false;                          // f32 matrices, products of their leading 11 bits (NVIDIA's tensor cores)
  MemoryKind memory = MemoryKind::automatic;  // of the matrices' buffers
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  virtual std::string name() const = 0;  // with version: "CLBlast 1.5.2"
  // Views begin at multiples of the device's view_alignment.
  virtual void enqueue(Queue& queue, const BufferView& a, const BufferView& b, const BufferView& c) = 0;
};

// `batch` complex transforms of `length` points, one after the other in memory, (re, im) pairs; not scaled, either way.
struct FftShape {
  ScalarType type = ScalarType::f32;
  std::size_t length = 0, batch = 0;
  bool inverse = false;
  MemoryKind memory = MemoryKind::automatic;  // of both buffers
};

class FftLibrary {
 public:
  virtual ~FftLibrary() = default;
  virtual std::string name() const = 0;
  // Views begin at multiples of the device's view_alignment; from stays as it is.
  virtual void enqueue(Queue& queue, const BufferView& from, const BufferView& to) = 0;
};

// Registered under the runtime's name. May take its time (planning, tuning). Throws Unsupported with the reason when
// the library is not there, lacks the type or cannot reach the memory.
using GemmLibraryMaker = std::function<std::unique_ptr<GemmLibrary>(Device&, Queue&, const GemmShape&)>;
using FftLibraryMaker = std::function<std::unique_ptr<FftLibrary>(Device&, Queue&, const FftShape&)>;

// Throw Unsupported with the reason and what to install when the device's runtime has none.
std::unique_ptr<GemmLibrary> make_gemm_library(Device& device, Queue& queue, const GemmShape& shape);
std::unique_ptr<FftLibrary> make_fft_library(Device& device, Queue& queue, const FftShape& shape);

}  // namespace plumb
