// Words sent to other ranks, collected by destination: the messages of a level-synchronous search.
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
  // Called for words that arrive, on this thread, within send() and finish(); must not send. If all words are sent in
  // pairs, the one after the other, pairs arrive together.
  using Take = std::function<void(std::span<const std::uint64_t>)>;
  virtual ~Courier() = default;
  virtual void send(int rank, std::uint64_t word) = 0;  // `rank` must not be this one
  // Collective: on return all words sent to this rank since the last call have been taken. Ranks that
  // return early may send no more until a collective call has followed.
  virtual void finish() = 0;
};

// Collective.
using CourierFactory = std::function<std::unique_ptr<Courier>(World&, Courier::Take)>;
using RegisteredCourier = Registered<CourierFactory>;  // by name of the variant

std::uint64_t bucket_bytes(int ranks);  // of each rank's remotely accessible memory, for `bucketed`

}  // namespace plumb::graph500
