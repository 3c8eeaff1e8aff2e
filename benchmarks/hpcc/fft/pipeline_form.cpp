// single_work_item.cl: two kernels connected by a channel if the device has channels, otherwise one.
// single_work_item_hls.cpp: three kernels connected by streams.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "benchmarks/hpcc/fft/form.hpp"
#include "benchmarks/hpcc/fft/plan.hpp"
#include "core/embedded.hpp"
#include "core/units.hpp"

namespace plumb::fft {

namespace {

constexpr std::size_t stream_depth = 64;  // rows, as the channel's in single_work_item.cl

class PipelineForm final : public Form {
 public:
  PipelineForm(Session& session, const Job& job, const Tuning& tuning)
      : job_(job),
        plan_(job.shape.type, job.shape.log_points, tuning.unroll > 0 ? tuning.unroll : 8),
        parts_(parts_on(session.device.info())) {
    const KernelSource source = session.source(own_source(job));
    if (source.binary.empty()) check(job, session.device.info());
    program_ = session.device.build(source);
    if (!source.binary.empty()) parts_ = parts_in(program_->kernel_names(), job.replication);
    for (const char* stem : stems()) add(session, stem, job.replication);
    tables_ = make_buffer(session, *queues_[0], plan_.table().bytes(job.shape.type));
    set_arguments();
  }

  void start(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;) {
      kernels_.front()->set(0, job_.source(later));
      kernels_.back()->set(parts_ == Parts::one ? 1 : 0, job_.target(later));
      for (std::size_t k = 0; k < kernels_.size(); ++k) queues_[k]->enqueue(*kernels_[k], {1, 1});
    }
    for (const auto& queue : queues_) queue->finished();  // submits all before waiting
  }
  void wait() override {
    for (const auto& queue : queues_) queue->finish();
  }
  // From the first start to the last end.
  double device_seconds() const override {
    double started = 0, ended = 0;
    for (const auto& queue : queues_) {
      const auto span = queue->span();
      if (!span) return 0;
      started = ended == 0 ? span->started : std::min(started, span->started);
      ended = std::max(ended, span->ended);
    }
    return ended - started;
  }
  Json facts() const override {
    return {{"kernel", "pipeline"},
            {"points_per_cycle", 1 << plan_.log_unroll},
            {"cycles", 1 << plan_.log_cycles},
            {"fetch", parts_ == Parts::one       ? "in the same kernel"
                      : parts_ == Parts::channel ? "through a channel"
                                                 : "through a stream"}};
  }

 private:
  void set_arguments() {
    const auto batch = static_cast<std::uint32_t>(job_.batch);
    const std::int32_t inverse = job_.shape.inverse ? 1 : 0;
    const Buffer *from = job_.from, *to = job_.to, *tables = tables_.get();
    switch (parts_) {
      case Parts::one:
        return kernels_[0]->set({from, to, tables, batch, inverse});
      case Parts::channel:
        kernels_[0]->set({from, batch, inverse});
        return kernels_[1]->set({to, tables, batch, inverse});
      case Parts::streams:
        kernels_[0]->set({from, batch, inverse});
        kernels_[1]->set({tables, batch});
        return kernels_[2]->set({to, batch, inverse});
    }
  }

  // Kernels of a transform: all in one, with the reading apart, or with reading and writing apart.
  enum class Parts { one, channel, streams };

  static Parts parts_on(const DeviceInfo& info) {
    if (info.runtime == "hls") return Parts::streams;
    return info.has(Feature::channels) ? Parts::channel : Parts::one;
  }

  // A bitstream has kernels of each replication, or one for all.
  static std::string name_in(const std::vector<std::string>& names, const std::string& stem, int replication) {
    for (const std::string& name : {stem, fmt::format("{}_{}", stem, replication)})
      if (std::find(names.begin(), names.end(), name) != names.end()) return name;
    return "";
  }

  static Parts parts_in(const std::vector<std::string>& names, int replication) {
    const auto has = [&](const char* stem) { return !name_in(names, stem, replication).empty(); };
    return has("store") ? Parts::streams : has("fetch") ? Parts::channel : Parts::one;
  }

  KernelSource own_source(const Job& job) const {
    KernelSource source;
    source.options = plan_.options(job.replication, parts_ == Parts::channel);
    if (parts_ == Parts::streams) {
      source.name = "fft/single_work_item_hls.cpp";
      source.hls = embedded_text("benchmarks/hpcc/fft/single_work_item_hls.cpp");
      const auto link = [&](const char* from, const char* to, const char* stream) {
        source.streams.push_back({fmt::format("{}_{}.{}", from, job.replication, stream),
                                  fmt::format("{}_{}.{}", to, job.replication, stream), stream_depth});
      };
      link("fetch", "fft", "points");
      link("fft", "store", "frequencies");
      return source;
    }
    source.name = "fft/single_work_item.cl";
    source.opencl = embedded_text("benchmarks/hpcc/fft/single_work_item.cl");
    return source;
  }

  std::vector<const char*> stems() const {
    if (parts_ == Parts::channel) return {"fetch", "fft"};
    if (parts_ == Parts::streams) return {"fetch", "fft", "store"};
    return {"fft"};
  }

  void check(const Job& job, const DeviceInfo& info) const {
    const std::uint64_t needed = plan_.local_bytes();
    if (needed > info.local_bytes)
      throw Unsupported(fmt::format(
          "the pipeline for {} points in {} needs {} of on-chip memory in a kernel, but {} has {}", job.shape.points(),
          to_string(job.shape.type), format_bytes(needed), info.name, format_bytes(info.local_bytes)));
  }

  void add(Session& session, const char* stem, int replication) {
    const std::string name = name_in(program_->kernel_names(), stem, replication);
    if (name.empty())
      throw Error(
          fmt::format("the kernel file has no kernel {}_{}: --replications exceeds its kernels", stem, replication));
    kernels_.push_back(program_->kernel(name));
    queues_.push_back(session.device.make_queue(true));
  }

  Job job_;
  PipelinePlan plan_;
  Parts parts_;
  std::unique_ptr<Program> program_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Queue>> queues_;  // one per kernel: they run concurrently
  std::unique_ptr<Buffer> tables_;
};

}  // namespace

std::unique_ptr<Form> make_pipeline_form(Session& session, const Job& job, const Tuning& tuning) {
  return std::make_unique<PipelineForm>(session, job, tuning);
}

}  // namespace plumb::fft
