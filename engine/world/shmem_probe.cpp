#include "world/shmem_probe.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "shmem_features.hpp"
#include "world/shmem.hpp"

namespace plumb {

namespace {

bool swaps_32_bits() {
  auto* word = static_cast<int*>(shmem_malloc(sizeof(int)));
  *word = 5;
  shmem_barrier_all();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  const bool was_there = shmem_int_atomic_compare_swap(word, 5, 7, next) == 5;
  shmem_barrier_all();
  const bool right = was_there && *word == 7;
  shmem_barrier_all();
  shmem_free(word);
  return right;
}

bool fetches_bits() {
  auto* word = static_cast<SymmetricWord*>(shmem_malloc(sizeof(SymmetricWord)));
  *word = 0;
  shmem_barrier_all();
  const bool right = shmem_fetches_bits(word);
  shmem_free(word);
  return right;
}

bool has_heap(const std::string& bytes) {
  void* memory = shmem_malloc(std::strtoull(bytes.c_str(), nullptr, 10));
  if (memory == nullptr) return false;
  shmem_free(memory);
  return true;
}

void print_features() {
  if (shmem_my_pe() != 0) return;
  fmt::print("teams={} put-signal={} atomic-nbi={} wait-many={} malloc-hints={}\n", PLUMBLINE_SHMEM_TEAMS,
             PLUMBLINE_SHMEM_PUT_SIGNAL, PLUMBLINE_SHMEM_ATOMIC_NBI, PLUMBLINE_SHMEM_WAIT_MANY,
             PLUMBLINE_SHMEM_MALLOC_HINTS);
}

}  // namespace

int probe_shmem(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  const bool known = what == "finalize" || what == "compare-swap-32" || what == "fetch-bitwise" || what == "features" ||
                     (what == "heap" && argc > 3);
  if (!known) return 2;
  shmem_init();
  bool works = true;
  if (what == "compare-swap-32") works = swaps_32_bits();
  if (what == "fetch-bitwise") works = fetches_bits();
  if (what == "heap") works = has_heap(argv[3]);
  if (what == "features") print_features();
  fmt::print("{}: {}\n", what, works ? "works" : "fails");
  std::fflush(stdout);  // before finalize, which may crash
  shmem_finalize();
  return works ? 0 : 1;
}

}  // namespace plumb
