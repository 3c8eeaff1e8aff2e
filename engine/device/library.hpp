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

// A part of a matrix, row by row: its first element, and elements from row to row.
struct MatrixPart {
  Buffer* buffer = nullptr;
  std::size_t offset = 0, pitch = 0;  // elements
};

// What a factorisation asks of a library, on parts of matrices.
class FactorLibrary {
 public:
  virtual ~FactorLibrary() = default;
  virtual std::string name() const = 0;
  // C -= A B: A is rows x inner, B inner x columns, C rows x columns.
  virtual void subtract_product(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner,
                                const MatrixPart& a, const MatrixPart& b, const MatrixPart& c) = 0;
  // B = L^-1 B: L is rows x rows, what stands below its diagonal; 1 on it. B is rows x columns.
  virtual void solve_unit_lower(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& l,
                                const MatrixPart& b) = 0;
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
using FactorLibraryMaker = std::function<std::unique_ptr<FactorLibrary>(Device&, Queue&, ScalarType)>;
using FftLibraryMaker = std::function<std::unique_ptr<FftLibrary>(Device&, Queue&, const FftShape&)>;

// Throw Unsupported with the reason and what to install when the device's runtime has none.
std::unique_ptr<GemmLibrary> make_gemm_library(Device& device, Queue& queue, const GemmShape& shape);
std::unique_ptr<FactorLibrary> make_factor_library(Device& device, Queue& queue, ScalarType type);
std::unique_ptr<FftLibrary> make_fft_library(Device& device, Queue& queue, const FftShape& shape);

}  // namespace plumb
