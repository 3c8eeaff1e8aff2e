#include "benchmarks/hpcc/hpl/broadcast.hpp"

#include <algorithm>

namespace plumb::hpl {

namespace {

constexpr std::size_t smallest_piece = std::size_t{1} << 12, largest_piece = std::size_t{1} << 20;

Exchange exchange_of(const Links& links, const BufferView& buffer, std::size_t piece, int lane) {
  Slots slots{{buffer.buffer, buffer.offset, piece}};
  slots.stride = piece;
  Exchange exchange;
  if (links.from >= 0) exchange.steps.push_back({{}, {{links.from, lane, slots}}});
  Step sends;
  for (const int to : links.to) sends.sends.push_back({to, lane, slots});
  if (!links.to.empty()) exchange.steps.push_back(sends);
  return exchange;
}

}  // namespace

Links links(Way way, int place, int root, int length) {
  const int distance = (place - root + length) % length;
  const auto at = [&](int away) { return (root + away) % length; };
  Links links;
  if (way == Way::ring) {
    if (distance > 0) links.from = at(distance - 1);
    if (distance + 1 < length) links.to.push_back(at(distance + 1));
    return links;
  }
  if (way == Way::torus) {
    const int right = length / 2;  // ranks reached in this direction
    if (distance > 0) links.from = at(distance <= right ? distance - 1 : distance + 1);
    if (distance < right) links.to.push_back(at(distance + 1));
    if (distance == 0 && length > right + 1) links.to.push_back(at(length - 1));
    if (distance > right + 1) links.to.push_back(at(distance - 1));
    return links;
  }
  // Binomial tree: with 2^k the lowest set bit of a distance, its panel comes from the rank 2^k nearer to the root.
  int bit = 1;
  while (bit < length && (distance & bit) == 0) bit *= 2;
  if (distance > 0) links.from = at(distance - bit);
  for (int further = bit / 2; further >= 1; further /= 2)
    if (distance + further < length) links.to.push_back(at(distance + further));
  return links;
}

PanelBroadcast::PanelBroadcast(Transport* transport, Way way, Team& row, const std::vector<BufferView>& buffers,
                               std::size_t piece, int first_lane)
    : piece_(piece), length_(row.ranks().size()) {
  if (length_ == 1) return;
  for (std::size_t buffer = 0; buffer < buffers.size(); ++buffer)
    for (int root = 0; root < row.size(); ++root) {
      const Links own = links(way, row.rank(), root, row.size());
      exchanges_.push_back(
          transport->compile(exchange_of(own, buffers[buffer], piece, first_lane + static_cast<int>(buffer)), row));
    }
}

std::size_t PanelBroadcast::piece_of(std::size_t largest) {
  return std::clamp(largest / 16 / smallest_piece * smallest_piece, smallest_piece, largest_piece);
}

void PanelBroadcast::start(std::size_t buffer, int root, std::size_t bytes) {
  if (length_ == 1) return;
  under_way_ = exchanges_.at(buffer * length_ + static_cast<std::size_t>(root)).get();
  under_way_->start(0, (bytes + piece_ - 1) / piece_);
}

void PanelBroadcast::wait() {
  if (under_way_ != nullptr) under_way_->wait();
  under_way_ = nullptr;
}

}  // namespace plumb::hpl
