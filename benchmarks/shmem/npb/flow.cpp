#include "benchmarks/shmem/npb/flow.hpp"

#include <algorithm>

namespace plumb::npb {

void Inlet::open(Messages& messages, std::uint64_t steps) {
  expected_ = 0;
  all_ = steps * bytes_.size();
  while (expected_ < std::min(depth_, all_)) expect(messages);
}

void Inlet::done(Messages& messages) {
  if (expected_ < all_) expect(messages);
}

void Inlet::expect(Messages& messages) {
  messages.expect(link_, bytes_[expected_++ % bytes_.size()]);
}

Flow::Flow(const Scheme& scheme, const Tiling& tiling, int rank)
    : scheme_(scheme), tiling_(tiling), rank_(rank), places_(tiling.tiles_of(rank)) {
  for (int d = 0; d < 3; ++d)
    for (const bool up : {false, true}) {
      auto& out = face_out_[d][up];
      auto& in = face_in_[d][up];
      out = in = none;
      if (neighbour(d, up) < 0) continue;
      const std::size_t bytes = face_bytes(d, up);
      out = add_outgoing({neighbour(d, up), 2 * d + up, bytes});
      in = add_incoming({neighbour(d, up), 2 * d + !up, bytes}, {bytes});
    }
}

int Flow::neighbour(int d, bool up) const {
  for (Place place : places_) {
    place[d] += up ? 1 : -1;
    if (tiling_.contains(place)) return tiling_.owner(place);
  }
  return -1;
}

std::vector<std::size_t> Flow::tiles_at(int d, int slab) const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i][d] == slab) all.push_back(i);
  return all;
}

std::size_t Flow::add_outgoing(Link link) {
  outgoing_.push_back(link);
  return outgoing_.size() - 1;
}

std::size_t Flow::add_incoming(Link link, std::vector<std::size_t> bytes) {
  inlets_.emplace_back(incoming_.size(), link.depth, std::move(bytes));
  incoming_.push_back(link);
  return inlets_.size() - 1;
}

std::size_t Flow::face_bytes(int d, bool up) const {
  std::size_t values = 0;
  for (Place place : places_) {
    Box box = tiling_.box(place);
    place[d] += up ? 1 : -1;
    if (!tiling_.contains(place)) continue;
    box.count[d] = Tile::margin;
    values += variables * box.points();
  }
  return values * sizeof(double);
}

// Calls copy(row, doubles) for each row of the planes at a side of each tile with a neighbour there: the tile's own
// last planes, or the margin beyond them.
template <class Copy>
void Flow::for_face(int d, bool up, bool margin, Copy copy) {
  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    Place other = places_[t];
    other[d] += up ? 1 : -1;
    if (!tiling_.contains(other)) continue;
    Tile& tile = tiles_[t];
    int low[3] = {0, 0, 0}, high[3] = {tile.count(0), tile.count(1), tile.count(2)};
    low[d] = up ? tile.count(d) - (margin ? 0 : Tile::margin) : margin ? -Tile::margin : 0;
    high[d] = low[d] + Tile::margin;
    for (int m = 0; m < variables; ++m)
      for (int k = low[2]; k < high[2]; ++k)
        for (int j = low[1]; j < high[1]; ++j)
          copy(tile.u.data() + tile.place(low[0], j, k) + m * tile.field(), high[0] - low[0]);
  }
}

void Flow::exchange_faces() {
  if (messages_ == nullptr) return;
  for (int d = 0; d < 3; ++d)
    for (const bool up : {false, true}) {
      const std::size_t link = face_out_[d][up];
      if (link == none) continue;
      double* to = messages_->outgoing_as<double>(link).data();
      for_face(d, up, false, [&](const double* row, int doubles) { to = std::copy_n(row, doubles, to); });
      messages_->post(link);
    }
  messages_->meet();
  for (int d = 0; d < 3; ++d)
    for (const bool up : {false, true}) {
      const std::size_t in = face_in_[d][up];
      if (in == none) continue;
      const double* from = inlets_[in].take(*messages_).data();
      for_face(d, up, true, [&](double* row, int doubles) {
        std::copy_n(from, doubles, row);
        from += doubles;
      });
      inlets_[in].done(*messages_);
    }
}

void Flow::begin() {
  tiles_.clear();
  for (const Place& place : places_) tiles_.emplace_back(tiling_.box(place), scheme_.n);
  for (Tile& tile : tiles_) compute_forcing(scheme_, tile);
  allocate();
}

void Flow::restart() {
  for (Tile& tile : tiles_) set_start(scheme_, tile);
}

void Flow::open(Messages* messages, std::uint64_t steps) {
  messages_ = messages;
  if (messages != nullptr)
    for (Inlet& inlet : inlets_) inlet.open(*messages, steps);
}

}  // namespace plumb::npb
