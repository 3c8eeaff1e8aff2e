#include "benchmarks/hpcc/ptrans/transposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace plumb::ptrans {

namespace {

constexpr std::size_t region_alignment = 4096;  // bytes: alignment of parts, a multiple of any device's view_alignment
constexpr std::size_t guard = 256;              // after each part: must not be written
constexpr std::size_t chunk = std::size_t{16} << 20;  // bytes transferred to the device at a time

std::size_t region(std::size_t bytes) {
  return (bytes + guard + region_alignment - 1) / region_alignment * region_alignment;
}

std::size_t table_bytes(const Portion& part) {
  return region(4 * sizeof(std::uint64_t) * part.blocks.size());
}

}  // namespace

Extents extents_of(const std::vector<Portion>& parts, int rank, std::size_t number_bytes) {
  Extents extents;
  for (const Portion& part : parts) {
    const std::size_t bytes = part.items * number_bytes;
    extents.a += region(slide.source_room(bytes));
    extents.b += region(bytes);
    extents.c += region(slide.target_room(bytes));
    extents.table += table_bytes(part);
    if (part.partner == rank) continue;
    extents.received += region(slide.target_room(bytes));
    extents.sent += bytes;
  }
  return extents;
}

Transposition::Transposition(Session& session, const Distribution& distribution, const KernelForm& form,
                             const Course& course)
    : session_(session),
      problem_(distribution.problem()),
      form_(form),
      type_(form.type),
      course_(course),
      queue_(session.device.make_queue()) {
  const std::vector<Portion> parts = parts_of(distribution, session.world.rank(), course.stages);
  allocate(extents_of(parts, session.world.rank(), size_of(type_)));
  place(parts);
  write_b();
  write_table();
  build();
  compile();
}

void Transposition::allocate(const Extents& extents) {
  Placement own = session_.memory;
  own.shared = false;
  const auto make = [&](std::size_t bytes, const Placement& memory) {
    return session_.device.allocate(std::max(bytes, guard), memory);
  };
  a_ = make(extents.a, session_.memory);
  received_ = make(extents.received, session_.memory);
  b_ = make(extents.b, own);
  c_ = make(extents.c, own);
  table_ = make(extents.table, own);
}

void Transposition::place(const std::vector<Portion>& parts) {
  Extents next;
  for (const Portion& part : parts) {
    Placed& placed = parts_.emplace_back(Placed{
        LocalPortion(part, session_.world.rank()), next.a, next.b, next.c, next.received, next.table, nullptr, {}});
    const std::size_t bytes = placed.bytes(type_);
    next.a += region(slide.source_room(bytes));
    next.b += region(bytes);
    next.c += region(slide.target_room(bytes));
    next.table += table_bytes(part);
    if (placed.local.is_exchanged()) next.received += region(slide.target_room(bytes));
  }
}

void Transposition::write_b() {
  const Contents contents = this->contents(0);
  const std::size_t size = size_of(type_);
  for (const Placed& placed : parts_)
    for (std::size_t at = 0; at < placed.bytes(type_); at += chunk) {
      image_.resize(std::min(chunk, placed.bytes(type_) - at));
      fill_b(contents, placed.local, at / size, image_);
      queue_->write(image_.data(), {b_.get(), placed.b + at, image_.size()});
    }
}

void Transposition::write_table() {
  for (const Placed& placed : parts_) {
    std::vector<std::uint64_t> entries;
    for (std::size_t i = 0; i < placed.local.part.blocks.size(); ++i) {
      const Block& block = placed.local.part.blocks[i];
      entries.insert(entries.end(), {block.at, placed.local.images[i], block.rows, block.columns});
    }
    const auto bytes = std::as_bytes(std::span(entries));
    queue_->write(bytes.data(), {table_.get(), placed.table, bytes.size()});
  }
}

void Transposition::build() {
  program_ = session_.device.build(session_.source(form_.source()));
  const std::size_t size = size_of(type_);
  for (Placed& placed : parts_) {
    const std::uint64_t blocks = placed.local.part.blocks.size();
    const std::size_t entries = 4 * sizeof(std::uint64_t) * blocks;
    placed.kernel = program_->kernel("transpose");
    placed.kernel->set({placed.local.is_exchanged() ? received_.get() : a_.get(), b_.get(), c_.get(),
                        BufferView{table_.get(), placed.table, entries}, std::uint64_t{0},
                        static_cast<std::uint64_t>(placed.b / size), std::uint64_t{0},
                        form_.last_argument(blocks, problem_.block)});
    placed.range = form_.range(blocks, problem_.block);
  }
}

// A pair of ranks has a lane in each stage, in which each of them sends once.
Step Transposition::step_of(std::uint64_t stage) const {
  const int ranks = session_.world.size(), rank = session_.world.rank();
  Step step;
  for (const Placed& placed : parts_) {
    const Portion& part = placed.local.part;
    if (!placed.local.is_exchanged() || part.stage != stage) continue;
    const int lane = static_cast<int>(stage) * ranks + (rank + part.partner) % ranks;
    const std::size_t bytes = placed.bytes(type_);
    step.sends.push_back({part.partner, lane, {{a_.get(), placed.a, bytes}, 1, 0, slide.step()}});
    step.receives.push_back({part.partner, lane, {{received_.get(), placed.received, bytes}, 1, 0, 2 * slide.step()}});
  }
  return step;
}

void Transposition::compile() {
  for (std::uint64_t stage = 0; stage < course_.stages; ++stage) {
    const Step step = step_of(stage);
    exchanges_.push_back(session_.transport->compile(step.sends.empty() ? Exchange{} : Exchange{{step}}));
    exchanges_.back()->tell_legs(legs_);
  }
}

std::size_t Transposition::block_bytes() const {
  return problem_.block * problem_.block * size_of(type_);
}

Contents Transposition::contents(std::uint64_t repetition) const {
  return {problem_, type_, {session_.seed, 0, 0, 0, repetition}};
}

void Transposition::enqueue(Placed& placed, std::uint64_t later) {
  const std::size_t size = size_of(type_);
  const std::size_t from =
      placed.local.is_exchanged() ? placed.received + slide.target(later) : placed.a + slide.source(later);
  placed.kernel->set(4, static_cast<std::uint64_t>(from / size));
  placed.kernel->set(6, static_cast<std::uint64_t>((placed.c + slide.target(later)) / size));
  queue_->enqueue(*placed.kernel, placed.range);
}

// Parts exchanged in a stage; local parts wait for none.
void Transposition::enqueue_stage(std::uint64_t stage, std::uint64_t later) {
  for (Placed& placed : parts_)
    if (placed.local.is_exchanged() && placed.local.part.stage == stage) enqueue(placed, later);
}

void Transposition::operate(Timed& timed, std::uint64_t later) {
  const std::uint64_t round = Slide::most - 1 - later;
  {
    const Timed::Phase phase(timed, exchange_phase);
    for (const auto& exchange : exchanges_) exchange->start(round, 1);
    for (const auto& exchange : exchanges_) exchange->wait();
  }
  const Timed::Phase phase(timed, kernel_phase);
  for (Placed& placed : parts_) enqueue(placed, later);
  queue_->finish();
}

// The next stage is exchanged while this one's kernels run, the first one during the kernels of local parts.
void Transposition::operate_at_once(Timed& timed, std::uint64_t later) {
  const std::uint64_t round = Slide::most - 1 - later;
  timed.begin(exchange_phase);
  exchanges_.front()->start(round, 1);
  timed.begin(kernel_phase);
  for (Placed& placed : parts_)
    if (!placed.local.is_exchanged()) enqueue(placed, later);
  queue_->finished();  // submits them
  for (std::uint64_t stage = 0; stage < course_.stages; ++stage) {
    if (stage + 1 < course_.stages) exchanges_[stage + 1]->start(round, 1);
    exchanges_[stage]->wait();
    if (stage + 1 == course_.stages) timed.end(exchange_phase);
    enqueue_stage(stage, later);
    queue_->finished();
  }
  queue_->finish();
  timed.end(kernel_phase);
}

void Transposition::run(Timed& timed) {
  legs_.record_in(timed);
  for (std::uint64_t later = timed.count(); later-- > 0;)
    course_.overlaps ? operate_at_once(timed, later) : operate(timed, later);
}

void Transposition::poison(Buffer& buffer, std::size_t begin, std::size_t end) {
  image_.assign(std::min(chunk, end - begin), poison_byte);
  for (std::size_t at = begin; at < end; at += chunk)
    queue_->enqueue_write(image_.data(), {&buffer, at, std::min(chunk, end - at)});
  queue_->finish();
}

// Messages of `count` operations, a chunk at a time.
void Transposition::fill(const Placed& placed, const Contents& contents, std::uint64_t count) {
  const std::size_t size = size_of(type_);
  const Slide::Range range = slide.sources(placed.bytes(type_), count);
  for (std::size_t at = range.begin; at < range.begin + range.size; at += chunk) {
    image_.resize(std::min(chunk, range.begin + range.size - at));
    fill_a(contents, placed.local,
           static_cast<std::int64_t>(at / size) - static_cast<std::int64_t>(slide.source(0) / size), image_);
    queue_->write(image_.data(), {a_.get(), placed.a + at, image_.size()});
  }
}

void Transposition::reset(std::uint64_t repetition, std::uint64_t count) {
  const Contents contents = this->contents(repetition);
  for (const Placed& placed : parts_) {
    const std::size_t begin = slide.target(count - 1), end = slide.target_room(placed.bytes(type_));
    fill(placed, contents, count);
    poison(*c_, placed.c + begin, placed.c + end + guard);
    if (placed.local.is_exchanged()) poison(*received_, placed.received + begin, placed.received + end + guard);
  }
}

namespace {

void report(Validation& validation, const Finding& found, const std::string& what) {
  validation.wrong_items += found.wrong;
  validation.error = std::max(validation.error, found.error);
  if (found.wrong > 0 && validation.detail.empty())
    validation.detail = fmt::format("{}[{}][{}] is {:.17g}, should be {:.17g}; {} numbers are wrong there", what,
                                    found.row, found.column, found.is, found.should_be, found.wrong);
}

}  // namespace

// Remainders of all operations in a region of C, or of the received part, and bytes that must not be written. The last
// operation's messages are proven by C.
void Transposition::check_region(Buffer& buffer, std::size_t at, const Placed& placed, const Contents& contents,
                                 std::uint64_t count, bool is_c, Validation& validation) {
  const std::size_t bytes = placed.bytes(type_), begin = slide.target(count - 1);
  const std::size_t end = is_c ? slide.target_room(bytes) + guard : slide.target(0);
  if (end == begin) return;
  image_.resize(end - begin);
  queue_->read({&buffer, at + begin, image_.size()}, image_.data());
  const auto bytes_at = [&](std::size_t from, std::size_t size) {
    return std::span(image_).subspan(from - begin, size);
  };
  const auto left = [&](const Slide::Rest& rest) {
    if (rest.later == 0 && !is_c) return;
    const auto there = bytes_at(rest.begin, rest.size);
    validation.items_checked += rest.later == 0 ? placed.local.part.items : 1;
    const std::string which = fmt::format("{} of operation {} of {} for rank {}: ", is_c ? "C" : "what was received",
                                          count - rest.later, count, placed.local.part.partner);
    report(validation,
           rest.later == 0 ? check_c(contents, placed.local, there)
           : is_c          ? check_c_begin(contents, placed.local, rest.later, there)
                           : check_received_begin(contents, placed.local, rest.later, there),
           which + (is_c ? "C" : "A"));
  };
  const auto untouched = [&](std::size_t from, std::size_t size) {
    if (from >= end) return;
    Finding found;
    for (const std::byte value : bytes_at(from, std::min(size, end - from)))
      found.wrong += value != poison_byte ? 1 : 0;
    if (found.wrong > 0) found.error = std::numeric_limits<double>::infinity();
    report(validation, found, "bytes that no operation writes were written: ");
  };
  slide.each_run(bytes, count, end, left, untouched);
}

void Transposition::check(const Placed& placed, const Contents& contents, std::uint64_t count, Validation& validation) {
  check_region(*c_, placed.c, placed, contents, count, true, validation);
  if (placed.local.is_exchanged())
    check_region(*received_, placed.received, placed, contents, count, false, validation);
}

Validation Transposition::validate(std::uint64_t repetition, std::uint64_t count) {
  const Contents contents = this->contents(repetition);
  Validation validation;
  validation.reference = "every number of C from those of A and B by their global index; no sum rounds";
  for (const Placed& placed : parts_) check(placed, contents, count, validation);
  return validation;
}

}  // namespace plumb::ptrans
