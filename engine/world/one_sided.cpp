#include "world/one_sided.hpp"

#include "core/error.hpp"

namespace plumb {

std::unique_ptr<OneSided> make_one_sided(World& world, std::size_t bytes, int contexts) {
  const OneSidedFactory* factory = Registry<OneSidedFactory>::instance().find(world.info().kind);
  if (factory == nullptr) throw Unsupported("world " + world.info().kind + " has no memory that other ranks reach");
  return (*factory)(world, bytes, contexts);
}

}  // namespace plumb
