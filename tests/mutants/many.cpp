#include "tests/mutants/many.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "device/select.hpp"
#include "measure/runner.hpp"
#include "tests/mutants/compiling_once.hpp"
#include "tests/mutants/wrong_mpi.hpp"
#include "transport/transport.hpp"
#include "world/collect.hpp"
#include "world/mpi.hpp"
#include "world/watchdog.hpp"

namespace plumb::mutants {

namespace {

// The runtime named by a run, or else its transport's default.
std::string runtime_of(const TransportEntry& entry, const Json& wish) {
  return wish.value("runtime", default_runtime(entry));
}

// One device of each runtime, opened once.
class Devices {
 public:
  explicit Devices(World& world) : world_(world) {}
  // Reason why this rank has no device for the transport; "" = it is open.
  std::string unfit(const TransportEntry& entry, const std::string& runtime) {
    if (const std::string reason = entry.reason(world_); !reason.empty()) return reason;
    if (const std::string reason = catalogue_.why_none(runtime); !reason.empty()) return reason;
    std::unique_ptr<Device>& device = open_[runtime];
    if (!device) {
      device = compiling_once(catalogue_.open(
          catalogue_.choose({runtime, "", "", runtime}, world_.rank(), world_.size(), world_.local_rank())));
    }
    return entry.device_reason ? entry.device_reason(device->info()) : "";
  }
  Device& of(const std::string& runtime) { return *open_.at(runtime); }

 private:
  World& world_;
  DeviceCatalogue catalogue_;
  std::map<std::string, std::unique_ptr<Device>> open_;
};

// Null but on rank 0, which has the record.
Json outcomes_of(const RunResult& result) {
  if (result.record.is_null()) return nullptr;
  Json outcomes = Json::array();
  for (const Json& one : result.record["cases"])
    outcomes.push_back(
        {{"key", one["key"]}, {"status", one["outcome"]["status"]}, {"reason", one["outcome"]["reason"]}});
  return {{"status", result.outcome.status}, {"outcomes", outcomes}};
}

Json run_one(World& world, Devices& devices, const Places& places, const Json& wish) {
  const TransportEntry& entry = find_transport(wish.at("transport"));
  const AgreedText unfit = first_text(world, devices.unfit(entry, runtime_of(entry, wish)));
  if (unfit.rank >= 0) return {{"status", "skipped"}, {"reason", unfit.text}};
  Device& device = devices.of(runtime_of(entry, wish));
  const auto benchmark = (*Registry<BenchmarkFactory>::instance().find(wish.at("benchmark")))();
  const Json options = wish.value("options", Json::object());
  for (const auto& [name, value] : options.items()) {
    auto* option = benchmark->find(name);
    if (option == nullptr)
      throw Error(fmt::format("no option of {}: {}", wish.at("benchmark").get<std::string>(), name));
    option->parse(value.get<std::string>());
  }
  const Plan plan{world.rank(), world.size(), 1};
  benchmark->check(plan);
  TransportOptions transports;
  transports.find("pipeline-chunk")->parse(std::to_string(wish.value("pipeline_chunk_kib", std::size_t{0})));
  const Json of_transport = wish.value("transport_options", Json::object());
  for (const auto& [name, value] : of_transport.items()) transports.find(name)->parse(value.get<std::string>());
  const auto transport = entry.make(world, device, {wish.value("approach", ""), &transports});
  Session session{world, device, transport.get(), {MemoryKind::automatic, {}, entry.shares_buffers}, 1};
  RunSettings settings;
  settings.policy.fixed = 1;
  settings.synchronise_by_clock = false;
  const auto listener = make_listener("none");
  spoil_mpi(wish.value("wrong_mpi", ""), transport_communicator(world));
  const RunResult result =
      run_benchmark(*benchmark, benchmark->groups(plan), session, settings, places, {}, "", *listener);
  spoil_mpi("", MPI_COMM_NULL);
  return outcomes_of(result);
}

}  // namespace

void run_many(World& world, const std::string& path) {
  constexpr double longest_wait = 60;  // seconds
  Watchdog::start(longest_wait, [&](const std::string& sentence) {
    fmt::print(stderr, "rank {}: {}\n", world.rank(), sentence);
    world.abort(static_cast<int>(ExitStatus::error));
  });
  std::ifstream file(path);
  const Json wishes = Json::parse(file);
  Devices devices(world);
  const Places places = gather_places(world);
  for (const Json& wish : wishes) {
    const Json found = run_one(world, devices, places, wish);
    if (world.rank() != 0) continue;
    fmt::print("{}\n", found.dump());
    std::fflush(stdout);
  }
  Watchdog::stop();
}

}  // namespace plumb::mutants
