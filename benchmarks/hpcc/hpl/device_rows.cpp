#include "benchmarks/hpcc/hpl/device_rows.hpp"

namespace plumb::hpl {

DeviceRows::DeviceRows(Session& session, const Layout& layout, Kernels& kernels, std::size_t element_bytes,
                       Team& column, const Placement& own)
    : layout_(layout), kernels_(kernels), element_bytes_(element_bytes) {
  const std::size_t parts = layout.rows.parts, most_rows = 2 * layout.block;
  list_ = session.device.allocate(2 * (2 * parts + 2) * most_rows * sizeof(std::uint32_t), own);
  if (parts == 1) return;
  plumb::Step step;
  for (std::size_t place = 0; place < parts; ++place) {
    if (place == layout.rows.own) continue;
    Peer peer{place, nullptr, nullptr, {}, {}, {}};
    for (auto* buffer : {&peer.sent, &peer.received})
      *buffer = session.device.allocate(most_rows * layout.columns.count() * element_bytes, session.memory);
    step.sends.push_back({static_cast<int>(place), rows_lane, {whole(*peer.sent)}});
    step.receives.push_back({static_cast<int>(place), rows_lane, {whole(*peer.received)}});
    peers_.push_back(std::move(peer));
  }
  exchange_ = session.transport->compile(Exchange{{step}}, column);
}

std::vector<Buffer*> DeviceRows::buffers() {
  std::vector<Buffer*> all;
  for (Peer& peer : peers_) all.insert(all.end(), {peer.sent.get(), peer.received.get()});
  return all;
}

// rows(take) calls take(from, to) for each pair.
template <class Rows>
DeviceRows::Run DeviceRows::add(const Rows& rows) {
  const std::size_t first = pairs_.size() / 2;
  rows([&](std::size_t from, std::size_t to) {
    pairs_.push_back(static_cast<std::uint32_t>(from));
    pairs_.push_back(static_cast<std::uint32_t>(to));
  });
  return {first, pairs_.size() / 2 - first};
}

// Each rank sends its rows of the block to all others; the block's owner sends the rows that leave the block
// to their new ranks.
void DeviceRows::list_pairs(const Step& step, const Interchange& moves) {
  pairs_.clear();
  const Dealt& rows = layout_.rows;
  // The block's rows on `owner`, in its order.
  const auto top_of = [&](std::size_t owner, const auto& take) {
    for (std::size_t i = 0; i < step.width; ++i)
      if (rows.owner(moves.top[i]) == owner) take(rows.below(moves.top[i]), i);
  };
  const auto displaced_to = [&](std::size_t owner, const auto& take) {
    for (const auto& move : moves.displaced)
      if (rows.owner(move.to) == owner) take(rows.below(move.from), rows.below(move.to));
  };
  own_top_ = add([&](const auto& take) { top_of(rows.own, take); });
  own_displaced_ = add([&](const auto& take) {
    if (step.in_row) displaced_to(rows.own, take);
  });
  for (Peer& peer : peers_) {
    std::size_t at = 0;
    peer.packed = add([&](const auto& take) {
      top_of(rows.own, [&](std::size_t from, std::size_t) { take(from, at++); });
      if (step.in_row) displaced_to(peer.place, [&](std::size_t from, std::size_t) { take(from, at++); });
    });
    at = 0;
    peer.to_top =
        add([&](const auto& take) { top_of(peer.place, [&](std::size_t, std::size_t to) { take(at++, to); }); });
    peer.to_matrix = add([&](const auto& take) {
      if (peer.place == step.owner_row) displaced_to(rows.own, [&](std::size_t, std::size_t to) { take(at++, to); });
    });
  }
}

void DeviceRows::copy(Queue& queue, const Run& run, const MatrixPart& from, const MatrixPart& to, std::size_t columns) {
  const std::size_t strips = kernels_.strips_of(columns);
  kernels_.start(queue, "copy_rows",
                 {from.buffer, std::uint64_t{from.offset}, std::uint64_t{from.pitch}, to.buffer,
                  std::uint64_t{to.offset}, std::uint64_t{to.pitch}, list_.get(), static_cast<std::uint32_t>(run.first),
                  std::uint64_t{columns}, static_cast<std::uint32_t>(strips)},
                 run.count * strips);
}

void DeviceRows::exchange(Queue& queue, const Step& step, const Interchange& moves, Columns columns,
                          const MatrixPart& matrix, const MatrixPart& top) {
  const std::size_t count = columns.count();
  queue.finish();  // completes the latest call's use of the list
  list_pairs(step, moves);
  if (count == 0 || pairs_.empty()) return;
  queue.enqueue_write(reinterpret_cast<const std::byte*>(pairs_.data()),
                      {list_.get(), 0, pairs_.size() * sizeof(std::uint32_t)});
  const MatrixPart part{matrix.buffer, matrix.offset + columns.begin, matrix.pitch};
  for (Peer& peer : peers_) copy(queue, peer.packed, part, {peer.sent.get(), 0, count}, count);
  copy(queue, own_top_, part, top, count);
  copy(queue, own_displaced_, part, part, count);
  if (peers_.empty()) return;
  send(queue, count);
  for (Peer& peer : peers_) {
    copy(queue, peer.to_top, {peer.received.get(), 0, count}, top, count);
    copy(queue, peer.to_matrix, {peer.received.get(), 0, count}, part, count);
  }
}

void DeviceRows::send(Queue& queue, std::size_t columns) {
  StepSizes sizes;
  const std::size_t row_bytes = columns * element_bytes_;
  for (const Peer& peer : peers_) {
    sizes.sends.push_back(peer.packed.count * row_bytes);
    sizes.receives.push_back((peer.to_top.count + peer.to_matrix.count) * row_bytes);
  }
  queue.finish();
  exchange_->set_sizes({sizes});
  exchange_->run(0, 1);
}

}  // namespace plumb::hpl
