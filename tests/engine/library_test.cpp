// The libraries of variant `library` compute as defined in their header, on every device that has one.
#include "device/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "core/data.hpp"
#include "device/select.hpp"

namespace plumb {

namespace {

std::vector<double> numbers(std::size_t count, std::uint64_t salt) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::ldexp(static_cast<double>(mix64(salt + i) >> 56), -8) - 0.5;  // 8 bits: exact in every type
  return values;
}

class Arrays {
 public:
  Arrays(Device& device, ScalarType type) : device_(device), queue_(device.make_queue()), type_(type) {}
  Queue& queue() { return *queue_; }
  std::unique_ptr<Buffer> put(const std::vector<double>& values) {
    std::vector<std::byte> bytes(values.size() * size_of(type_));
    store_scalars(values, type_, bytes);
    auto buffer = device_.allocate(bytes.size(), {});
    queue_->write(bytes.data(), whole(*buffer));
    return buffer;
  }
  std::vector<double> get(Buffer& buffer) {
    queue_->finish();
    std::vector<std::byte> bytes(buffer.size());
    queue_->read(whole(buffer), bytes.data());
    std::vector<double> values(bytes.size() / size_of(type_));
    load_scalars(bytes, type_, values);
    return values;
  }

 private:
  Device& device_;
  std::unique_ptr<Queue> queue_;
  ScalarType type_;
};

// Runs `action` on every device with every type; skips a missing library with its reason.
template <class Action>
void on_every_device(Action action) {
  const DeviceCatalogue catalogue;
  for (const DeviceInfo& info : catalogue.infos()) {
    if (info.runtime == "fake") continue;
    const auto device = catalogue.open(info);
    for (const ScalarType type : {ScalarType::f16, ScalarType::f32, ScalarType::f64}) {
      // CLBlast compiles for 10 s and more; its types differ in a word.
      if (info.runtime == "opencl" && type == ScalarType::f64) continue;
      SCOPED_TRACE(info.runtime + " " + info.name + " " + to_string(type));
      try {
        action(*device, type);
      } catch (const Unsupported& reason) {
        EXPECT_THAT(std::string(reason.what()), testing::SizeIs(testing::Gt(15u)));
      }
    }
  }
}

TEST(Library, MultipliesRowByRow) {
  on_every_device([](Device& device, ScalarType type) {
    const std::size_t rows = 5, columns = 7, inner = 3;
    Arrays arrays(device, type);
    const auto a = numbers(rows * inner, 1), b = numbers(inner * columns, 2), c = numbers(rows * columns, 3);
    const auto library = make_gemm_library(device, arrays.queue(), {type, rows, columns, inner, 0.5, 2});
    EXPECT_NE(library->name(), "");
    const auto on_a = arrays.put(a), on_b = arrays.put(b), on_c = arrays.put(c);
    library->enqueue(arrays.queue(), whole(*on_a), whole(*on_b), whole(*on_c));
    const auto got = arrays.get(*on_c);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 2 * c[i * columns + j];
        for (std::size_t k = 0; k < inner; ++k) sum += 0.5 * a[i * inner + k] * b[k * columns + j];
        EXPECT_NEAR(got[i * columns + j], sum, 8 * epsilon_of(type)) << i << "," << j;
      }
  });
}

TEST(Library, TransformsEachOfABatch) {
  on_every_device([](Device& device, ScalarType type) {
    const std::size_t length = 8, batch = 3;
    for (const bool inverse : {false, true}) {
      Arrays arrays(device, type);
      const auto points = numbers(2 * length * batch, 4);
      const auto library = make_fft_library(device, arrays.queue(), {type, length, batch, inverse});
      EXPECT_NE(library->name(), "");
      const auto from = arrays.put(points), to = arrays.put(points);
      library->enqueue(arrays.queue(), whole(*from), whole(*to));
      const auto got = arrays.get(*to);
      for (std::size_t t = 0; t < batch; ++t)
        for (std::size_t k = 0; k < length; ++k) {
          std::complex<double> sum;
          for (std::size_t i = 0; i < length; ++i) {
            const std::size_t at = 2 * (t * length + i);
            const double angle = (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(i * k) / length;
            sum += std::complex(points[at], points[at + 1]) * std::polar(1.0, angle);
          }
          EXPECT_NEAR(got[2 * (t * length + k)], sum.real(), 32 * epsilon_of(type));
          EXPECT_NEAR(got[2 * (t * length + k) + 1], sum.imag(), 32 * epsilon_of(type));
        }
      EXPECT_EQ(arrays.get(*from), points) << "the input stays";
    }
  });
}

}  // namespace

}  // namespace plumb
