// Transports and benchmarks made wrong on purpose. A mutant wraps a real transport and spoils what it does in one way;
// every one of them must come out `failed`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transport/transport.hpp"

namespace plumb::mutants {

// What a mutant may touch.
struct Wrapped {
  World& world;
  Device& device;
  const Exchange& exchange;                    // as the benchmark described it
  std::unique_ptr<CompiledExchange> compiled;  // by the real transport, perhaps from an altered exchange
};

// How a mutant spoils an exchange: what it compiles instead, and what it does instead of running the rounds.
struct Mutation {
  std::string name;
  std::function<Exchange(const Exchange&, const World&)> alter = {};
  std::function<std::unique_ptr<CompiledExchange>(Wrapped)> wrap = {};
  // The device as the transport sees it; null = the real one.
  std::function<std::unique_ptr<Device>(Device&, const World&)> device = {};
  std::string approach = {};  // the only one of the base that is spoiled; "" = all of them
};

// Registers "mutant-NAME-BASE" for each of the bases: an entry like the base's, but for the name.
void register_mutation(const Mutation& mutation, const std::vector<std::string>& bases);

// Registers "wrong-NAME-accl-tcp" and the like, engines of ACCL with a fault, and "faulty-NAME-accl-udp", right engines
// over a network with one.
void register_wrong_engines();

// Registers all wrong transports. To be called in main: their bases are there by then.
void register_wrong_transports();

}  // namespace plumb::mutants
