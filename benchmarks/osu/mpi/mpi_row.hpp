// The table of OSU's tests over MPI (measure/operations.hpp). Its patterns: messages between pairs (mpi_pt2pt.cpp),
// collectives (mpi_collective.cpp), one-sided operations (mpi_one_sided.cpp), startup (mpi_startup.cpp).
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/osu/mpi/mpi_data.hpp"
#include "measure/clock.hpp"
#include "measure/operations.hpp"
#include "transport/nccl_collectives.hpp"

namespace plumb::osu {

// Values of the options, for every row.
struct Wishes {
  std::uint64_t window = 64;
  bool one_source = false;  // -b single: all messages of a window come from one place
  int pairs = 0;            // 0: half of the ranks
  const Type* type = nullptr;
  const Operation* operation = nullptr;
  int root = 0;  // -1: rotates
  bool in_place = false;
  bool times_each = true, barrier_each = false;  // not with --sync once; with --sync barrier
  std::uint64_t iterations = 0;                  // of a sample; 0: as many as a sample needs
  std::uint64_t warmup = 0;                      // operations before each sample
  std::uint64_t tests = 0;                       // MPI_Test calls while computing
  std::uint64_t partitions = 8;
  int senders = 1, receivers = 2;  // threads, processes
  std::string window_kind = "allocate", window_sync = "flush";
  Where from, to;  // memory of the buffers: of the starting ranks, and of the others
  bool on_devices() const { return from.letter != 'H' || to.letter != 'H'; }
  int dimensions = 1, radius = 1;               // of the neighbours' torus
  std::vector<std::pair<int, int>> edges = {};  // of their graph; none: a torus
  std::shared_ptr<const Layout> layout;         // of messages with a derived datatype, in bytes; null: of elements
  std::shared_ptr<const Derived> derived;
  Sliding sliding = {};
  Device* computes = nullptr;  // a device that computes beside a non-blocking collective; null: the host
  bool host_computes = true;
  std::uint64_t array = 32;         // elements of the device's array
  NcclCollectives* nccl = nullptr;  // does the collectives; null: MPI
};

// Ranks and sizes of a row's run.
struct Setting {
  int rank = 0, ranks = 2;
  std::uint64_t bytes = 1, seed = 1;
  const Wishes* wishes = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;  // null while planning
  std::uint64_t most(std::uint64_t usual = 1024) const { return wishes->iterations > 0 ? wishes->iterations : usual; }
};

using operations::Needs;
using Row = operations::Row<Setting>;

class Pattern : public operations::Pattern {
 public:
  void run(std::uint64_t) final {}
  // Lines of the text form in addition to the title: {"window_creation": "MPI_Win_allocate", …}.
  Json facts() const override { return Json::object(); }
  Injection injection() override { return std::exchange(injected_, {}); }

 protected:
  // Operations before a sample, if wished: work(timed).
  template <class Work>
  void warm_up(const Setting& setting, Work work) {
    Timed none({std::min(setting.wishes->warmup, setting.most())});
    if (none.count() > 0) work(none);
    injected_ = {};
  }
  // Begins messages of a window, timed apart from their completion; with --sync once no clock is read.
  template <class Begin>
  void inject(const Setting& setting, std::uint64_t messages, Begin begin) {
    if (!setting.wishes->times_each || messages < 2) return begin();
    const double before = now_seconds();
    begin();
    injected_.seconds += now_seconds() - before;
    injected_.operations += static_cast<double>(messages);
  }

 private:
  Injection injected_;
};

// A row with its test's title as printed by OSU.
struct Titled {
  std::string title;
  std::string kind;
  Row row;
  bool pairs = false;                       // any even number of ranks
  bool both_ways = false;                   // bytes go both ways at once
  bool reduces = false, portions = false;   // computes; each rank gets a part of the result
  bool rooted = false, neighbours = false;  // has a root, chosen by --root-rank; is among neighbours
  bool gathers = false, single = false, whole_numbers = false;  // accumulates in one place; one element; integers only
  bool threads = false, partitioned = false;  // --threads sets the number of threads or processes; messages have parts
  bool thread_multiple = false;               // threads communicate at once
  bool blocks = false;                        // the size is of the data from one rank to one
  std::function<double(int ranks)> bus = {};  // busbw over algbw; 0: neither
};

// The first rank on each rank's host, by rank; none before MPI is initialised.
struct Hosts {
  std::vector<int> first_of_host;
  static const Hosts& found();  // collective, the first time
  bool are_known() const { return !first_of_host.empty(); }
  bool on_first(int rank) const { return first_of_host[rank] == first_of_host[0]; }
  std::string misfit() const;  // reason why some rank of the first host has no counterpart on another host, or ""
  std::vector<int> twins_of(int rank) const;
  std::size_t pairs() const;  // of ranks of the first host with ranks of others
};

// By kind, each in its own file.
std::vector<Titled> pt2pt_rows();
std::vector<Titled> collective_rows();
std::vector<Titled> one_sided_rows();
std::vector<Titled> startup_rows();

// Before an operation on buffers of devices, which a kernel touches; untimed. `together`: all ranks call it, and meet.
inline void touch_buffers(const Setting& setting, Timed& timed, std::initializer_list<const Area*> areas,
                          bool together = true) {
  if (!setting.wishes->on_devices()) return;
  const Timed::Pause pause(timed);
  for (const Area* area : areas) area->touch();
  if (together) MPI_Barrier(setting.comm);
}

// What every test's samples need.
inline Needs sample_needs(const Setting& setting) {
  Needs needs;
  needs.laps = true;
  needs.most_operations = setting.most();
  needs.fixed_count = setting.wishes->iterations;
  return needs;
}

// A barrier before the next operation, with --sync barrier; it is not timed.
inline void sync_next(const Setting& setting, Timed& timed) {
  if (!setting.wishes->barrier_each) return;
  const Timed::Pause pause(timed);
  MPI_Barrier(setting.comm);
}
// The end of an operation; with --sync once, one clock covers all operations.
inline void end_operation(const Setting& setting, Timed& timed) {
  if (setting.wishes->times_each) timed.lap();
  sync_next(setting, timed);
}

}  // namespace plumb::osu
