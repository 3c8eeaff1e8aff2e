#include "benchmarks/apps/shallow_water/flops.hpp"

#include <cmath>
#include <cstdint>

namespace plumb::shallow_water {

namespace {

// A number that counts operations on variables; those on constants alone, and with constants 0 and 1, are free.
struct Counted {
  double value = 0;
  bool is_constant = true;
  static inline std::uint64_t operations = 0;

  Counted() = default;
  Counted(double of) : value(of) {}  // NOLINT(google-explicit-constructor): as a number
  Counted(double of, bool constant) : value(of), is_constant(constant) {}
  bool is(double x) const { return is_constant && value == x; }
  Counted with(Counted other, double result, bool is_free) const {
    const bool both = is_constant && other.is_constant;
    if (!both && !is_free) ++operations;
    return {result, both};
  }
  friend Counted operator+(Counted a, Counted b) { return a.with(b, a.value + b.value, a.is(0) || b.is(0)); }
  friend Counted operator-(Counted a, Counted b) { return a.with(b, a.value - b.value, a.is(0) || b.is(0)); }
  friend Counted operator*(Counted a, Counted b) {
    if (a.is(0) || b.is(0)) return {0.0};
    return a.with(b, a.value * b.value, a.is(1) || b.is(1));
  }
  friend Counted operator/(Counted a, Counted b) { return a.with(b, a.value / b.value, b.is(1)); }
  friend bool operator>=(Counted a, Counted b) { return a.value >= b.value; }
  friend bool operator>(Counted a, Counted b) { return a.value > b.value; }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
};

}  // namespace

}  // namespace plumb::shallow_water

#pragma GCC diagnostic ignored "-Wunused-parameter"  // of orders without that many points
#define GLOBAL
#define INLINE static inline
#define UNROLL
#define FRICTION (s->friction_kind)
#define GIVEN (s->is_given)
#define NATIVE_STAGE
#define ORDER 0
#define PRECISION counted_0
#include "benchmarks/apps/shallow_water/flops_type.hpp"
#define ORDER 1
#define PRECISION counted_1
#include "benchmarks/apps/shallow_water/flops_type.hpp"
#define ORDER 2
#define PRECISION counted_2
#include "benchmarks/apps/shallow_water/flops_type.hpp"

namespace plumb::shallow_water {

double flops_of_step(int order, const Physics& physics) {
  const int friction = static_cast<int>(physics.friction_kind);
  const double of_stage = order == 0   ? counted_0::of_stage(friction)
                          : order == 1 ? counted_1::of_stage(friction)
                                       : counted_2::of_stage(friction);
  return of_stage * static_cast<double>(stages_of(order).size());
}

}  // namespace plumb::shallow_water
