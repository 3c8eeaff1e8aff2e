// ceilings: the limits of one device, for models of other benchmarks.
#pragma once

#include "benchmarks/device/ceilings/parts.hpp"

namespace plumb::ceilings {

class Ceilings : public Benchmark {
 public:
  std::string name() const override { return "ceilings"; }
  std::string title() const override { return "limits of a device: arithmetic, memory, random access, launch, link"; }
  std::string source() const override {
    return "roofline (Williams, Waterman, Patterson, CACM 52(4), 2009): its ceilings, each measured alone";
  }
  bool takes_kernel_file() const override { return true; }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session&, const Case&, std::uint64_t, std::uint64_t count) override { part_->reset(count); }
  void run(Session&, const Case&, Timed& timed) override { part_->run(timed.count()); }
  Validation validate(Session&, const Case&, std::uint64_t, std::uint64_t count) override {
    return part_->validate(count);
  }
  void release() override { part_.reset(); }
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  Parameter<std::string> only_{
      *this, {"only", "comma-separated prefixes of the cases' keys: launch, flops/float, memory, …"}, ""};
  Parameter<std::int64_t> size_{
      *this,
      {"size", "length of an array in the device's memory; four times its caches or more", "log2 B"},
      27,
      {12, 36}};
  Parameter<std::int64_t> tables_{
      *this,
      {"tables", "random updates of so many tables, each eight times the one before, the first as long as an array"},
      1,
      {1, 4}};
  Parameter<std::int64_t> updates_{
      *this, {"updates", "random updates of one launch; fewer where the table is short", "log2"}, 20, {6, 30}};
  Parameter<std::int64_t> passes_{
      *this, {"passes", "launches of one repetition of random updates; 0 = as many as its time takes"}, 0, {0, 1024}};
  Parameter<std::int64_t> accumulators_{
      *this,
      {"accumulators", "numbers that one launch of the arithmetic works on, a multiple of 4096; many for a large GPU"},
      16384,
      {4096, std::int64_t{1} << 30}};

  std::vector<Group> all_groups() const;
  bool wanted(const Case& measured) const;
  Group flops_group() const;
  Group memory_group() const;
  Group random_group() const;
  Group launch_group() const;
  Group link_group() const;

  std::unique_ptr<Part> part_;  // of the prepared case
};

}  // namespace plumb::ceilings
