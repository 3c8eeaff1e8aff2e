// Runtimes, transports and benchmarks register by name from their own source: adding one changes no list.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace plumb {

// One registry for each kind; Factory takes the arguments of that kind.
template <class Factory>
class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  void add(const std::string& name, Factory factory) {
    if (!factories_.emplace(name, std::move(factory)).second) throw Error("two parts are called " + name);
  }

  // Replaces a registered entry (tests with intentionally wrong parts).
  void replace(const std::string& name, Factory factory) { factories_.at(name) = std::move(factory); }

  // Null if the name is not registered.
  const Factory* find(const std::string& name) const {
    const auto found = factories_.find(name);
    return found == factories_.end() ? nullptr : &found->second;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, factory] : factories_) result.push_back(name);
    return result;
  }

 private:
  std::map<std::string, Factory> factories_;
};

// A static object of this type in a part's source registers it before main().
template <class Factory>
struct Registered {
  Registered(const std::string& name, Factory factory) { Registry<Factory>::instance().add(name, std::move(factory)); }
};

// "unknown transport: 'stagd' (choose from mpi, staged); did you mean staged?"
std::string unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& known);

}  // namespace plumb
