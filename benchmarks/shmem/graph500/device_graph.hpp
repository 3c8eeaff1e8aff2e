// A rank's part of the graph in its device's memory: its share of the list of edges, and kernel 1 by kernels
// (graph500.cl).
#pragma once

#include <memory>
#include <string>

#include "benchmarks/shmem/device_exchange.hpp"
#include "benchmarks/shmem/graph500/graph.hpp"
#include "measure/benchmark.hpp"

namespace plumb::graph500 {

inline constexpr int largest_device_scale = 31;  // one 32-bit number means that there is no parent

// Work items, by kind of device: a GPU's follow a row side by side, and none a long row alone.
struct Shape {
  Shape(const DeviceInfo& info, std::size_t lanes_asked);
  std::size_t lanes, group, groups;
  bool channels;  // an FPGA, whose breadth-first levels are three kernels joined by channels
  bool alone() const { return lanes == 1; }
  std::string options() const;
  KernelRange range() const { return {group * groups, group}; }
};

class DeviceGraph {
 public:
  // Of each key: bins of ends (graph500.cl).
  struct Adjacency {
    std::unique_ptr<Buffer> bounds, ends, weights;
    std::uint64_t bins = 0, count = 0;  // `count` ends
  };

  // With `delta` above 0 edges have weights, and each row its light edges first. `lanes`: 0 for the device's usual.
  DeviceGraph(Session& session, Team& team, const GraphPlan& plan, float delta, std::size_t lanes);

  // This rank's share of the list, by the device. Of a Kronecker graph: Generator's edges, bit for bit.
  void generate();
  void take(const EdgeList& list);  // made elsewhere
  // Kernel 1, collective; the list is released. On several ranks every device passes its share to all the others, piece
  // by piece and twice, by the session's transport, and keeps the ends of its own vertices.
  void construct();
  Graph fetch();  // the rows, as they are on the device

  Program& program() { return *program_; }
  KernelSource source() const;  // of all kernels
  const Shape& shape() const { return shape_; }
  const Adjacency& rows() const { return rows_; }
  // By vertex of the whole graph: own vertices (counted from 0) that it is a neighbour of. Of one rank, the rows.
  const Adjacency& lists() const { return team_.size() > 1 ? lists_ : rows_; }

 private:
  class Pieces;
  std::unique_ptr<Buffer> buffer(std::uint64_t bytes) const;
  std::string options(const GraphPlan& plan) const;
  void make_bins(Adjacency& all, std::uint64_t keys);
  void bound(Adjacency& all);
  void place(Pieces& pieces, bool fill);
  void place(Adjacency& all, bool turned, bool fill, const BufferView& edges, const BufferView& weights,
             std::uint64_t count);

  Session& session_;
  Team& team_;
  GraphPlan plan_;
  Layout layout_;
  float delta_;
  Shape shape_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Kernel> zero_, place_ends_, sum_stretches_, add_stretches_, bound_stretches_;
  EdgeRange share_;
  std::unique_ptr<Buffer> edges_, weights_;  // the list
  std::unique_ptr<Buffer> places_, sums_, loops_;
  Adjacency rows_, lists_;
};

// At most so many tasks follow lists of so many ends and vertices.
std::uint64_t tasks_of(std::uint64_t ends, std::uint64_t vertices);

// Upper bounds, for the graph and a search.
DeviceBytes device_bytes(const GraphPlan& plan, int ranks, bool weighted);

}  // namespace plumb::graph500
