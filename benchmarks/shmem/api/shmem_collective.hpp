// Collectives of all PEs. A count is one call. Successive calls alternate between targets, work arrays and sync arrays,
// which satisfies the standard's conditions without a barrier: a PE that completes a call in which all depend on all
// can conclude that the others have left the previous call. In a broadcast only the root is depended on, so the root
// rotates, with one array per possible concurrent call (or a shmem_sync_all between calls if that needs too much
// memory). Every element of every written target is compared.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "benchmarks/shmem/api/shmem_region.hpp"
#include "core/data.hpp"

namespace plumb::shmem_api {

enum class Gathers { reduction, broadcast, collect, alltoall };
enum class Reduces { bit_and, bit_or, bit_xor, minimum, maximum, sum, product };

// Arguments of a call. Lengths are in elements of one PE's contribution (alltoall: per destination PE).
template <class T>
struct Round {
  T* target = nullptr;
  const T* source = nullptr;
  std::size_t elements = 1;
  int root = 0, pes = 2;
  T* work = nullptr;
  long* sync = nullptr;
};

template <class T>
struct Collector {
  Gathers gathers = Gathers::reduction;
  Reduces reduces = Reduces::sum;
  std::size_t stride = 1;
  bool root_too = false;  // a broadcast that also writes the root's target (teams)
  std::size_t sync_size = 0;
  std::function<void(const Round<T>&)> call = {};
};

// Contributions of a PE to a reduction: every result must be exact in T.
template <class T>
T contribution(Reduces reduces, int pe, std::uint64_t bits) {
  if (reduces == Reduces::sum) return static_cast<T>(1 + bits % 64);
  if (reduces == Reduces::product) {
    const int size = pe < 6 && (bits & 2) != 0 ? 2 : 1;
    return static_cast<T>((bits & 1) != 0 ? -size : size);
  }
  return value_of<T>(bits);
}

template <class T>
T reduced(Reduces reduces, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (reduces == Reduces::bit_and) return static_cast<T>(a & b);
    if (reduces == Reduces::bit_or) return static_cast<T>(a | b);
    if (reduces == Reduces::bit_xor) return static_cast<T>(a ^ b);
  }
  if (reduces == Reduces::minimum) return std::min(a, b);
  if (reduces == Reduces::maximum) return std::max(a, b);
  return static_cast<T>(reduces == Reduces::sum ? a + b : a * b);
}

template <class T>
struct CollectiveExtent {
  CollectiveExtent(const Collector<T>& c, const Setting& s) : elements(s.bytes / sizeof(T)) {
    const auto pes = static_cast<std::size_t>(s.pes);
    const bool everyone = c.gathers == Gathers::collect || c.gathers == Gathers::alltoall;
    source_length = elements * c.stride * (c.gathers == Gathers::alltoall ? pes : 1);
    target_length = elements * c.stride * (everyone ? pes : 1);
    if (c.gathers == Gathers::broadcast) {
      constexpr std::size_t most_bytes = std::size_t{64} << 20;
      turns = std::clamp<std::size_t>(most_bytes / (target_length * sizeof(T)), 2, pes + 1);
      synchronised = turns < pes + 1;
    }
    if (c.gathers == Gathers::reduction)
      work_length = std::max<std::size_t>(elements / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    source = layout.add(source_slots * source_length * sizeof(T));
    target = layout.add(turns * target_length * sizeof(T));
    work = layout.add(turns * work_length * sizeof(T));
    sync = layout.add(turns * c.sync_size * sizeof(long));
  }
  static constexpr std::size_t source_slots = 2;
  std::size_t elements, source_length, target_length, work_length = 0;
  std::size_t turns = 2;                                   // targets, work and sync arrays
  bool synchronised = false;                               // too few turns: a shmem_sync_all precedes each reuse
  std::size_t source = 0, target = 0, work = 0, sync = 0;  // offsets
  Layout layout;
};

template <class T>
class Collective : public Pattern {
 public:
  static Needs needs(const Collector<T>& c, const Setting& s) {
    const CollectiveExtent<T> extent(c, s);
    Needs needs;
    const std::uint64_t bytes = extent.elements * sizeof(T), pes = static_cast<std::uint64_t>(s.pes);
    // Data that the operation must bring to each PE from others, independent of the algorithm: one vector, or one of
    // each other PE.
    const bool everyone = c.gathers == Gathers::collect || c.gathers == Gathers::alltoall;
    needs.moved = c.gathers == Gathers::broadcast ? bytes * (pes - 1) : bytes * (everyone ? pes * (pes - 1) : pes);
    needs.work.bytes_sent = c.gathers == Gathers::alltoall ? bytes * (pes - 1) : bytes;
    needs.work.messages = 1;
    if (c.gathers == Gathers::reduction && c.reduces >= Reduces::minimum)
      needs.work.flops = static_cast<double>(extent.elements);
    needs.items_to_check = extent.turns * extent.target_length;
    needs.symmetric_bytes = extent.layout.bytes();
    return needs;
  }

  Collective(Collector<T> collector, const Setting& setting)
      : collector_(std::move(collector)),
        setting_(setting),
        extent_(collector_, setting),
        region_(extent_.layout.bytes(), setting.global),
        source_(array_in<T>(region_, extent_.source, extent_.source_slots * extent_.source_length)),
        target_(array_in<T>(region_, extent_.target, extent_.turns * extent_.target_length)) {
    std::ranges::fill(array_in<long>(region_, extent_.sync, extent_.turns * collector_.sync_size), SHMEM_SYNC_VALUE);
    shmem_barrier_all();
  }

  void reset(std::uint64_t repetition, std::uint64_t) override {
    for (std::size_t slot = 0; slot < extent_.source_slots; ++slot) {
      const std::uint64_t key = origin(setting_.pe, slot, repetition).key();
      T* const values = source_.data() + slot * extent_.source_length;
      for (std::size_t i = 0; i < extent_.source_length; ++i) values[i] = given(setting_.pe, mix64(key + i));
    }
    poison_values(target_, untouched(repetition));
    shmem_barrier_all();  // the targets are ready before any PE calls
  }

  void run(std::uint64_t count) override {
    const int pes = setting_.pes;
    Round<T> round;
    round.elements = extent_.elements;
    round.pes = pes;
    std::size_t turn = 0, slot = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      round.target = target_.data() + turn * extent_.target_length;
      round.source = source_.data() + slot * extent_.source_length;
      round.work = array_in<T>(region_, extent_.work, 1).data() + turn * extent_.work_length;
      round.sync = array_in<long>(region_, extent_.sync, 1).data() + turn * collector_.sync_size;
      collector_.call(round);
      if (collector_.gathers != Gathers::broadcast || ++round.root == pes) {
        round.root = 0;
        slot = 1 - slot;
      }
      if (++turn == extent_.turns) turn = 0;
      if (extent_.synchronised && turn % (extent_.turns - 1) == 0) shmem_sync_all();
    }
  }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    Validation found;
    found.reference = "every element of every target recomputed from all PEs' contributions";
    found.items_checked = target_.size();
    // Before any other call: a PE's targets are complete on return from its own call.
    for (std::size_t turn = 0; turn < extent_.turns; ++turn) check_target(turn, repetition, count, found);
    shmem_barrier_all();
    return found;
  }

 private:
  Provenance origin(int pe, std::size_t slot, std::uint64_t repetition) const {
    return {setting_.seed, static_cast<std::uint64_t>(pe), slot, 0, repetition};
  }
  Provenance untouched(std::uint64_t repetition) const { return origin(setting_.pe, std::size_t{1} << 40, repetition); }
  T given(int pe, std::uint64_t bits) const {
    return collector_.gathers == Gathers::reduction ? contribution<T>(collector_.reduces, pe, bits) : value_of<T>(bits);
  }

  // The call whose result a target holds; none if it was not written.
  std::optional<std::uint64_t> last_call(std::size_t turn, std::uint64_t count) const {
    if (turn >= count) return std::nullopt;
    std::uint64_t call = count - 1 - (count - 1 - turn) % extent_.turns;
    if (collector_.gathers != Gathers::broadcast || collector_.root_too) return call;
    while (static_cast<int>(call % static_cast<std::uint64_t>(setting_.pes)) == setting_.pe) {
      if (call < extent_.turns) return std::nullopt;
      call -= extent_.turns;
    }
    return call;
  }

  void check_target(std::size_t turn, std::uint64_t repetition, std::uint64_t count, Validation& found) const {
    const std::optional<std::uint64_t> call = last_call(turn, count);
    const auto pes = static_cast<std::size_t>(setting_.pes);
    const bool rooted = collector_.gathers == Gathers::broadcast;
    const std::size_t slot = call ? (rooted ? *call / pes : *call) % extent_.source_slots : 0;
    std::vector<std::uint64_t> keys;
    for (std::size_t pe = 0; pe < pes; ++pe) keys.push_back(origin(static_cast<int>(pe), slot, repetition).key());
    const std::uint64_t idle = untouched(repetition).key();
    const std::size_t first = turn * extent_.target_length;
    const int root = call ? static_cast<int>(*call % pes) : 0;
    for (std::size_t at = 0; at < extent_.target_length; ++at) {
      const bool written = call && at % collector_.stride == 0;
      const T should = written ? expected(keys, root, at) : poison_of<T>(mix64(idle + first + at));
      if (!(target_[first + at] == should))
        note_wrong(found, [&] {
          return fmt::format("element {} of {} in target {} {}", at, extent_.target_length, turn,
                             written ? "differs from the PEs' contributions" : "was written, and should not be");
        });
    }
  }

  T expected(const std::vector<std::uint64_t>& keys, int root, std::size_t at) const {
    const std::size_t block = extent_.elements * collector_.stride;
    if (collector_.gathers == Gathers::collect) return value_of<T>(mix64(keys[at / block] + at % block));
    if (collector_.gathers == Gathers::alltoall)
      return value_of<T>(mix64(keys[at / block] + static_cast<std::size_t>(setting_.pe) * block + at % block));
    if (collector_.gathers == Gathers::broadcast) return value_of<T>(mix64(keys[static_cast<std::size_t>(root)] + at));
    T result = given(0, mix64(keys[0] + at));
    for (std::size_t pe = 1; pe < keys.size(); ++pe)
      result = reduced<T>(collector_.reduces, result, given(static_cast<int>(pe), mix64(keys[pe] + at)));
    return result;
  }

  Collector<T> collector_;
  Setting setting_;
  CollectiveExtent<T> extent_;
  Region region_;
  std::span<T> source_, target_;
};

template <class T>
Row collective_row(std::string name, std::string kind, std::string set, Collector<T> collector) {
  Row row{std::move(name), std::move(kind), std::move(set), sizeof(T)};
  row.needs = [collector](const Setting& s) { return Collective<T>::needs(collector, s); };
  row.make = [collector](const Setting& s) { return std::make_unique<Collective<T>>(collector, s); };
  return row;
}

}  // namespace plumb::shmem_api
