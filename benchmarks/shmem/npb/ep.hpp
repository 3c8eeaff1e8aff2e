// npb_ep: pairs of normal deviates, the baseline without messages.
#pragma once

#include "benchmarks/shmem/npb/npb.hpp"
#include "benchmarks/shmem/npb/random46.hpp"

namespace plumb::npb {

// Sums over some pairs, and their counts by annulus.
struct Deviates {
  double x = 0, y = 0;
  std::int64_t counts[10] = {};
};

class Ep : public Npb {
 public:
  Ep()
      : Npb({"npb_ep",
             "pairs of normal deviates from uniform random numbers",
             {"gpairs", "randn", "rcomm"},
             "Random numbers generated",
             false,
             "npb_ep is the baseline of processes without messages: a device's arithmetic is measured by gemm and "
             "ceilings"}) {}

 protected:
  double operations(const ClassRow& problem) const override;
  std::string size_text(const ClassRow& problem) const override;
  void change(ClassRow& row) const override;
  std::uint64_t items(const ClassRow& row, const Plan& plan) const override;
  std::uint64_t host_bytes(const ClassRow& row, const Plan& plan) const override;
  void set_up(Session& session) override;
  void restart() override;
  void iterate(std::uint64_t iteration) override;
  void check(Checks& checks, std::uint64_t repetition) override;

  virtual std::uint64_t seed() const { return 271828183; }
  virtual void reduce();  // own_ of all ranks to total_
  Deviates own_, total_;

 private:
  void batch(std::uint64_t number);

  Parameter<std::int64_t> log2_pairs_{
      *this, {"log2-pairs", "pairs, without official values; 0: the class's", "log2"}, 0, {0, 40}};
  Share batches_{};  // of this rank
  std::vector<double> numbers_;
  std::vector<Deviates> by_batch_;
};

}  // namespace plumb::npb
