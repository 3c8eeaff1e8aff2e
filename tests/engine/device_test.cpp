// Devices: every device of this machine conforms to device.hpp; selection; messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "core/data.hpp"
#include "core/json.hpp"
#include "device/host_share.hpp"
#include "device/opencl_c.hpp"
#include "device/select.hpp"

namespace plumb {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A runtime with whatever devices a test gives it; none otherwise.
std::vector<DeviceInfo> fake_devices;

class FakeRuntime : public Runtime {
 public:
  std::string name() const override { return "fake"; }
  std::vector<DeviceInfo> infos() override { return fake_devices; }
  std::string why_none() const override { return "nobody has made a fake device; make one"; }
  std::unique_ptr<Device> open(const DeviceInfo&) override { throw Error("a fake device cannot be opened"); }
};
const Registered<RuntimeFactory> registered_fake("fake", [] { return std::make_unique<FakeRuntime>(); });

const DeviceCatalogue& catalogue() {
  static const DeviceCatalogue all;
  return all;
}

template <class Thrown = Error, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::vector<std::byte> message(std::size_t size, std::uint64_t repetition = 0) {
  std::vector<std::byte> bytes(size);
  fill_message(bytes, {.rank = 1, .size = size, .repetition = repetition});
  return bytes;
}

std::vector<std::byte> read(Queue& queue, const BufferView& view) {
  std::vector<std::byte> bytes(view.size);
  queue.read(view, bytes.data());
  return bytes;
}

// ---- every device ----

const char* const kernels = R"(
kernel void add(global uint* values, uint amount) { values[get_global_id(0)] += amount; }
kernel void keep(global double* out, int i, uint u, long l, ulong ul, float f, double d) {
  out[0] = i; out[1] = u; out[2] = l; out[3] = ul; out[4] = f; out[5] = d;
}
kernel void slow(global uint* values, uint rounds) {
  uint x = values[0];
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  values[0] = x;
}
)";

// One work item, as all kernels in HLS C++.
const char* const hls_kernels = R"(
extern "C" {
void add(unsigned* values, unsigned amount) { values[0] += amount; }
void keep(double* out, int i, unsigned u, long l, unsigned long ul, float f, double d) {
  out[0] = i; out[1] = u; out[2] = l; out[3] = ul; out[4] = f; out[5] = d;
}
void slow(unsigned* values, unsigned rounds) {
  unsigned x = values[0];
  for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  values[0] = x;
}
}
)";

template <class T>
T* host(const KernelArgument& argument) {
  return reinterpret_cast<T*>(host_pointer(argument));
}

std::uint32_t slow_result(std::uint32_t x, std::uint32_t rounds) {
  for (std::uint32_t i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  return x;
}

KernelSource source() {
  using Arguments = std::span<const KernelArgument>;
  KernelSource result{"device_test.cl", kernels, "", {}};
  result.hls = hls_kernels;
  result.native = {{"add",
                    [](Arguments a, const KernelRange& range) {
                      for (std::size_t i = 0; i < range.global; ++i)
                        host<std::uint32_t>(a[0])[i] += std::get<std::uint32_t>(a[1]);
                    }},
                   {"keep",
                    [](Arguments a, const KernelRange&) {
                      for (std::size_t i = 1; i < a.size(); ++i)
                        host<double>(a[0])[i - 1] = std::visit(
                            [](auto value) {
                              if constexpr (std::is_arithmetic_v<decltype(value)>)
                                return static_cast<double>(value);
                              else
                                return 0.0;
                            },
                            a[i]);
                    }},
                   {"slow", [](Arguments a, const KernelRange&) {
                      auto* values = host<std::uint32_t>(a[0]);
                      values[0] = slow_result(values[0], std::get<std::uint32_t>(a[1]));
                    }}};
  return result;
}

class EveryDevice : public testing::TestWithParam<int> {
 protected:
  EveryDevice() : device_(catalogue().open(catalogue().infos()[static_cast<std::size_t>(GetParam())])) {}
  Device& device() { return *device_; }
  std::unique_ptr<Buffer> buffer(std::size_t bytes, MemoryKind kind = MemoryKind::automatic) {
    return device_->allocate(bytes, {kind, {}});
  }

 private:
  std::unique_ptr<Device> device_;
};

std::vector<int> real_devices() {
  std::vector<int> indices;
  for (const DeviceInfo& info : catalogue().infos())
    if (info.runtime != "fake") indices.push_back(info.index);
  return indices;
}

std::string label(const testing::TestParamInfo<int>& parameter) {
  const DeviceInfo& info = catalogue().infos()[static_cast<std::size_t>(parameter.param)];
  return info.runtime + "_" + info.type + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Present, EveryDevice, testing::ValuesIn(real_devices()), label);

TEST_P(EveryDevice, SaysWhatItIs) {
  const DeviceInfo& info = device().info();
  EXPECT_EQ(info.index, GetParam());
  EXPECT_THAT(info.type, testing::AnyOf("cpu", "gpu", "accelerator", "native"));
  for (const std::string& text : {info.platform, info.name, info.vendor, info.version, info.driver})
    EXPECT_NE(text, "");
  EXPECT_GE(info.compute_units, 1u);
  EXPECT_GT(info.memory_bytes, std::uint64_t{64} << 20);
  EXPECT_LE(info.largest_buffer_bytes, info.memory_bytes);
  EXPECT_THAT(info.memory_kinds, testing::IsSupersetOf({MemoryKind::automatic, MemoryKind::host}));
}

TEST_P(EveryDevice, KeepsBytesAtOddOffsetsAndSizes) {
  auto queue = device().make_queue();
  for (const std::size_t size : {1, 3, 17, 511, 513, 4095, 4097, 600001, 1048577, 5000003}) {
    const auto memory = buffer(size + 13);
    const BufferView view{memory.get(), 5, size};
    const auto sent = message(size);
    queue->write(sent.data(), view);
    EXPECT_EQ(read(*queue, view), sent) << size;
    EXPECT_NE(read(*queue, {memory.get(), 0, 5})[4], std::byte{0}) << "untouched memory is poisoned";
  }
}

TEST_P(EveryDevice, CopiesBetweenAllItsMemoryKinds) {
  auto queue = device().make_queue();
  for (const MemoryKind from_kind : device().info().memory_kinds)
    for (const MemoryKind to_kind : device().info().memory_kinds) {
      const auto from = buffer(1000, from_kind), to = buffer(2000, to_kind);
      const auto sent = message(777);
      queue->enqueue_write(sent.data(), {from.get(), 11, 777});
      queue->enqueue_copy({from.get(), 11, 777}, {to.get(), 1003, 777});
      queue->finish();
      EXPECT_EQ(read(*queue, {to.get(), 1003, 777}), sent) << to_string(from_kind) << " to " << to_string(to_kind);
    }
}

TEST_P(EveryDevice, GivesEachMemoryKindOrSaysWhyNot) {
  auto queue = device().make_queue();
  const auto& kinds = device().info().memory_kinds;
  for (const char* name : {"default", "host", "svm", "ddr", "ddr:1", "hbm:3", "plram:0", "ddr:12"}) {
    const Placement placement = parse_placement(name);
    const bool listed = std::find(kinds.begin(), kinds.end(), placement.kind) != kinds.end();
    try {
      const auto memory = device().allocate(4099, placement);
      EXPECT_TRUE(listed) << name;
      EXPECT_EQ(to_string(memory->placement()), name);
      const auto sent = message(4099);
      queue->write(sent.data(), whole(*memory));
      EXPECT_EQ(read(*queue, whole(*memory)), sent) << name;
    } catch (const Unsupported& reason) {
      EXPECT_TRUE(!listed || placement.bank) << name;
      EXPECT_THAT(std::string(reason.what()), AllOf(HasSubstr("kind"), testing::SizeIs(testing::Gt(40u)))) << name;
    }
  }
}

// A program that reads device memory on the host of a CPU would work there alone.
TEST_P(EveryDevice, GivesTheHostNoPointerToSyclsDeviceMemory) {
  if (device().info().runtime != "sycl")
    GTEST_SKIP() << "other runtimes' device memory has no address, or is the host's";
  EXPECT_EQ(buffer(4096)->host_pointer(), nullptr);
  EXPECT_EQ(device().allocate(4096, {MemoryKind::automatic, {}, true})->host_pointer(), nullptr);
}

// sycl::buffer: its accessors must bring a kernel's writes back, also those of a part.
TEST_P(EveryDevice, KernelsWorkOnSyclsMemoryObjects) {
  if (device().info().runtime != "sycl") GTEST_SKIP() << "other runtimes have none";
  const Placement object{MemoryKind::automatic, {}, false, true};
  const std::size_t step = device().info().view_alignment / sizeof(std::uint32_t);
  const std::size_t bytes = 4 * step * sizeof(std::uint32_t);
  const auto memory = device().allocate(bytes, object), copy = device().allocate(bytes + 5, object);
  EXPECT_EQ(memory->host_pointer(), nullptr);
  EXPECT_EQ(memory->device_address(), nullptr);
  auto queue = device().make_queue();
  auto add = device().build(source())->kernel("add");
  std::vector<std::uint32_t> values(4 * step, 100);
  queue->enqueue_write(reinterpret_cast<const std::byte*>(values.data()), whole(*memory));
  add->set({memory.get(), std::uint32_t{3}});
  queue->enqueue(*add, {4 * step, 0});
  add->set(0, BufferView{memory.get(), step * sizeof(std::uint32_t), step * sizeof(std::uint32_t)});
  queue->enqueue(*add, {step, 0});
  queue->enqueue_copy(whole(*memory), {copy.get(), 5, bytes});
  queue->finish();
  queue->read({copy.get(), 5, bytes}, reinterpret_cast<std::byte*>(values.data()));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i / step == 1 ? 106u : 103u) << i;
  EXPECT_THROW(device().allocate(4, {MemoryKind::host, {}, false, true}), Unsupported);
}

TEST_P(EveryDevice, PinnedMemoryIsTheHosts) {
  auto queue = device().make_queue();
  const auto memory = buffer(5000), pinned = allocate_host(device(), 5000);
  ASSERT_NE(pinned->host_pointer(), nullptr);
  const auto sent = message(5000);
  std::memcpy(pinned->host_pointer(), sent.data(), 5000);
  queue->write(pinned->host_pointer(), whole(*memory));
  std::memset(pinned->host_pointer(), 0, 5000);
  queue->read(whole(*memory), pinned->host_pointer());
  EXPECT_EQ(std::memcmp(pinned->host_pointer(), sent.data(), 5000), 0);
}

TEST_P(EveryDevice, SharesHostMemory) {
  const auto mine = device().allocate(70000, {MemoryKind::host, {}, true});
  const auto opened = device().open_shared(device().share(*mine));
  ASSERT_GE(opened->size(), mine->size());
  const auto queue = device().make_queue();
  const std::vector<std::byte> bytes = message(70000, 3);
  queue->write(bytes.data(), whole(*mine));
  EXPECT_EQ(std::memcmp(opened->host_pointer(), bytes.data(), bytes.size()), 0);
  opened->host_pointer()[69999] ^= std::byte{1};
  EXPECT_EQ(mine->host_pointer()[69999], bytes[69999] ^ std::byte{1});
}

TEST_P(EveryDevice, SharesItsOwnMemoryOrSaysWhyNot) {
  const DeviceInfo& info = device().info();
  if (info.runtime == "cuda") GTEST_SKIP() << "CUDA opens another process's memory only: see the tests on ranks";
  if (info.type == "gpu") {
    EXPECT_THROW(device().allocate(4096, {MemoryKind::automatic, {}, true}), Unsupported);
    return;
  }
  const auto mine = device().allocate(4096, {MemoryKind::automatic, {}, true});
  const auto opened = device().open_shared(device().share(*mine));
  const auto queue = device().make_queue();
  const std::vector<std::byte> bytes = message(4096, 5);
  queue->write(bytes.data(), whole(*mine));
  std::vector<std::byte> seen(4096);
  queue->read(whole(*opened), seen.data());
  EXPECT_EQ(seen, bytes);
  EXPECT_ANY_THROW(device().share(*device().allocate(4096, {})));
  EXPECT_ANY_THROW(device().open_shared("default:1:999999:4096"));
}

TEST_P(EveryDevice, RunsKernelsOnEveryMemoryKind) {
  if (device().info().runtime == "hls") GTEST_SKIP() << "its kernels are one work item";
  auto queue = device().make_queue();
  auto add = device().build(source())->kernel("add");
  for (const MemoryKind kind : device().info().memory_kinds) {
    const auto memory = buffer(64 * sizeof(std::uint32_t), kind);
    std::array<std::uint32_t, 64> values;
    for (std::uint32_t i = 0; i < 64; ++i) values[i] = i;
    queue->enqueue_write(reinterpret_cast<std::byte*>(values.data()), whole(*memory));
    add->set({memory.get(), std::uint32_t{100}});
    queue->enqueue(*add, {64, 0});
    queue->enqueue(*add, {32, 8});
    queue->enqueue(*add, {});
    queue->finish();
    queue->read(whole(*memory), reinterpret_cast<std::byte*>(values.data()));
    EXPECT_EQ(values[0], 300u) << to_string(kind);
    for (std::uint32_t i = 1; i < 64; ++i) EXPECT_EQ(values[i], i + (i < 32 ? 200 : 100)) << to_string(kind);
    if (memory->host_pointer() == nullptr) continue;
    EXPECT_EQ(std::memcmp(memory->host_pointer(), values.data(), sizeof values), 0) << to_string(kind);
  }
}

TEST_P(EveryDevice, PassesEveryTypeOfArgument) {
  auto queue = device().make_queue();
  auto keep = device().build(source())->kernel("keep");
  const auto memory = buffer(6 * sizeof(double));
  keep->set({memory.get(), std::int32_t{-7}, std::uint32_t{4000000000u}, std::int64_t{-(1ll << 40)},
             std::uint64_t{1ull << 52}, 0.5f, 0.1});
  queue->enqueue(*keep, {});
  queue->finish();
  std::array<double, 6> kept;
  queue->read(whole(*memory), reinterpret_cast<std::byte*>(kept.data()));
  EXPECT_THAT(kept, ElementsAre(-7.0, 4e9, -1099511627776.0, 4503599627370496.0, 0.5, 0.1));
}

TEST_P(EveryDevice, ArgumentsStayUntilSetAgain) {
  auto queue = device().make_queue();
  auto add = device().build(source())->kernel("add");
  const auto memory = buffer(4);
  std::uint32_t value = 0;
  queue->write(reinterpret_cast<std::byte*>(&value), whole(*memory));
  add->set({memory.get(), std::uint32_t{3}});
  queue->enqueue(*add, {});
  queue->enqueue(*add, {});
  add->set({memory.get(), std::uint32_t{10}});
  queue->enqueue(*add, {});
  queue->read(whole(*memory), reinterpret_cast<std::byte*>(&value));
  EXPECT_EQ(value, 16u);
}

TEST_P(EveryDevice, CommandsOfOneQueueRunInOrder) {
  constexpr std::uint32_t rounds = 2000000;
  auto queue = device().make_queue();
  auto program = device().build(source());
  auto slow = program->kernel("slow"), add = program->kernel("add");
  const auto memory = buffer(4), copy = buffer(4);
  const std::uint32_t seed = 5;
  std::uint32_t result = 0;
  slow->set({memory.get(), rounds});
  add->set({memory.get(), std::uint32_t{1}});
  queue->enqueue_write(reinterpret_cast<const std::byte*>(&seed), whole(*memory));
  queue->enqueue(*slow, {});
  queue->enqueue(*add, {});
  queue->enqueue_copy(whole(*memory), whole(*copy));
  queue->enqueue_read(whole(*copy), reinterpret_cast<std::byte*>(&result));
  queue->finish();
  EXPECT_EQ(result, slow_result(seed, rounds) + 1);
}

// Copies that wait may be started together only if none needs another's bytes.
TEST_P(EveryDevice, CopiesOfOneQueueRunInOrder) {
  auto queue = device().make_queue();
  for (const std::size_t size : {8, 4096, 300001}) {
    const auto first = buffer(size), second = buffer(size), parts = buffer(20 * size);
    const auto one = message(size, 1), two = message(size, 2);
    std::vector<std::byte> early(size), late(size), all(20 * size), expected;
    queue->enqueue_write(one.data(), whole(*first));
    queue->enqueue_copy(whole(*first), whole(*second));
    queue->enqueue_read(whole(*second), early.data());
    queue->enqueue_write(two.data(), whole(*first));                       // read before
    queue->enqueue_write(two.data(), {second.get(), size / 2, size / 4});  // into what was written before
    queue->enqueue_read(whole(*second), late.data());
    for (std::size_t i = 0; i < 20; ++i)
      queue->enqueue_write((i % 2 == 0 ? one : two).data(), {parts.get(), i * size, size});
    queue->enqueue_read(whole(*parts), all.data());
    queue->finish();
    EXPECT_EQ(early, one) << size;
    auto mixed = one;
    std::copy_n(two.begin(), size / 4, mixed.begin() + static_cast<std::ptrdiff_t>(size / 2));
    EXPECT_EQ(late, mixed) << size;
    for (std::size_t i = 0; i < 20; ++i)
      expected.insert(expected.end(), (i % 2 == 0 ? one : two).begin(), (i % 2 == 0 ? one : two).end());
    EXPECT_EQ(all, expected) << size;
  }
}

TEST_P(EveryDevice, AQueueFollowsAnother) {
  constexpr std::uint32_t rounds = 20000000;  // longer than a copy takes to start
  auto earlier = device().make_queue(), later = device().make_queue();
  auto slow = device().build(source())->kernel("slow");
  const auto memory = buffer(4);
  const std::uint32_t seed = 5;
  std::uint32_t result = 0;
  earlier->write(reinterpret_cast<const std::byte*>(&seed), whole(*memory));
  slow->set({memory.get(), rounds});
  earlier->enqueue(*slow, {});
  later->follow(*earlier);
  later->read(whole(*memory), reinterpret_cast<std::byte*>(&result));
  EXPECT_EQ(result, slow_result(seed, rounds));
}

TEST_P(EveryDevice, FinishedBecomesTrueByPollingAlone) {
  auto queue = device().make_queue();
  auto slow = device().build(source())->kernel("slow");
  const auto memory = buffer(4);
  const std::uint32_t seed = 5;
  std::uint32_t result = 0;
  EXPECT_TRUE(queue->finished()) << "nothing was enqueued";
  slow->set({memory.get(), std::uint32_t{1000000}});
  queue->enqueue_write(reinterpret_cast<const std::byte*>(&seed), whole(*memory));
  queue->enqueue(*slow, {});
  while (!queue->finished()) std::this_thread::yield();
  queue->enqueue_read(whole(*memory), reinterpret_cast<std::byte*>(&result));
  while (!queue->finished()) std::this_thread::yield();
  EXPECT_EQ(result, slow_result(seed, 1000000));
  queue->finish();
  EXPECT_TRUE(queue->finished());
}

// The last command takes longer than a loaded machine keeps the host from its core; another queue then reads its
// result.
TEST_P(EveryDevice, FinishWaitsForTheLastCommand) {
  constexpr std::uint32_t rounds = 40000000;
  auto queue = device().make_queue(), other = device().make_queue();
  auto slow = device().build(source())->kernel("slow");
  const auto memory = buffer(4);
  const std::uint32_t seed = 5;
  std::uint32_t result = 0;
  queue->write(reinterpret_cast<const std::byte*>(&seed), whole(*memory));
  slow->set({memory.get(), rounds});
  queue->enqueue(*slow, {});
  queue->finish();
  other->read(whole(*memory), reinterpret_cast<std::byte*>(&result));
  EXPECT_EQ(result, slow_result(seed, rounds));
}

TEST_P(EveryDevice, TwoQueuesServeTwoDirections) {
  auto in = device().make_queue(), out = device().make_queue();
  const auto a = buffer(1 << 20), b = buffer(1 << 20);
  const auto first = message(1 << 20, 1), second = message(1 << 20, 2);
  std::vector<std::byte> back(1 << 20);
  in->write(first.data(), whole(*a));
  out->enqueue_read(whole(*a), back.data());
  in->enqueue_write(second.data(), whole(*b));
  in->finish();
  out->finish();
  EXPECT_EQ(back, first);
  EXPECT_EQ(read(*out, whole(*b)), second);
}

TEST_P(EveryDevice, TimedQueueTellsTimesInOrder) {
  auto queue = device().make_queue(true);
  auto slow = device().build(source())->kernel("slow");
  const auto memory = buffer(1 << 16);
  const auto sent = message(1 << 16);
  EXPECT_FALSE(queue->span()) << "nothing has run";
  queue->write(sent.data(), whole(*memory));
  const auto write_time = queue->span();
  slow->set({memory.get(), std::uint32_t{1000000}});
  for (int i = 0; i < 3; ++i) queue->enqueue(*slow, {});
  queue->finish();
  const auto kernel_time = queue->span();
  ASSERT_TRUE(write_time && kernel_time);
  EXPECT_LE(write_time->started, write_time->ended);
  EXPECT_LE(write_time->ended, kernel_time->started);
  EXPECT_GT(kernel_time->ended - kernel_time->started, 1e-4) << "3 million dependent steps";
  EXPECT_LT(kernel_time->ended - kernel_time->started, 10.0) << "seconds";
  EXPECT_FALSE(device().make_queue()->span()) << "an untimed queue tells nothing";
}

// Commands of one queue that another waited for precede the latter's commands.
TEST_P(EveryDevice, TimedQueuesShareOneClock) {
  auto first = device().make_queue(true), second = device().make_queue(true);
  auto slow = device().build(source())->kernel("slow");
  const auto memory = buffer(4);
  slow->set({memory.get(), std::uint32_t{1000000}});
  double last = -1e300;
  for (int turn = 0; turn < 3; ++turn)
    for (Queue* queue : {second.get(), first.get()}) {
      queue->enqueue(*slow, {});
      queue->finish();
      ASSERT_TRUE(queue->span());
      EXPECT_GE(queue->span()->started, last - 1e-6) << "turn " << turn;
      last = queue->span()->ended;
    }
}

TEST_P(EveryDevice, KernelOnPinnedMemoryIsTimedItself) {
  auto queue = device().make_queue(true);
  auto slow = device().build(source())->kernel("slow");
  const auto memory = allocate_host(device(), 4);
  slow->set({memory.get(), std::uint32_t{3000000}});
  queue->enqueue(*slow, {});
  queue->finish();
  ASSERT_TRUE(queue->span());
  EXPECT_GT(queue->span()->ended - queue->span()->started, 1e-4) << "3 million dependent steps";
}

// Views that overlap, one after the other, in every kind of memory; the argument alone changes from launch to launch.
TEST_P(EveryDevice, KernelsWorkOnViews) {
  if (device().info().runtime == "hls") GTEST_SKIP() << "its kernels are one work item";
  const std::size_t step = device().info().view_alignment / sizeof(std::uint32_t);
  for (const MemoryKind kind : device().info().memory_kinds) {
    auto queue = device().make_queue();
    auto add = device().build(source())->kernel("add");
    const auto memory = buffer(8 * step * sizeof(std::uint32_t), kind);
    std::vector<std::uint32_t> values(8 * step, 100), expected(values);
    queue->write(reinterpret_cast<const std::byte*>(values.data()), whole(*memory));
    add->set({memory.get(), std::uint32_t{1}});
    for (const std::size_t at : {5u, 1u, 5u, 0u, 4u}) {
      const std::size_t first = at * step;
      add->set(0, BufferView{memory.get(), first * sizeof(std::uint32_t), 2 * step * sizeof(std::uint32_t)});
      queue->enqueue(*add, {2 * step, 0});
      for (std::size_t i = first; i < first + 2 * step; ++i) ++expected[i];
    }
    queue->read(whole(*memory), reinterpret_cast<std::byte*>(values.data()));
    EXPECT_EQ(values, expected) << to_string(kind);
  }
}

TEST_P(EveryDevice, DoesNothingForNoBytes) {
  auto queue = device().make_queue();
  const auto memory = buffer(4);
  queue->enqueue_read({memory.get(), 4, 0}, nullptr);
  queue->enqueue_write(nullptr, {memory.get(), 0, 0});
  queue->enqueue_copy({memory.get(), 0, 0}, {memory.get(), 1, 0});
  queue->finish();
  EXPECT_TRUE(queue->finished());
}

TEST_P(EveryDevice, BuffersMayOutliveTheDevice) {
  auto own = catalogue().open(device().info());
  auto pinned = allocate_host(*own, 100);
  auto memory = own->allocate(100, {});
  auto queue = own->make_queue();
  own.reset();
  const auto sent = message(100);
  queue->write(sent.data(), whole(*memory));
  EXPECT_EQ(read(*queue, whole(*memory)), sent);
}

TEST_P(EveryDevice, RefusesWhatLiesOutside) {
  auto queue = device().make_queue();
  const auto memory = buffer(10), other = buffer(10);
  std::array<std::byte, 16> bytes{};
  EXPECT_THROW(queue->enqueue_read({memory.get(), 5, 6}, bytes.data()), Error);
  EXPECT_THROW(queue->enqueue_write(bytes.data(), {memory.get(), 11, 1}), Error);
  EXPECT_THROW(queue->enqueue_copy({memory.get(), 0, 5}, {other.get(), 0, 6}), Error);
}

TEST_P(EveryDevice, SaysNeededAndAvailableWhenThereIsTooLittle) {
  const DeviceInfo& info = device().info();
  const auto sentence = message_of([&] { buffer(2 * info.memory_bytes); });
  EXPECT_THAT(sentence, AllOf(HasSubstr("needed"), HasSubstr("available"), HasSubstr("allocate")));
  EXPECT_THAT(message_of([&] { buffer(0); }), HasSubstr("at least one byte"));
}

TEST_P(EveryDevice, SaysWhichKernelsThereAre) {
  EXPECT_THAT(message_of([&] { device().build(source())->kernel("ad"); }),
              AllOf(HasSubstr("'ad'"), HasSubstr("did you mean add"), HasSubstr("keep")));
}

TEST_P(EveryDevice, RefusesAnotherRuntimesParts) {
  const DeviceInfo* other = nullptr;
  for (const int index : real_devices())
    if (const DeviceInfo& info = catalogue().infos()[static_cast<std::size_t>(index)];
        info.runtime != device().info().runtime)
      other = &info;
  if (other == nullptr) GTEST_SKIP() << "there is one runtime only";
  auto strange = catalogue().open(*other);
  const auto memory = strange->allocate(4, {});
  auto kernel = strange->build(source())->kernel("add");
  auto queue = device().make_queue();
  EXPECT_THAT(message_of([&] { queue->enqueue(*kernel, {}); }), HasSubstr("another runtime"));
  if (memory->host_pointer() == nullptr) {
    std::byte byte{};
    EXPECT_THAT(message_of([&] { queue->read({memory.get(), 0, 1}, &byte); }), HasSubstr("another runtime"));
  }
}

// ---- devices of OpenCL drivers alone ----

class EveryOpenclDevice : public EveryDevice {
 protected:
  const std::string& runtime() { return device().info().runtime; }
};

std::vector<int> opencl_devices() {
  std::vector<int> indices;
  for (const int index : real_devices())
    if (has_opencl_driver(catalogue().infos()[static_cast<std::size_t>(index)])) indices.push_back(index);
  return indices;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryOpenclDevice);
INSTANTIATE_TEST_SUITE_P(Present, EveryOpenclDevice, testing::ValuesIn(opencl_devices()), label);

TEST_P(EveryOpenclDevice, BuildErrorHasTheLog) {
  const KernelSource broken{"broken.cl", "kernel void f(global int* a) { a[0] = not_declared; }", "-DSOME=1", {}};
  EXPECT_THAT(
      message_of([&] { device().build(broken); }),
      AllOf(HasSubstr("broken.cl"), HasSubstr("-DSOME=1"), HasSubstr("not_declared"),
            HasSubstr(runtime() == "opencl" ? "CL_BUILD_PROGRAM_FAILURE" : "(-11)"), HasSubstr(device().info().name)));
  EXPECT_THAT(message_of<Unsupported>([&] { device().build({"bare.cl", "", "", {}}); }), HasSubstr("bare.cl"));
}

TEST_P(EveryOpenclDevice, BuildOptionsReachTheKernel) {
  auto queue = device().make_queue();
  const auto memory = buffer(4);
  for (const std::uint32_t expected : {42u, 43u}) {
    const std::string option = "-DVALUE=" + std::to_string(expected);
    auto kernel = device().build({"o.cl", "kernel void f(global uint* a) { a[0] = VALUE; }", option, {}})->kernel("f");
    kernel->set({memory.get()});
    queue->enqueue(*kernel, {});
    std::uint32_t value = 0;
    queue->read(whole(*memory), reinterpret_cast<std::byte*>(&value));
    EXPECT_EQ(value, expected);
  }
}

TEST_P(EveryOpenclDevice, NamesTheArgumentThatDoesNotFit) {
  auto add = device().build(source())->kernel("add");
  const auto memory = buffer(4);
  EXPECT_THAT(message_of([&] { add->set({memory.get()}); }), HasSubstr("takes 2 arguments, but 1 were given"));
  EXPECT_THAT(
      message_of([&] {
        add->set({memory.get(), 1.0});
      }),
      AllOf(HasSubstr("argument 1 of kernel add"), HasSubstr(runtime() == "opencl" ? "CL_INVALID_ARG_SIZE" : "(-51)")));
}

TEST_P(EveryOpenclDevice, CountsWhatItHasTaken) {
  const DeviceInfo& info = device().info();
  const auto sentence = message_of([&] { buffer(info.largest_buffer_bytes + 1); });
  EXPECT_THAT(sentence, AllOf(HasSubstr("needed"), HasSubstr("the largest single buffer")));
}

// ---- native alone ----

TEST(Native, IsTheCoresOfThisProcess) {
  const DeviceInfo info = catalogue().choose({.runtime = "native"}, 0, 1, 0);
  EXPECT_EQ(info.type, "native");
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  EXPECT_EQ(info.compute_units, static_cast<unsigned>(CPU_COUNT(&mask)));
  const auto device = catalogue().open(info);
  const auto large = device->allocate(3 << 20, {});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large->host_pointer()) % (2u << 20), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device->allocate(1, {})->host_pointer()) % 4096, 0u);
  EXPECT_THAT(message_of<Unsupported>([&] {
                device->build({"only.cl", "kernel void f() {}", "", {}});
              }),
              HasSubstr("only.cl"));
}

// ---- selection ----

DeviceInfo fake(const char* platform, const char* name, const char* type) {
  DeviceInfo info;
  info.runtime = "fake";
  info.platform = platform;
  info.name = name;
  info.type = type;
  return info;
}

class Choosing : public testing::Test {
 protected:
  Choosing() {
    fake_devices = {fake("Host Company", "Big CPU", "cpu"), fake("Board Company", "Board A", "accelerator"),
                    fake("Board Company", "Board A", "accelerator"), fake("Other Company", "Card", "accelerator")};
    all_ = std::make_unique<DeviceCatalogue>();
    for (const DeviceInfo& info : all_->infos())
      if (info.runtime == "fake") {
        first_ = info.index;
        break;
      }
  }
  ~Choosing() override { fake_devices.clear(); }

  // Among the fakes: 0, 1, …
  int chosen(DeviceWish wish, int rank = 0, int ranks = 1, int local_rank = 0) const {
    wish.default_runtime = "fake";
    return all_->choose(wish, rank, ranks, local_rank).index - first_;
  }
  std::string refused(DeviceWish wish, int rank = 0, int ranks = 1) const {
    return message_of<UsageError>([&] { chosen(wish, rank, ranks); });
  }
  int chosen_at(DeviceWish wish, const Seat& seat) const {
    wish.default_runtime = "fake";
    return all_->choose(wish, seat).index - first_;
  }
  std::string refused_at(const DeviceWish& wish, const Seat& seat) const {
    return message_of<UsageError>([&] { chosen_at(wish, seat); });
  }
  // Four ranks of a node, bound to cores 0, 2, 1 and 3; the two boards are attached to these cores.
  Seat bound(int local, std::vector<int> first, std::vector<int> second) const {
    const auto near_to = [this, first, second](const DeviceInfo& info) {
      return info.index - first_ == 1 ? first : second;
    };
    return {local, 4, local, 4, "n01", {{0}, {2}, {1}, {3}}, near_to};
  }

  std::unique_ptr<DeviceCatalogue> all_;
  int first_ = -1;
};

TEST_F(Choosing, NumbersAllRuntimesNativeAndHlsLast) {
  std::vector<std::string> last;
  for (std::size_t i = 0; i < all_->infos().size(); ++i) {
    EXPECT_EQ(all_->infos()[i].index, static_cast<int>(i));
    const std::string& runtime = all_->infos()[i].runtime;
    if (runtime == "native" || !last.empty()) last.push_back(runtime);
  }
  EXPECT_THAT(last, testing::AnyOf(ElementsAre("native"), ElementsAre("native", "hls")));
  EXPECT_EQ(all_->infos().front().runtime, first_ > 0 ? "opencl" : "fake");
}

TEST_F(Choosing, DealsTheBestTypeOfTheFirstPlatform) {
  EXPECT_EQ(chosen({}), 1);
  EXPECT_EQ(chosen({}, 1, 4, 1), 2);
  EXPECT_EQ(chosen({}, 2, 4, 2), 1) << "the third board is another platform's";
  fake_devices.push_back(fake("Last Company", "Graphics", "gpu"));
  all_ = std::make_unique<DeviceCatalogue>();
  EXPECT_EQ(chosen({}, 5, 6, 5), 4);
}

TEST_F(Choosing, TakesIndexTypeOrPartOfTheName) {
  EXPECT_EQ(chosen({.device = std::to_string(first_ + 3)}), 3);
  EXPECT_EQ(chosen({.device = "CPU"}), 0);
  EXPECT_EQ(chosen({.device = "accelerator"}, 0, 8, 2), 3) << "a type is not bound to one platform";
  EXPECT_EQ(chosen({.device = "board a"}, 0, 8, 5), 2);
  EXPECT_EQ(chosen({.device = "other comp"}), 3);
  EXPECT_EQ(chosen({.device = "pany card"}), 3) << "platform and name are one text";
}

TEST_F(Choosing, FindsOtherRuntimesUnlessOneIsNamed) {
  EXPECT_EQ(all_->choose({.device = "native", .default_runtime = "fake"}, 0, 1, 0).runtime, "native");
  EXPECT_THAT(refused({.runtime = "fake", .device = "native"}),
              AllOf(HasSubstr("--device native"), HasSubstr("Big CPU")));
  const auto native_device = std::ranges::find(all_->infos(), "native", &DeviceInfo::runtime);
  const std::string native = std::to_string(native_device->index);
  EXPECT_THAT(refused({.runtime = "fake", .device = native}),
              HasSubstr("belongs to runtime native, but --runtime is fake"));
}

TEST_F(Choosing, MapsRanksToIndices) {
  const std::string map = std::to_string(first_ + 2) + ":" + std::to_string(first_);
  EXPECT_EQ(chosen({.map = map}, 0, 2), 2);
  EXPECT_EQ(chosen({.map = map}, 1, 2), 0);
  EXPECT_THAT(refused({.map = map}, 0, 3), AllOf(HasSubstr("names 2 devices"), HasSubstr("3 ranks")));
  EXPECT_THAT(refused({.map = "0:99"}, 1, 2),
              AllOf(HasSubstr("99 for rank 1"), HasSubstr("unknown device"), HasSubstr("Board A")));
  EXPECT_THAT(refused({.device = "0", .map = "0"}), HasSubstr("give one of them"));
}

TEST_F(Choosing, MapsTheRanksOfEachNode) {
  const std::string map = "node=" + std::to_string(first_ + 2) + ":" + std::to_string(first_);
  EXPECT_EQ(chosen_at({.map = map}, {0, 4, 0, 2}), 2);
  EXPECT_EQ(chosen_at({.map = map}, {1, 4, 1, 2}), 0);
  EXPECT_EQ(chosen_at({.map = map}, {2, 4, 0, 2}), 2) << "by place on the node, not by rank";
  EXPECT_EQ(chosen_at({.map = map}, {3, 4, 1, 2}), 0);
  EXPECT_THAT(refused_at({.map = map}, {2, 3, 2, 3, "n01"}),
              AllOf(HasSubstr("names 2 devices of a node, but 3 ranks are on n01"), HasSubstr("--share-devices")));
  EXPECT_EQ(chosen_at({.map = map, .shared = true}, {2, 3, 2, 3, "n01"}), 2);
  EXPECT_THAT(refused_at({.map = "node=0:"}, {}), HasSubstr("node=0:1"));
  EXPECT_THAT(refused_at({.map = "node=99"}, {}), HasSubstr("unknown device"));
}

TEST_F(Choosing, MapsNodesByAFile) {
  const std::string path = testing::TempDir() + "plumb_device_map";
  const std::string first = std::to_string(first_), third = std::to_string(first_ + 2);
  std::ofstream(path) << "# boards\nn02 " << third << "\n\n* " << first << "  # others\n";
  EXPECT_EQ(chosen_at({.map = path}, {0, 2, 0, 1, "n01"}), 0);
  EXPECT_EQ(chosen_at({.map = path}, {1, 2, 0, 1, "n02"}), 2);
  EXPECT_EQ(chosen_at({.map = path}, {1, 2, 0, 1, "n02.cluster"}), 2);
  EXPECT_THAT(refused_at({.map = path}, {1, 3, 1, 2, "n02"}), HasSubstr("names 1 device of a node"));
  std::ofstream(path) << "n02 " << third << "\n";
  EXPECT_THAT(refused_at({.map = path}, {0, 2, 0, 1, "n01"}), HasSubstr("names no devices of n01"));
  for (const char* wrong : {"n01\n", "n01 0:x\n", "n01 0 1\n", "n01 0\nn01 1\n"}) {
    std::ofstream(path) << wrong;
    EXPECT_THAT(refused_at({.map = path}, {0, 2, 0, 1, "n01"}), HasSubstr("a line must be a node, once")) << wrong;
  }
}

TEST_F(Choosing, MapsByTheBusOfTheDevices) {
  const std::vector<int> first{0, 1}, second{2, 3};
  for (const auto& [local, near] : {std::pair{0, 1}, {1, 2}, {2, 1}, {3, 2}}) {
    EXPECT_EQ(chosen_at({.map = "near"}, bound(local, first, second)), near) << local;
    EXPECT_EQ(chosen_at({.map = "far"}, bound(local, first, second)), 3 - near) << local;
  }
  const std::vector<int> all{0, 1, 2, 3};
  for (int local = 0; local < 4; ++local)
    EXPECT_EQ(chosen_at({.map = "near"}, bound(local, all, all)), 1 + local % 2) << "the same choice, in turn";
  EXPECT_THAT(refused_at({.map = "far"}, bound(0, all, all)), HasSubstr("no device is far from the cores 0"));
  EXPECT_THAT(refused_at({.map = "near"}, bound(1, first, first)), HasSubstr("no device is near to the cores 2"));
  EXPECT_THAT(refused_at({.map = "near"}, bound(0, first, {})), HasSubstr("on the PCI bus is not known"));
}

TEST_F(Choosing, SaysWhatThereIs) {
  EXPECT_THAT(refused({.device = "77"}),
              AllOf(HasSubstr("--device 77"), HasSubstr("unknown device"),
                    HasSubstr(std::to_string(first_) + " (fake cpu: Host Company, Big CPU)")));
  EXPECT_THAT(refused({.device = "99999999999999999999"}), HasSubstr("unknown device"));
  EXPECT_THAT(refused({.device = "-1"}), HasSubstr("--device -1"));
  EXPECT_THAT(refused({.device = "versal"}), AllOf(HasSubstr("versal"), HasSubstr("Board A")));
  EXPECT_THAT(refused({.runtime = "opencll"}), AllOf(HasSubstr("did you mean opencl"), HasSubstr("fake")));
}

TEST_F(Choosing, SaysWhyARuntimeHasNoDevice) {
  EXPECT_EQ(all_->why_none("fake"), "");
  fake_devices.clear();
  all_ = std::make_unique<DeviceCatalogue>();
  EXPECT_EQ(all_->why_none("fake"), "nobody has made a fake device; make one");
  EXPECT_THAT(refused({}), HasSubstr("runtime fake shows no device: nobody has made a fake device"));
  EXPECT_THAT(refused({.device = "no such card"}), HasSubstr("nobody has made a fake device"));
  EXPECT_THAT(all_->why_none("quantum"), HasSubstr("quantum"));
}

TEST(DeviceMap, IsNumbersAndColons) {
  EXPECT_THAT(parse_device_map("2:0:3", 3), ElementsAre(2, 0, 3));
  EXPECT_THAT(parse_device_map("2:0:3", 1), ElementsAre(2, 0, 3));
  for (const char* wrong : {"", ":", "1:", "1::2", "a:0", "1:-1", "1,2", " 1:2", "1:99999999999999999999"})
    EXPECT_THAT(message_of<UsageError>([&] { parse_device_map(wrong, 1); }), HasSubstr("--device-map")) << wrong;
}

TEST(Placements, GivePartsBanksOfTheirOwn) {
  EXPECT_EQ(to_string(parse_placement("ddr").in_bank(3, 4)), "ddr:3");
  EXPECT_EQ(to_string(parse_placement("ddr").in_bank(0, 1)), "ddr");      // the runtime's choice, for a single part
  EXPECT_EQ(to_string(parse_placement("hbm:2").in_bank(3, 4)), "hbm:2");  // the user's
  EXPECT_EQ(to_string(parse_placement("host").in_bank(3, 4)), "host");
}

TEST(Placements, AreKindAndBank) {
  for (const char* text : {"default", "host", "svm", "ddr", "hbm", "plram", "ddr:0", "hbm:31", "plram:2"})
    EXPECT_EQ(to_string(parse_placement(text)), text);
  EXPECT_EQ(parse_placement("hbm:31").bank, 31);
  EXPECT_THAT(message_of<UsageError>([] { parse_placement("hmb"); }),
              AllOf(HasSubstr("did you mean hbm"), HasSubstr("plram")));
  EXPECT_THAT(message_of<UsageError>([] { parse_placement("host:1"); }), HasSubstr("host has no banks"));
  for (const char* wrong : {"hbm:", "hbm:x", "hbm:-1", "hbm:1:2", "", ":1"})
    EXPECT_THROW(parse_placement(wrong), UsageError) << wrong;
}

TEST(Devices, AreWrittenAsTheRecordNamesThem) {
  DeviceInfo info = fake("P", "N", "gpu");
  info.memory_kinds = {MemoryKind::automatic, MemoryKind::hbm};
  const Json json = to_json(info);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(
      keys, ElementsAre("index", "runtime", "platform", "name", "type", "vendor", "version", "driver", "compute_units",
                        "memory_bytes", "local_bytes", "cache_bytes", "memory_kinds", "features"));
  EXPECT_EQ(json["memory_kinds"], (Json{"default", "hbm"}));
}

// ---- the environment, seen by a fresh process ----

// Output of `DevicesShown.ToAParent` in a separate process with these variables.
std::string shown(const std::string& environment) {
  std::array<char, 4096> path{};
  EXPECT_GT(readlink("/proc/self/exe", path.data(), path.size() - 1), 0);
  const std::string command = environment + " '" + path.data() + "' --gtest_filter=DevicesShown.ToAParent 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (std::array<char, 512> part; fgets(part.data(), part.size(), pipe.get()) != nullptr;) text += part.data();
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(DevicesShown, ToAParent) {
  for (const DeviceInfo& info : catalogue().infos())
    std::printf("shown: %s, %s, %u units\n", info.runtime.c_str(), info.platform.c_str(), info.compute_units);
  std::printf("why: %s\n", catalogue().why_none("opencl").c_str());
}

class WithPocl : public testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceInfo& info : catalogue().infos())
      if (info.platform == "Portable Computing Language") {
        driver_ = info.name.substr(0, info.name.find('-'));
        if (driver_ != "pthread") driver_ = "cpu";  // PoCL 4 and later
        return;
      }
    GTEST_SKIP() << "PoCL is not here";
  }
  std::string driver_;
};

TEST_F(WithPocl, ShowsSeveralDevicesOfOneCpu) {
  const std::string two = "POCL_DEVICES='" + driver_ + " " + driver_ + "'";
  EXPECT_EQ(count(shown(two), "shown: opencl, Portable Computing Language"), 2u);
}

TEST_F(WithPocl, StartsAsManyThreadsAsTheProcessMayUse) {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  int core = 0;
  while (!CPU_ISSET(core, &mask)) ++core;
  const std::string bound = "env -u POCL_MAX_PTHREAD_COUNT -u POCL_CPU_MAX_CU_COUNT taskset -c " + std::to_string(core);
  EXPECT_THAT(shown(bound), HasSubstr("Portable Computing Language, 1 units"));
  EXPECT_THAT(shown("POCL_MAX_PTHREAD_COUNT=3"), HasSubstr("Portable Computing Language, 3 units"))
      << "who sets it keeps it";
}

TEST(WithoutPlatforms, SaysHowToGetOne) {
  const std::string text = shown("env -u OCL_ICD_FILENAMES OCL_ICD_VENDORS=/nonexistent");
  if (text.find("shown: opencl") != std::string::npos) GTEST_SKIP() << "this loader has platforms from elsewhere";
  EXPECT_THAT(text, AllOf(HasSubstr("no OpenCL platform found"), HasSubstr("apt-get install pocl-opencl-icd"),
                          HasSubstr("plumb setup intel-cpu"), HasSubstr("shown: native")));
}

TEST_F(WithPocl, SaysWhenAPlatformShowsNothing) {
  EXPECT_THAT(shown("POCL_DEVICES=nothing"),
              AllOf(HasSubstr("Portable Computing Language"), Not(HasSubstr("shown: opencl"))));
}

}  // namespace
}  // namespace plumb
