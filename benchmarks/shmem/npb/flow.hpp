// One rank's part of a run of BT, SP or LU: its tiles, the exchange of their faces, and steps in time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "benchmarks/shmem/npb/cfd.hpp"
#include "benchmarks/shmem/npb/messages.hpp"
#include "benchmarks/shmem/npb/tiling.hpp"

namespace plumb::npb {

// The messages that come in by one link, expected as far ahead as the link's depth allows.
class Inlet {
 public:
  // `bytes` of the messages of one step, in turn.
  Inlet(std::size_t link, int depth, std::vector<std::size_t> bytes)
      : link_(link), depth_(static_cast<std::uint64_t>(depth)), bytes_(std::move(bytes)) {}

  void open(Messages& messages, std::uint64_t steps);
  bool arrived(Messages& messages) const { return messages.arrived(link_); }
  std::span<const double> take(Messages& messages) const { return messages.take_as<double>(link_); }
  // What was taken last is no longer used.
  void done(Messages& messages);

 private:
  void expect(Messages& messages);

  std::size_t link_;
  std::uint64_t depth_;
  std::vector<std::size_t> bytes_;
  std::uint64_t expected_ = 0, all_ = 0;
};

// Runs a part of a step, given by its number, and times it.
using Parts = std::function<void(std::size_t part, const std::function<void()>& work)>;

class Flow {
 public:
  Flow(const Scheme& scheme, const Tiling& tiling, int rank);
  virtual ~Flow() = default;

  const std::vector<Link>& outgoing() const { return outgoing_; }
  const std::vector<Link>& incoming() const { return incoming_; }
  const Scheme& scheme() const { return scheme_; }
  const Tiling& tiling() const { return tiling_; }
  int rank() const { return rank_; }
  std::vector<Tile>& tiles() { return tiles_; }

  // Allocates the tiles and computes the forcing.
  void begin();
  // u is the start; margins and r are poisoned.
  void restart();
  // Expects the messages of so many steps; null on one rank.
  void open(Messages* messages, std::uint64_t steps);
  virtual void step(const Parts& parts) = 0;

 protected:
  virtual void allocate() = 0;

  // Fills the margins of u.
  void exchange_faces();
  Messages& messages() { return *messages_; }
  // Neighbour of this rank in direction d, towards larger numbers or smaller ones; -1 if none.
  int neighbour(int d, bool up) const;
  std::vector<std::size_t> tiles_at(int d, int slab) const;  // of this rank
  std::size_t add_outgoing(Link link);
  std::size_t add_incoming(Link link, std::vector<std::size_t> bytes);  // gives the place in inlets_
  Inlet& inlet(std::size_t i) { return inlets_[i]; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t face_bytes(int d, bool up) const;
  template <class Copy>
  void for_face(int d, bool up, bool margin, Copy copy);

  Scheme scheme_;
  Tiling tiling_;
  int rank_;
  std::vector<Place> places_;
  std::vector<Tile> tiles_;
  std::vector<Link> outgoing_, incoming_;
  std::vector<Inlet> inlets_;
  std::array<std::array<std::size_t, 2>, 3> face_out_, face_in_;  // by direction and side
  Messages* messages_ = nullptr;
};

// The flow of a benchmark's name: npb_bt, npb_sp, npb_lu.
std::unique_ptr<Flow> make_bt(const Scheme& scheme, int ranks, int rank);
std::unique_ptr<Flow> make_sp(const Scheme& scheme, int ranks, int rank);
std::unique_ptr<Flow> make_lu(const Scheme& scheme, int ranks, int rank);

}  // namespace plumb::npb
