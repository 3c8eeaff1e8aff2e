// Graph500: searches of a Kronecker graph distributed over all ranks, breadth-first or for shortest paths, one root at
// a time. README.md in this folder derives every metric and defines what is proven.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/shmem/graph500/device_graph.hpp"
#include "benchmarks/shmem/graph500/search.hpp"
#include "benchmarks/shmem/graph500/validator.hpp"
#include "measure/benchmark.hpp"

namespace plumb::graph500 {

class Graph500 : public Benchmark {
 public:
  std::string name() const override { return "graph500"; }
  std::string title() const override { return "searches of a graph in all ranks' memory"; }
  std::string source() const override {
    return "Graph500 specification 2.0 and reference implementation 3.0 (a Kronecker graph, 64 roots, five rules)";
  }
  Preset preset(const std::string& name) const override;
  bool needs_device() const override { return on_device(); }
  bool needs_transport() const override { return on_device(); }
  bool takes_kernel_file() const override { return on_device(); }
  bool threads_communicate() const override { return threads_.given() || variant_ == "threaded"; }

  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& info) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare_group(Session& session, const Group& group, Timed& timed) override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  void release_group() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;
  std::vector<Metric> aggregate(const std::vector<CaseResult>& results, int ranks) const override;

 protected:
  // Replaced by mutants.
  virtual EdgeList list(const EdgeRange& share) const;  // input of kernel 1
  virtual std::unique_ptr<Search> make_search(World& world, const SearchPlan& plan);
  virtual void search(Search& search, Vertex root) { search.run(root); }
  virtual Traversed traversed(std::span<const Parent> parents) const;  // this rank's share of TEPS's edges

  GraphPlan plan() const;
  bool on_device() const { return variant_ == "device"; }
  bool weighted() const { return !(kernel_ == "bfs"); }
  const Graph& graph() const { return *graph_; }
  Team& team() const { return *team_; }

 private:
  Parameter<std::string> scale_{
      *this,
      {"scale", "log2 of the number of vertices: 1 to 32, or toy (26), mini (29), small (32), medium, large, huge"},
      "16"};
  Parameter<std::int64_t> edge_factor_{*this, {"edgefactor", "edges of the list for each vertex"}, 16, {1, 1 << 20}};
  Parameter<std::string> seeds_{*this, {"seeds", "two numbers that the graph and the roots are made from"}, "2,3"};
  Parameter<std::string> graph_kind_{
      *this,
      {"graph",
       "edges: kronecker, erdos-renyi (ends with equal chances), or a file as --write-edges writes them; --scale gives "
       "the number of its vertices"},
      "kronecker"};
  Choice generator_{
      *this, {"generator", "the reference's version whose edges are made, bit for bit"}, "3.0", {"3.0", "2.1"}};
  Parameter<std::int64_t> roots_{*this, {"roots", "searches, each from a vertex of its own"}, 64, {1, 1 << 20}};
  Parameter<std::string> write_edges_{
      *this,
      {"write-edges", "file for the list of edges as pairs of 64-bit integers; FILE.weights for its weights as floats"},
      ""};
  Choice kernel_{
      *this, {"kernel", "searches: breadth-first, for shortest paths, or both"}, "bfs", {"bfs", "sssp", "both"}};
  Parameter<double> delta_{*this,
                           {"delta", "kernel sssp: width of a bucket of distances, and least weight of a heavy edge"},
                           0.1,
                           {1e-4, 1e4}};
  Choice variant_{
      *this,
      {"variant", "how a search sends what it finds, or device: by kernels; all: each of this world's but device"},
      "direction-optimising",
      {"all", "put-atomic", "threaded", "bucketed", "messages", "direction-optimising", "device"}};
  Parameter<std::int64_t> threads_{
      *this, {"threads", "variant threaded: threads of a rank, each with a context of its own"}, 2, {1, 1024}};
  Parameter<double> alpha_{
      *this,
      {"alpha", "variant direction-optimising looks up once the edges of a level are more than 1/alpha of those left"},
      14,
      {1e-3, 1e9}};
  Parameter<double> beta_{*this,
                          {"beta", "and follows down again once the vertices of a level are fewer than 1/beta of all"},
                          24,
                          {1e-3, 1e9}};

  Choice lanes_{
      *this,
      {"lanes", "variant device: work items that follow a row of the graph together; default: 32 on GPUs, else 1"},
      "default",
      {"default", "1", "2", "4", "8", "16", "32"}};

  Choice discoveries_{*this,
                      {"discoveries",
                       "variant device on several devices, top-down: exchanged as bitmaps, or sent by the kernels that "
                       "find them (transport peer, device-streaming)"},
                      "bitmaps",
                      {"bitmaps", "kernels"}};

  // A group of searches.
  struct Kind {
    std::string kernel, variant;
    std::string name() const { return kernel == "bfs" ? variant : kernel + "/" + variant; }
  };
  // A case: search `index` of a kind.
  struct Point {
    Kind kind;
    std::size_t index;
  };
  std::vector<Kind> kinds() const;
  void find_roots();
  std::uint64_t hash_of(std::span<const float> distances) const;  // of this rank; all ranks' are added
  void build(Session& session, Timed& timed);
  void build_on_device(Session& session, Timed& timed);
  EdgeList made_list(World& world, Timed& timed) const;

  std::size_t groups_begun_ = 0;
  std::unique_ptr<Team> team_;
  std::unique_ptr<DeviceGraph> device_graph_;
  std::unique_ptr<Graph> graph_;  // on the host; of device_graph_, a copy
  std::unique_ptr<Validator> validator_;
  std::unique_ptr<Search> search_;
  std::vector<Vertex> roots_found_;
  Vertex warm_up_root_ = 0;
  Findings graph_findings_;
  TreeFindings tree_;
  double validation_seconds_ = 0;
  std::uint64_t distances_hash_ = 0;
  Traversed told_;  // of this rank, by the latest search
  Vertex root_ = 0;
};

// Statistics of a record as in reference 3.0: of values in any order, at least one.
struct Statistics {
  double minimum, first_quartile, median, third_quartile, maximum, mean, deviation;
};
Statistics statistics_of(std::vector<double> values);
// Of rates m/t: the harmonic mean, its deviation (N. Norris, 1940), and the order statistics of the inverses of t/m.
Statistics rates_of(const std::vector<double>& seconds_of_one);

}  // namespace plumb::graph500
