#include "benchmarks/shmem/npb/npb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/units.hpp"
#include "world/one_sided.hpp"
#include "world/watchdog.hpp"

namespace plumb::npb {

namespace {

constexpr double slowest_rate = 10e6;  // operations a second: below it a repetition counts as hanging

CasePolicy policy_of(const ClassRow& problem, double operations) {
  CasePolicy policy;
  if (problem.name == 'A') policy = {CasePolicy::Kind::fixed, 3, 0};
  if (problem.name == 'B' || problem.name == 'C') policy.kind = CasePolicy::Kind::once;
  policy.longest_seconds = operations / slowest_rate;
  return policy;
}

bool has_one_sided() {
  return !Registry<OneSidedFactory>::instance().names().empty();
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void Checks::within(const std::string& what, double is, double should_be, double tolerance) {
  const double error = std::abs(is - should_be) / (should_be == 0 ? 1 : std::abs(should_be));
  ++found.items_checked;
  if (error <= tolerance) {
    found.error = std::max(found.error, error / tolerance * found.tolerance);
    return;
  }
  found.error = std::isnan(error) || std::isnan(found.error) ? std::nan("") : std::max(found.error, error);
  if (found.wrong_items++ == 0) found.detail = fmt::format("{} is {:.14g}, should be {:.14g}", what, is, should_be);
}

void Checks::close(const std::string& what, double is, double should_be) {
  within(what, is, should_be, found.tolerance);
}

void Checks::count(const std::string& what, std::uint64_t items, std::uint64_t wrong, const std::string& detail) {
  found.items_checked += items;
  if (wrong > 0 && found.wrong_items == 0)
    found.detail = fmt::format("{}: {} of {} are wrong{}{}", what, wrong, items, detail.empty() ? "" : "; ", detail);
  found.wrong_items += wrong;
  if (wrong > 0 && found.error <= found.tolerance) found.error = std::max(1.0, static_cast<double>(wrong));
}

Share share_of(std::uint64_t n, int rank, int ranks) {
  const auto r = static_cast<std::uint64_t>(rank), p = static_cast<std::uint64_t>(ranks);
  return {n * r / p, n * (r + 1) / p};
}

std::string Npb::size_text(const ClassRow& row) const {
  return fmt::format("{0:4}x{0:4}x{0:4}", row.size);
}

std::string Npb::source() const {
  return "NAS Parallel Benchmarks (RNR-94-007, NAS 95-020; values of NPB 3.4) and the OpenSHMEM Benchmark Suite's NPB";
}

Preset Npb::preset(const std::string& name) const {
  if (name == "smoke") return {{"class", "S"}, {"time-limit", "0.2"}};
  return {{"class", name == "full" ? "C" : "A"}};
}

std::vector<Form> Npb::forms() const {
  if (!facts_.sends || on_device()) return {Form::two_sided};
  if (!(form_ == "all")) return {form_of(form_)};
  if (!has_one_sided()) return {Form::two_sided};
  return {Form::two_sided, Form::signal, Form::barrier};
}

bool Npb::needs_transport() const {
  return on_device() || (facts_.sends && forms().front() == Form::two_sided);
}

ClassRow Npb::problem() const {
  ClassRow row;
  for (const ClassRow& one : classes_of(facts_.name))
    if (one.name == class_.get().front()) row = one;
  const ClassRow official = row;
  change(row);
  if (iterations_ > 0) row.iterations = iterations_;
  if (row.size != official.size || row.largest != official.largest || row.iterations != official.iterations ||
      row.dt != official.dt) {
    row.name = 'U';
    row.official.clear();
  }
  return row;
}

void Npb::check(const Plan& plan) const {
  if (!facts_.sends && !(form_ == "all"))
    throw UsageError(fmt::format("{} sends no messages: omit --form", facts_.name));
  if (!(form_ == "all" || form_ == "two-sided") && !has_one_sided())
    throw UsageError(
        fmt::format("--form {} needs memory that other ranks reach: run it in world shmem or mpi", form_.get()));
  if (on_device() && !(form_ == "all" || form_ == "two-sided"))
    throw UsageError(fmt::format("--variant device sends by a transport: --form {} is for the host", form_.get()));
  check_problem(problem(), plan.ranks);
}

void Npb::check_device(const Plan&, const DeviceInfo& info) const {
  if (on_device() && facts_.why_not_on_device.empty() && info.runtime == "native")
    throw UsageError("--variant device needs a device that compiles kernels: --runtime opencl or cuda");
}

std::vector<Group> Npb::groups(const Plan& plan) const {
  const ClassRow row = problem();
  Group group;
  group.key = fmt::format("class {}", row.name);
  for (const Form form : forms()) {
    Case one;
    const std::string form_name = on_device() ? "device" : facts_.sends ? to_string(form) : "none";
    one.key = fmt::format("{}/{}", row.name == 'U' ? size_text(row) : std::string(1, row.name), form_name);
    std::erase(one.key, ' ');
    one.labels = {{"class", std::string(1, row.name)},
                  {"form", form_name},
                  {"size", size_text(row)},
                  {"iterations", row.iterations},
                  {"operation_type", facts_.operation_type}};
    const double operations = this->operations(row);
    one.work.flops = operations / static_cast<double>(row.iterations) / plan.ranks;
    one.items_to_check = items(row, plan);
    one.fixed_count = static_cast<std::uint64_t>(row.iterations);
    one.policy = policy_of(row, operations);
    if (!on_device()) one.phases = facts_.phases;
    one.laps = true;
    one.payload = Payload(form);
    group.cases.push_back(std::move(one));
    for (int rank = 0; rank < plan.ranks; ++rank) {
      const Links all = links(row, rank, plan.ranks);
      group.symmetric_bytes =
          std::max<std::uint64_t>(group.symmetric_bytes, one_sided_bytes(form, all.outgoing, all.incoming));
    }
  }
  const Links mine = links(row, plan.rank, plan.ranks);
  for (const auto* list : {&mine.outgoing, &mine.incoming})
    for (const Link& link : *list) group.exchange_bytes += link.bytes * static_cast<std::size_t>(link.depth);
  group.host_bytes = host_bytes(row, plan) + group.exchange_bytes;
  if (on_device()) {
    const DeviceBytes needed = device_bytes(row, plan);
    group.device_bytes = needed.all;
    group.largest_buffer_bytes = needed.largest_buffer;
  }
  return {group};
}

std::unique_ptr<Messages> Npb::make(Form form, Session& session, const Links& links) {
  return make_messages(form, session, links.outgoing, links.incoming);
}

void Npb::prepare(Session& session, const Case& measured) {
  if (on_device() && !facts_.why_not_on_device.empty()) throw Unsupported(facts_.why_not_on_device);
  session_ = &session;
  std::vector<int> all(static_cast<std::size_t>(session.world.size()));
  std::iota(all.begin(), all.end(), 0);
  team_ = session.world.team(all);
  if (facts_.sends && !on_device())
    messages_ = make(measured.payload.as<Form>(), session, links(problem(), rank(), ranks()));
  set_up(session);
}

void Npb::reset(Session&, const Case& measured, std::uint64_t, std::uint64_t) {
  exposed_by_phase_.assign(measured.phases.size(), 0);
  restart();
  iterate(0);
  if (messages_) messages_->complete();
  restart();
}

Traffic Npb::traffic() const {
  Traffic all = device_traffic() != nullptr ? *device_traffic() : Traffic{};
  if (messages_)
    all = {static_cast<double>(messages_->messages_sent()), static_cast<double>(messages_->bytes_sent()),
           messages_->exposed_seconds()};
  all.exposed_seconds += reduced_;
  return all;
}

void Npb::run(Session&, const Case& measured, Timed& timed) {
  timed_ = &timed;
  const double begin = now_seconds();
  const Traffic before = traffic();
  for (std::uint64_t i = 1; i <= timed.count(); ++i) {
    iterate(i);
    if (i == timed.count()) {
      finish();
      if (messages_) messages_->complete();
    }
    timed.lap();
    Waiting::progress();
  }
  timed_ = nullptr;
  timed.tally("seconds", now_seconds() - begin);
  const Traffic after = traffic();
  timed.tally("exposed_seconds", after.exposed_seconds - before.exposed_seconds);
  timed.tally("messages", after.messages - before.messages);
  timed.tally("bytes", after.bytes - before.bytes);
  for (std::size_t i = 0; i < measured.phases.size(); ++i)
    timed.tally("exposed_seconds " + measured.phases[i], exposed_by_phase_[i]);
}

Validation Npb::validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t) {
  Checks checks;
  check(checks, repetition);
  return checks.found;
}

void Npb::release() {
  tear_down();
  messages_.reset();
  team_.reset();
  session_ = nullptr;
}

Npb::Part::Part(Npb& of, std::size_t phase) : of_(of), phase_(phase) {
  if (of_.timed_ == nullptr || of_.on_device()) return;
  exposed_ = of_.traffic().exposed_seconds;
  of_.timed_->begin(phase);
}

Npb::Part::~Part() {
  if (of_.timed_ == nullptr || of_.on_device()) return;
  of_.timed_->end(phase_);
  of_.exposed_by_phase_[phase_] += of_.traffic().exposed_seconds - exposed_;
}

std::vector<Metric> Npb::metrics(const CaseResult& result, int ranks) const {
  const ClassRow row = problem();
  const double count = static_cast<double>(result.count), runs = static_cast<double>(result.summary.samples) * ranks;
  const double operations = this->operations(row) / 1e6;
  const auto tally = [&](const std::string& name) {
    const auto found = result.tallies.find(name);
    return found == result.tallies.end() ? 0.0 : found->second;
  };
  std::vector<Metric> all{
      {"mops_total", operations / (result.best_seconds() * count), "Mop/s",
       "official operations / t of the slowest rank; best repetition"},
      {"mops_median", operations / (result.median_seconds() * count), "Mop/s",
       "official operations / t of the slowest rank; median of the repetitions"},
      {"mops_per_rank", operations / (result.best_seconds() * count) / ranks, "Mop/s", "mops_total / ranks"},
      {"time", result.best_seconds() * count, "s", "all iterations, slowest rank; best repetition"},
      {"exposed_share", 100 * tally("exposed_seconds") / tally("seconds"), "%",
       "seconds within calls of communication / t, over all ranks and repetitions"}};
  const auto add = [&](const std::string& name, double value, const char* unit, const char* convention) {
    all.push_back({name, value, unit, convention});
    all.back().table = false;
  };
  add("messages_sent", tally("messages") / runs * ranks / count, "", "of all ranks, an iteration");
  add("bytes_sent", tally("bytes") / runs * ranks / count, "B", "of all ranks, an iteration");
  if (const Volume volume = this->volume(row, ranks); volume.messages > 0) {
    add("messages_by_formula", volume.messages, "", "of all ranks, an iteration; README.md has the formula");
    add("bytes_by_formula", volume.bytes, "B", "of all ranks, an iteration; README.md has the formula");
  }
  for (const auto& [phase, seconds] : result.phases_by_rank) {
    if (seconds.empty()) continue;
    add(phase + "_least", *std::min_element(seconds.begin(), seconds.end()), "s", "of the ranks' medians");
    add(phase + "_mean", mean_of(seconds), "s", "of the ranks' medians");
    add(phase + "_largest", *std::max_element(seconds.begin(), seconds.end()), "s", "of the ranks' medians");
    add(phase + "_exposed", tally("exposed_seconds " + phase) / runs, "s",
        "of it, within calls of communication; mean of ranks and repetitions");
  }
  return all;
}

}  // namespace plumb::npb
