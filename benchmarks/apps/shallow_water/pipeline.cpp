#include "benchmarks/apps/shallow_water/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/embedded.hpp"

namespace plumb::shallow_water {

namespace {

constexpr std::size_t most_links = 32;                            // bits of a mask
constexpr std::size_t board_links = 8;                            // of a bitstream
constexpr std::size_t most_streamed = 8, ahead = 64;              // as in single_work_item.cl
constexpr std::size_t given_of_edge = 11, given_of_element = 14;  // arguments
constexpr const char* folder = "benchmarks/apps/shallow_water";
constexpr const char* communicate = "communicate";

bool by_kernels(const Transport* transport) {
  return transport != nullptr && transport->info().scheduled_by == "device";
}

// Besides the build parameters'.
std::string fixed_options(std::size_t links, std::size_t most_sent) {
  return fmt::format("-DPIPELINE -DLANES=1 -DLINKS={} -DMOST_SENT={} -DPORT_SPACE=__local", links, most_sent);
}

// Of HLS C++: the channels between kernels.
std::vector<StreamLink> streams_of(std::size_t links, bool streamed) {
  std::vector<StreamLink> streams{{"edge.crossed", "element.crossed", ahead},
                                  {"element.renewed", "edge.renewed", ahead}};
  for (std::size_t link = 0; link < (streamed ? links : std::min<std::size_t>(links, 1)); ++link) {
    const std::string leaving = fmt::format(".leaving_{}", link), arriving = fmt::format(".arriving_{}", link);
    const std::string sends = streamed ? fmt::format("communicate_send_{}", link) : "collect";
    const std::string receives = streamed ? fmt::format("communicate_receive_{}", link) : "deliver";
    streams.push_back({"element" + leaving, sends + leaving, ahead});
    streams.push_back({receives + arriving, "edge" + arriving, ahead});
  }
  return streams;
}

}  // namespace

// Messages are the host's.
BoardKernels pipeline_kernels() {
  BoardKernels made{
      .source = fmt::format("{}/board_hls.cpp", folder),
      .options = fixed_options(board_links, 1) + " -DGIVEN=0",
      .includes = {fmt::format("{}/shallow_water.cl", folder), fmt::format("{}/single_work_item.cl", folder)}};
  using Arguments = std::vector<BoardKernels::Argument>;
  for (const auto& [name, arguments] :
       {std::pair{"edge", Arguments{{"neighbours"}, {"geometry"}, {"bed"}, {"roles"}, {"seas"}}},
        std::pair{"element", Arguments{{"state"}, {"geometry"}, {"roles"}, {"dry"}, {"shares"}}},
        std::pair{"collect", Arguments{{"outgoing"}, {"firsts"}}}, std::pair{"deliver", Arguments{{"incoming"}}}})
    made.kernels.push_back({.name = name, .numbered = fmt::format("{}_{{replication}}", name), .arguments = arguments});
  const auto numbered = [](std::string end) { return end.insert(end.find('.'), "_{replication}"); };
  for (const StreamLink& link : streams_of(1, false))
    made.streams.push_back({numbered(link.from), numbered(link.to), static_cast<int>(link.depth)});
  return made;
}

// Kernel `edge` has the most: two states with velocities and lowest heights, geometry, bed, neighbours and roles.
std::size_t local_bytes_of(const Job& job) {
  const std::size_t moving = job.components() + 2 * basis_of(job.order) + 1;
  return job.max_elements * ((2 * moving + 4 + 3) * size_of(job.type) + (3 + 1) * sizeof(std::int32_t));
}

std::string too_large(const Part& part, std::size_t rank, const Job& job) {
  if (part.index.size() > job.max_elements)
    return fmt::format(
        "rank {} has {} elements and {} of its neighbours, above --max-elements {}: use more ranks, a smaller mesh or "
        "--variant nd_range",
        rank, part.own, part.halo(), job.max_elements);
  if (part.neighbours.size() > most_links)
    return fmt::format("rank {} has {} neighbours, above the {} of --variant single_work_item", rank,
                       part.neighbours.size(), most_links);
  return "";
}

void check_pipeline(const Session& session, const Job& job, const std::vector<Part>& parts) {
  const Transport* transport = parts.size() > 1 ? session.transport : nullptr;
  const DeviceInfo& device = session.device.info();
  const bool on_board = device.runtime == "xrt";  // with a bitstream
  if (!device.has(Feature::channels) && device.runtime != "hls" && !on_board)
    throw Unsupported(
        "--variant single_work_item needs an FPGA with Intel's channels: plumb setup fpga-emulator, then --runtime "
        "fpga-emulator, or HLS C++ with --runtime hls");
  if (on_board && job.solution.source)
    throw Unsupported("kernels of a bitstream take no sources: case manufactured runs on emulators");
  const bool streamed = by_kernels(transport);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const Part& part = parts[rank];
    if (const std::string problem = too_large(part, rank, job); !problem.empty()) throw Unsupported(problem);
    if (const std::size_t most = streamed   ? most_streamed
                                 : on_board ? board_links
                                            : most_links;
        part.neighbours.size() > most)
      throw Unsupported(fmt::format("rank {} has {} neighbours, above the {} of --variant single_work_item{}", rank,
                                    part.neighbours.size(), most,
                                    streamed ? " over transport " + transport->info().name : ""));
  }
  if (const std::size_t needed = local_bytes_of(job); device.local_bytes < needed && !on_board)
    throw Unsupported(
        fmt::format("--max-elements {} needs {} bytes of local memory, but {} has {}; the FPGA emulator has more with "
                    "CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE=32MB",
                    job.max_elements, needed, device.name, device.local_bytes));
  if (streamed && dynamic_cast<const KernelJoiner*>(transport) == nullptr)
    throw Unsupported(
        fmt::format("kernels of transport {} cannot be joined to those of --variant single_work_item by channels: use "
                    "--transport channel, or an approach that the host schedules",
                    transport->info().name));
}

Pipeline::Pipeline(Session& session, Transport* transport, const Job& job, const Part& part, const Memory& memory)
    : job_(job), session_(session) {
  element_queue_ = session.device.make_queue();
  edge_queue_ = session.device.make_queue();
  build(session, transport, part, memory);
  set_up(part, memory);
}

KernelSource Pipeline::source(Session& session, const Part& part) const {
  const std::string file = fmt::format("{}/single_work_item.cl", folder);
  std::size_t most = 1, exact = 0;
  for (const auto& three : part.places)
    exact += static_cast<std::size_t>(std::ranges::count_if(three, [](auto place) { return place <= first_exact; }));
  for (const Neighbour& near : part.neighbours) most = std::max({most, near.sends.size(), std::size_t{near.receives}});
  KernelSource source{file, embedded_text(file)};
  source.options =
      fmt::format("{} -DREAL={} -DORDER={} -DFRICTION={} -DGIVEN={} -DEXACT={} -DMAX_ELEMENTS={}",
                  fixed_options(part.neighbours.size(), most), to_string(job_.type), job_.order,
                  static_cast<int>(job_.physics.friction_kind), job_.solution.source ? 1 : 0, exact, job_.max_elements);
  source.hls = source.opencl;
  source = session.source(source);
  if (!source.binary.empty() && session.device.info().runtime != "xrt")
    throw Unsupported("--variant single_work_item has bitstreams for runtime xrt alone");
  return source;
}

// A lane is a pair of neighbours, numbered so that lanes are in the order of the neighbours.
void Pipeline::build(Session& session, Transport* transport, const Part& part, const Memory& memory) {
  KernelSource all = source(session, part);
  const bool in_hls = session.device.info().runtime == "hls";
  const std::string beside =
      embedded_text(fmt::format("{}/shallow_water.cl", folder)) + (in_hls ? all.hls : all.opencl);
  all.streams = streams_of(part.neighbours.size(), by_kernels(transport));
  if (!by_kernels(transport)) {
    if (all.binary.empty()) all.opencl = all.hls = beside;
    program_ = session.device.build(all);
    return;
  }
  all.options += " -DSTREAMED";
  Exchange exchange;
  exchange.steps.emplace_back();
  const int own = session.world.rank(), ranks = session.world.size();
  const std::size_t bytes = job_.components() * size_of(job_.type);
  std::size_t at = 0;
  for (const Neighbour& near : part.neighbours) {
    const int lane = std::min(own, near.rank) * ranks + std::max(own, near.rank);
    exchange.steps[0].sends.push_back({near.rank, lane, {{memory.outgoing, at * bytes, near.sends.size() * bytes}}});
    exchange.steps[0].receives.push_back(
        {near.rank, lane, {{memory.incoming, near.first_received * bytes, near.receives * bytes}}});
    at += near.sends.size();
  }
  port_ = dynamic_cast<KernelJoiner&>(*transport).open_port_beside(beside, exchange, all, communicate);
}

void Pipeline::set_up(const Part& part, const Memory& memory) {
  Program& program = port_ != nullptr ? port_->program() : *program_;
  std::vector<std::int32_t> roles(part.index.size(), 0), firsts;
  std::int32_t at = 0;
  for (std::size_t link = 0; link < part.neighbours.size(); ++link) {
    const Neighbour& near = part.neighbours[link];
    for (const std::uint32_t element : near.sends) roles[element] |= static_cast<std::int32_t>(1U << link);
    std::fill_n(roles.begin() + part.own + near.first_received, near.receives, static_cast<std::int32_t>(link));
    firsts.push_back(at);
    at += static_cast<std::int32_t>(near.sends.size());
  }
  roles_ = filled(roles.size() * sizeof roles[0], roles.data());
  std::vector<double> shares;
  for (const Stage& stage : stages_of(job_.order)) shares.insert(shares.end(), {stage.base_share, stage.share});
  shares_ = reals(shares);
  const Physics& physics = job_.physics;
  const std::uint32_t none = 0, early = job_.overlaps ? part.core : 0;
  edge_ = program.kernel("edge");
  element_ = program.kernel("element");
  std::vector<KernelArgument> of_edge{
      memory.neighbours, memory.geometry, memory.bed,    roles_.get(), shares_.get(),        early,
      part.own,          part.halo(),     memory.stride, none,         real(physics.gravity)};
  std::vector<KernelArgument> of_element{memory.state,           memory.geometry,
                                         roles_.get(),           memory.dry,
                                         shares_.get(),          part.own,
                                         memory.stride,          none,
                                         std::int32_t{0},        real(job_.time_step),
                                         real(physics.gravity),  real(physics.coriolis),
                                         real(physics.friction), real(physics.minimum_depth)};
  if (job_.solution.source)
    for (auto* arguments : {&of_edge, &of_element}) arguments->insert(arguments->end(), {shares_.get(), none});
  edge_->set(of_edge);
  element_->set(of_element);
  if (part.neighbours.empty() || is_streamed()) return;
  firsts.resize(std::max(firsts.size(), board_links));  // a bitstream's kernel reads all
  firsts_ = filled(firsts.size() * sizeof firsts[0], firsts.data());
  collect_ = program.kernel("collect");
  collect_->set({memory.outgoing, firsts_.get(), part.own - part.core});
  deliver_ = program.kernel("deliver");
  deliver_->set({memory.incoming, part.halo()});
}

void Pipeline::start(std::uint64_t first, const std::vector<double>& seas, const std::vector<double>& given) {
  const auto stages = static_cast<std::uint32_t>(seas.size());
  if (!given.empty()) {
    given_ = reals(given);
    edge_->set(given_of_edge, given_.get());
    edge_->set(given_of_edge + 1, static_cast<std::uint32_t>(given.size() / seas.size()));
    element_->set(given_of_element, given_.get());
    element_->set(given_of_element + 1, static_cast<std::uint32_t>(given.size() / seas.size()));
  }
  seas_ = reals(seas);
  edge_->set(4, seas_.get());
  edge_->set(9, stages);
  element_->set(7, stages);
  element_->set(8, static_cast<std::int32_t>(first + 1));
  edge_queue_->enqueue(*edge_, {1, 1});
  edge_queue_->finished();  // submits it
  element_queue_->enqueue(*element_, {1, 1});
  element_queue_->finished();
  if (port_ != nullptr) port_->start(0, 1, [&](int) { return std::vector<KernelArgument>{stages}; });
}

void Pipeline::deliver(Queue& queue) {
  queue.enqueue(*deliver_, {1, 1});
  queue.finished();  // submits it
}

void Pipeline::finish() {
  element_queue_->finish();
  edge_queue_->finish();
  if (port_ != nullptr) port_->finish();
}

KernelArgument Pipeline::real(double value) const {
  if (job_.type == ScalarType::f64) return value;
  return static_cast<float>(value);
}

std::unique_ptr<Buffer> Pipeline::filled(std::size_t bytes, const void* from) {
  Placement own = session_.memory;
  own.shared = false;
  auto buffer = session_.device.allocate(bytes, own);
  element_queue_->write(static_cast<const std::byte*>(from), whole(*buffer));
  return buffer;
}

std::unique_ptr<Buffer> Pipeline::reals(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(job_.type));
  store_scalars(values, job_.type, bytes);
  return filled(bytes.size(), bytes.data());
}

}  // namespace plumb::shallow_water
