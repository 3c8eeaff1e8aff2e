// A library that delays puts until shmem_quiet or a barrier completes them, as the standard allows;
// this program replaces both. Tests that await completion pass over it (passes-shoms-…); others fail,
// even if a barrier follows immediately.
#include <dlfcn.h>

#include <deque>
#include <vector>

#include "benchmarks/shmem/api/shmem_atomic.hpp"
#include "benchmarks/shmem/api/shmem_transfer.hpp"
#include "tests/mutants/shmem_mutants.hpp"
#include "tests/mutants/shmem_wrong_shoms.hpp"

namespace plumb::mutants {

namespace {

using namespace shmem_api;

std::deque<std::function<void()>>& kept_back() {
  static std::deque<std::function<void()>> all;
  return all;
}

void complete_all() {
  for (; !kept_back().empty(); kept_back().pop_front()) kept_back().front()();
}

// While it is set, shmem_quiet completes nothing.
bool& keep_quiet() {
  static bool set = false;
  return set;
}

void next_in_line(const char* name) {
  reinterpret_cast<void (*)()>(dlsym(RTLD_NEXT, name))();
}

const auto put_later = [](const auto&, auto, long* remote, long* local, std::size_t n, int pe) {
  kept_back().emplace_back(
      [=, values = std::vector<long>(local, local + n)] { shmem_long_put(remote, values.data(), n, pe); });
};
// Copies from the source at the time of transfer, any time until completion.
const auto get_later = [](const auto&, auto, long* remote, long* local, std::size_t n, int pe) {
  kept_back().emplace_back([=] { shmem_long_get(local, remote, n, pe); });
};
const auto add_later = [](const auto&, auto, long* word, const Operands<long>& given, int pe) {
  kept_back().emplace_back([=] { shmem_long_atomic_add(word, given.value, pe); });
  return 0L;
};

template <class Quiet, class Move>
Row moving(const char* name, Way way, Quiet quiet, Move move) {
  Mover<long> mover;
  mover.way = way;
  mover.plain = loop_of<long, Plain>(shmem_long_put, quiet, move);
  return transfer_row<long>(name, "lazy", "later", mover);
}

}  // namespace

void register_lazy() {
  const auto no_quiet = [](const auto&) {};
  add_to_shoms("lazy-no-quiet", moving("long_put", Way::put, no_quiet, put_later));
  add_to_shoms("lazy-no-quiet", moving("long_get_nbi", Way::get, no_quiet, get_later));
  add_to_shoms("passes-lazy", moving("long_put_nbi", Way::put, complete_plain, put_later));
  add_to_shoms("passes-lazy", moving("long_get", Way::get, complete_plain, get_later));
  add_to_shoms("passes-lazy",
               atomic_row<long>("long_add", "add", "shoms", actor<long>(Does::add, false, 0, 0, add_later)));
  Actor<long> hasty = actor<long>(Does::add, false, 0, 0, add_later);
  hasty.plain = [plain = hasty.plain](const Volley<long>& volley) {
    Volley<long> open = volley;
    open.window = volley.count + 1;  // the loop's last quiet is the only one, and is omitted
    keep_quiet() = true;
    plain(open);
    keep_quiet() = false;
  };
  add_to_shoms("lazy-no-quiet", atomic_row<long>("long_inc", "add", "shoms", hasty));
}

}  // namespace plumb::mutants

extern "C" {

void shmem_quiet(void) {
  if (!plumb::mutants::keep_quiet()) plumb::mutants::complete_all();
  plumb::mutants::next_in_line("shmem_quiet");
}

void shmem_barrier_all(void) {
  plumb::mutants::complete_all();
  plumb::mutants::next_in_line("shmem_barrier_all");
}
}
