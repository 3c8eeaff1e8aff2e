// The participating processes: rank, size, barrier, small control messages. Transports do the measured communication;
// this is for everything around it. The watchdog (world/watchdog.hpp) limits every wait.
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
  std::string host_transport;  // name of the transport between ranks for host memory
};

// Requirements of a program on its world, before it starts.
struct WorldNeeds {
  bool threads = false;  // several threads communicate concurrently
};

class Team;

// A message of one round between hosts' memories: the bytes sent, or the destination.
struct BareMessage {
  int peer = 0, tag = 0;
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

// Messages by plain library calls, the reference for a run's parts, independent of any transport.
class BareMessages {
 public:
  virtual ~BareMessages() = default;
  // All at once, receives first; complete on return. `yields`: yields the core while waiting.
  virtual void exchange(std::span<const BareMessage> receives, std::span<const BareMessage> sends, bool yields) = 0;
};

class World {
 public:
  virtual ~World() = default;
  virtual const WorldInfo& info() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;  // index among the ranks of this host
  virtual int local_size() const = 0;

  virtual void barrier() = 0;
  // In place; the same number of bytes on every rank.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // Each rank's bytes (any number), in rank order, on the root; elsewhere empty.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) = 0;
  // Blocking messages of known size between two ranks.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;
  // A team of these ranks, in this order, with its own collectives (world/team.hpp, which callers include).
  // Construction and destruction are collective over the world: ranks that are not members obtain a team without being
  // part of it. Each rank may name a different team (the rows of a grid). Throws Error, the same on all ranks, for
  // duplicates, an empty list, ranks outside the world, and members that name different teams.
  std::unique_ptr<Team> team(const std::vector<int>& ranks);
  // Reason, with a remedy, why `bytes` of symmetric memory per rank are unavailable; "" if available. Collective, with
  // the same number on all ranks.
  virtual std::string symmetric_problem(std::uint64_t) { return ""; }
  // Plain messages of at most `bytes` per round; null if this world has none. To be destroyed before the world.
  virtual std::unique_ptr<BareMessages> bare_messages(std::size_t) { return nullptr; }
  // Ends all ranks within seconds; does not return.
  virtual void abort(int exit_status) = 0;
};

// A world of one rank, without any library.
std::unique_ptr<World> make_serial_world();

}  // namespace plumb
