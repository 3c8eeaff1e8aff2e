// STREAM's numbers, detection of wrong ones, and transfers that lose bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "benchmarks/hpcc/stream/stream.hpp"

namespace plumb::stream {

namespace {

const ScalarType types[] = {ScalarType::f16, ScalarType::f32, ScalarType::f64};

std::vector<double> values(const Numbers& numbers, std::size_t count) {
  std::vector<std::byte> bytes(count * size_of(numbers.type()));
  fill(bytes, numbers);
  std::vector<double> result(count);
  load_scalars(bytes, numbers.type(), result);
  return result;
}

std::vector<std::byte> result_of(const Operation& operation, const Contents& contents, ScalarType type,
                                 std::size_t count) {
  const auto x = values(contents.of(operation.inputs.front()), count);
  const auto y = values(contents.of(operation.inputs.back()), count);
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = operation.rule(x[i], y[i]);
  std::vector<std::byte> bytes(count * size_of(type));
  store_scalars(result, type, bytes);
  return bytes;
}

TEST(StreamNumbers, NoOperationRounds) {
  for (const ScalarType type : types)
    for (const char* name : {"copy", "scale", "add", "triad"}) {
      const Operation& rule = operation(name);
      const Contents given = contents(rule, type, 5000, {1, 2, 3, 0, 4});
      const auto stored = result_of(rule, given, type, 5000);
      std::vector<double> back(5000);
      load_scalars(stored, type, back);
      const auto x = values(given.of(rule.inputs.front()), 5000), y = values(given.of(rule.inputs.back()), 5000);
      // Nothing rounds in long double, so equality proves that the type holds the exact result.
      for (std::size_t i = 0; i < back.size(); ++i) {
        const long double wide_x = x[i], wide_y = y[i], j = scalar;
        const long double exact = rule.name == "copy"    ? wide_x
                                  : rule.name == "scale" ? j * wide_x
                                  : rule.name == "add"   ? wide_x + wide_y
                                                         : wide_x + j * wide_y;
        ASSERT_EQ(static_cast<long double>(back[i]), exact) << to_string(type) << " " << name << " " << i;
      }
    }
}

TEST(StreamNumbers, AreNeitherConstantNorZero) {
  for (const ScalarType type : types) {
    const Numbers numbers(type, fraction_bits(type), 7);
    const auto list = values(numbers, 4001);
    std::set<double> distinct;
    int negative = 0;
    for (const double value : list) {
      ASSERT_GE(std::abs(value), 1);
      ASSERT_LT(std::abs(value), 2);
      distinct.insert(value);
      negative += value < 0 ? 1 : 0;
    }
    EXPECT_GT(distinct.size(), type == ScalarType::f16 ? 500u : 3990u);
    EXPECT_NEAR(negative, 2000, 200);
  }
}

TEST(StreamNumbers, DifferByOwnerAndArray) {
  const auto first = [](const Provenance& owner) {
    return contents(operation("triad"), ScalarType::f64, 10, owner).a.word(0);
  };
  const Contents one = contents(operation("triad"), ScalarType::f64, 10, {1, 0, 0, 0, 1});
  const std::set<std::uint64_t> words{first({1, 0, 0, 0, 1}), first({2, 0, 0, 0, 1}), first({1, 1, 0, 0, 1}),
                                      first({1, 0, 1, 0, 1}), first({1, 0, 0, 0, 2}), one.b.word(0),
                                      one.c.word(0)};
  EXPECT_EQ(words.size(), 7u);
}

// Whatever the order, and in the type that kernels add up in.
TEST(StreamNumbers, DotDoesNotRoundInAnyOrder) {
  for (const ScalarType type : types)
    for (const std::size_t count : {1u, 3u, 1000u, 300001u}) {
      const Contents given = contents(operation("dot"), type, count, {});
      const auto a = values(given.a, count), b = values(given.b, count);
      long double exact = 0;
      for (std::size_t i = 0; i < count; ++i) exact += static_cast<long double>(a[i]) * b[i];
      EXPECT_EQ(dot(given.a, given.b, count), static_cast<double>(exact)) << to_string(type) << " " << count;
      if (type == ScalarType::f64) continue;
      for (const std::size_t stride : {1u, 8u, 1024u}) {
        float sum = 0;
        for (std::size_t from = 0; from < stride; ++from)
          for (std::size_t i = from; i < count; i += stride) sum += static_cast<float>(a[i] * b[i]);
        EXPECT_EQ(sum, static_cast<float>(exact)) << to_string(type) << " " << count << " by " << stride;
      }
    }
}

TEST(StreamNumbers, DotKeepsBitsForTheLongestArrays) {
  for (const ScalarType type : types) {
    EXPECT_EQ(fraction_bits_of_dot(type, 1), std::min(fraction_bits(type), type == ScalarType::f64 ? 23 : 9));
    EXPECT_GE(fraction_bits_of_dot(type, std::uint64_t{1} << 36), 0);
  }
  EXPECT_EQ(fraction_bits_of_dot(ScalarType::f32, std::uint64_t{1} << 27), 2);
}

TEST(StreamCompare, FindsOneWrongElementAnywhere) {
  for (const ScalarType type : types) {
    const Operation& triad = operation("triad");
    constexpr std::size_t count = 70003;  // no whole number of words, more than one thread's
    const Contents given = contents(triad, type, count, {});
    auto bytes = result_of(triad, given, type, count);
    EXPECT_EQ(compare(bytes, triad, given.b, given.c).wrong, 0u);
    for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
      auto wrong = bytes;
      wrong[at * size_of(type)] ^= std::byte{1};  // the last bit of the fraction
      const Difference found = compare(wrong, triad, given.b, given.c);
      EXPECT_EQ(found.wrong, 1u) << to_string(type) << " " << at;
      EXPECT_EQ(found.first, at);
      EXPECT_GT(found.largest, 0);
      EXPECT_NE(found.is, found.should_be);
    }
    std::memset(bytes.data(), 0xff, bytes.size());
    const Difference unwritten = compare(bytes, triad, given.b, given.c);
    EXPECT_EQ(unwritten.wrong, count);
    EXPECT_TRUE(std::isnan(unwritten.largest));
  }
}

TEST(StreamCompare, TakesAnyPartOfTheArrays) {
  for (const ScalarType type : types) {
    const Operation& add = operation("add");
    const Contents given = contents(add, type, 100, {}), exact = contents(operation("dot"), type, 100, {});
    const auto bytes = result_of(add, given, type, 100);
    const std::size_t size = size_of(type);
    for (const std::size_t from : {1u, 2u, 3u, 4u, 7u, 50u})
      for (const std::size_t count : {1u, 2u, 5u, 8u, 50u}) {
        const auto part = std::span(bytes).subspan(from * size, count * size);
        EXPECT_EQ(compare(part, add, given.a, given.b, from).wrong, 0u) << from << " " << count;
        const Difference shifted = compare(part, add, given.a, given.b, from + 1);
        EXPECT_GE(shifted.wrong, count - count / 4) << "one number on";
        EXPECT_EQ(dot(exact.a, exact.b, count, from),
                  dot(exact.a, exact.b, from + count) - dot(exact.a, exact.b, from));
      }
  }
}

// --- a device that loses commands: host memory behind a faulty queue

struct Fault {
  bool drops_writes = false, drops_reads = false;
  std::size_t cut = 0;  // bytes off the end of each transfer
};

class HostBuffer : public Buffer {
 public:
  HostBuffer(std::size_t size, const Placement& placement) : Buffer(size, placement), bytes_(size) {}
  std::byte* host_pointer() const override { return const_cast<std::byte*>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
};

class FaultyQueue : public Queue {
 public:
  explicit FaultyQueue(const Fault& fault) : fault_(fault) {}
  void enqueue_read(const BufferView& from, std::byte* to) override {
    if (!fault_.drops_reads) std::memcpy(to, from.host_pointer(), from.size - fault_.cut);
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    if (!fault_.drops_writes) std::memcpy(to.host_pointer(), from, to.size - fault_.cut);
  }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    std::memcpy(to.host_pointer(), from.host_pointer(), from.size - fault_.cut);
  }
  void enqueue(Kernel&, const KernelRange&) override { throw Error("no kernels"); }
  void finish() override {}
  bool finished() override { return true; }

 private:
  const Fault& fault_;
};

class FaultyDevice : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    return std::make_unique<HostBuffer>(bytes, placement);
  }
  std::unique_ptr<Queue> make_queue(bool) override { return std::make_unique<FaultyQueue>(fault); }
  std::unique_ptr<Program> build(const KernelSource&) override { throw Unsupported("no kernels"); }

  Fault fault;

 private:
  DeviceInfo info_;
};

constexpr std::uint64_t operations = 23;

// Reset without a fault, the operations with it (those that are left out are not), the check without.
Validation under(const Fault& fault, const char* name, const std::function<bool(std::uint64_t)>& left_out = {}) {
  FaultyDevice device;
  KernelForm form;
  form.variant = hpcc::Variant::library;
  const Operation& chosen = operation(name);
  Replication replication(device, {}, form, {1001, 4, 4});
  const Contents given = contents(chosen, form.type, 1001, {});
  replication.choose(chosen, {});
  replication.reset(given, operations);
  device.fault = fault;
  for (std::uint64_t later = operations; later-- > 0;)
    if (!left_out || !left_out(later)) replication.enqueue(later);
  replication.finish();
  device.fault = {};
  Validation validation;
  replication.check(given, operations, validation);
  return validation;
}

TEST(StreamTransfers, SoundOnesPass) {
  for (const auto& [name, arrays] : {std::pair{"write", 3u}, std::pair{"read", 3u}, std::pair{"copy", 1u}}) {
    const Validation found = under({}, name);
    EXPECT_EQ(found.wrong_items, 0u) << name << ": " << found.detail;
    EXPECT_EQ(found.error, 0);
    EXPECT_EQ(found.items_checked, arrays * (1001u + operations - 1));
  }
}

TEST(StreamTransfers, LostBytesAreFound) {
  const std::uint64_t all = 1001 + (operations - 1) * 32;  // numbers that a sample leaves in an array: steps of 64 B
  EXPECT_EQ(under({true, false, 0}, "write").wrong_items, 3 * all);
  EXPECT_EQ(under({false, true, 0}, "read").wrong_items, 3 * all);
  for (const char* name : {"write", "read"}) {
    const Validation found = under({false, false, 1}, name);
    EXPECT_EQ(found.wrong_items, 3u) << name;
    EXPECT_THAT(found.detail, testing::HasSubstr("A[1000] of operation 23 of 23 is"));
  }
  EXPECT_EQ(under({false, false, 4}, "copy").wrong_items, 1u);
}

TEST(StreamTransfers, OneOperationLeftOutIsFound) {
  for (const char* name : {"write", "read", "copy"})
    for (std::uint64_t one = 0; one < operations; ++one) {
      const Validation found = under({}, name, [&](std::uint64_t later) { return later == one; });
      EXPECT_GE(found.wrong_items, 31u) << name << ", " << one;
    }
}

// --- kernels by name

class NamedProgram : public Program {
 public:
  explicit NamedProgram(std::vector<std::string> names) : names_(std::move(names)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override {
    asked.push_back(name);
    struct None : Kernel {
      void set(const std::vector<KernelArgument>&) override {}
      void set(std::size_t, const KernelArgument&) override {}
    };
    return std::make_unique<None>();
  }
  std::vector<std::string> kernel_names() const override { return names_; }

  std::vector<std::string> asked;

 private:
  std::vector<std::string> names_;
};

TEST(StreamKernels, ABitstreamHasOneForEachReplication) {
  FaultyDevice device;
  Buffers buffers;
  for (auto& array : buffers.arrays) array = device.allocate(64, {});
  KernelForm form;
  form.variant = hpcc::Variant::single_work_item;
  NamedProgram numbered({"calc_0", "calc_1"});
  launches(numbered, form, operation("add"), buffers, 1, 1, 2);
  EXPECT_THAT(numbered.asked, testing::ElementsAre("calc_1"));
  EXPECT_THROW(launches(numbered, form, operation("add"), buffers, 1, 0, 4), Error);
  EXPECT_THROW(launches(numbered, form, operation("dot"), buffers, 1, 0, 2), Unsupported);
  NamedProgram ours({"calc", "calc_dot"});
  launches(ours, form, operation("triad"), buffers, 1, 3, 4);
  EXPECT_THAT(ours.asked, testing::ElementsAre("calc"));
}

// --- HPCC FPGA's form

TEST(StreamHpccForm, HasThePredecessorsKeys) {
  const Json triad{{"key", "triad"},
                   {"labels", {{"operation", "triad"}}},
                   {"work", {{"bytes_read", 2000000}, {"bytes_written", 1000000}}},
                   {"facts", {{"variant", "single_work_item"}}},
                   {"count", 2},
                   {"samples", {{"by_rank", {{0.004, 0.002}, {0.003, 0.006}}}}},
                   {"outcome", {{"status", "passed"}}}};
  const Json record{
      {"parameters", {{"elements", 125000}, {"type", "double"}}}, {"world", {{"ranks", 2}}}, {"cases", {triad}}};
  const Json form = stream_hpcc_form(record);
  EXPECT_EQ(form["name"], "STREAM");
  EXPECT_EQ(form["timings"]["Triad"], Json::parse(R"([{"unit": "s", "value": 0.002}, {"unit": "s", "value": 0.003}])"));
  EXPECT_NEAR(form["results"]["Triad_best_rate"]["value"].get<double>(), 3000, 1e-9);
  EXPECT_EQ(form["results"]["Triad_best_rate"]["unit"], "MB/s");
  EXPECT_EQ(form["results"]["Triad_max_t"]["value"], 0.003);
  EXPECT_EQ(form["errors"]["a_average_error"], 0.0);
  EXPECT_TRUE(form["errors"]["b_average_error"].is_null());
  EXPECT_EQ(form["settings"], Json::parse(R"({"Array Size": 125000, "Data Type": "double", "Kernel Type": "Single"})"));

  Json wrong = record;
  wrong["cases"][0]["outcome"]["status"] = "failed";
  const Json none = stream_hpcc_form(wrong);
  for (const char* key : {"Triad_best_rate", "Triad_min_t", "Triad_avg_t", "Triad_max_t"})
    EXPECT_TRUE(none["results"][key]["value"].is_null()) << key;
  EXPECT_EQ(none["timings"], form["timings"]);
}

}  // namespace

}  // namespace plumb::stream
