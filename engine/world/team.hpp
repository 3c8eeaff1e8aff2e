// World::team: a subset of a world's ranks with its own collectives: a row of a torus, a square grid within any world.
// For small data around the measurement, as in world.hpp, but typed; a factorisation's pivot search may use it too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/registry.hpp"
#include "world/world.hpp"

namespace plumb {

enum class Fold { sum, minimum, maximum };

// A value with its place (an index, a rank), for all_reduce: the least or greatest value, and of equal ones the least
// place. NaN is chosen only if all values are NaN.
template <class T>
struct Located {
  T value{};
  std::int64_t place = 0;
  bool operator==(const Located&) const = default;
};

// All calls except the first five are collective over the team, in the same order on its members, and throw Error on
// other ranks. Teams of one world are independent of each other and of the world's messages. The watchdog limits every
// wait.
class Team {
 public:
  virtual ~Team() = default;
  const std::vector<int>& ranks() const { return ranks_; }  // of the world, in the team's order
  int size() const { return static_cast<int>(ranks_.size()); }
  int rank() const { return rank_; }  // index in ranks(); -1 if not a member
  bool is_member() const { return rank_ >= 0; }
  // For a record's facts if fewer ranks take part than the world has: {"ranks": [0, 1, 2, 3], "idle": [4]}.
  Json facts(int world_size) const;

  void barrier();
  // In place, from the member `root` (its index in the team); the same number of bytes on all members.
  void broadcast(std::span<std::byte> bytes, int root);
  // Each member's bytes (any number), in the team's order, on the root; elsewhere empty.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root);

  // Elementwise, in place; the same number of elements on all members. The result is bitwise equal on all members over
  // OpenSHMEM, and as MPI defines over MPI. T: float, double, std::int32_t, std::int64_t, std::uint64_t.
  template <class T>
  void all_reduce(std::span<T> values, Fold fold);
  template <class T>
  T all_reduce(T value, Fold fold) {
    all_reduce(std::span(&value, 1), fold);
    return value;
  }
  // minimum and maximum only (minloc, maxloc). T as above.
  template <class T>
  void all_reduce(std::span<Located<T>> values, Fold fold);
  template <class T>
  Located<T> all_reduce(Located<T> value, Fold fold) {
    all_reduce(std::span(&value, 1), fold);
    return value;
  }

  // The elements of all members, in the team's order, on each member; `counts` by member. T is trivially copyable.
  template <class T>
  void all_gather(std::span<const T> mine, std::span<T> all, std::span<const std::size_t> counts);
  // The same of any numbers of elements, which the members tell each other first.
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine);

  // `sent` and `received` hold the members' elements contiguously, with a count for each. The count sent to a member
  // must equal the count that it receives. T is trivially copyable.
  template <class T>
  void all_to_all(std::span<const T> sent, std::span<const std::size_t> send_counts, std::span<T> received,
                  std::span<const std::size_t> receive_counts);

  // Combines `more` into `values`, elementwise; bytes of whole elements of one type.
  using Combine = void (*)(std::byte* values, const std::byte* more, std::size_t elements);

 protected:
  Team(std::vector<int> ranks, int world_rank);

  virtual void do_barrier() = 0;
  virtual void do_broadcast(std::span<std::byte> bytes, int root) = 0;
  virtual std::vector<std::vector<std::byte>> do_gather(std::span<const std::byte> bytes, int root) = 0;
  virtual void do_all_reduce(std::span<std::byte> values, std::size_t element_bytes, Combine combine) = 0;
  virtual void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                             const std::vector<std::size_t>& counts, std::size_t element_bytes) = 0;
  // Lengths in bytes, by member.
  virtual void do_all_to_all(std::span<const std::byte> sent, const std::vector<std::size_t>& send_bytes,
                             std::span<std::byte> received, const std::vector<std::size_t>& receive_bytes) = 0;

 private:
  void need_member() const;
  void need_root(int root) const;
  void reduce(std::span<std::byte> values, std::size_t element_bytes, Combine combine);
  void collect(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const std::size_t> counts,
               std::size_t element_bytes);
  void exchange(std::span<const std::byte> sent, std::span<const std::size_t> send_counts,
                std::span<std::byte> received, std::span<const std::size_t> receive_counts, std::size_t element_bytes);

  std::vector<int> ranks_;
  int rank_ = -1;
};

// The ranks of the largest square grid within a world: 0 to n*n - 1.
std::vector<int> square_grid(int ranks);

using TeamFactory = std::function<std::unique_ptr<Team>(World&, std::vector<int> ranks)>;
using RegisteredTeams = Registered<TeamFactory>;  // by kind of world

// ---

namespace team_detail {

template <class T>
T reduced(T a, T b, Fold fold) {
  if (fold == Fold::sum) return static_cast<T>(a + b);
  return fold == Fold::minimum ? std::min(a, b) : std::max(a, b);
}

template <class T>
Located<T> reduced(const Located<T>& a, const Located<T>& b, Fold fold) {
  const bool a_counts = a.value == a.value, b_counts = b.value == b.value;  // is no NaN
  if (a_counts != b_counts) return a_counts ? a : b;
  if (a.value == b.value || !a_counts) return a.place <= b.place ? a : b;
  return (a.value < b.value) == (fold == Fold::minimum) ? a : b;
}

template <class T, Fold fold>
void combine(std::byte* values, const std::byte* more, std::size_t elements) {
  auto* mine = reinterpret_cast<T*>(values);
  const auto* others = reinterpret_cast<const T*>(more);
  for (std::size_t i = 0; i < elements; ++i) mine[i] = reduced(mine[i], others[i], fold);
}

}  // namespace team_detail

template <class T>
void Team::all_reduce(std::span<T> values, Fold fold) {
  using namespace team_detail;
  reduce(std::as_writable_bytes(values), sizeof(T),
         fold == Fold::sum       ? combine<T, Fold::sum>
         : fold == Fold::minimum ? combine<T, Fold::minimum>
                                 : combine<T, Fold::maximum>);
}

template <class T>
void Team::all_reduce(std::span<Located<T>> values, Fold fold) {
  using namespace team_detail;
  if (fold == Fold::sum) throw Error("a sum has no place: located values have a minimum and a maximum");
  reduce(std::as_writable_bytes(values), sizeof(Located<T>),
         fold == Fold::minimum ? combine<Located<T>, Fold::minimum> : combine<Located<T>, Fold::maximum>);
}

template <class T>
void Team::all_gather(std::span<const T> mine, std::span<T> all, std::span<const std::size_t> counts) {
  collect(std::as_bytes(mine), std::as_writable_bytes(all), counts, sizeof(T));
}

template <class T>
std::vector<T> Team::all_gather(std::span<const T> mine) {
  const std::size_t count = mine.size();
  std::vector<std::size_t> counts(ranks_.size());
  all_gather(std::span(&count, 1), std::span(counts), std::vector<std::size_t>(counts.size(), 1));
  std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  all_gather(mine, std::span(all), counts);
  return all;
}

template <class T>
void Team::all_to_all(std::span<const T> sent, std::span<const std::size_t> send_counts, std::span<T> received,
                      std::span<const std::size_t> receive_counts) {
  exchange(std::as_bytes(sent), send_counts, std::as_writable_bytes(received), receive_counts, sizeof(T));
}

}  // namespace plumb
