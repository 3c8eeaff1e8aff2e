// Optimised libraries (BLAS, FFT) behind one interface: variant `library` of a benchmark calls the library of its
// device's runtime, registered in the runtime's folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/scalar.hpp"
#include "device/device.hpp"

namespace plumb {

// C = alpha A B + beta C: A is rows x inner, B inner x columns, C rows x columns; row-major, contiguous.
struct GemmShape {
  ScalarType type = ScalarType::f32;
  std::size_t rows = 0, columns = 0, inner = 0;
  double alpha = 1, beta = 0;
  bool tf32 = false;                          // f32 matrices, products of 11 significant bits (NVIDIA's tensor cores)
  MemoryKind memory = MemoryKind::automatic;  // of the matrices' buffers
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  virtual std::string name() const = 0;  // with version: "CLBlast 1.5.2"
  // Views start at multiples of the device's view_alignment.
  virtual void enqueue(Queue& queue, const BufferView& a, const BufferView& b, const BufferView& c) = 0;
};

// A part of a row-major matrix: first element and pitch.
struct MatrixPart {
  Buffer* buffer = nullptr;
  std::size_t offset = 0, pitch = 0;  // elements
};

// Operations of a factorisation, on parts of matrices.
class FactorLibrary {
 public:
  virtual ~FactorLibrary() = default;
  virtual std::string name() const = 0;
  // C -= A B: A is rows x inner, B inner x columns, C rows x columns.
  virtual void subtract_product(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner,
                                const MatrixPart& a, const MatrixPart& b, const MatrixPart& c) = 0;
  // B = L^-1 B: L is the unit lower triangle of a rows x rows matrix, B is rows x columns.
  virtual void solve_unit_lower(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& l,
                                const MatrixPart& b) = 0;
};

// `batch` contiguous complex transforms of `length` points, (re, im) pairs; unscaled in both directions.
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
  // Views start at multiples of the device's view_alignment; `from` is not modified.
  virtual void enqueue(Queue& queue, const BufferView& from, const BufferView& to) = 0;
};

// Registered under the runtime's name. May be slow (planning, tuning). Throws Unsupported with the reason if the
// library is missing, lacks the type or cannot access the memory.
using GemmLibraryMaker = std::function<std::unique_ptr<GemmLibrary>(Device&, Queue&, const GemmShape&)>;
using FactorLibraryMaker = std::function<std::unique_ptr<FactorLibrary>(Device&, Queue&, ScalarType)>;
using FftLibraryMaker = std::function<std::unique_ptr<FftLibrary>(Device&, Queue&, const FftShape&)>;

// Throw Unsupported with the reason and the missing package if the runtime has no library.
std::unique_ptr<GemmLibrary> make_gemm_library(Device& device, Queue& queue, const GemmShape& shape);
std::unique_ptr<FactorLibrary> make_factor_library(Device& device, Queue& queue, ScalarType type);
std::unique_ptr<FftLibrary> make_fft_library(Device& device, Queue& queue, const FftShape& shape);

}  // namespace plumb
