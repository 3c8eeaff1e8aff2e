#include "benchmarks/hpcc/fft/fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "benchmarks/hpcc/fft/plan.hpp"
#include "core/units.hpp"
#include "device/host_share.hpp"
#include "device/opencl_c.hpp"

namespace plumb::fft {

namespace {

constexpr std::uint64_t staging_bytes = std::uint64_t{32} << 20;
constexpr std::uint64_t guard_bytes = 4096;  // after the results
constexpr std::uint64_t kibi = 1024, mebi = 1024 * kibi;

// The exponent of an item: see read_exponent().
int parse_size(std::string_view text, const std::string& whole) {
  if (!read_written(std::string(text)))
    throw UsageError(
        fmt::format("--size {}: invalid number \"{}\" (a list is like 9,17 or 3-12 or 2^9,4Ki)", whole, text));
  const auto value = read_exponent(std::string(text), least_log, most_log);
  if (!value || *value < least_log || *value > most_log)
    throw UsageError(fmt::format("--size {}: transforms must have 2^{} to 2^{} points", whole, least_log, most_log));
  return static_cast<int>(*value);
}

}  // namespace

std::vector<int> parse_sizes(const std::string& text) {
  std::vector<int> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = std::string_view(text).substr(begin, end - begin);
    const std::size_t dash = item.find('-');
    const int first = parse_size(item.substr(0, dash), text);
    const int last = dash == std::string_view::npos ? first : parse_size(item.substr(dash + 1), text);
    if (last < first) throw UsageError(fmt::format("--size {}: {} exceeds {}", text, first, last));
    for (int size = first; size <= last; ++size) {
      if (std::find(sizes.begin(), sizes.end(), size) != sizes.end())
        throw UsageError(fmt::format("--size {}: {} is given twice", text, size));
      sizes.push_back(size);
    }
    begin = end + 1;
  }
  return sizes;
}

// A replication reads from one bank and writes to another.
std::optional<BoardKernels> Fft::board_kernels(BoardTool tool) const {
  BoardKernels board{.source = "benchmarks/hpcc/fft/single_work_item.cl", .banks = 2};
  BoardKernels::Kernel transform{
      .name = "fft", .numbered = "fft_{replication}", .arguments = {{"to", 1}, {"roots", 0}}};
  if (tool == BoardTool::aoc) {
    board.options = "-DCHANNELS";
    board.kernels.push_back({.name = "fetch", .numbered = "fetch_{replication}", .arguments = {{"from", 0}}});
  } else {
    transform.arguments.insert(transform.arguments.begin(), {"from", 0});
  }
  board.kernels.push_back(transform);
  return board;
}

Preset Fft::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "3,10,13"}, {"data", "4"}, {"time-limit", "0.1"}};
  if (name == "full") return {{"size", "3-20,24"}, {"data", "2048"}, {"time-limit", "5"}};
  return {{"time-limit", "1"}};
}

void Fft::check(const Plan&) const {
  const std::int64_t unroll = unroll_;
  if (unroll == 1 || (unroll & (unroll - 1)) != 0)
    throw UsageError(fmt::format("--unroll must be 2, 4, 8 or 16 (0 = by the kernel), not {}", unroll));
  for (const int size : parse_sizes(sizes_)) {
    const std::uint64_t batch = batch_of(shape_of(size));
    if (batch < static_cast<std::uint64_t>(replications_.get()))
      throw UsageError(fmt::format("--replications {} exceeds the batch of 2^{} points, which has {} transforms",
                                   replications_.get(), size, batch));
  }
}

void Fft::check_device(const Plan&, const DeviceInfo& device) const {
  if (kernel_ != "default" && variant_.on(device) != hpcc::Variant::nd_range)
    throw UsageError(fmt::format("--kernel {} is of variant nd_range, but {} is to run variant {}", kernel_.get(),
                                 device.name, to_string(variant_.on(device))));
  const bool for_boards = has_opencl_driver(device) || device.runtime == "hls" || device.runtime == "xrt";
  if (variant_.on(device) == hpcc::Variant::single_work_item && !for_boards)
    throw UsageError(
        fmt::format("variant single_work_item is OpenCL C or HLS C++ for FPGAs, which runtime {} cannot "
                    "compile",
                    device.runtime));
  if (kernel_ == "gpu" && device.runtime == "native")
    throw UsageError("runtime native has no kernel gpu, as it cannot compile device code");
}

std::uint64_t Fft::batch_of(const Shape& shape) const {
  if (batch_.get() > 0) return static_cast<std::uint64_t>(batch_.get());
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(replications_.get()),
                                 static_cast<std::uint64_t>(data_.get()) * mebi / shape.bytes());
}

Group Fft::make_group(int log_points) const {
  const Shape shape = shape_of(log_points);
  const std::uint64_t batch = batch_of(shape), points = batch * shape.points();
  Case one;
  one.key = fmt::format("{}/{}", shape.inverse ? "inverse" : "forward", shape.points());
  one.labels = {{"direction", shape.inverse ? "inverse" : "forward"}, {"points", shape.points()}, {"batch", batch}};
  one.payload = Payload(shape);
  one.work.bytes_read = one.work.bytes_written = batch * shape.bytes();
  one.work.flops = 5.0 * static_cast<double>(points) * log_points;
  one.items_to_check = points;
  one.witnesses = static_cast<std::uint64_t>(replications_.get());
  one.most_operations = Slide::most;
  const auto replications = static_cast<std::uint64_t>(replications_.get());
  const std::uint64_t share = (batch + replications - 1) / replications;
  Group group;
  group.key = one.key;
  group.largest_buffer_bytes = Slide().target_room(share * shape.bytes()) + guard_bytes;
  group.device_bytes = replications * (2 * group.largest_buffer_bytes + bytes_beside_data(shape, share));
  group.host_bytes = std::max(shape.bytes(), staging_bytes) + checker_bytes(shape, batch);
  group.cases.push_back(std::move(one));
  return group;
}

std::vector<Group> Fft::groups(const Plan&) const {
  std::vector<Group> groups;
  for (const int size : parse_sizes(sizes_)) groups.push_back(make_group(size));
  return groups;
}

std::unique_ptr<Form> Fft::make_form(Session& session, const Job& job) {
  const DeviceInfo& device = session.device.info();
  const Tuning tuning{static_cast<int>(unroll_.get()), static_cast<std::uint64_t>(chunk_.get()) * mebi,
                      static_cast<std::uint64_t>(local_.get()) * kibi};
  switch (variant_.on(device)) {
    case hpcc::Variant::single_work_item:
      return make_pipeline_form(session, job, tuning);
    case hpcc::Variant::library:
      return make_library_form(session, job);
    default:
      if (kernel_ == "gpu" || (kernel_ == "default" && device.type == "gpu"))
        return make_gpu_form(session, job, tuning);
      return make_cpu_form(session, job);
  }
}

void Fft::prepare(Session& session, const Case& measured) {
  const DeviceInfo& device = session.device.info();
  hpcc::require_type(device, type());
  shape_ = measured.payload.as<Shape>();
  identity_ = {session.seed, static_cast<std::uint64_t>(session.world.rank())};
  queue_ = session.device.make_queue();
  staging_ = allocate_host(session.device, std::max(shape_.bytes(), staging_bytes));
  checker_ = make_checker(shape_);
  slide_ = Slide(device);
  const std::uint64_t batch = batch_of(shape_);
  const auto replications = static_cast<std::uint64_t>(replications_.get());
  for (std::uint64_t i = 0; i < replications; ++i) {
    Replication& replication = replications_of_rank_.emplace_back();
    replication.first = batch * i / replications;
    replication.transforms = batch * (i + 1) / replications - replication.first;
    const std::uint64_t bytes = replication.transforms * shape_.bytes();
    // A board's kernel reads one bank and writes another.
    const auto bank = [&](std::uint64_t part) {
      return session.memory.in_bank(static_cast<int>(part), static_cast<int>(2 * replications));
    };
    replication.from = session.device.allocate(slide_.source_room(bytes), bank(2 * i));
    replication.to = session.device.allocate(slide_.target_room(bytes) + guard_bytes, bank(2 * i + 1));
    replication.form = make_form(session, {shape_, replication.transforms, replication.from.get(), replication.to.get(),
                                           static_cast<int>(i), slide_});
  }
  facts_ = {{"variant", to_string(variant_.on(device))}, {"replications", replications}};
  facts_.update(replications_of_rank_.front().form->facts());
}

template <class Each>
void Fft::in_pieces(const Slide::Range& range, Each each) const {
  const std::uint64_t most = staging_->size() / shape_.bytes() * shape_.bytes();
  for (std::uint64_t done = 0; done < range.size; done += most)
    each(range.begin + done, std::span<std::byte>(staging_->host_pointer(), std::min(most, range.size - done)));
}

void Fft::reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) {
  identity_.repetition = repetition;
  for (const Replication& replication : replications_of_rank_) {
    const std::uint64_t length = replication.transforms * shape_.bytes();
    in_pieces(slide_.sources(length, count), [&](std::uint64_t begin, std::span<std::byte> bytes) {
      fill_points(identity_, shape_.type, first_point(replication, begin), bytes.size() / (2 * size_of(shape_.type)),
                  bytes);
      queue_->write(bytes.data(), {replication.from.get(), begin, bytes.size()});
    });
    std::memset(staging_->host_pointer(), std::to_integer<int>(poison_byte), staging_->size());
    const auto [first, size] = slide_.targets(length, count);
    in_pieces({first, size + guard_bytes}, [&](std::uint64_t begin, std::span<std::byte> bytes) {
      queue_->write(bytes.data(), {replication.to.get(), begin, bytes.size()});
    });
  }
}

void Fft::run(Session&, const Case&, Timed& timed) {
  for (const Replication& replication : replications_of_rank_) replication.form->start(timed.count());
  for (const Replication& replication : replications_of_rank_) replication.form->wait();
  // Replications run concurrently on their own queues: the device time is complete only for a single one.
  if (replications_of_rank_.size() == 1) timed.device_seconds(replications_of_rank_.front().form->device_seconds());
}

Validation Fft::validate(Session&, const Case&, std::uint64_t, std::uint64_t count) {
  Validation found;
  for (const Replication& replication : replications_of_rank_) {
    check_last(replication, found);
    check_others(replication, count, found);
  }
  return found;
}

void Fft::check_last(const Replication& replication, Validation& found) const {
  const std::uint64_t moved = slide_.target(0) - slide_.source(0);
  in_pieces({slide_.target(0), replication.transforms * shape_.bytes()}, [&](std::uint64_t begin,
                                                                             std::span<std::byte> bytes) {
    std::memset(bytes.data(), std::to_integer<int>(poison_byte),
                bytes.size());  // detects a read that does not happen
    queue_->read({replication.to.get(), begin, bytes.size()}, bytes.data());
    checker_->check(identity_, first_point(replication, begin - moved), bytes, found);
  });
}

// Checks the remainder of the other operations, one item each, and that no other bytes were written.
void Fft::check_others(const Replication& replication, std::uint64_t count, Validation& found) const {
  const std::size_t length = replication.transforms * shape_.bytes(), first = slide_.target(count - 1),
                    last = slide_.target(0);
  std::vector<std::byte> rests(last - first, poison_byte), guard(guard_bytes);
  queue_->read({replication.to.get(), first, rests.size()}, rests.data());
  queue_->read({replication.to.get(), last + length, guard_bytes}, guard.data());
  const bool are_begins = shape_.bytes() >= 2 * slide_.step();  // of one transform; otherwise whole transforms
  const std::uint64_t checked = found.items_checked;
  std::uint64_t written = 0;
  slide_.each_run(
      length, count, last + length + guard_bytes,
      [&](const Slide::Rest& rest) {
        if (rest.later > 0 && !are_begins)
          checker_->check(identity_, first_point(replication, slide_.source(rest.later)),
                          std::span(rests).subspan(rest.begin - first, rest.size), found);
      },
      [&](std::size_t begin, std::size_t size) {
        const auto run = begin > last ? std::span(guard) : std::span(rests).subspan(begin - first, size);
        written += static_cast<std::uint64_t>(
            std::count_if(run.begin(), run.end(), [](std::byte b) { return b != poison_byte; }));
      });
  if (are_begins && count > 1)
    checker_->check_begins(identity_, first_point(replication, slide_.source(count - 1)),
                           slide_.step() / (2 * size_of(shape_.type)), count - 1, rests, found);
  found.items_checked = checked + count - 1;
  found.wrong_items += written;
  if (written > 0 && found.detail.empty())
    found.detail = fmt::format("{} bytes past the last transform were written", written);
}

void Fft::release() {
  replications_of_rank_.clear();
  checker_.reset();
  staging_.reset();
  queue_.reset();
}

std::vector<Metric> Fft::metrics(const CaseResult& result, int ranks) const {
  const Work& work = result.measured->work;
  const auto bytes = static_cast<double>(work.bytes_read + work.bytes_written);
  std::vector<Metric> list = hpcc::parallel_metrics("performance", "GFLOP/s", giga, work.flops, result, ranks);
  for (Metric& metric : list) metric.convention += ", 5 n log2(n) batch/t";
  Metric bandwidth = hpcc::parallel_metrics("bandwidth", "GB/s", giga, bytes, result, ranks).front();
  bandwidth.convention = "every point read once and written once, " + bandwidth.convention;
  list.push_back(std::move(bandwidth));
  const auto batch = static_cast<double>(batch_of(result.measured->payload.as<Shape>()));
  list.push_back({"time_per_transform", result.best_seconds() / batch / micro, "us",
                  "t/batch; best repetition, slowest rank", "", false});
  return list;
}

namespace {

const RegisteredBenchmark registered_fft("fft", [] { return std::make_unique<Fft>(); });

}  // namespace

}  // namespace plumb::fft
