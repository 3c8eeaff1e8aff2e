#include "benchmarks/apps/shallow_water/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/apps/shallow_water/native.hpp"
#include "benchmarks/apps/shallow_water/persistent.hpp"
#include "benchmarks/apps/shallow_water/pipeline.hpp"
#include "core/data.hpp"
#include "core/embedded.hpp"
#include "device/host_simd.hpp"

namespace plumb::shallow_water {

namespace {

constexpr std::uint32_t most_lanes = 16;         // a launch may read that far past its last element
constexpr std::uint64_t steps_of_run = 1 << 20;  // of kernels for many steps: levels of the sea are made for so many
constexpr std::size_t most_given = 1 << 22;      // values handed to it at once
constexpr std::size_t exact_values = 3;          // of a point of an exact edge: EDGE_VALUES

std::uint32_t stride_of(std::size_t elements) {
  return static_cast<std::uint32_t>((elements + most_lanes - 1) / most_lanes * most_lanes + most_lanes);
}

// A part that is empty still needs buffers.
std::size_t bytes_for(std::size_t count, std::size_t size) {
  return std::max<std::size_t>(count, 1) * size;
}

}  // namespace

std::size_t device_bytes_of(const Job& job, std::size_t own, std::size_t halo, std::size_t sent) {
  const std::size_t real = size_of(job.type), states = job.order == 2 ? 3 : 2;
  const std::size_t of_element = (states * job.values() + 7 + (job.solution.source ? job.components() : 0)) * real + 16;
  return stride_of(own + halo) * of_element + (halo + sent) * job.components() * real + 4 * sent + 4096;
}

Solver::Solver(Session& session, Transport* transport, const Mesh& mesh, const Job& job, Part part)
    : mesh_(mesh), job_(job), part_(std::move(part)), is_given_(static_cast<bool>(job.solution.source)) {
  stride_ = stride_of(part_.index.size());
  sent_ = part_.sent();
  queue_ = session.device.make_queue();
  Placement own = session.memory;
  own.shared = false;
  const std::size_t real = size_of(job.type), components = job.components();
  for (int i = 0; i < (job.in_pipeline ? 1 : job.order == 2 ? 3 : 2); ++i)
    states_.push_back(session.device.allocate(stride_ * job.values() * real, own));
  neighbours_ = session.device.allocate(std::size_t{3} * stride_ * sizeof(std::int32_t), own);
  geometry_ = session.device.allocate(std::size_t{4} * stride_ * real, own);
  bed_ = session.device.allocate(std::size_t{3} * stride_ * real, own);
  dry_ = session.device.allocate(stride_ * sizeof(std::int32_t), own);
  list_ = session.device.allocate(bytes_for(sent_, sizeof(std::int32_t)), own);
  const std::size_t edge_values = part_.external() * rule_of(job.order).edge.size() * exact_values;
  given_ = session.device.allocate(is_given_ ? (components * stride_ + edge_values) * real : real, own);
  // A persistent kernel's messages have two places each, and a pair's are of one length.
  const std::size_t messages = job.is_persistent ? Persistent::message_bytes(job, part_) : 0;
  outgoing_ = session.device.allocate(std::max(messages, bytes_for(sent_ * components, real)), session.memory);
  incoming_ = session.device.allocate(
      std::max(Persistent::places * messages, bytes_for(part_.halo() * components, real)), session.memory);
  write_mesh(mesh);
  if (job.in_pipeline)
    pipeline_ =
        std::make_unique<Pipeline>(session, transport, job_, part_,
                                   Pipeline::Memory{states_[0].get(), neighbours_.get(), geometry_.get(), bed_.get(),
                                                    dry_.get(), outgoing_.get(), incoming_.get(), stride_});
  else
    build(session, transport);
  if (transport == nullptr || is_streamed()) return;
  compile(*transport, session.world);
  // Queues whose kernels unmap and map memory of the host again cannot share it.
  if (job_.border_apart && job_.overlaps && !pipeline_ && states_[0]->host_pointer() == nullptr)
    border_ = session.device.make_urgent_queue();
}

Solver::~Solver() = default;

bool Solver::is_streamed() const {
  return (pipeline_ && pipeline_->is_streamed()) || (persistent_ && persistent_->is_streamed());
}

template <class T>
void Solver::write(const std::vector<T>& values, Buffer& buffer) {
  queue_->write(reinterpret_cast<const std::byte*>(values.data()), {&buffer, 0, values.size() * sizeof(T)});
}

void Solver::write_reals(const std::vector<double>& values, Buffer& buffer) {
  if (job_.type == ScalarType::f64) return write(values, buffer);
  write(std::vector<float>(values.begin(), values.end()), buffer);
}

KernelArgument Solver::real(double value) const {
  if (job_.type == ScalarType::f64) return value;
  return static_cast<float>(value);
}

// Of an element with its number in the part: the mean, and the derivatives by r and s.
std::array<double, 3> Solver::bed_of(std::uint32_t number) const {
  const std::uint32_t e = part_.index[number];
  const double h0 = mesh_.depth(e, 0), h1 = mesh_.depth(e, 1), h2 = mesh_.depth(e, 2);
  return {(h0 + h1 + h2) / 3, h1 - h0, h2 - h0};
}

// As shallow_water.cl describes: neighbours, gradients of r and s, and the bed.
void Solver::write_mesh(const Mesh& mesh) {
  std::vector<std::int32_t> neighbours(3 * stride_, land), list;
  std::vector<double> geometry(4 * stride_, 0.0), bed(3 * stride_, 1.0);
  std::int32_t exact = first_exact;
  for (std::uint32_t i = 0; i < part_.index.size(); ++i) {
    const std::uint32_t e = part_.index[i];
    const Point a = mesh.corner(e, 0), b = mesh.corner(e, 1), c = mesh.corner(e, 2);
    const double twice = 2 * mesh.area(e);
    const double slopes[] = {(c.y - a.y) / twice, (a.x - c.x) / twice, (a.y - b.y) / twice, (b.x - a.x) / twice};
    const std::array<double, 3> depths = bed_of(i);
    for (std::size_t k = 0; k < 4; ++k) geometry[job_.place(k, i, stride_)] = slopes[k];
    for (std::size_t k = 0; k < 3; ++k) {
      bed[k * stride_ + i] = depths[k];
      if (i >= part_.own) continue;
      // Exact edges are numbered within the part: their values follow one another.
      std::int32_t& place = part_.places[i][k];
      if (place <= first_exact) place = exact--;
      neighbours[k * stride_ + i] = place;
    }
  }
  for (const Neighbour& near : part_.neighbours) list.insert(list.end(), near.sends.begin(), near.sends.end());
  write(neighbours, *neighbours_);
  write_reals(geometry, *geometry_);
  write_reals(bed, *bed_);
  if (!list.empty()) write(list, *list_);
}

void Solver::build(Session& session, Transport* transport) {
  const std::string file = "benchmarks/apps/shallow_water/shallow_water.cl";
  const int friction = static_cast<int>(job_.physics.friction_kind);
  KernelSource source{file, embedded_text(file)};
  const bool is_single = job_.type == ScalarType::f32;
  const std::string& type = session.device.info().type;
  // Vectors wider than the processor's would need more registers than it has.
  if (type == "cpu")
    lanes_ = static_cast<std::uint32_t>(std::max<std::size_t>(32, host_vector_bytes()) / size_of(job_.type));
  const std::string options =
      fmt::format("-DREAL={} -DORDER={} -DFRICTION={} -DGIVEN={} -DLANES={} -DMASK={} -DFOURS={}{}",
                  to_string(job_.type), job_.order, friction, is_given_ ? 1 : 0, lanes_, is_single ? "int" : "long",
                  job_.is_together ? 1 : 0, type == "gpu" ? " -cl-denorms-are-zero" : "");
  if (job_.is_persistent) {
    Persistent::Memory memory{{},          neighbours_.get(), geometry_.get(), bed_.get(), dry_.get(),
                              list_.get(), outgoing_.get(),   incoming_.get(), stride_,    lanes_};
    for (const auto& state : states_) memory.states.push_back(state.get());
    persistent_ = std::make_unique<Persistent>(session, transport, job_, part_, memory, options);
    return;
  }
  // Larger groups share their neighbours in a cache; an H200 with p = 0 is 1.05 times as fast by them.
  if (type == "gpu" && job_.order == 0) group_items_ = 256;
  source.options = options + fmt::format(" -DGROUP={}", group_items_);
  source.native = native_kernels(job_.type, job_.order, friction, is_given_);
  program_ = session.device.build(session.source(source));
  stage_ = program_->kernel("stage");
  pack_ = program_->kernel("pack");
  unpack_ = program_->kernel("unpack");
  const Physics& physics = job_.physics;
  const Buffer* any = states_[0].get();
  stage_->set({any,
               any,
               any,
               neighbours_.get(),
               geometry_.get(),
               bed_.get(),
               given_.get(),
               dry_.get(),
               std::uint32_t{0},
               std::uint32_t{0},
               stride_,
               std::int32_t{0},
               real(0),
               real(1),
               real(job_.time_step),
               real(0),
               real(physics.gravity),
               real(physics.coriolis),
               real(physics.friction),
               real(physics.minimum_depth)});
  pack_->set({any, list_.get(), outgoing_.get(), sent_, stride_});
  unpack_->set({incoming_.get(), any, part_.own, part_.halo(), stride_});
}

// One message to and from each neighbour a stage. A lane is the distance of the ranks: each has one send and one
// receive a rank at most, as transports whose kernels send need it.
void Solver::compile(Transport& transport, const World& world) {
  const auto lane = [&](int from, int to) { return (to - from + world.size()) % world.size(); };
  Exchange exchange;
  exchange.steps.emplace_back();
  const std::size_t bytes = element_bytes();
  std::size_t at = 0;
  for (const Neighbour& near : part_.neighbours) {
    exchange.steps[0].sends.push_back(
        {near.rank, lane(world.rank(), near.rank), {{outgoing_.get(), at * bytes, near.sends.size() * bytes}}});
    exchange.steps[0].receives.push_back({near.rank,
                                          lane(near.rank, world.rank()),
                                          {{incoming_.get(), near.first_received * bytes, near.receives * bytes}}});
    at += near.sends.size();
  }
  exchange_ = transport.compile(exchange);
}

void Solver::put(double value, std::vector<std::byte>& image, std::size_t place) const {
  const auto single = static_cast<float>(value);
  if (job_.type == ScalarType::f64)
    std::memcpy(&image[place * sizeof value], &value, sizeof value);
  else
    std::memcpy(&image[place * sizeof single], &single, sizeof single);
}

void Solver::reset(const Coefficients& start) {
  const std::size_t components = job_.components();
  for (const auto& buffer : states_) {
    std::vector<std::byte> image(buffer->size(), poison_byte);
    for (std::uint32_t i = 0; job_.is_together && i < part_.index.size(); ++i)
      for (std::size_t k = 0; k < std::min<std::size_t>(3, job_.values() - components); ++k)
        put(bed_of(i)[k], image, job_.place(components + k, i, stride_));
    for (std::uint32_t i = 0; buffer == states_[0] && i < part_.own; ++i)
      for (std::size_t c = 0; c < components; ++c)
        put(start[part_.index[i] * components + c], image, job_.place(c, i, stride_));
    queue_->write(image.data(), whole(*buffer));
    if (buffer != states_.back()) continue;
    std::vector<std::byte> held(image.size());
    queue_->read(whole(*buffer), held.data());
    was_poisoned_ = held == image;
  }
  for (Buffer* buffer : {outgoing_.get(), incoming_.get()}) {
    const std::vector<std::byte> poison(buffer->size(), poison_byte);
    queue_->write(poison.data(), whole(*buffer));
  }
  write(std::vector<std::int32_t>(stride_, 0), *dry_);
}

void Solver::enqueue(Queue& queue, Kernel& kernel, std::size_t items) {
  if (items == 0) return;
  queue.enqueue(kernel, {(items + group_items_ - 1) / group_items_ * group_items_, group_items_});
}

void Solver::launch(Queue& queue, std::uint32_t first, std::uint32_t count) {
  stage_->set(8, first);
  stage_->set(9, count);
  enqueue(queue, *stage_, (count + lanes_ - 1) / lanes_);
}

// Sources and exact edges at time t.
std::vector<double> Solver::given_at(double t) const {
  const std::size_t components = job_.components(), basis = basis_of(job_.order);
  std::vector<double> values(components * stride_, 0.0), one(components);
  for (std::uint32_t i = 0; i < part_.own; ++i) {
    project_on(
        mesh_, part_.index[i], job_.order, [&](Point p) { return job_.solution.source(p, t); }, one.data());
    for (std::size_t c = 0; c < fields * basis; ++c) values[c * stride_ + i] = one[c];
  }
  for (std::uint32_t i = 0; i < part_.own; ++i)
    for (int k = 0; k < 3; ++k) {
      if (part_.places[i][static_cast<std::size_t>(k)] > first_exact) continue;
      for (const auto& node : rule_of(job_.order).edge) {
        const auto [r, s] = on_edge(k, node.r);
        const Fields exact = job_.solution.state(mesh_.at(part_.index[i], r, s), t);
        values.insert(values.end(), exact.begin(), exact.end());
      }
    }
  return values;
}

// Core and border of a stage need both of the stage before, and write where that one read. Where the border has a queue
// of its own, the exchange and what follows it run beside the core. The host waits for transports whose work it does
// itself, and for the end of the exchange before.
void Solver::one_stage(std::uint64_t step, std::size_t index, Timed* timed) {
  const Stage& stage = stages_of(job_.order)[index];
  const std::size_t last = stages_of(job_.order).size() - 1;
  const double t = (static_cast<double>(step) + stage.at) * job_.time_step;
  const std::size_t base = job_.order == 0 ? step % 2 : 0, from = job_.order == 0 ? base : index;
  const std::size_t to = job_.order == 0 ? 1 - base : index == last ? 0 : index + 1;
  if (is_given_) {
    border().finish();
    write_reals(given_at(t), *given_);
  }
  stage_->set(0, states_[from].get());
  stage_->set(1, states_[base].get());
  stage_->set(2, states_[to].get());
  stage_->set(11, static_cast<std::int32_t>(step + 1));
  stage_->set(12, real(stage.base_share));
  stage_->set(13, real(stage.share));
  stage_->set(15, real(sea_level(t)));
  if (!exchange_) return launch(*queue_, 0, part_.own);
  finish_exchange(timed);
  if (border_) {
    follow_border();
    follow_core();
  }
  pack_->set(0, states_[from].get());
  enqueue(border(), *pack_, sent_ * job_.components());
  exchange_begin();
  const std::uint32_t first = job_.overlaps ? part_.core : 0;
  launch(*queue_, 0, first);
  queue_->finished();  // submits
  await_messages(timed);
  unpack_->set(1, states_[from].get());
  enqueue(border(), *unpack_, part_.halo() * job_.components());
  launch(border(), first, part_.own - first);
}

// What follows in the border's queue has the halo.
void Solver::await_messages(Timed* timed) {
  std::optional<Timed::Phase> phase;
  if (timed != nullptr) phase.emplace(*timed, wait_phase);
  exchange_end();
}

void Solver::finish_exchange(Timed* timed) {
  std::optional<Timed::Phase> phase;
  if (timed != nullptr) phase.emplace(*timed, wait_phase);
  exchange_->wait();
}

// In the form for FPGAs, whose kernels are handed what is given in all stages of a run.
std::uint64_t Solver::steps_at_once() const {
  const std::size_t of_step = given_->size() / size_of(job_.type) * stages_of(job_.order).size();
  return is_given_ ? std::max<std::uint64_t>(1, most_given / of_step) : steps_of_run;
}

void Solver::pipe(std::uint64_t first, std::uint64_t last, Timed* timed) {
  std::vector<double> seas, given;
  for (std::uint64_t step = first; step < last; ++step)
    for (const Stage& stage : stages_of(job_.order)) {
      const double t = (static_cast<double>(step) + stage.at) * job_.time_step;
      seas.push_back(sea_level(t));
      if (!is_given_) continue;
      const std::vector<double> now = given_at(t);
      given.insert(given.end(), now.begin(), now.end());
    }
  pipeline_->start(first, seas, given);
  for (std::size_t i = 0; exchange_ && i < seas.size(); ++i) {
    if (sent_ > 0) pipeline_->collect(*queue_);
    exchange_begin();
    await_messages(timed);
    finish_exchange(timed);
    if (part_.halo() > 0) pipeline_->deliver(*queue_);
  }
  pipeline_->finish();
}

void Solver::persist(std::uint64_t first, std::uint64_t last) {
  std::vector<double> levels;
  for (std::uint64_t step = first; step < last; ++step)
    for (const Stage& stage : stages_of(job_.order))
      levels.push_back(sea_level((static_cast<double>(step) + stage.at) * job_.time_step));
  persistent_->run(first, levels);
}

void Solver::advance(std::uint64_t first, std::uint64_t last, Timed* timed) {
  if (persistent_) {
    for (; first < last; first = std::min(last, first + steps_of_run))
      persist(first, std::min(last, first + steps_of_run));
    return;
  }
  if (pipeline_) {
    for (const std::uint64_t most = steps_at_once(); first < last; first = std::min(last, first + most))
      pipe(first, std::min(last, first + most), timed);
    return queue_->finish();
  }
  for (std::uint64_t step = first; step < last; ++step)
    for (std::size_t index = 0; index < stages_of(job_.order).size(); ++index)
      if (!skips(step, index)) one_stage(step, index, timed);
  if (exchange_) finish_exchange(timed);
  border().finish();
  queue_->finish();
}

std::vector<std::byte> Solver::bytes(std::uint64_t steps) {
  Buffer& buffer = *states_[final_state(steps)];
  std::vector<std::byte> image(buffer.size());
  queue_->read(whole(buffer), image.data());
  const std::size_t size = size_of(job_.type), components = job_.components();
  std::vector<std::byte> own(part_.own * components * size);
  for (std::size_t i = 0; i < part_.own; ++i)
    for (std::size_t c = 0; c < components; ++c)
      std::memcpy(&own[(i * components + c) * size], &image[job_.place(c, i, stride_) * size], size);
  return own;
}

Coefficients Solver::element(std::uint32_t number, std::uint64_t steps) {
  const std::size_t size = size_of(job_.type), components = job_.components();
  std::vector<std::byte> bytes(components * size);
  for (std::size_t c = 0; c < components; ++c)
    queue_->read({states_[final_state(steps)].get(), job_.place(c, number, stride_) * size, size}, &bytes[c * size]);
  return as_doubles(bytes);
}

Coefficients Solver::as_doubles(const std::vector<std::byte>& bytes) const {
  Coefficients values(bytes.size() / size_of(job_.type));
  if (job_.type == ScalarType::f32)
    std::copy_n(reinterpret_cast<const float*>(bytes.data()), values.size(), values.begin());
  else
    std::copy_n(reinterpret_cast<const double*>(bytes.data()), values.size(), values.begin());
  return values;
}

Located<std::int64_t> Solver::first_dry() {
  std::vector<std::int32_t> steps(stride_);
  queue_->read(whole(*dry_), reinterpret_cast<std::byte*>(steps.data()));
  Located<std::int64_t> first{INT64_MAX, INT64_MAX};
  for (std::uint32_t i = 0; i < part_.own; ++i)
    if (steps[i] > 0)
      first = std::min(first, {steps[i], part_.index[i]},
                       [](auto a, auto b) { return std::pair(a.value, a.place) < std::pair(b.value, b.place); });
  return first;
}

}  // namespace plumb::shallow_water
