#include "benchmarks/hpcc/random_access/random_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "benchmarks/hpcc/random_access/replay.hpp"
#include "core/units.hpp"

namespace plumb::random_access {

namespace {

constexpr std::uint64_t staging_bytes = std::uint64_t{8} << 20;
constexpr int content_bits = 44;               // initial words of one repetition differ below
constexpr double lost_updates_allowed = 0.01;  // share of words, HPCC's rule

// Concurrent work items of a GPU's compute unit; shares per core of a CPU, enough for balance at the end.
constexpr std::uint64_t items_a_unit = 2048;
constexpr std::uint64_t shares_a_core = 256;

// Words of the table per concurrent update, to limit lost updates. A core's concurrent updates are those in its store
// buffer.
constexpr std::uint64_t words_to_an_update = 1024;
constexpr std::uint64_t stores_of_a_core = 64;

std::string to_string(Updates updates) {
  switch (updates) {
    case Updates::buffered:
      return "buffered";
    case Updates::atomic:
      return "atomic";
    default:
      return "atomic32";
  }
}

bool on_cpu(const DeviceInfo& device) {
  return device.type == "cpu" || device.type == "native";
}

void require(const DeviceInfo& device, const KernelForm& form) {
  const bool pipeline = form.variant == hpcc::Variant::single_work_item;
  if (pipeline && form.updates == Updates::atomic32)
    throw Unsupported(
        "--updates atomic32 is not available with variant single_work_item, whose pipeline ends each update before the "
        "next: use atomic");
  if (!pipeline && form.updates == Updates::atomic && !device.has(Feature::atomics64))
    throw Unsupported(fmt::format("{} does not support 64-bit atomics; use --updates atomic32", device.name));
}

}  // namespace

std::optional<BoardKernels> RandomAccess::board_kernels(BoardTool) const {
  const std::string built = "_g{rng-count-log}_d{rng-distance}_b{buffer-log}";
  return BoardKernels{.source = "benchmarks/hpcc/random_access/single_work_item.cl",
                      .kernels = {{.name = "update" + built,
                                   .numbered = "update_{replication}" + built,
                                   .arguments = {{"table"}, {"starts"}}}}};
}

Preset RandomAccess::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "19"}, {"time-limit", "0.2"}};
  if (name == "full") return {{"size", "29"}, {"time-limit", "30"}};
  return {{"size", "26"}, {"time-limit", "5"}, {"min-repetitions", "6"}};
}

void RandomAccess::check(const Plan& plan) const {
  if (variant_ == "library") throw UsageError("random_access has no variant library");
  const Task own = task(plan.rank, plan.ranks);
  if (own.part.words < static_cast<std::uint64_t>(replications_.get()))
    throw UsageError(
        fmt::format("--replications {1} exceeds the {0} words of a rank", own.part.words, replications_.get()));
  for (const auto* log2 : {&buffer_log_, &rng_count_log_})
    if (log2->get() > own.log2_table + 2)
      throw UsageError(
          fmt::format("--{} {} exceeds the number of updates, 2^{}", log2->name(), log2->get(), own.log2_table + 2));
}

Task RandomAccess::task(int rank, int ranks) const {
  const int log2_words = static_cast<int>(size_.get());
  return is_shared() ? shared_table(log2_words, rank, ranks) : own_table(log2_words, rank);
}

std::vector<Updates> RandomAccess::kinds() const {
  if (updates_ == "buffered") return {Updates::buffered};
  if (updates_ == "atomic") return {Updates::atomic};
  if (updates_ == "atomic32") return {Updates::atomic32};
  return {Updates::buffered, Updates::atomic};
}

Case RandomAccess::make_case(Updates kind, const Plan& plan) const {
  const Task own = task(plan.rank, plan.ranks);
  const std::uint64_t table_bytes = word_bytes << own.log2_table;
  Case result;
  result.key = fmt::format("{}/{}", to_string(kind), table_bytes);
  result.labels = {{"updates", to_string(kind)}, {"table_bytes", table_bytes}};
  result.payload = Payload(kind);
  result.work.updates = 4 * own.part.words;  // for a shared table: this rank's share, average over streams
  result.items_to_check = own.part.words;
  result.fixed_count = 1;  // a second round would undo the first
  return result;
}

std::vector<Group> RandomAccess::groups(const Plan& plan) const {
  const Task own = task(plan.rank, plan.ranks);
  Group group;
  group.key = table_.get();
  for (const Updates kind : kinds()) group.cases.push_back(make_case(kind, plan));
  const auto replications = static_cast<std::uint64_t>(replications_.get());
  group.device_bytes = own.part.words * word_bytes;
  group.largest_buffer_bytes = (own.part.words + replications - 1) / replications * word_bytes;
  group.host_bytes = own.part.words * word_bytes + staging_bytes;
  return {group};
}

// HPCC's 1,024 for tables large enough that fewer than 1 % of the words are wrong (README.md), otherwise fewer.
std::uint64_t RandomAccess::look_ahead(const DeviceInfo& device, const KernelForm& form, std::uint64_t words) const {
  const bool pipeline = form.variant == hpcc::Variant::single_work_item;
  if (pipeline && form.updates != Updates::buffered) return 1;
  if (buffer_log_.get() >= 0) return std::uint64_t{1} << buffer_log_.get();
  if (pipeline) return std::clamp<std::uint64_t>(std::bit_floor(words >> 14), 1, most_look_ahead);
  return on_cpu(device) ? 32 : 4;
}

std::uint64_t RandomAccess::work_items(const DeviceInfo& device, const KernelForm& form, const Task& task) const {
  const std::uint64_t at_once = device.compute_units * (on_cpu(device) ? 1 : items_a_unit);
  const std::uint64_t wanted = device.compute_units * (on_cpu(device) ? shares_a_core : items_a_unit);
  if (form.updates != Updates::buffered) return wanted;
  const std::uint64_t overlapping = on_cpu(device) ? stores_of_a_core : form.look_ahead;
  const std::uint64_t most = std::max<std::uint64_t>(1, task.part.words / words_to_an_update / overlapping);
  return most < at_once ? most : wanted;
}

KernelForm RandomAccess::form(const DeviceInfo& device, Updates kind, const Task& task) const {
  KernelForm form;
  form.variant = variant_.on(device);
  form.stream = stream_ == "lcg" ? Stream::lcg : Stream::polynomial;
  form.updates = kind;
  form.log2_table = task.log2_table;
  form.replications = static_cast<std::uint64_t>(replications_.get());
  form.whole = form.replications == 1 && task.part.words == std::uint64_t{1} << task.log2_table;
  form.look_ahead = look_ahead(device, form, task.part.words / form.replications);
  form.ivdep = ivdep_ && kind == Updates::buffered;
  form.rng_count_log = static_cast<int>(rng_count_log_.get());
  form.rng_distance = static_cast<int>(rng_distance_.get());
  form.fetch = on_cpu(device);
  form.group_size = group_size_.get() > 0 ? static_cast<std::uint64_t>(group_size_.get()) : form.fetch ? 1 : 256;
  form.work_items =
      work_items_.get() > 0 ? static_cast<std::uint64_t>(work_items_.get()) : work_items(device, form, task);
  return form;
}

void RandomAccess::prepare(Session& session, const Case& measured) {
  Device& device = session.device;
  own_ = task(session.world.rank(), session.world.size());
  form_ = form(device.info(), measured.payload.as<Updates>(), own_);
  require(device.info(), form_);
  shares_ = shares_of(form_, own_.updates);
  const std::unique_ptr<Program> program = device.build(session.source(source_of(form_)));
  const std::vector<std::string> names = program->kernel_names();
  std::vector<std::uint64_t> starts = starts_of(form_.stream, own_.first_update, shares_);
  const std::vector<TableRange> parts = split(own_.part, form_.replications);
  for (std::uint64_t i = 0; i < parts.size(); ++i) {
    auto& replication = replications_of_rank_.emplace_back(std::make_unique<Replication>(
        device, session.memory.in_bank(static_cast<int>(i), static_cast<int>(parts.size())), parts[i], starts));
    replication->choose(
        program->kernel(kernel_name(names, form_, i)), range_of(form_, shares_), shares_, own_.updates,
        form_.variant == hpcc::Variant::single_work_item ? std::optional(form_.log2_table) : std::nullopt);
  }
  staging_ = allocate_host(device, std::min(staging_bytes, own_.part.words * word_bytes));
  copy_ = take_host_bytes(own_.part.words * word_bytes);
}

// Each repetition has other words, as a table left by an earlier one would be right again.
void RandomAccess::reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t) {
  own_.content = task(session.world.rank(), session.world.size()).content + ((repetition - 1) << content_bits);
  for (const auto& replication : replications_of_rank_) replication->reset(own_.content, *staging_);
}

void RandomAccess::run(Session&, const Case&, Timed& timed) {
  for (const auto& replication : replications_of_rank_) replication->enqueue();
  double first = 0, last = 0;
  for (const auto& replication : replications_of_rank_) {
    replication->finish();
    const auto span = replication->span();
    if (!span) continue;
    first = first == 0 ? span->started : std::min(first, span->started);
    last = std::max(last, span->ended);
  }
  timed.device_seconds(last - first);
}

Validation RandomAccess::validate(Session&, const Case&, std::uint64_t, std::uint64_t) {
  const std::span words(reinterpret_cast<std::uint64_t*>(copy_.get()), own_.part.words);
  for (const auto& replication : replications_of_rank_)
    replication->read(words.subspan(replication->part().first - own_.part.first, replication->part().words));
  Validation validation;
  validation.tolerance = form_.exact() ? 0 : lost_updates_allowed;
  const double all = static_cast<double>(words.size());
  const auto allowed = static_cast<std::uint64_t>(validation.tolerance * all);
  const Replayed found = replay(form_.stream, own_, words, allowed);
  validation.wrong_items = found.wrong;
  validation.allowed_wrong_items = found.unexplained > 0 ? 0 : allowed;
  validation.error = static_cast<double>(found.wrong) / all;
  validation.items_checked = words.size();
  validation.reference = "the stream regenerated by the host and undone";
  if (found.wrong > validation.allowed_wrong_items)
    validation.detail = fmt::format("{} of {} words are wrong (at most {} may be); {}", found.wrong, words.size(),
                                    allowed, found.detail);
  return validation;
}

Json RandomAccess::facts() const {
  Json facts{{"variant", to_string(form_.variant)}, {"look_ahead", form_.look_ahead}, {"generators", shares_.count}};
  if (form_.variant == hpcc::Variant::nd_range) facts["group_size"] = form_.group_size;
  return facts;
}

void RandomAccess::release() {
  replications_of_rank_.clear();
  staging_.reset();
  copy_.reset();
}

std::vector<Metric> RandomAccess::metrics(const CaseResult& result, int ranks) const {
  const Task own = task(0, ranks);
  const double of_all = static_cast<double>(own.updates) * (is_shared() ? 1 : ranks);
  return hpcc::parallel_metrics("updates", "GUP/s", giga, of_all / ranks, result, ranks);
}

namespace {

const RegisteredBenchmark registered_random_access("random_access", [] { return std::make_unique<RandomAccess>(); });

}  // namespace

}  // namespace plumb::random_access
