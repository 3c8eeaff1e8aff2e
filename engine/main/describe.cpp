#include "main/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "core/units.hpp"
#include "core/version.hpp"
#include "device/select.hpp"
#include "record/forms.hpp"
#include "transport/emulated.hpp"

namespace plumb {

namespace {

Json parameters_json(const Parameters& owner) {
  Json result = Json::array();
  for (const ParameterBase* parameter : owner.parameters()) result.push_back(parameter->describe());
  return result;
}

Json kernel_json(const BoardKernels::Kernel& kernel) {
  Json arguments = Json::array();
  for (const auto& argument : kernel.arguments) arguments.push_back({{"name", argument.name}, {"bank", argument.bank}});
  return {{"name", kernel.name}, {"numbered", kernel.numbered}, {"arguments", arguments}};
}

// The kernels for boards by tool.
Json boards_json(const Benchmark& benchmark) {
  Json boards = Json::object();
  for (const auto& [name, tool] : {std::pair{"aoc", BoardTool::aoc}, std::pair{"v++", BoardTool::vpp}}) {
    const auto found = benchmark.board_kernels(tool);
    if (!found) continue;
    Json kernels = Json::array(), streams = Json::array();
    for (const auto& kernel : found->kernels) kernels.push_back(kernel_json(kernel));
    for (const auto& stream : found->streams)
      streams.push_back({{"from", stream.from}, {"to", stream.to}, {"depth", stream.depth}});
    boards[name] = {{"source", found->source},   {"includes", found->includes},
                    {"options", found->options}, {"kernels", kernels},
                    {"streams", streams},        {"channels", found->channels},
                    {"banks", found->banks},     {"own_banks", found->own_banks},
                    {"run", found->run}};
  }
  return boards;
}

Json benchmark_json(const std::string& name) {
  const auto benchmark = make_benchmark(name);
  Json presets = Json::object();
  for (const char* preset : {"smoke", "standard", "full"}) presets[preset] = benchmark->preset(preset);
  return {{"name", name},
          {"title", benchmark->title()},
          {"source", benchmark->source()},
          {"family", benchmark->family()},
          {"parameters", parameters_json(*benchmark)},
          {"presets", presets},
          {"boards", boards_json(*benchmark)},
          {"forms", forms_of(name)}};
}

// Stands in for a world of the program's kind that was not started.
class PlannedWorld : public World {
 public:
  PlannedWorld(WorldInfo info, int ranks) : info_(std::move(info)), ranks_(ranks) {}
  const WorldInfo& info() const override { return info_; }
  int rank() const override { return 0; }
  int size() const override { return ranks_; }
  int local_rank() const override { return 0; }
  int local_size() const override { return ranks_; }
  void barrier() override { refuse(); }
  void broadcast(std::span<std::byte>, int) override { refuse(); }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte>, int) override { refuse(); }
  void send(std::span<const std::byte>, int) override { refuse(); }
  void receive(std::span<std::byte>, int) override { refuse(); }
  void abort(int exit_status) override { std::_Exit(exit_status); }

 private:
  [[noreturn]] static void refuse() { throw Error("this world only plans: it sends no messages"); }
  WorldInfo info_;
  int ranks_;
};

Json reason_json(const std::string& reason) {
  return reason.empty() ? Json(nullptr) : Json(reason);
}

// A transport with its approaches, and the devices it supports.
Json transport_json(const TransportEntry& entry, const World& world, const DeviceCatalogue& catalogue) {
  Json approaches = Json::array({approach(entry.info)}), devices = Json::array();
  for (const TransportInfo& other : entry.others) approaches.push_back(approach(other));
  for (const DeviceInfo& info : catalogue.infos()) {
    std::string reason = entry.device_reason ? entry.device_reason(info) : "";
    if (entry.needs_host_memory && info.type != "native") reason = "only with --memory host: it needs host memory";
    devices.push_back(
        {{"index", info.index}, {"runtime", info.runtime}, {"name", info.name}, {"reason", reason_json(reason)}});
  }
  return {{"name", entry.info.name},
          {"summary", entry.info.summary},
          {"scheduled_by", entry.info.scheduled_by},
          {"landing", entry.info.landing},
          {"approaches", approaches},
          {"emulated", reason_json(emulation_of(entry.info.name))},
          {"reason", reason_json(entry.reason(world))},
          {"devices", devices}};
}

void print_transport(const Json& transport) {
  const std::string name = transport["name"];
  fmt::print("{:<10} {}\n", name, transport["summary"].get<std::string>());
  fmt::print("{:<10} {}\n", "", fmt::join(transport["approaches"].get<std::vector<std::string>>(), ", "));
  if (transport["emulated"].is_string())
    fmt::print("{:<10} emulated: {}\n", "", transport["emulated"].get<std::string>());
  if (transport["reason"].is_string()) {
    fmt::print("{:<10} not here: {}\n", "", transport["reason"].get<std::string>());
    return;
  }
  for (const Json& device : transport["devices"])
    fmt::print("{:<10} {:>2} {:<8} {:<28} {}\n", "", device["index"].get<int>(), device["runtime"].get<std::string>(),
               device["name"].get<std::string>().substr(0, 28),
               device["reason"].is_null() ? "yes" : "no: " + device["reason"].get<std::string>());
}

}  // namespace

std::unique_ptr<World> make_planned_world(WorldInfo info, int ranks) {
  return std::make_unique<PlannedWorld>(std::move(info), ranks);
}

std::string list_text() {
  std::string text;
  for (const std::string& name : Registry<BenchmarkFactory>::instance().names())
    if (const auto benchmark = make_benchmark(name); benchmark->family().empty())
      text += fmt::format("{:<16} {}\n", name, benchmark->title());
  return text;
}

int print_devices(bool json) {
  const DeviceCatalogue catalogue;
  const std::string reason = catalogue.why_none("opencl");
  if (json) {
    Json devices = Json::array();
    for (const DeviceInfo& info : catalogue.infos()) devices.push_back(to_json(info));
    fmt::print("{}\n", Json{{"devices", devices}, {"reason", reason.empty() ? Json(nullptr) : Json(reason)}}.dump(1));
    return 0;
  }
  fmt::print("{:>5}  {:<8} {:<12} {:<36} {:>10} {:<18} {}\n", "index", "runtime", "type", "name", "memory", "kinds",
             "platform");
  for (const DeviceInfo& info : catalogue.infos()) {
    std::vector<std::string> kinds;
    for (const MemoryKind kind : info.memory_kinds) kinds.push_back(to_string(kind));
    fmt::print("{:>5}  {:<8} {:<12} {:<36} {:>10} {:<18} {}\n", info.index, info.runtime, info.type,
               info.name.substr(0, 36), format_bytes(info.memory_bytes), fmt::format("{}", fmt::join(kinds, ",")),
               info.platform);
  }
  if (!reason.empty()) fmt::print("no OpenCL device: {}\n", reason);
  return 0;
}

void print_transports(const ProgramKind& kind, bool json) {
  const WorldInfo info = kind.world_info();
  const PlannedWorld world(info, info.kind == "serial" ? 1 : 2);  // two ranks, so that transports give their reasons
  const DeviceCatalogue catalogue;
  Json all = Json::array();
  const auto& registry = Registry<TransportEntry>::instance();
  for (const std::string& name : registry.names()) {
    all.push_back(transport_json(*registry.find(name), world, catalogue));
    if (!json) print_transport(all.back());
  }
  if (json) fmt::print("{}\n", Json{{"transports", all}}.dump(1));
}

Json description(const ProgramKind& kind, const EngineOptions& options) {
  const BuildInfo& build = build_info();
  const WorldInfo world = kind.world_info();
  Json transports = Json::array(), benchmarks = Json::array();
  for (const std::string& name : Registry<TransportEntry>::instance().names())
    transports.push_back({{"name", name}, {"summary", find_transport(name).info.summary}});
  for (const std::string& name : Registry<BenchmarkFactory>::instance().names())
    benchmarks.push_back(benchmark_json(name));
  return {{"program", kind.name},
          {"version", build.version},
          {"commit", build.commit.empty() ? Json(nullptr) : Json(build.commit)},
          {"schema_version", schema_version},
          {"world", world.kind},
          {"world_library", world.library},
          {"runtimes", Registry<RuntimeFactory>::instance().names()},
          {"transports", transports},
          {"options", parameters_json(options)},
          {"benchmarks", benchmarks}};
}

}  // namespace plumb
