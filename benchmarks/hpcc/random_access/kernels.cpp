#include "benchmarks/hpcc/random_access/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "core/embedded.hpp"

namespace plumb::random_access {

namespace {

using hpcc::Variant;

std::string pipeline_options(const KernelForm& form) {
  return fmt::format("-DRNG_COUNT_LOG={} -DRNG_DISTANCE={} -DBUFFER_LOG={} {}", form.rng_count_log, form.rng_distance,
                     std::countr_zero(form.look_ahead), ivdep_options(form.ivdep ? "true" : "false"));
}

std::string nd_range_options(const KernelForm& form) {
  std::string options = fmt::format("-DLOG2_TABLE={} -DLOOK_AHEAD={} -DLANES={} -DUPDATES={}{}{}", form.log2_table,
                                    form.look_ahead, form.lanes(), static_cast<int>(form.updates),
                                    form.whole ? " -DWHOLE" : "", form.fetch ? " -DFETCH" : "");
  if (form.stream == Stream::lcg) {
    const Leap over_lanes = leap(form.stream, form.lanes());
    options += fmt::format(" -DLEAP_FACTOR={}UL -DLEAP_SUMMAND={}UL", over_lanes.factor, over_lanes.summand);
  }
  return options;
}

// End of a kernel's name in single_work_item.cl, after its number.
std::string built_with(const KernelForm& form) {
  return fmt::format("_g{}_d{}_b{}", form.rng_count_log, form.rng_distance, std::countr_zero(form.look_ahead));
}

}  // namespace

std::string stream_options(const std::string& stream) {
  return stream == "lcg" ? "-DLCG" : "";
}

std::string ivdep_options(const std::string& ivdep) {
  return ivdep == "true" ? "-DIVDEP" : "";
}

bool KernelForm::exact() const {
  return updates != Updates::buffered || (variant == Variant::single_work_item && look_ahead == 1 && !ivdep);
}

Shares shares_of(const KernelForm& form, std::uint64_t updates) {
  if (form.variant == Variant::single_work_item) {
    const std::uint64_t generators = std::uint64_t{1} << form.rng_count_log;
    Shares shares = cut(updates, generators, 1);
    shares.count = generators;  // the last ones may be empty
    return shares;
  }
  return cut(updates, form.work_items, form.look_ahead);
}

KernelRange range_of(const KernelForm& form, const Shares& shares) {
  if (form.variant == Variant::single_work_item) return {1, 1};
  const std::uint64_t groups = (shares.count + form.group_size - 1) / form.group_size;
  return {groups * form.group_size, form.group_size};
}

KernelSource source_of(const KernelForm& form) {
  const bool pipeline = form.variant == Variant::single_work_item;
  KernelSource source;
  source.name = pipeline ? "single_work_item.cl" : "nd_range.cl";
  source.opencl = embedded_text("benchmarks/hpcc/random_access/" + source.name);
  source.options = fmt::format("{} {}", stream_options(form.stream == Stream::lcg ? "lcg" : "polynomial"),
                               pipeline ? pipeline_options(form) : nd_range_options(form));
  if (pipeline)
    source.hls = embedded_text("benchmarks/hpcc/random_access/single_work_item_hls.cpp");
  else
    source.native = native_kernels(form);
  return source;
}

std::string kernel_name(const std::vector<std::string>& names, const KernelForm& form, std::uint64_t replication) {
  if (form.variant != Variant::single_work_item) return "update";
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  std::string prefix = fmt::format("update_{}", replication);
  if (has(prefix)) return prefix;  // a user's kernel, without build options in its name
  if (const std::string all = "update" + built_with(form); has(all)) return all;  // one for all replications
  const auto replications =
      std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("update_"); });
  const std::string wanted = prefix + built_with(form);
  if (static_cast<std::uint64_t>(replications) != form.replications || !has(wanted))
    throw Error(
        fmt::format("the kernels were built for other options than the run's: {} replications of update_N{} "
                    "are asked for (g: --rng-count-log, d: --rng-distance, b: --buffer-log), and {} are there",
                    form.replications, built_with(form), fmt::join(names, ", ")));
  return wanted;
}

}  // namespace plumb::random_access
