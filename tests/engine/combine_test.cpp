// The kernel of reductions on every device but accelerators: each operation and each type against the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/select.hpp"
#include "transport/patterns/combine.hpp"

namespace plumb::combine_test {

namespace {

// Few items, so that each has several numbers and some left over.
constexpr std::size_t count = 5003, first = 3, first_a = 1, first_b = 7;
constexpr std::size_t items = 256;

template <class T>
std::vector<T> random_numbers(std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<T> numbers(count + 10);
  for (T& number : numbers) {
    const std::uint64_t next = bits();
    if constexpr (std::is_floating_point_v<T>)
      number = static_cast<T>(static_cast<std::int64_t>(next % 2001) - 1000) / 8;
    else
      number = next % 3 == 0 ? T{0} : static_cast<T>(next >> 3);
  }
  return numbers;
}

template <class T>
std::unique_ptr<Buffer> buffer_of(Device& device, std::vector<T>& numbers) {
  auto buffer = device.allocate(numbers.size() * sizeof(T), {});
  device.make_queue()->write(reinterpret_cast<std::byte*>(numbers.data()), whole(*buffer));
  return buffer;
}

template <class T, class Both>
void combines(Device& device, NumberType type, Operation operation, Both both) {
  if (!has_numbers(device.info(), type)) return;
  std::vector<T> a = random_numbers<T>(1), b = random_numbers<T>(2), into = random_numbers<T>(3), expected = into;
  for (std::size_t i = 0; i < count; ++i) expected[first + i] = static_cast<T>(both(a[first_a + i], b[first_b + i]));
  const auto on_a = buffer_of(device, a), on_b = buffer_of(device, b), on_into = buffer_of(device, into);
  const auto program = device.build(combine_source(type, operation));
  const auto kernel = program->kernel("combine");
  const auto queue = device.make_queue();
  kernel->set({on_into.get(), std::uint64_t{first}, on_a.get(), std::uint64_t{first_a}, on_b.get(),
               std::uint64_t{first_b}, std::uint64_t{count}});
  queue->enqueue(*kernel, {items, 0});
  queue->read(whole(*on_into), reinterpret_cast<std::byte*>(into.data()));
  EXPECT_EQ(into, expected) << device.info().name << ", operation " << static_cast<int>(operation) << ", type "
                            << static_cast<int>(type);
}

template <class T>
auto wrapping(T number) {
  return static_cast<std::uint64_t>(number);
}

void sums_and_extrema(Device& device) {
  const auto sum = [](auto x, auto y) { return wrapping(x) + wrapping(y); };
  const auto product = [](auto x, auto y) { return wrapping(x) * wrapping(y); };
  const auto largest = [](auto x, auto y) { return std::max(x, y); };
  const auto least = [](auto x, auto y) { return std::min(x, y); };
  combines<std::int16_t>(device, NumberType::int16, Operation::sum, sum);
  combines<std::uint16_t>(device, NumberType::uint16, Operation::product, product);
  combines<std::int64_t>(device, NumberType::int64, Operation::product, product);
  combines<float>(device, NumberType::f32, Operation::sum, [](float x, float y) { return x + y; });
  combines<double>(device, NumberType::f64, Operation::product, [](double x, double y) { return x * y; });
  combines<std::int8_t>(device, NumberType::int8, Operation::maximum, largest);
  combines<std::uint8_t>(device, NumberType::uint8, Operation::minimum, least);
  combines<std::int32_t>(device, NumberType::int32, Operation::minimum, least);
  combines<std::uint64_t>(device, NumberType::uint64, Operation::maximum, largest);
}

void bits_and_logic(Device& device) {
  combines<std::uint8_t>(device, NumberType::uint8, Operation::bit_and, [](auto x, auto y) { return x & y; });
  combines<std::int32_t>(device, NumberType::int32, Operation::bit_or, [](auto x, auto y) { return x | y; });
  combines<std::uint64_t>(device, NumberType::uint64, Operation::bit_xor, [](auto x, auto y) { return x ^ y; });
  combines<std::int8_t>(device, NumberType::int8, Operation::logical_and,
                        [](auto x, auto y) { return x != 0 && y != 0; });
  combines<std::uint16_t>(device, NumberType::uint16, Operation::logical_or,
                          [](auto x, auto y) { return x != 0 || y != 0; });
  combines<std::uint32_t>(device, NumberType::uint32, Operation::logical_xor,
                          [](auto x, auto y) { return (x != 0) != (y != 0); });
}

TEST(Combine, OnEveryDevice) {
  const DeviceCatalogue catalogue;
  for (const DeviceInfo& info : catalogue.infos())
    if (info.runtime != "fake" && info.type != "accelerator") {
      const auto device = catalogue.open(info);
      sums_and_extrema(*device);
      bits_and_logic(*device);
    }
}

TEST(Combine, RefusesBitsOfFloats) {
  EXPECT_THROW(combine_source(NumberType::f32, Operation::bit_and), Error);
}

}  // namespace

}  // namespace plumb::combine_test
