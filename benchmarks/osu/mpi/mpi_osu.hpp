// osu: OSU's micro-benchmarks over MPI (7.5), all of them, and each by its own name (osu_latency, osu_iallreduce, …).
// README.md in this folder defines what is timed and proven in each.
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/osu/mpi/mpi_row.hpp"
#include "measure/counters.hpp"
#include "world/mpi_session.hpp"

namespace plumb::osu {

// The whole table, in OSU's order.
const std::vector<Titled>& mpi_table();

// Where a test's cases differ but for their size: datatype, window and memory.
struct Spot {
  std::size_t type = 0;      // of types()
  std::size_t window = 0;    // of the sweep: 2^(window - 1) messages; 0: --window-size
  std::string letters = "";  // "DH"; "": --where
};

class Osu : public operations::Table<Setting> {
 public:
  explicit Osu(std::string test = "");  // "": all
  std::string name() const override { return test_.empty() ? "osu" : test_; }
  std::string family() const override { return test_.empty() ? "" : "osu"; }
  std::string title() const override;
  std::string source() const override { return "OSU Micro-Benchmarks 7.5, mpi; each result checked"; }
  Preset preset(const std::string& name) const override;

  bool times_operations() const override { return true; }
  bool threads_communicate() const override { return test_ == "osu_latency_mt"; }
  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& info) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void run(Session&, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void release_group() override;
  Json facts() const override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  Setting setting(const Plan& plan, const Point& point) const override;

 private:
  struct Sizes {
    std::uint64_t minimum, maximum;
  };
  Sizes sizes(const Titled& test) const;
  std::vector<std::size_t> types_of(const Titled& test) const;  // indices of types()
  std::vector<std::uint64_t> sizes_of(const Titled& test, const Type& type, int ranks) const;
  void leave_out_large(Group& group, const Plan& plan) const;
  void check_options(const Titled& test) const;
  std::string misfit(const Titled& test, int ranks) const;  // the reason why this number of ranks cannot run it, or ""
  std::vector<Metric> init_metrics(const CaseResult& result) const;
  std::size_t pairs_of(const Titled& test, int ranks) const;
  std::vector<Spot> spots_of(const Titled& test) const;
  bool has_device_buffers() const;
  std::string device_of(const Session& session) const;
  void prepare_reports(const Session& session);
  void report_laps(std::vector<double> own, std::uint64_t count);
  void report_counts(const Case& measured, std::uint64_t count, const std::vector<double>& own);
  void hold_against_roof() const;
  double link_rate(const Case& measured, double seconds) const;
  Wishes wishes_for(const Titled& test, std::uint64_t bytes, std::size_t place, int ranks) const;
  std::vector<Metric> latency_metrics(const Titled& test, const Point& point, const CaseResult& result,
                                      const std::vector<double>& own, int ranks) const;

  using Text = Parameter<std::string>;
  using Number = Parameter<std::int64_t>;
  using Flag = Parameter<bool>;

  Text message_size_{*this, {"message-size", "sizes of messages, [MIN:]MAX; they double", "B", {"-m"}}, ""};
  Number iterations_{*this,
                     {"iterations", "operations of each case's one sample; else by the precision", "", {"-i"}},
                     0,
                     {1, 1 << 24}};
  Number warmup_{*this, {"warmup", "untimed operations before each sample", "", {"-x"}}, 0, {0, 1 << 24}};
  Flag osu_counts_{*this, {"osu-counts", "as many operations and warm-ups as OSU's own defaults"}, false};
  Number window_{
      *this, {"window-size", "tests of bandwidth: messages under way at once", "", {"-W"}}, 64, {1, 1 << 16}};
  Text pairs_{*this,
              {"pairs",
               "osu_mbw_mr, osu_multi_lat: pairs of ranks; half of the ranks by default. all (not OSU's): each pair of "
               "--where's letters",
               "",
               {"-p"}},
              ""};
  Parameter<double> roof_{
      *this,
      {"roof", "buffers on devices: no figure can exceed it; by default twice the rate of copies there", "GB/s"},
      0,
      {0, 1e6}};
  Number print_rate_{*this, {"print-rate", "osu_mbw_mr: messages per second in the text (1)", "", {"-R"}}, 1, {0, 1}};
  Text buffers_{
      *this,
      {"buffer-num",
       "single: all messages of a window come from one place; multiple: each has its own; rotate[:BYTES] (not "
       "OSU's): operations take turns over so much memory, by default twice the last-level caches. Each is "
       "received at a place of its own in any case, as MPI demands",
       "",
       {"-b"}},
      "multiple"};
  Flag vary_window_{*this, {"vary-window", "osu_mbw_mr: windows of 1, 2, … 128 messages", "", {"-V"}}, false};
  Number validation_warmup_{
      *this, {"validation-warmup", "with -c: more untimed operations before each sample", "", {"-u"}}, 0, {0, 10}};
  Text memory_limit_{
      *this,
      {"memory-limit", "leaves out sizes with more buffers on a rank, all counted (not OSU's)", "B", {"-M"}},
      ""};
  Text ddt_{*this,
            {"ddt", "derived datatypes: cont, vect:STRIDE:BLOCK, indx:FILE with lines DISPLACEMENT,LENGTH", "", {"-D"}},
            ""};
  Flag session_{*this, {"session", "messages in a communicator of an MPI 4 session's", "", {"-I"}}, false};
  Text type_{
      *this,
      {"type", "MPI's datatypes, as mpi_char,mpi_float, or all; in reductions mpi_int, else mpi_char", "", {"-T"}},
      ""};
  Choice library_{
      *this, {"library", "whose blocking collectives; nccl: on GPUs of --runtime cuda"}, "mpi", {"mpi", "nccl"}};
  Choice operation_{*this,
                    {"operation", "of reductions"},
                    "sum",
                    {"sum", "prod", "max", "min", "band", "bor", "bxor", "land", "lor", "lxor"}};
  Text root_{*this, {"root-rank", "of rooted collectives: fixed:RANK, or rotate", "", {"-k"}}, "fixed:0"};
  Flag in_place_{*this, {"in-place", "collectives with MPI_IN_PLACE", "", {"-l"}}, false};
  Flag full_{*this, {"full", "text of OSU's: also minimum, maximum and iterations", "", {"-f"}}, false};
  Choice validation_{*this,
                     {"validation", "text of OSU's: what was found; all is checked in any case", "", {"-c"}, "column"},
                     "none",
                     {"none", "column"}};
  Text tail_{*this,
             {"tail-lat",
              "percentiles of single operations, of the slowest rank in each, also in OSU's text; at most five, 0 to "
              "100, with commas",
              "",
              {"-z"},
              "50,90,99"},
             ""};
  Text tests_or_threads_{*this,
                         {"tests-or-threads",
                          "non-blocking collectives: calls of MPI_Test while computing (0); osu_latency_mt, "
                          "osu_latency_mp: threads or processes, [SENDERS:]RECEIVERS (1:2)",
                          "",
                          {"-t"}},
                         ""};
  Number partitions_{*this, {"partitions", "osu_partitioned_latency: parts of a message", "", {"-q"}}, 8, {1, 1 << 16}};
  Text where_{
      *this,
      {"where",
       "where buffers lie, also as words of their own (osu_bw D H): H host, D device, B its HBM, P on its chip; "
       "of those that begin, then of the others",
       "",
       {},
       "",
       {"H", "D", "B", "P"}},
      "H,H"};
  Choice device_runtime_{
      *this,
      {"device-runtime", "what drives the device; of collectives, whose buffers are then there", "", {"-d"}},
      "opencl",
      {"opencl", "cuda", "native", "sycl"}};
  Flag no_touch_{*this, {"no-touch", "no kernel takes devices' buffers before an operation (not OSU's)"}, false};
  Choice window_kind_{*this,
                      {"win-options", "one-sided: how the window is made", "", {"-w"}},
                      "allocate",
                      {"create", "allocate", "dynamic"}};
  Choice window_sync_{*this,
                      {"sync-option", "one-sided: how operations are completed", "", {"-s"}},
                      "flush",
                      {"lock", "flush", "flush_local", "lock_all", "pscw", "fence"}};
  Text neighbours_{
      *this,
      {"neighborhood", "who is: cart:DIMENSIONS:RADIUS, of a torus; graph:FILE with lines RANK,RANK", "", {"-N"}},
      "cart:1:1"};
  Choice compute_target_{
      *this,
      {"compute-target", "non-blocking collectives: what computes beside them; the device is --runtime's", "", {"-r"}},
      "cpu",
      {"cpu", "gpu", "both"}};
  Number array_size_{
      *this, {"array-size", "elements of the array on which the device computes", "", {"-a"}}, 32, {1, 1 << 24}};
  Choice graph_{*this,
                {"graph", "single operations of the last sample, drawn beside the record", "", {"-G"}},
                "none",
                {"none", "tty", "png", "pdf", "svg"}};
  Text papi_{*this,
             {"papi", "EVENT[,EVENT…]:FILE: the kernel's counts in each sample, by perf's or PAPI's names", "", {"-P"}},
             ""};

  std::string test_;
  std::map<std::string, const Titled*> titled_;                                           // by test
  mutable std::map<std::tuple<std::string, std::uint64_t, std::size_t>, Wishes> wishes_;  // by test, size and place
  mutable std::vector<Spot> spots_{Spot{}};  // of the cases' groups: a point's place is a number of this list
  const Titled* prepared_ = nullptr;
  int ranks_ = 2;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<MpiSession> own_session_;  // of --session
  std::unique_ptr<NcclCollectives> nccl_;    // of --library
  std::string sync_ = "clock";
  double roof_Bps_ = 0;     // of the prepared case's link; 0: none known
  double fastest_Bps_ = 0;  // over it, on this rank
  // For --graph and --papi.
  std::uint64_t sample_ = 0;  // of the prepared case
  FilesBeside* files_ = nullptr;
  std::optional<Counters> counters_;
  std::ofstream counts_;  // on rank 0
};

}  // namespace plumb::osu
