#include "benchmarks/shmem/api/shmem_region.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace plumb::shmem_api {

namespace {

alignas(4096) std::byte global_memory[global_bytes];

}  // namespace

Region::Region(std::size_t bytes, bool global) {
  if (!global) {
    heap_ = std::make_unique<SymmetricMemory>(bytes);
    return;
  }
  if (bytes > global_bytes)
    throw Unsupported(fmt::format("it needs {} of global variables, but the program has {}", format_bytes(bytes),
                                  format_bytes(global_bytes)));
  global_ = global_memory;
  shmem_barrier_all();
}

Contexts::Contexts(int number) {
  for (int i = 0; i < number; ++i) {
    shmem_ctx_t context{};
    // Each is used by one thread at a time, not necessarily its creator. Not SHMEM_CTX_SERIALIZED for several: Open MPI
    // 4 has every thread progress all contexts, and then occasionally aborts in UCX.
    if (shmem_ctx_create(number > 1 ? 0 : SHMEM_CTX_SERIALIZED, &context) != 0) {
      for (shmem_ctx_t made : contexts_) shmem_ctx_destroy(made);
      throw Unsupported(fmt::format("this OpenSHMEM library provides {} contexts, but {} are needed", i, number));
    }
    contexts_.push_back(context);
  }
}

Contexts::~Contexts() {
  for (shmem_ctx_t context : contexts_) shmem_ctx_destroy(context);
}

void on_threads(int threads, const std::function<void(int)>& action) {
  if (threads == 1) {
    action(0);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) action(thread);
}

void note_wrong(Validation& found, const std::string& what) {
  if (found.wrong_items++ == 0) found.detail = what;
  found.error = static_cast<double>(found.wrong_items);
}

}  // namespace plumb::shmem_api
