// The table of OSU's tests over MPI (measure/operations.hpp). Its patterns: messages between pairs (mpi_pt2pt.cpp),
// collectives (mpi_collective.cpp), one-sided operations (mpi_one_sided.cpp), startup (mpi_startup.cpp).
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "benchmarks/osu/mpi/mpi_data.hpp"
#include "measure/operations.hpp"

namespace plumb::osu {

// What the options ask for, of every row.
struct Wishes {
  std::uint64_t window = 64;
  bool one_source = false;  // -b single: all messages of a window come from one place
  int pairs = 0;            // 0: half of the ranks
  const Type* type = nullptr;
  const Operation* operation = nullptr;
  int root = 0;  // -1: goes round
  bool in_place = false;
  bool times_each = true, barrier_each = false;  // operations: not with --sync once; with --sync barrier
  std::uint64_t iterations = 0;                  // of a sample; 0: as many as make it long enough
  std::uint64_t warmup = 0;                      // operations before each sample
  std::uint64_t tests = 0;                       // MPI_Test while computing
  std::uint64_t partitions = 8;
  int senders = 1, receivers = 2;  // threads, processes
  std::string window_kind = "allocate", window_sync = "flush";
  Where from, to;  // where the buffers lie: of those that begin, and of the others
  int dimensions = 1, radius = 1;
};

// Who runs a row, and how large.
struct Setting {
  int rank = 0, ranks = 2;
  std::uint64_t bytes = 1, seed = 1;
  const Wishes* wishes = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;  // not while planning
  std::uint64_t most(std::uint64_t usual = 1024) const { return wishes->iterations > 0 ? wishes->iterations : usual; }
};

using operations::Needs;
using Row = operations::Row<Setting>;

class Pattern : public operations::Pattern {
 public:
  void run(std::uint64_t) final {}
  // What the text form says of the test beside its title: {"window_creation": "MPI_Win_allocate", …}.
  Json facts() const override { return Json::object(); }
};

// A row with its test's title as OSU prints it.
struct Titled {
  std::string title;
  std::string kind;
  Row row;
  bool pairs = false;                       // any even number of ranks
  bool both_ways = false;                   // bytes go both ways at once
  bool reduces = false, portions = false;   // computes; each rank gets a part of the result
  bool rooted = false, neighbours = false;  // has a root that --root-rank chooses; is among neighbours
  bool gathers = false, single = false, whole_numbers = false;  // adds up in one place; one element; integers alone
  bool threads = false, partitioned = false;  // --threads says how many threads or processes; messages have parts
  bool blocks = false;                        // the size is of what goes from one rank to one
  std::function<double(int ranks)> bus = {};  // busbw over algbw; 0: neither
};

// The first rank on each rank's host, by rank; none before MPI has begun.
struct Hosts {
  std::vector<int> first_of_host;
  static const Hosts& found();  // collective, the first time
  bool on_first(int rank) const { return first_of_host[rank] == first_of_host[0]; }
  std::string misfit() const;  // why not all ranks of the first host have a twin on each other host, or ""
  std::vector<int> twins_of(int rank) const;
};

// By kind, each in its own file.
std::vector<Titled> pt2pt_rows();
std::vector<Titled> collective_rows();
std::vector<Titled> one_sided_rows();
std::vector<Titled> startup_rows();

// A barrier before the next operation, where --sync barrier wants one; it is not timed.
inline void sync_next(const Setting& setting, Timed& timed) {
  if (!setting.wishes->barrier_each) return;
  const Timed::Pause pause(timed);
  MPI_Barrier(setting.comm);
}
// The end of an operation; with --sync once, one clock goes through them all.
inline void end_operation(const Setting& setting, Timed& timed) {
  if (setting.wishes->times_each) timed.lap();
  sync_next(setting, timed);
}

}  // namespace plumb::osu
