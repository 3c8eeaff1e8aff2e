#include "benchmarks/hpcc/mpi_fft/mpi_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "benchmarks/hpcc/fft/plan.hpp"
#include "benchmarks/hpcc/mpi_fft/check.hpp"
#include "benchmarks/hpcc/mpi_fft/turn.hpp"
#include "core/embedded.hpp"
#include "core/units.hpp"
#include "transport/patterns/all_to_all.hpp"

namespace plumb::mpi_fft {

namespace {

enum Phase : std::size_t { kernel_phase, exchange_phase, transform_phase };

double flops_of(std::uint64_t points) {
  const auto n = static_cast<double>(points);
  return 5 * n * std::log2(n);
}

std::vector<double> as_doubles(std::span<const std::byte> bytes, ScalarType type) {
  std::vector<double> values(bytes.size() / size_of(type));
  if (type == ScalarType::f32)
    std::copy_n(reinterpret_cast<const float*>(bytes.data()), values.size(), values.begin());
  else
    std::copy_n(reinterpret_cast<const double*>(bytes.data()), values.size(), values.begin());
  return values;
}

}  // namespace

Split split_of(int log_points, int ranks) {
  const int log_rows = log_points / 2;
  return {std::uint64_t{1} << log_rows, std::uint64_t{1} << (log_points - log_rows), static_cast<std::uint64_t>(ranks)};
}

Preset MpiFft::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "16"}};
  if (name == "full") return {{"size", "24"}};
  return {};
}

void MpiFft::check(const Plan& plan) const {
  const auto ranks = static_cast<unsigned>(plan.ranks);
  if (!std::has_single_bit(ranks))
    throw UsageError(fmt::format("mpi_fft needs a power of two of ranks, not {}", plan.ranks));
  const int least = 2 * std::max(fft::least_log, std::countr_zero(ranks));
  if (size_.get() < least)
    throw UsageError(fmt::format("--size {} is too small for {} ranks: at least {}", size_.get(), plan.ranks, least));
}

std::vector<Group> MpiFft::groups(const Plan& plan) const {
  const Split split = split_of(static_cast<int>(size_), plan.ranks);
  const std::uint64_t bytes = split.own() * 2 * size_of(type());
  Case one;
  one.key = fmt::format("{}/{}", type_.get(), split.points());
  one.labels = {{"type", type_.get()}, {"points", split.points()}};
  one.work.flops = flops_of(split.points()) / plan.ranks;
  one.work.bytes_sent = 3 * bytes / split.ranks * (split.ranks - 1);
  one.work.messages = 3 * (split.ranks - 1);
  one.items_to_check = split.own();
  one.fixed_count = 1;
  one.phases = {"kernel", "exchange", "transform"};
  Group group{"mpi_fft", {one}};
  const Slide slide;
  group.largest_buffer_bytes = slide.target_room(bytes);
  const fft::Shape longest{type(), static_cast<int>(size_) - static_cast<int>(size_) / 2, false};
  group.device_bytes = 4 * bytes + slide.source_room(bytes) + slide.target_room(bytes) +
                       2 * fft::bytes_beside_data(longest, split.own() / longest.points());
  group.host_bytes = 5 * bytes;
  group.exchange_bytes = 2 * bytes;
  return {group};
}

std::unique_ptr<fft::Form> MpiFft::make_form(Session& session, std::uint64_t length, std::uint64_t batch) {
  const fft::Job job{{type(), std::countr_zero(length), false}, batch, before_.get(), after_.get(), 0, slide_};
  const DeviceInfo& device = session.device.info();
  Session own = session;
  own.kernel_file.clear();  // turn.cl's
  switch (variant_.on(device)) {
    case hpcc::Variant::library:
      return fft::make_library_form(own, job);
    case hpcc::Variant::single_work_item:
      return fft::make_pipeline_form(own, job, {});
    default:
      return device.type == "gpu" ? fft::make_gpu_form(own, job, {}) : fft::make_cpu_form(own, job);
  }
}

void MpiFft::prepare(Session& session, const Case&) {
  hpcc::require_type(session.device.info(), ScalarType::f64);  // type of the twiddles
  const auto ranks = static_cast<std::size_t>(session.world.size());
  split_ = split_of(static_cast<int>(size_), session.world.size());
  rank_ = session.world.rank();
  weighted_ = point_ = 0;
  std::vector<int> everyone(ranks);
  std::iota(everyone.begin(), everyone.end(), 0);
  all_ = session.world.team(everyone);
  queue_ = session.device.make_queue();
  Placement own = session.memory;
  own.shared = false;
  slide_ = Slide(session.device.info());
  const std::size_t bytes = own_bytes();
  for (auto* buffer : {&input_, &output_}) *buffer = session.device.allocate(bytes, own);
  for (auto* buffer : {&sent_, &received_}) *buffer = session.device.allocate(bytes, session.memory);
  before_ = session.device.allocate(slide_.source_room(bytes), own);
  after_ = session.device.allocate(slide_.target_room(bytes), own);
  of_columns_ = make_form(session, split_.rows, split_.columns / split_.ranks);
  of_rows_ = make_form(session, split_.columns, split_.rows / split_.ranks);
  const std::string file = "benchmarks/hpcc/mpi_fft/turn.cl";
  KernelSource source{file, embedded_text(file)};
  source.options = fmt::format("-DREAL={} -DGROUP={}", to_string(type()), group_items);
  source.native = native_kernels(type());
  program_ = session.device.build(session.source(source));
  turn_ = program_->kernel("turn");
  join_ = program_->kernel("join");
  std::vector<BufferView> to, from;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    to.push_back({sent_.get(), rank * (bytes / ranks), bytes / ranks});
    from.push_back({received_.get(), rank * (bytes / ranks), bytes / ranks});
  }
  exchange_ = session.transport->compile(all_to_all(to, from, session.world));
}

void MpiFft::reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t) {
  image_.assign(std::max(after_->size(), before_->size()), poison_byte);
  for (Buffer* buffer : {sent_.get(), received_.get(), before_.get(), after_.get(), output_.get()})
    queue_->write(image_.data(), whole(*buffer));
  image_.resize(own_bytes());
  const Provenance all{session.seed, 0, 0, 0, repetition};
  fft::fill_points(all, type(), static_cast<std::uint64_t>(rank_) * split_.own(), split_.own(), image_);
  queue_->write(image_.data(), whole(*input_));
}

// Transposes: this rank's rows of `from` become its rows of the transposed matrix, in `to`.
void MpiFft::turn(Timed& timed, Buffer& from, std::size_t offset, std::uint64_t rows, std::uint64_t columns,
                  bool twiddles, Buffer& to, std::size_t to_offset) {
  const std::uint64_t number = 2 * size_of(type()), own_rows = rows / split_.ranks;
  const auto tiles = [](std::uint64_t items) { return (items + side_of_tile - 1) / side_of_tile; };
  {
    const auto phase = timed.phase(kernel_phase);
    turn_->set({&from, std::uint64_t{offset / number}, sent_.get(), own_rows, columns,
                std::uint64_t{static_cast<std::uint64_t>(rank_) * own_rows},
                std::uint64_t{twiddles ? split_.points() : 0}});
    queue_->enqueue(*turn_, {tiles(own_rows) * tiles(columns) * group_items, group_items});
    queue_->finish();
  }
  {
    const auto phase = timed.phase(exchange_phase);
    exchange_->run(0, 1);
  }
  const auto phase = timed.phase(kernel_phase);
  join_->set({received_.get(), &to, std::uint64_t{to_offset / number}, std::uint64_t{columns / split_.ranks}, own_rows,
              split_.ranks});
  queue_->enqueue(*join_, {std::min<std::uint64_t>(tiles(split_.own()), 4096) * group_items, group_items});
  queue_->finish();
}

void MpiFft::transform(Timed& timed, fft::Form& form) {
  const auto phase = timed.phase(transform_phase);
  form.start(1);
  form.wait();
}

// x as a matrix of rows x columns: transposed, transformed along columns, times the twiddles, transposed back,
// transformed along rows, and transposed again, so that X is in its order.
void MpiFft::run(Session&, const Case&, Timed& timed) {
  const std::size_t source = slide_.source(0), target = slide_.target(0);
  turn(timed, *input_, 0, split_.rows, split_.columns, false, *before_, source);
  transform(timed, *of_columns_);
  turn(timed, *after_, target, split_.columns, split_.rows, true, *before_, source);
  transform(timed, *of_rows_);
  turn(timed, *after_, target, split_.rows, split_.columns, false, *output_, 0);
}

Validation MpiFft::validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t) {
  const std::uint64_t first = static_cast<std::uint64_t>(rank_) * split_.own();
  image_.resize(own_bytes());
  fft::fill_points({session.seed, 0, 0, 0, repetition}, type(), first, split_.own(), image_);
  const std::vector<double> x = as_doubles(image_, type());
  queue_->read(whole(*output_), image_.data());
  const std::vector<double> transformed = as_doubles(image_, type());
  const Sums found =
      check_sums(x, transformed, first, split_.points(), type(), session.seed * 1009 + repetition, *all_);
  weighted_ = std::max(weighted_, found.weighted);
  point_ = std::max(point_, found.point);
  Validation validation;
  validation.tolerance = fft::residual_tolerance;
  validation.error = std::max(found.weighted, found.point);
  validation.items_checked = split_.own();
  validation.reference = "sums of all points by a geometric series, and one point on each rank by its definition";
  if (!(validation.error <= validation.tolerance))
    validation.detail = fmt::format("sums of all points are off by {:.3g}, single points by {:.3g}, of eps log2(n)",
                                    found.weighted, found.point);
  return validation;
}

Json MpiFft::facts() const {
  Json facts = of_columns_->facts();
  facts["split"] = fmt::format("{} x {}", split_.rows, split_.columns);
  facts["largest_error_of_sums"] = finite_or_null(weighted_);
  facts["largest_error_of_points"] = finite_or_null(point_);
  return facts;
}

void MpiFft::release() {
  exchange_.reset();
  of_columns_.reset();
  of_rows_.reset();
  for (auto* buffer : {&input_, &sent_, &received_, &before_, &after_, &output_}) buffer->reset();
  all_.reset();
}

std::vector<Metric> MpiFft::metrics(const CaseResult& result, int) const {
  const double flops = flops_of(std::uint64_t{1} << size_.get());
  return {{"performance", flops / result.best_seconds() / giga, "GFLOP/s",
           "5n log2(n) over the time of the whole transform; all ranks, slowest, best repetition"},
          {"performance_median", flops / result.median_seconds() / giga, "GFLOP/s", "the same, median repetition", "",
           false}};
}

namespace {

const RegisteredBenchmark registered_mpi_fft("mpi_fft", [] { return std::make_unique<MpiFft>(); });

}  // namespace

}  // namespace plumb::mpi_fft
