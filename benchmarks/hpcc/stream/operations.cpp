#include "benchmarks/hpcc/stream/operations.hpp"

#include "core/error.hpp"

namespace plumb::stream {

const std::vector<Operation>& operations() {
  using enum Array;
  using Kind = Operation::Kind;
  const auto same = [](double x, double) { return x; };
  static const std::vector<Operation> table{
      {"write", Kind::write, {a, b, c}, {a, b, c}, false, 0, same},
      {"copy", Kind::kernel, {a}, {c}, false, 0, same},
      {"scale", Kind::kernel, {c}, {b}, true, 1, [](double x, double) { return scalar * x; }},
      {"add", Kind::kernel, {a, b}, {c}, false, 1, [](double x, double y) { return x + y; }},
      {"triad", Kind::kernel, {b, c}, {a}, true, 2, [](double x, double y) { return x + scalar * y; }},
      {"dot", Kind::dot, {a, b}, {}, false, 2, [](double x, double y) { return x * y; }},
      {"read", Kind::read, {a, b, c}, {a, b, c}, false, 0, same},
  };
  return table;
}

const Operation& operation(const std::string& name) {
  for (const Operation& row : operations())
    if (row.name == name) return row;
  throw Error("STREAM has no operation " + name);
}

}  // namespace plumb::stream
