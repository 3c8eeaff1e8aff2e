// Words on their way to other ranks, collected by destination: what a level-synchronous search sends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/registry.hpp"
#include "world/world.hpp"

namespace plumb::graph500 {

class Courier {
 public:
  // What is done with words that arrive, on this thread, within send() and finish(); it sends nothing itself.
  using Take = std::function<void(std::span<const std::uint64_t>)>;
  virtual ~Courier() = default;
  virtual void send(int rank, std::uint64_t word) = 0;  // another rank than this one
  // Collective: on return all words that any rank sent this one since the last call have been taken. Ranks that
  // return early may send no more until a collective call has followed.
  virtual void finish() = 0;
};

// Collective.
using CourierFactory = std::function<std::unique_ptr<Courier>(World&, Courier::Take)>;
using RegisteredCourier = Registered<CourierFactory>;  // by name of the variant

std::uint64_t bucket_bytes(int ranks);  // of each rank's memory that others reach, for `bucketed`

}  // namespace plumb::graph500
