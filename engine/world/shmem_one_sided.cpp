#include "world/shmem_one_sided.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace plumb {

ShmemOneSided::ShmemOneSided(World& world, std::size_t bytes, int contexts) : world_(world), memory_(bytes) {
  if (contexts == 1) contexts_.push_back(SHMEM_CTX_DEFAULT);
  while (this->contexts() < contexts) {
    shmem_ctx_t made{};
    if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &made) != 0)
      throw Error(
          fmt::format("OpenSHMEM gives {} communication contexts, but {} were asked for", this->contexts(), contexts));
    contexts_.push_back(made);
  }
  fetches_bits_ = shmem_fetches_bits(memory_.as<SymmetricWord>());
}

ShmemOneSided::~ShmemOneSided() {
  if (contexts_.size() == 1) return;
  for (const shmem_ctx_t context : contexts_) shmem_ctx_destroy(context);
}

void ShmemOneSided::synchronise() {
  for (const shmem_ctx_t context : contexts_) shmem_ctx_quiet(context);
  world_.barrier();
}

namespace {

const RegisteredOneSided registered_shmem_one_sided("shmem", [](World& world, std::size_t bytes, int contexts) {
  return std::make_unique<ShmemOneSided>(world, bytes, contexts);
});

}  // namespace

}  // namespace plumb
