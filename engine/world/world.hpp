// Those who take part: rank, size, barrier, small control messages. What is measured goes through transports; this is
// for everything around it. Every call that waits is bounded by the watchdog (world/watchdog.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plumb {

struct WorldInfo {
  std::string kind;            // serial, mpi, shmem
  std::string library;         // "Open MPI v4.1.4, package: ..."
  std::string standard;        // "MPI 3.1"
  std::string host_transport;  // name of the transport that moves host memory between ranks
};

// What a program needs of its world before it starts.
struct WorldNeeds {
  bool threads = false;  // several threads communicate at once
};

class Team;

// A message of one round between hosts' memories: where it lies (its bytes, or the place for them).
struct BareMessage {
  int peer = 0, tag = 0;
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

// Messages by the library's own calls and nothing beside them, for the parts that a run is judged by: no transport's
// code is in them.
class BareMessages {
 public:
  virtual ~BareMessages() = default;
  // All at once, receives first; complete on return. `yields`: while it waits, others get the core.
  virtual void exchange(std::span<const BareMessage> receives, std::span<const BareMessage> sends, bool yields) = 0;
};

class World {
 public:
  virtual ~World() = default;
  virtual const WorldInfo& info() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;  // among the ranks of this host, found by the world itself
  virtual int local_size() const = 0;

  virtual void barrier() = 0;
  // In place; every rank gives the same number of bytes.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // Each rank's bytes (any number), in rank order, on the root; elsewhere empty.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) = 0;
  // Blocking messages of known size between two ranks.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;
  // A team of these ranks, in this order, with collectives of its own (world/team.hpp, which callers include).
  // Collective over the world, as is the team's end: ranks that are not named call it too, and get a team that they are
  // no member of. Several teams are made at once where each rank names its own (the rows of a grid). Throws Error, the
  // same on all ranks, where a rank is named twice, none is, one is not in the world, or members name different teams.
  std::unique_ptr<Team> team(const std::vector<int>& ranks);
  // Why so many bytes of memory that other ranks reach cannot be had on each rank, with what to do; "" where they can.
  // Collective, the same number on all ranks.
  virtual std::string symmetric_problem(std::uint64_t) { return ""; }
  // Bare messages of at most so many a round; null where this world has none. They end before the world.
  virtual std::unique_ptr<BareMessages> bare_messages(std::size_t) { return nullptr; }
  // Ends all ranks within seconds; does not return.
  virtual void abort(int exit_status) = 0;
};

// A world of one, without any library.
std::unique_ptr<World> make_serial_world();

}  // namespace plumb
