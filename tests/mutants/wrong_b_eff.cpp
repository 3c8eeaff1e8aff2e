// b_eff with defective validators: a rank that validates nothing, ranks that check half of their bytes, one
// whose error is below zero.
#include "benchmarks/hpcc/b_eff/b_eff.hpp"

namespace plumb::mutants {

namespace {

class BlindRank : public b_eff::BEff {
 public:
  std::string name() const override { return "mutant-b_eff-blind-rank"; }
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    if (session.world.rank() != session.world.size() - 1) return BEff::validate(session, measured, repetition, count);
    Validation nothing;
    nothing.reference = "nothing";
    return nothing;
  }
};

class HalfSighted : public b_eff::BEff {
 public:
  std::string name() const override { return "mutant-b_eff-half-sighted"; }
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    Validation found = BEff::validate(session, measured, repetition, count);
    found.items_checked /= 2;
    return found;
  }
};

class BelowZero : public b_eff::BEff {
 public:
  std::string name() const override { return "mutant-b_eff-below-zero"; }
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    Validation found = BEff::validate(session, measured, repetition, count);
    if (session.world.rank() == session.world.size() - 1) found.error = -1;
    return found;
  }
};

const RegisteredBenchmark below_zero("mutant-b_eff-below-zero", [] { return std::make_unique<BelowZero>(); });
const RegisteredBenchmark blind("mutant-b_eff-blind-rank", [] { return std::make_unique<BlindRank>(); });
const RegisteredBenchmark half_sighted("mutant-b_eff-half-sighted", [] { return std::make_unique<HalfSighted>(); });

}  // namespace

}  // namespace plumb::mutants
