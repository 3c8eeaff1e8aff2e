// Libraries that omit some of the puts or gets of a sample.
#include <vector>

#include "benchmarks/shmem/api/shmem_transfer.hpp"
#include "tests/mutants/shmem_mutants.hpp"
#include "tests/mutants/shmem_wrong_shoms.hpp"

namespace plumb::mutants {

namespace {

using namespace shmem_api;
using Byte = std::byte;

constexpr std::uint64_t window = 64;  // as in the tests

// Selects the executed operations of a sample: number, and total.
struct Drops {
  const char* name;
  bool (*happens)(std::uint64_t number, std::uint64_t count);
};

const std::vector<Drops>& all_drops() {
  static const std::vector<Drops> all{
      {"last-of-window-only", [](auto i, auto n) { return i % window == window - 1 || i + 1 == n; }},
      {"every-second", [](auto i, auto) { return i % 2 == 1; }},
      {"first-63-lost", [](auto i, auto n) { return i >= window - 1 || n < window; }},
      {"last-only", [](auto i, auto n) { return i + 1 == n; }},
      {"first-only", [](auto i, auto) { return i == 0; }},
      {"last-window-only", [](auto i, auto n) { return i + window >= n; }},
      {"all-but-one", [](auto i, auto n) { return i != n / 2; }},
      {"all-but-first", [](auto i, auto n) { return i != 0 || n == 1; }},
      {"count-mod-16", [](auto i, auto n) { return i + n % 16 >= n; }},
  };
  return all;
}

// move() for the executed operations.
template <class T, class Move>
Mover<T> dropping(Mover<T> mover, void (*function)(T*, const T*, std::size_t, int), const Drops& drops, Move move) {
  struct At {
    std::uint64_t number = 0, count = 0;
  };
  const auto at = std::make_shared<At>();
  const Loop<T> loop = loop_of<T, Plain>(
      function, complete_plain,
      [at, move, happens = drops.happens](const auto& channel, auto f, T* remote, T* local, std::size_t n, int pe) {
        if (happens(at->number++, at->count)) move(channel, f, remote, local, n, pe);
      });
  mover.plain = [loop, at](const Stretch<T>& s) {
    *at = {0, s.count};
    loop(s);
  };
  mover.injection = false;
  return mover;
}

void put_bytes(Byte* remote, const Byte* local, std::size_t n, int pe) {
  shmem_putmem(remote, local, n, pe);
}
void get_bytes(Byte* local, const Byte* remote, std::size_t n, int pe) {
  shmem_getmem(local, remote, n, pe);
}

Mover<Byte> way_of(Way way) {
  Mover<Byte> mover;
  mover.way = way;
  return mover;
}

}  // namespace

void register_dropped() {
  for (const Drops& drops : all_drops()) {
    Mover<long> put, get;
    get.way = Way::get;
    put = dropping<long>(put, shmem_long_put, drops, move_put);
    get = dropping<long>(get, shmem_long_get, drops, move_get);
    add_to_shoms(drops.name, transfer_row<long>("long_put", "put", "shoms", put));
    add_to_shoms(drops.name, transfer_row<long>("long_get", "get", "shoms", get));
    const Mover<Byte> put_byte = dropping<Byte>(way_of(Way::put), put_bytes, drops, move_put);
    const Mover<Byte> get_byte = dropping<Byte>(way_of(Way::get), get_bytes, drops, move_get);
    add_to_osu("put_bw", drops.name, transfer_row<Byte>("putmem", "put", "shoms", put_byte));
    if (&drops - all_drops().data() >= 3) continue;
    add_to_osu("put_mr", drops.name, transfer_row<Byte>("putmem", "put", "shoms", put_byte));
    add_to_osu("get_bw", drops.name, transfer_row<Byte>("getmem", "get", "shoms", get_byte));
  }
}

}  // namespace plumb::mutants
