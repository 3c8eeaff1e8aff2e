// cpu.cl on OpenCL devices, and the same as C++ on runtime `native`.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "benchmarks/hpcc/fft/form.hpp"
#include "benchmarks/hpcc/fft/native.hpp"
#include "benchmarks/hpcc/fft/plan.hpp"
#include "core/embedded.hpp"
#include "device/host_simd.hpp"

namespace plumb::fft {

namespace {

constexpr std::uint64_t groups_of_a_core = 4;  // so that a disturbed core gets less work

// Measured (docs/performance.md): AMD's Zen before its fourth generation, the first with vectors of 64 bytes, writes
// the many places of a short transform faster through its caches; later ones and Intel's Xeons past them.
bool writes_through_caches(const DeviceInfo& device) {
  if (host_vector_bytes() >= 64) return false;
  return device.vendor.find("AMD") != std::string::npos || device.name.find("AMD") != std::string::npos;
}

std::string braces(const Factors& f) {
  return fmt::format("{{{},{},{}}}", f.length, f.eights, f.last);
}

KernelSource::NativeKernel native_kernel(const Shape& shape, const CpuPlan& plan, Share::Step step,
                                         std::uint64_t vectors, bool cached) {
  const ShareFunction function = native_share(shape.type, shape.inverse);
  return [=](std::span<const KernelArgument> arguments, const KernelRange& range) {
    Share all;
    all.step = step;
    all.columns = plan.columns;
    all.rows = plan.rows;
    all.cached = cached;
    all.from = host_pointer(arguments[0]);
    all.to = host_pointer(arguments[1]);
    all.tables = host_pointer(arguments[2]);
    all.middle = host_pointer(arguments[3]);
    all.batch = std::get<std::uint64_t>(arguments[5]);
    all.groups = range.global;
    std::byte* work = host_pointer(arguments[4]);
#pragma omp parallel for schedule(dynamic)
    for (std::uint64_t group = 0; group < range.global; ++group) {
      Share one = all;
      one.group = group;
      one.work = work + group * vectors * cpu_vector_bytes;
      function(one);
    }
  };
}

class CpuForm final : public Form {
 public:
  CpuForm(Session& session, const Job& job)
      : job_(job),
        plan_(job.shape.type, job.shape.log_points),
        queue_(session.device.make_queue(true)),
        cached_(writes_through_caches(session.device.info())) {
    const std::uint64_t most_groups = groups_of_a_core * session.device.info().compute_units;
    in_two_ = plan_.has_columns() && job.batch < most_groups;
    const std::uint64_t shares = plan_.by_lanes() ? (job.batch + plan_.lanes - 1) / plan_.lanes
                                 : in_two_        ? job.batch * plan_.columns.length
                                                  : job.batch;
    groups_ = std::min(most_groups, shares);
    const std::uint64_t vectors = plan_.vectors_of_work(!in_two_);
    tables_ = make_buffer(session, *queue_, plan_.table().bytes(job.shape.type));
    work_ = session.device.allocate(groups_ * vectors * cpu_vector_bytes, session.memory);
    middle_ = session.device.allocate((in_two_ ? job.batch * plan_.vectors_of_middle() : 1) * cpu_vector_bytes,
                                      session.memory);
    program_ = session.device.build(session.source(source(job.shape, vectors)));
    for (const char* name : names()) {
      kernels_.push_back(program_->kernel(name));
      kernels_.back()->set(std::vector<KernelArgument>{job.from, job.to, tables_.get(), middle_.get(), work_.get(),
                                                       static_cast<std::uint64_t>(job.batch)});
    }
  }

  void start(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;)
      for (const auto& kernel : kernels_) {
        kernel->set(0, job_.source(later));
        kernel->set(1, job_.target(later));
        queue_->enqueue(*kernel, {groups_, 1});
      }
  }
  void wait() override { queue_->finish(); }
  double device_seconds() const override {
    const auto span = queue_->span();
    return span ? span->ended - span->started : 0;
  }
  Json facts() const override {
    std::string steps = fmt::format("{} lanes x {}", plan_.lanes, plan_.rows.length);
    if (plan_.by_lanes()) steps = fmt::format("{} transforms at once", plan_.lanes);
    if (plan_.has_columns())
      steps = fmt::format("{} lanes x {} x {}", plan_.lanes, plan_.columns.length, plan_.rows.length);
    return {{"kernel", "cpu"}, {"steps", steps}, {"groups", groups_}};
  }

 private:
  std::vector<const char*> names() const {
    if (plan_.by_lanes()) return {"fft_lanes"};
    if (!plan_.has_columns()) return {"fft_at_once"};
    if (in_two_) return {"fft_columns", "fft_rows"};
    return {"fft_wholes"};
  }

  KernelSource source(const Shape& shape, std::uint64_t vectors) const {
    KernelSource source;
    source.name = "fft/cpu.cl";
    source.opencl = embedded_text("benchmarks/hpcc/fft/cpu.cl");
    const char* steps = plan_.by_lanes() ? "LANES" : !plan_.has_columns() ? "AT_ONCE" : in_two_ ? "APART" : "WHOLES";
    source.options =
        fmt::format("-DREAL_BYTES={} -D{} -DCOLUMNS={} -DROWS={} -DLAST_RADICES={} -DWORK={} -DCACHED={}{}",
                    size_of(shape.type), steps, braces(plan_.columns), braces(plan_.rows),
                    plan_.columns.last | plan_.rows.last, vectors, cached_ ? 1 : 0, shape.inverse ? " -DINVERSE" : "");
    source.native = {{"fft_lanes", native_kernel(shape, plan_, Share::Step::lanes, vectors, cached_)},
                     {"fft_at_once", native_kernel(shape, plan_, Share::Step::at_once, vectors, cached_)},
                     {"fft_wholes", native_kernel(shape, plan_, Share::Step::wholes, vectors, cached_)},
                     {"fft_columns", native_kernel(shape, plan_, Share::Step::columns, vectors, cached_)},
                     {"fft_rows", native_kernel(shape, plan_, Share::Step::rows, vectors, cached_)}};
    return source;
  }

  Job job_;
  CpuPlan plan_;
  std::unique_ptr<Queue> queue_;
  bool cached_;
  bool in_two_ = false;
  std::uint64_t groups_ = 1;
  std::unique_ptr<Buffer> tables_, work_, middle_;
  std::unique_ptr<Program> program_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace

std::unique_ptr<Form> make_cpu_form(Session& session, const Job& job) {
  return std::make_unique<CpuForm>(session, job);
}

}  // namespace plumb::fft
