#include "main/program.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "core/units.hpp"
#include "core/version.hpp"
#include "device/board_image.hpp"
#include "device/native/openblas.hpp"
#include "device/pci.hpp"
#include "device/select.hpp"
#include "main/compile.hpp"
#include "main/describe.hpp"
#include "main/options.hpp"
#include "measure/host.hpp"
#include "measure/runner.hpp"
#include "record/forms.hpp"
#include "record/writer.hpp"
#include "transport/emulated.hpp"
#include "world/collect.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

int status(ExitStatus exit) {
  return static_cast<int>(exit);
}

std::string utc(const char* form) {
  return fmt::format(fmt::runtime(form), fmt::gmtime(std::time(nullptr)));
}

extern "C" void on_signal(int signal) {
  RecordWriter::abort_from_signal(signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

bool print_results(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

// False if stdout cannot be written.
bool print_form(const std::string& form, const Json& record, const Json& expected) {
  if (!print_results(write_form(form, record, expected))) return false;
  if (const std::string rest = unsaid(form, record); !rest.empty()) fmt::print(stderr, "{}\n", rest);
  return true;
}

// A run from parsed command line to exit status, in a started world.
class ProgramRun {
 public:
  ProgramRun(const ProgramKind& kind, std::vector<std::string> command, World& world, EngineOptions& options,
             Benchmark& benchmark)
      : kind_(kind), command_(std::move(command)), world_(world), options_(options), benchmark_(benchmark) {
    listener_ = make_listener(world.rank() == 0 ? options.progress.get() : "none");
  }

  int run() {
    const RunSettings settings = options_.settings();
    check_form();
    choose_transport();
    if (options_.kernel_file.given() && !benchmark_.takes_kernel_file())
      throw UsageError(benchmark_.name() + " has no kernels: it takes no --kernel-file");
    if (options_.kernel_file.given()) read_kernel_file(options_.kernel_file);
    check_active_ranks(settings);
    if (options_.sync == "once" && !benchmark_.times_operations())
      throw UsageError(benchmark_.name() + " does not time single operations: it takes no --sync once");
    const int ranks = options_.ranks.given() ? static_cast<int>(options_.ranks.get()) : world_.size();
    if (options_.ranks.given() && !options_.dry_run)
      throw UsageError("--ranks plans with --dry-run; a run has the launcher's ranks");
    plan_ = {options_.dry_run ? 0 : world_.rank(), ranks, static_cast<std::uint64_t>(options_.seed.get())};
    benchmark_.check(plan_);
    check_threads();
    groups_ = benchmark_.groups(plan_);
    if (options_.dry_run) return dry_run(ranks, settings);
    Watchdog::start(options_.timeout, [this](const std::string& sentence) { give_up(sentence); });
    if (!settings.energy.off()) energy_ = std::make_unique<EnergyMeter>(world_, settings.energy);
    agree(choose_device());
    devices_ = all_texts(world_, shared_name());
    agree(open_device());
    const AgreedText too_much = first_text(world_, world_.symmetric_problem(needs().symmetric));
    if (too_much.rank >= 0) throw UsageError(too_much.text);
    return measure(settings);
  }

  // Prints the error that ended this rank: rank, host and device, then the message.
  void say_failure(const std::string& sentence) {
    const std::string device = device_ ? ", " + device_->info().name : "";
    const auto listener = make_listener(options_.progress.get());
    listener->failed(fmt::format("rank {} on {}{}: {}", world_.rank(), this_host().name, device, sentence));
  }

 private:
  [[noreturn]] void give_up(const std::string& sentence) {
    say_failure(sentence);
    RecordWriter::abort(sentence);
    world_.abort(status(ExitStatus::error));
    std::_Exit(status(ExitStatus::error));
  }

  // Ends all ranks with the first rank's problem, if any.
  void agree(const std::string& problem) {
    const std::string where = world_.size() == 1 ? ""
                              : world_.local_size() == world_.size()
                                  ? fmt::format("rank {}: ", world_.rank())
                                  : fmt::format("rank {} on {}: ", world_.rank(), this_host().name);
    const AgreedText agreed = first_text(world_, problem.empty() ? "" : where + problem);
    if (agreed.rank >= 0) throw UsageError(agreed.text);
  }

  void check_threads() const {
    if (!benchmark_.threads_communicate() || !kind_.threads_problem || options_.dry_run) return;
    const std::string problem = kind_.threads_problem(world_);
    if (!problem.empty()) throw UsageError("--threads: " + problem);
  }

  void check_form() const {
    const std::vector<std::string> forms = forms_of(benchmark_.name());
    const std::string& form = options_.format;
    if (form != "none" && std::find(forms.begin(), forms.end(), form) == forms.end())
      throw UsageError(fmt::format("{} has no form {}: --format must be one of {}", benchmark_.name(), form,
                                   fmt::join(forms, ", ")));
  }

  void choose_transport() {
    if (!benchmark_.needs_transport()) {
      for (const ParameterBase* option :
           std::initializer_list<const ParameterBase*>{&options_.transport, &options_.approach})
        if (option->given())
          throw UsageError(
              fmt::format("{} sends nothing between ranks: it takes no --{}", benchmark_.name(), option->name()));
      return;
    }
    const std::string &runtime = options_.runtime, &device = options_.device;
    const bool none_named = runtime.empty() && device.empty();
    const bool native = runtime == "native" || device == "native" || (none_named && !benchmark_.needs_device());
    transport_name_ = options_.transport.get();
    if (transport_name_.empty()) transport_name_ = native ? world_.info().host_transport : "staged";
    entry_ = &find_transport(transport_name_);
    info_of(*entry_, options_.approach);
    const std::string reason = entry_->reason(world_);
    if (!reason.empty()) throw UsageError(fmt::format("transport {} does not work here: {}", transport_name_, reason));
    if (const Emulation* emulation = Registry<Emulation>::instance().find(transport_name_))
      emulation->check(world_, {options_.approach, &options_.of_transports});
  }

  struct Needs {
    std::size_t cases = 0;
    std::uint64_t device = 0, largest_buffer = 0, host = 0, symmetric = 0;  // bytes per rank
  };
  Needs needs() const {
    const bool stages = entry_ != nullptr && !entry_->needs_host_memory;
    Needs needs;
    for (const Group& group : groups_) {
      needs.cases += group.cases.size();
      needs.device = std::max(needs.device, group.device_bytes);
      needs.largest_buffer = std::max(needs.largest_buffer, group.largest_buffer_bytes);
      needs.host = std::max(needs.host, group.host_bytes + (stages ? group.exchange_bytes : 0));
      needs.symmetric = std::max(needs.symmetric, group.symmetric_bytes);
    }
    return needs;
  }

  // Rejects cases that exceed the memory of this host or of the ranks' devices. Without a matching device this
  // is detected in the run only.
  std::optional<DeviceInfo> check_planned_memory(int local_ranks) const {
    if (local_ranks == 0) return std::nullopt;
    const Placement placement = this->placement();
    const DeviceCatalogue catalogue;
    DeviceInfo info;
    try {
      info = catalogue.choose(device_wish(placement), 0, plan_.ranks, 0);
    } catch (const UsageError&) {
      return std::nullopt;
    }
    check_memory(info, placement, local_ranks);
    return info;
  }

  Json planned_cases() const {
    Json list = Json::array();
    for (const Group& group : groups_)
      for (const Case& one : group.cases)
        list.push_back({{"key", one.key}, {"labels", one.labels}, {"work", to_json(one.work)}});
    return list;
  }

  int dry_run(int ranks, const RunSettings& settings) {
    if (world_.rank() != 0) return 0;
    const int here = options_.ranks.given() ? 1 : world_.local_size();
    const auto device =
        check_planned_memory(options_.local_ranks.given() ? static_cast<int>(options_.local_ranks.get()) : here);
    const Needs needed = needs();
    if (options_.format.get() == "json") {
      const Json plan{{"cases", needed.cases},
                      {"device_bytes", needed.device},
                      {"host_bytes", needed.host},
                      {"symmetric_bytes", needed.symmetric},
                      {"planned", planned_cases()},
                      {"transport", transport_name_.empty() ? Json("none") : Json(transport_name_)},
                      {"device", device ? to_json(*device) : Json(nullptr)}};
      return print_results(plan.dump() + "\n") ? 0 : status(ExitStatus::error);
    }
    std::string text =
        fmt::format("{} on {} rank{}, transport {}: {} case{}\n", benchmark_.name(), ranks, ranks == 1 ? "" : "s",
                    transport_name_.empty() ? "none" : transport_name_, needed.cases, needed.cases == 1 ? "" : "s");
    for (const Group& group : groups_)
      for (const Case& one : group.cases) text += "  " + one.key + "\n";
    text += fmt::format("memory of one rank: {} on the device, {} on the host\n", format_bytes(needed.device),
                        format_bytes(needed.host));
    if (needed.symmetric > 0)
      text += fmt::format("memory of one rank that others reach: {}\n", format_bytes(needed.symmetric));
    if (settings.policy.fixed == 0)
      text += fmt::format("measuring time: at most {:.0f} s\n",
                          static_cast<double>(needed.cases) * settings.policy.time_limit);
    return print_results(text) ? 0 : status(ExitStatus::error);
  }

  // Reason why this rank gets no device, or "". Collective where the map is by distance.
  std::string choose_device() {
    Seat seat{world_.rank(), world_.size(), world_.local_rank(), world_.local_size(), this_host().name};
    host_ = to_json(this_host()).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (options_.device_map.get() == "near" || options_.device_map.get() == "far") {
      const Json mine{{"host", host_}, {"cores", bound_cores()}};
      for (const std::string& text : all_texts(world_, mine.dump(-1, ' ', false, Json::error_handler_t::replace)))
        if (const Json one = Json::parse(text); one["host"] == host_)
          seat.cores.push_back(one["cores"].get<std::vector<int>>());
      seat.near_to = [](const DeviceInfo& info) { return cores_near(pci_address(info)); };
    }
    if (options_.sub_devices.given())  // for the plug-in of runtime sycl
      setenv("PLUMBLINE_SYCL_PARTS", std::to_string(std::max<std::int64_t>(options_.sub_devices, 1)).c_str(), 1);
    try {
      catalogue_ = std::make_unique<DeviceCatalogue>();
      chosen_ = catalogue_->choose(device_wish(placement()), seat);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  // Names this rank's device among those of all hosts; "" if each process has its own (a CPU, an emulator).
  std::string shared_name() const {
    if (chosen_.type == "cpu" || chosen_.type == "native" || !emulation_of(chosen_).empty()) return "";
    const std::string address = pci_address(chosen_);
    return fmt::format("{}\n{} ({})", host_, chosen_.name,
                       address.empty() ? fmt::format("device {}", chosen_.index) : address);
  }

  // Ranks that use this rank's device.
  std::uint64_t sharers() const {
    const std::string& own = devices_[static_cast<std::size_t>(world_.rank())];
    return own.empty() ? 1 : static_cast<std::uint64_t>(std::count(devices_.begin(), devices_.end(), own));
  }

  void check_sharing() const {
    if (sharers() == 1 || options_.share_devices.get()) return;
    throw UsageError(
        fmt::format("{} ranks of {} would share {}: start fewer, name other devices (--device-map), or allow "
                    "it (--share-devices)",
                    sharers(), this_host().name, chosen_.name));
  }

  // Reason why this rank's device cannot be used, or "".
  std::string open_device() {
    try {
      const Placement placement = this->placement();
      const bool on_host = entry_ != nullptr && entry_->needs_host_memory && placement.kind == MemoryKind::automatic;
      if (on_host && chosen_.runtime != "native")
        throw UsageError(
            fmt::format("transport {} needs memory that the host can address, which {} does not give by default: use "
                        "--transport staged, --memory host, or --runtime native",
                        transport_name_, chosen_.name));
      check_transport_on(chosen_);
      check_sharing();
      if (options_.kernel_language == "sycl" && chosen_.runtime != "sycl")
        throw UsageError("--kernel-language sycl is of runtime sycl, not " + chosen_.runtime);
      if (placement.as_object) check_objects(placement);
      check_memory(chosen_, placement, world_.local_size());
      benchmark_.check_device(plan_, chosen_);
      device_ = catalogue_->open(chosen_);
      give_image(chosen_);
      if (entry_ != nullptr) transport_ = entry_->make(world_, *device_, {options_.approach, &options_.of_transports});
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  void check_objects(const Placement& placement) const {
    if (chosen_.runtime != "sycl") throw UsageError("--sycl-memory buffer is of runtime sycl, not " + chosen_.runtime);
    if (placement.kind != MemoryKind::automatic)
      throw UsageError(
          fmt::format("--sycl-memory buffer is of memory kind default: leave out --memory {}", options_.memory.get()));
    if (placement.shared)
      throw UsageError(
          fmt::format("transport {} shares its buffers between processes, which a sycl::buffer cannot be: "
                      "use --transport staged",
                      transport_name_));
    if (options_.kernel_language == "sycl")
      throw UsageError("--sycl-memory buffer needs --kernel-language opencl: kernels in SYCL take addresses here");
  }

  // A bitstream defines the memory banks of its device.
  void give_image(const DeviceInfo& info) const {
    if (options_.kernel_file.get().empty()) return;
    if (const TakeBoardImage* take = Registry<TakeBoardImage>::instance().find(info.runtime))
      (*take)(*device_, read_kernel_file(options_.kernel_file));
  }

  DeviceWish device_wish(const Placement& placement) const {
    return {options_.runtime, options_.device, options_.device_map, default_runtime_of(placement),
            options_.share_devices.get()};
  }

  Placement placement() const {
    Placement placement = parse_placement(options_.memory);
    placement.shared = entry_ != nullptr && entry_->shares_buffers;
    placement.as_object = options_.sycl_memory == "buffer";
    return placement;
  }

  std::string default_runtime_of(const Placement& placement) const {
    if (!benchmark_.needs_device()) return "native";
    if (entry_ == nullptr || (entry_->needs_host_memory && placement.kind != MemoryKind::automatic)) return "opencl";
    return default_runtime(*entry_);
  }

  void check_transport_on(const DeviceInfo& info) const {
    if (entry_ == nullptr || !entry_->device_reason) return;
    const std::string reason = entry_->device_reason(info);
    if (!reason.empty())
      throw UsageError(fmt::format("transport {} does not work on {}: {}", transport_name_, info.name, reason));
  }

  // local_ranks: ranks that share this host's memory.
  void check_memory(const DeviceInfo& info, const Placement& placement, int local_ranks) const {
    if (std::find(info.memory_kinds.begin(), info.memory_kinds.end(), placement.kind) == info.memory_kinds.end())
      throw UsageError(fmt::format("{} has no memory of kind {}", info.name, to_string(placement.kind)));
    if (placement.shared && placement.kind != MemoryKind::automatic && placement.kind != MemoryKind::host)
      throw UsageError(
          fmt::format("transport {} shares its buffers between processes, which memory of kind {} cannot be: leave out "
                      "--memory, or give --memory host",
                      transport_name_, to_string(placement.kind)));
    const Needs needed = needs();
    const std::uint64_t users = devices_.empty() ? 1 : sharers();
    if (needed.device > info.memory_bytes / users)
      throw UsageError(fmt::format("{} needs {} on the device, but {} has {}{}", benchmark_.name(),
                                   format_bytes(needed.device), info.name, format_bytes(info.memory_bytes / users),
                                   users == 1 ? "" : fmt::format(" for each of the {} ranks that share it", users)));
    if (needed.largest_buffer > info.largest_buffer_bytes)
      throw UsageError(fmt::format("{} needs a buffer of {}, but the largest of {} is {}", benchmark_.name(),
                                   format_bytes(needed.largest_buffer), info.name,
                                   format_bytes(info.largest_buffer_bytes)));
    const bool shares = info.type == "cpu" || info.type == "native";  // device memory is host memory
    const std::uint64_t together =
        (needed.host + needed.symmetric + (shares ? needed.device : 0)) * static_cast<std::uint64_t>(local_ranks);
    const std::uint64_t available = available_memory_bytes();
    if (available > 0 && together > available)
      throw UsageError(fmt::format("the {} ranks of this host need {} of memory together, but {} are available",
                                   local_ranks, format_bytes(together), format_bytes(available)));
  }

  int measure(const RunSettings& settings) {
    const double begin = now_seconds();
    Places places = gather_places(world_);
    for (RankPlace& place : places.ranks) {
      const std::string& device = devices_[static_cast<std::size_t>(place.rank)];
      place.device = device.substr(device.find('\n') + 1);
    }
    Session session{world_,
                    *device_,
                    transport_.get(),
                    placement(),
                    static_cast<std::uint64_t>(options_.seed.get()),
                    options_.kernel_file,
                    options_.kernel_language == "sycl",
                    options_.sync};
    Json head = record_head(settings, places);
    if (world_.rank() == 0)
      for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, on_signal);
    if (energy_) energy_->select(pci_address(device_->info()));
    if (energy_ && !settings.setup_only) energy_->measure_idle();
    const RunResult result = run_benchmark(benchmark_, groups_, session, settings, places, std::move(head),
                                           record_path(), *listener_, energy_.get());
    int exit = 0;
    if (world_.rank() == 0) exit = report(result, now_seconds() - begin);
    return broadcast_value(world_, exit);
  }

  int report(const RunResult& result, double seconds) {
    int exit = status(ExitStatus::passed);
    if (result.outcome.status == "failed")
      exit = status(ExitStatus::wrong_answer);
    else if (result.outcome.status == "error" || result.record_lost)
      exit = status(ExitStatus::error);
    if (options_.format.get() != "none" && !print_form(options_.format, result.record, nullptr)) {
      listener_->failed("the results could not be written to standard output");
      if (exit == 0) exit = status(ExitStatus::error);
    }
    listener_->finished(result.outcome.status, exit, seconds);
    return exit;
  }

  std::string record_path() const {
    if (world_.rank() != 0 || options_.record.get() == "none") return "";
    if (!options_.record.get().empty()) return options_.record;
    return RecordWriter::claim(benchmark_.name() + "-" + utc("{:%Y%m%dT%H%M%SZ}") + ".json");
  }

  Json ranks_json(const Places& places) {
    Json ranks = Json::array();
    const std::vector<std::string> devices =
        gather_texts(world_, to_json(device_->info()).dump(-1, ' ', false, Json::error_handler_t::replace));
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const RankPlace& place = places.ranks[i];
      ranks.push_back({{"rank", place.rank},
                       {"host", place.host},
                       {"local_rank", place.local_rank},
                       {"cores", place.cores},
                       {"device", Json::parse(devices[i])}});
    }
    return ranks;
  }

  Json transport_json() {
    if (!transport_) return nullptr;
    const TransportInfo& info = transport_->info();
    Transport* leg = transport_->host_leg();
    return {{"name", info.name},
            {"summary", info.summary},
            {"scheduled_by", info.scheduled_by},
            {"landing", info.landing},
            {"host_leg", leg == nullptr ? Json(nullptr) : Json(leg->info().name)},
            {"facts", transport_->facts()}};
  }

  // What stands in for hardware that is absent, of the transport and of all ranks' devices; null if nothing does.
  Json emulated_json() {
    std::vector<std::string> sentences{transport_ ? emulation_of(transport_->info().name) : ""};
    for (const std::string& of_device : gather_texts(world_, emulation_of(device_->info())))
      if (std::find(sentences.begin(), sentences.end(), of_device) == sentences.end()) sentences.push_back(of_device);
    std::erase(sentences, "");
    return sentences.empty() ? Json(nullptr) : Json(fmt::format("{}", fmt::join(sentences, "; ")));
  }

  void check_active_ranks(const RunSettings& settings) const {
    const int ranks = options_.ranks.given() ? static_cast<int>(options_.ranks.get()) : world_.size();
    if (settings.active_ranks > 0 && !benchmark_.ranks_work_apart())
      throw UsageError(benchmark_.name() + " has one problem for all ranks: it takes no --active-ranks");
    if (settings.active_ranks > 0 && options_.format == "hpcc-json")
      throw UsageError("--format hpcc-json is of runs in which all ranks work: HPCC FPGA has no other");
    if (settings.active_ranks > ranks)
      throw UsageError(
          fmt::format("--active-ranks {} is above the {} ranks that there are", settings.active_ranks, ranks));
  }

  Json measuring_json(const RunSettings& settings) const {
    Json measuring = rules_json(settings);
    if (settings.active_ranks > 0) measuring["active_ranks"] = settings.active_ranks;
    if (options_.kernel_file.given()) measuring["kernel_build"] = options_.kernel_build.get();
    return measuring;
  }

  Json rules_json(const RunSettings& settings) const {
    return {{"policy", settings.policy.fixed > 0 ? "fixed" : "adaptive"},
            {"min_repetitions", settings.policy.fixed > 0 ? settings.policy.fixed : settings.policy.minimum},
            {"max_repetitions", settings.policy.fixed > 0 ? settings.policy.fixed : settings.policy.maximum},
            {"time_limit_s", settings.policy.time_limit},
            {"confidence", settings.policy.confidence},
            {"sync", options_.sync.get()},
            {"seed", options_.seed.get()},
            {"preset", options_.preset.get()},
            {"validate", settings.validate},
            {"kernel_file", options_.kernel_file.get().empty() ? Json(nullptr) : Json(options_.kernel_file.get())},
            {"timeout_s", options_.timeout.get()}};
  }

  // The record's head: everything known before the first case. Collective; complete on rank 0.
  Json record_head(const RunSettings& settings, const Places& places) {
    const BuildInfo& build = build_info();
    const WorldInfo& world = world_.info();
    Json hosts = Json::array(), parameters = Json::object(), understood = Json::object();
    for (const Host& host : places.hosts) hosts.push_back(to_json(host));
    for (const ParameterBase* parameter : benchmark_.parameters()) {
      parameters[parameter->name()] = parameter->value_json();
      if (const std::string size = parameter->understood(); !size.empty()) understood[parameter->name()] = size;
    }
    const Placement placement = parse_placement(options_.memory);
    const ClockProperties clock = measure_clock();
    std::size_t cases = 0;
    for (const Group& group : groups_) cases += group.cases.size();
    const Json ranks = ranks_json(places), emulated = emulated_json();
    return {
        {"schema_version", schema_version},
        {"benchmark", {{"name", benchmark_.name()}, {"title", benchmark_.title()}, {"source", benchmark_.source()}}},
        {"program",
         {{"name", kind_.name},
          {"version", build.version},
          {"commit", build.commit.empty() ? Json(nullptr) : Json(build.commit)},
          {"dirty", build.dirty},
          {"build_type", build.build_type},
          {"compiler", build.compiler},
          {"flags", build.flags}}},
        {"command", command_},
        {"started", utc("{:%Y-%m-%dT%H:%M:%SZ}")},
        {"environment", steering_environment()},
        {"hosts", hosts},
        {"world",
         {{"kind", world.kind},
          {"library", world.library},
          {"standard", world.standard},
          {"ranks", world_.size()},
          {"nodes", places.hosts.size()}}},
        {"ranks", ranks},
        {"memory",
         {{"kind", to_string(placement.kind)}, {"bank", placement.bank ? Json(*placement.bank) : Json(nullptr)}}},
        {"transport", transport_json()},
        {"emulated", emulated},
        {"parameters", parameters},
        {"understood", understood},
        {"measuring", measuring_json(settings)},
        {"clock", {{"resolution_s", clock.resolution_s}, {"overhead_s", clock.overhead_s}}},
        {"planned_cases", cases}};
  }

  const ProgramKind& kind_;
  std::vector<std::string> command_;
  World& world_;
  EngineOptions& options_;
  Benchmark& benchmark_;
  std::unique_ptr<Listener> listener_;
  std::string transport_name_;
  const TransportEntry* entry_ = nullptr;
  Plan plan_;
  std::vector<Group> groups_;
  std::unique_ptr<EnergyMeter> energy_;  // null: --energy off
  std::unique_ptr<DeviceCatalogue> catalogue_;
  DeviceInfo chosen_;
  std::string host_;                  // all that is known of this rank's host
  std::vector<std::string> devices_;  // of all ranks, by shared_name()
  std::unique_ptr<Device> device_;
  std::unique_ptr<Transport> transport_;
};

int show(const CommandLine& line, const EngineOptions& options) {
  const Json record = read_record(line.show_record);
  const Json expected = line.show_expected.empty() ? Json(nullptr) : read_json(line.show_expected);
  return print_form(options.format, record, expected) ? 0 : status(ExitStatus::error);
}

int tell(const CommandLine& line, const ProgramKind& kind, const EngineOptions& options, const Benchmark* benchmark) {
  switch (line.action) {
    case CommandLine::Action::version:
      fmt::print("{} {} {}\n", kind.name, build_info().version, build_info().commit);
      return 0;
    case CommandLine::Action::list:
      fmt::print("{}", list_text());
      return 0;
    case CommandLine::Action::devices:
      return print_devices(line.json);
    case CommandLine::Action::transports:
      print_transports(kind, line.json);
      return 0;
    case CommandLine::Action::describe:
      fmt::print("{}\n", description(kind, options).dump(1));
      return 0;
    case CommandLine::Action::show:
      return show(line, options);
    case CommandLine::Action::embedded:
      return print_embedded(line.words[0]);
    case CommandLine::Action::compile:
      return compile_kernels(line.words);
    default:
      fmt::print("{}", benchmark != nullptr ? benchmark_help(kind.name, *benchmark, options) : program_help(kind.name));
      return 0;
  }
}

// Usage errors are the same on all ranks: rank 0 prints them, and all exit with the same status.
int say_usage(World& world, const std::string& progress, const std::string& sentence) {
  if (world.rank() == 0) make_listener(progress)->failed(sentence);
  return status(ExitStatus::usage);
}

constexpr double start_limit_s = 120;  // thousands of ranks take their time
constexpr double end_limit_s = 10;     // less than the command waits for launchers

// Ranks that do not find each other are left where no other limit applies yet.
void limit_start(const EngineOptions& options) {
  Watchdog::start(std::max(start_limit_s, options.timeout.get()), [](const std::string& sentence) {
    fmt::print(stderr, "error: {}\n", sentence);
    std::_Exit(status(ExitStatus::error));
  });
}

// The record is complete: a library that does not end is left, with the run's own status.
void limit_end(int exit, const EngineOptions& options) {
  const double limit = std::min(end_limit_s, options.timeout.get());
  Watchdog::start(limit, [exit, limit, progress = options.progress.get()](const std::string&) {
    make_listener(progress)->warned(
        {"unfinalised", fmt::format("the library did not finalise within {} s: the process ends without", limit)});
    std::_Exit(exit);
  });
}

int run_in_world(int argc, char** argv, const ProgramKind& kind, EngineOptions& options, Benchmark* benchmark,
                 const std::string& bad_usage) {
  const std::vector<std::string> command(argv, argv + argc);
  std::unique_ptr<World> world;
  try {
    const bool planned = options.dry_run && options.ranks.given();
    limit_start(options);
    const Waiting waiting("the world of ranks to start");
    world = planned ? make_planned_world(kind.world_info(), static_cast<int>(options.ranks.get()))
                    : kind.start(argc, argv, {benchmark != nullptr && benchmark->threads_communicate()});
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return status(ExitStatus::error);
  }
  if (!bad_usage.empty()) {
    limit_end(status(ExitStatus::usage), options);
    return say_usage(*world, options.progress, bad_usage);
  }
  ProgramRun run(kind, command, *world, options, *benchmark);
  try {
    const int exit = run.run();
    limit_end(exit, options);
    return exit;
  } catch (const UsageError& error) {
    limit_end(status(ExitStatus::usage), options);
    return say_usage(*world, options.progress, error.what());
  } catch (const std::exception& error) {
    run.say_failure(error.what());
    RecordWriter::abort(error.what());
    world->abort(status(ExitStatus::error));
    std::_Exit(status(ExitStatus::error));
  }
}

}  // namespace

int run_program(int argc, char** argv, const ProgramKind& kind) {
  choose_openblas_kernels(argv);
  EngineOptions options;
  std::unique_ptr<Benchmark> benchmark;
  std::string bad_usage;
  try {
    const CommandLine line = parse_command_line(argc, argv, options, benchmark);
    if (line.action != CommandLine::Action::run) return tell(line, kind, options, benchmark.get());
  } catch (const UsageError& error) {
    bad_usage = error.what();
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return status(ExitStatus::error);
  }
  // Only rank 0 prints usage errors; the world defines which process that is.
  if (!bad_usage.empty() && benchmark == nullptr && argc > 1 && argv[1][0] == '-') {
    fmt::print(stderr, "error: {}\n", bad_usage);
    return status(ExitStatus::usage);
  }
  return run_in_world(argc, argv, kind, options, benchmark.get(), bad_usage);
}

}  // namespace plumb
