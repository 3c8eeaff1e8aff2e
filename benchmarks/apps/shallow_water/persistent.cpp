#include "benchmarks/apps/shallow_water/persistent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/data.hpp"
#include "core/embedded.hpp"
#include "core/patience.hpp"
#include "device/resident.hpp"
#include "world/collect.hpp"

namespace plumb::shallow_water {

namespace {

constexpr std::size_t line = 128;            // bytes
constexpr std::uint32_t items_of_gpu = 128;  // of a group

std::uint32_t items_of(const DeviceInfo& info) {
  return info.type == "gpu" ? items_of_gpu : 1;
}

std::size_t bytes_between(const Job& job, const Neighbour& near) {
  return std::max(near.sends.size(), std::size_t{near.receives}) * job.components() * size_of(job.type);
}

std::size_t pitch_between(const Job& job, const Neighbour& near) {
  return (bytes_between(job, near) + line - 1) / line * line;
}

std::uint64_t resident_groups(Device& device, Kernel& kernel, const KernelRange& range) {
  auto* telling = dynamic_cast<ResidentGroups*>(&device);
  return telling == nullptr ? 0 : telling->resident_groups(kernel, range);
}

KernelSource persistent_source(Session& session, const std::string& options) {
  const std::string file = "benchmarks/apps/shallow_water/persistent.cl";
  KernelSource source{file, embedded_text(file), options};
  return session.source(source);
}

}  // namespace

std::size_t Persistent::message_bytes(const Job& job, const Part& part) {
  std::size_t bytes = 0;
  for (const Neighbour& near : part.neighbours) bytes += pitch_between(job, near);
  return bytes;
}

Persistent::Persistent(Session& session, Transport* transport, const Job& job, const Part& part, const Memory& memory,
                       const std::string& options)
    : job_(job), part_(part), memory_(memory), session_(session), queue_(session.device.make_queue()) {
  if (job.solution.source)
    throw Unsupported("a persistent kernel takes no sources: case manufactured needs --schedule host");
  const DeviceInfo& info = session.device.info();
  if (info.runtime == "native" || info.runtime == "hls")
    throw Unsupported(fmt::format("a persistent kernel is OpenCL C, which runtime {} cannot run", info.runtime));
  KernelSource source = persistent_source(session, options + fmt::format(" -DGROUP={}", items_of(info)));
  source.opencl = embedded_text("benchmarks/apps/shallow_water/shallow_water.cl") + source.opencl;
  program_ = session.device.build(source);
  kernel_ = program_->kernel("persist");
  if (transport != nullptr) open(session, *transport);
  choose_groups(session, *kernel_);
  const std::vector<std::byte> zeros(line);
  Placement own = session.memory;
  own.shared = false;
  for (auto* counter : {&counters_, &delivered_}) {
    *counter = session.device.allocate(line, own);
    queue_->write(zeros.data(), whole(**counter));
  }
  stuck_ = allocate_host(session.device, sizeof(std::uint64_t));
  std::memset(stuck_->host_pointer(), 0, stuck_->size());
  std::vector<double> shares;
  for (const Stage& stage : stages_of(job_.order)) shares.insert(shares.end(), {stage.base_share, stage.share});
  shares_ = filled(shares);
  levels_ = filled({0});
}

// A lane is a pair of neighbours, numbered so that lanes are in the order of the neighbours.
void Persistent::open(Session& session, Transport& transport) {
  Exchange exchange;
  exchange.steps.emplace_back();
  const int own = session.world.rank(), ranks = session.world.size();
  std::size_t at = 0;
  for (const Neighbour& near : part_.neighbours) {
    const int lane = std::min(own, near.rank) * ranks + std::max(own, near.rank);
    const std::size_t bytes = bytes_between(job_, near), pitch = pitch_between(job_, near);
    exchange.steps[0].sends.push_back({near.rank, lane, {{memory_.outgoing, at, bytes}}});
    exchange.steps[0].receives.push_back({near.rank, lane, {{memory_.incoming, places * at, bytes}, places, pitch}});
    at += pitch;
  }
  const std::string options =
      fmt::format("-DREAL={} -DORDER={} -DCOMPONENTS={} -DPLACES={} -DFOURS={}", to_string(job_.type), job_.order,
                  job_.components(), places, job_.is_together ? 1 : 0);
  port_ = transport.open_port(exchange, persistent_source(session, options), "trade");
  ports_ = static_cast<std::uint32_t>(port_->groups());
}

// On a GPU half of its room is left to the kernels that send and receive, whichever start first.
void Persistent::choose_groups(Session& session, Kernel& kernel) {
  const DeviceInfo& info = session.device.info();
  const std::uint32_t items = items_of(info);
  const std::uint64_t resident = resident_groups(session.device, kernel, {items, items});
  std::uint64_t room = 0;
  if (ports_ == 0)
    room = resident;
  else if (info.type == "gpu")
    room = ports_ <= info.compute_units ? resident / 2 : 0;
  else
    room = resident - std::min<std::uint64_t>(resident, ports_);
  std::string problem;
  if (resident == 0)
    problem = fmt::format(
        "a persistent kernel needs all its groups resident, which {} does not tell: use "
        "--schedule host",
        info.name);
  else if (room == 0)
    problem = fmt::format(
        "{} has {} groups resident at the same time, too few beside those of {} that exchange with "
        "neighbours: use --schedule host",
        info.name, resident, ports_);
  if (port_ != nullptr)
    for (const std::string& one : all_texts(session.world, problem))
      if (!one.empty()) throw Unsupported(one);
  if (!problem.empty()) throw Unsupported(problem);
  const std::uint32_t core = job_.overlaps ? part_.core : 0, each = items * memory_.lanes;
  const std::uint64_t useful = (core + each - 1) / each + (part_.own - core + each - 1) / each;
  groups_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(useful, 1, room));
}

std::vector<KernelArgument> Persistent::arguments(std::uint64_t first, std::uint32_t stages) const {
  const Physics& physics = job_.physics;
  const double look_s = session_.device.info().type == "gpu" ? 0.5e-6 : 2e-9;
  const auto looks = static_cast<std::uint64_t>(2 * kernel_patience_s / look_s);
  return {stages,
          static_cast<std::uint32_t>(first),
          memory_.states.front(),
          memory_.states[1],
          memory_.states.back(),
          memory_.neighbours,
          memory_.geometry,
          memory_.bed,
          memory_.dry,
          levels_.get(),
          shares_.get(),
          job_.overlaps ? part_.core : std::uint32_t{0},
          part_.own,
          memory_.stride,
          real(job_.time_step),
          real(physics.gravity),
          real(physics.coriolis),
          real(physics.friction),
          real(physics.minimum_depth),
          counters_.get(),
          begun_,
          delivered_.get(),
          received_,
          ports_,
          looks,
          stuck_.get()};
}

std::vector<KernelArgument> Persistent::trade_arguments(std::size_t neighbour, std::uint64_t first,
                                                        std::uint32_t stages) const {
  std::size_t at = 0, sent = 0;
  for (std::size_t i = 0; i < neighbour; ++i) {
    at += pitch_between(job_, part_.neighbours[i]);
    sent += part_.neighbours[i].sends.size();
  }
  const Neighbour& near = part_.neighbours[neighbour];
  return {stages,
          static_cast<std::uint32_t>(first),
          memory_.states.front(),
          memory_.states[1],
          memory_.states.back(),
          memory_.stride,
          memory_.list,
          static_cast<std::uint32_t>(sent),
          static_cast<std::uint32_t>(near.sends.size()),
          static_cast<std::uint32_t>(part_.own + near.first_received),
          static_cast<std::uint32_t>(near.receives),
          memory_.outgoing,
          static_cast<std::uint64_t>(at),
          memory_.incoming,
          static_cast<std::uint64_t>(places * at),
          static_cast<std::uint64_t>(pitch_between(job_, near)),
          counters_.get(),
          begun_,
          groups_,
          delivered_.get()};
}

void Persistent::run(std::uint64_t first, const std::vector<double>& levels) {
  const auto stages = static_cast<std::uint32_t>(levels.size());
  std::vector<std::byte> bytes(levels.size() * size_of(job_.type));
  store_scalars(levels, job_.type, bytes);
  if (levels_->size() < bytes.size()) levels_ = filled(levels);
  queue_->enqueue_write(bytes.data(), {levels_.get(), 0, bytes.size()});
  if (port_ != nullptr) {
    const int own = session_.world.rank(), ranks = session_.world.size();
    port_->start(0, stages, [&](int lane) {
      const auto is_it = [&](const Neighbour& near) {
        return std::min(own, near.rank) * ranks + std::max(own, near.rank) == lane;
      };
      const auto found = std::ranges::find_if(part_.neighbours, is_it);
      return trade_arguments(static_cast<std::size_t>(found - part_.neighbours.begin()), first, stages);
    });
  }
  kernel_->set(arguments(first, stages));
  const std::uint32_t items = items_of(session_.device.info());
  queue_->enqueue(*kernel_, {std::size_t{groups_} * items, items});
  queue_->finish();
  if (port_ != nullptr) port_->finish();
  begun_ += groups_ * stages;
  received_ += ports_ * stages;
  std::uint64_t stuck = 0;
  std::memcpy(&stuck, stuck_->host_pointer(), sizeof stuck);
  if (stuck != 0) throw Error("a persistent kernel timed out waiting for other groups");
}

std::unique_ptr<Buffer> Persistent::filled(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(job_.type));
  store_scalars(values, job_.type, bytes);
  Placement own = session_.memory;
  own.shared = false;
  auto buffer = session_.device.allocate(bytes.size(), own);
  queue_->write(bytes.data(), whole(*buffer));
  return buffer;
}

KernelArgument Persistent::real(double value) const {
  if (job_.type == ScalarType::f64) return value;
  return static_cast<float>(value);
}

}  // namespace plumb::shallow_water
