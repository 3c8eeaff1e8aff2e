// Runs gpu.cl's kernel for matrix units on the host: a thread is a work item, and a warp's product of fragments is
// computed from what its 32 work items hold by the layouts that the PTX ISA gives ("Matrix Fragments for mma.m16n8k8"
// and "…k16"). So indices, pipeline and layouts are tested where no such GPU is; the instructions' own text is not.
//
// Define ELEMENT, REAL, one of DOUBLE, HALF and TF32, and NAME (of the test), then include this.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "benchmarks/hpcc/gemm/problem.hpp"
#include "core/scalar.hpp"

namespace plumb::gemm {
namespace {

using uint = std::uint32_t;
using ulong = std::uint64_t;
using ushort = std::uint16_t;

struct double2 {
  double x, y;
};
struct float4 {
  float x, y, z, w;
};
struct uint4 {
  uint x, y, z, w;
};
[[maybe_unused]] double2 make_double2(double x, double y) {
  return {x, y};
}
[[maybe_unused]] float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
struct half {
  ushort bits;
};
[[maybe_unused]] float vload_half(int, const half* from) {
  return static_cast<float>(from_half(from->bits));
}
[[maybe_unused]] void vstore_half_rte(float value, int, half* to) {
  to->bits = to_half(value);
}
using std::min;

constexpr int items = 256, lanes = 32;
constexpr uint tile_rows = 128;
#ifdef DOUBLE
constexpr uint tile_columns = 128, warp_columns = 32, depth = 8;
#elif defined(HALF)
constexpr uint tile_columns = 256, warp_columns = 64, depth = 32;
#else
constexpr uint tile_columns = 256, warp_columns = 64, depth = 16;
#endif
constexpr int fragment_inner = sizeof(ELEMENT) == 2 ? 16 : 8;
constexpr std::size_t products_of_strip = 64 / 8 * (warp_columns / 16) * (depth / fragment_inner);  // by one warp

using Word = std::conditional_t<sizeof(ELEMENT) == 8, double, uint>;

// What a work item hands to the units.
struct Operands {
  REAL* c;
  std::array<Word, 4> a;
  std::array<Word, 2> b;
};

// Factor elements (row or column, inner index) of a work item's words.
double item_of(const Word& word, [[maybe_unused]] int which) {
#ifdef DOUBLE
  return word;
#elif defined(HALF)
  return from_half(static_cast<std::uint16_t>(word >> (16 * which)));
#else
  return std::bit_cast<float>(word & 0xffffe000);  // 11 significant bits
#endif
}

class Warp {
 public:
  // Products go on without waiting, but for the last of a strip: sums are complete when the work item looks at them.
  void submit(std::size_t index, int lane, const Operands& operands) {
    std::unique_lock lock(mutex_);
    if (index >= products_.size()) products_.resize(index + 1);
    Product& product = products_[index];
    product.of[static_cast<std::size_t>(lane)] = operands;
    if (++product.arrived == lanes) {
      multiply(product);
      changed_.notify_all();
    }
    if ((index + 1) % products_of_strip == 0) changed_.wait(lock, [&] { return products_[index].arrived == lanes; });
  }

 private:
  struct Product {
    std::array<Operands, lanes> of;
    int arrived = 0;
  };

  static void multiply(const Product& product) {
    constexpr int inner = fragment_inner, packed = sizeof(ELEMENT) == 2 ? 2 : 1;
    double a[16][inner], b[inner][8];
    for (int lane = 0; lane < lanes; ++lane) {
      const int g = lane / 4, t = lane % 4;
      const Operands& own = product.of[static_cast<std::size_t>(lane)];
      for (int p = 0; p < packed; ++p)
        for (int i = 0; i < 4; ++i)
          a[g + i % 2 * 8][packed * t + p + i / 2 * inner / 2] = item_of(own.a[static_cast<std::size_t>(i)], p);
      for (int p = 0; p < packed; ++p)
        for (int i = 0; i < 2; ++i)
          b[packed * t + p + i * inner / 2][g] = item_of(own.b[static_cast<std::size_t>(i)], p);
    }
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        double sum = 0;
        for (int k = 0; k < inner; ++k) sum += a[row][k] * b[k][column];
        product.of[static_cast<std::size_t>(lane)].c[i] += static_cast<REAL>(sum);
      }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Product> products_;
};

// What a work item sees of its group.
struct Item {
  uint group = 0, local = 0;
  std::barrier<>* barrier = nullptr;
  Warp* warp = nullptr;
  std::size_t products = 0;
  std::vector<std::vector<std::function<void()>>> strips{1};  // copies begun, by END_OF_STRIP
};
thread_local Item* self = nullptr;

uint get_group_id(int) {
  return self->group;
}
uint get_local_id(int) {
  return self->local;
}
void barrier(int) {
  self->barrier->arrive_and_wait();
}

// Copies are done as late as they may be.
void copy_chunk(void* to, const void* from) {
  self->strips.back().push_back([=] { std::memcpy(to, from, 16); });
}
void strips_left(std::size_t count) {
  while (self->strips.size() - 1 > count) {
    for (const auto& copy : self->strips.front()) copy();
    self->strips.erase(self->strips.begin());
  }
}

#define CLK_LOCAL_MEM_FENCE 0
#define LOCAL_PTR(type) type*
#define GLOBAL_PTR(type) type*
#define MAKE(type) make_##type
#define __kernel
#define __global
#define __local static
#define COPY_CHUNK(to, from) copy_chunk(to, from)
#define END_OF_STRIP() self->strips.emplace_back()
#define STRIPS_LEFT(count) strips_left(std::stoul(count))
#define MULTIPLY(c, a0, a1, a2, a3, b0, b1) \
  self->warp->submit(self->products++, static_cast<int>(self->local % lanes), {c, {a0, a1, a2, a3}, {b0, b1}})
#define LOW_HALVES 0
#define HIGH_HALVES 16
#define PAIR(pair, first, second, halves) pair = ((first) >> halves & 0xffff) | (((second) >> halves & 0xffff) << 16)
#define MATRIX_UNITS 90
#define ITEMS 256
#define ROWS tile_rows
#define COLUMNS tile_columns
#define DEPTH depth
#define WARP_COLUMNS warp_columns
#define GUARD
#include "gemm_units_kernel.hpp"

void run_group(uint group, const std::function<void()>& kernel) {
  std::barrier<> all(items);
  std::vector<Warp> warps(items / lanes);
  std::vector<std::thread> threads;
  for (uint local = 0; local < items; ++local)
    threads.emplace_back([&, local] {
      Item item;
      item.group = group;
      item.local = local;
      item.barrier = &all;
      item.warp = &warps[local / lanes];
      self = &item;
      kernel();
    });
  for (std::thread& thread : threads) thread.join();
}

ELEMENT element(double value) {
#ifdef HALF
  return to_half(value);
#else
  return static_cast<ELEMENT>(value);
#endif
}

double number(ELEMENT element) {
#ifdef HALF
  return from_half(element);
#else
  return element;
#endif
}

std::vector<ELEMENT> matrix_of(Matrix which, std::size_t items_of_it) {
  std::vector<double> values(items_of_it);
  const ScalarType stored = sizeof(ELEMENT) == 2 ? ScalarType::f16 : ScalarType::f64;
  fill(values, stored, {}, which);
  std::vector<ELEMENT> elements(items_of_it);
  std::transform(values.begin(), values.end(), elements.begin(), element);
  return elements;
}

#define UNITS_TEST(name) TEST(GemmMatrixUnits, name)

// Two tiles each way, the last ones cut off by the matrices' ends, and strips enough for every stage to be used again.
UNITS_TEST(NAME) {
  const uint rows = tile_rows + 22, columns = tile_columns + 37, inner = 5 * depth, width = 2 * tile_columns;
  const auto a = matrix_of(Matrix::a, 2 * tile_rows * inner), b = matrix_of(Matrix::b, inner * width),
             c = matrix_of(Matrix::c, rows * columns);
  std::vector<ELEMENT> out(rows * columns, element(1e4));
  for (uint group = 0; group < 4; ++group)
    run_group(group,
              [&] { gemm(a.data(), b.data(), c.data(), out.data(), REAL{0.5}, REAL{2}, rows, columns, inner, width); });
  const double tolerance = sizeof(ELEMENT) == 8 ? 1e-13 : 5e-3;
  for (uint i = 0; i < rows; ++i)
    for (uint j = 0; j < columns; ++j) {
      double sum = 0;
      for (uint k = 0; k < inner; ++k) sum += number(a[i * inner + k]) * number(b[k * width + j]);
      ASSERT_NEAR(number(out[i * columns + j]), 0.5 * sum + 2 * number(c[i * columns + j]), tolerance) << i << " " << j;
    }
}

}  // namespace
}  // namespace plumb::gemm
