// npb_is: ranks of integer keys, sorted by buckets whose owners they are sent to.
#pragma once

#include "benchmarks/shmem/npb/device_is.hpp"
#include "benchmarks/shmem/npb/npb.hpp"

namespace plumb::npb {

using Key = std::int32_t;

class Is : public Npb {
 public:
  Is()
      : Npb({"npb_is",
             "ranks of integer keys, sent to the owners of their buckets",
             {"rcomp", "rcomm"},
             "keys ranked"}) {}

 protected:
  double operations(const ClassRow& row) const override;
  std::string size_text(const ClassRow& row) const override;
  void change(ClassRow& row) const override;
  void check_problem(const ClassRow& row, int ranks) const override;
  std::uint64_t items(const ClassRow& row, const Plan& plan) const override;
  Links links(const ClassRow& row, int rank, int ranks) const override;
  std::uint64_t host_bytes(const ClassRow& row, const Plan& plan) const override;
  DeviceBytes device_bytes(const ClassRow& row, const Plan& plan) const override;
  Volume volume(const ClassRow& row, int ranks) const override;
  const Traffic* device_traffic() const override { return device_ ? &device_->traffic() : nullptr; }
  void set_up(Session& session) override;
  void restart() override;
  void iterate(std::uint64_t iteration) override;
  void check(Checks& checks, std::uint64_t repetition) override;
  void tear_down() override;

  // Steps of an iteration, replaced by mutants.
  virtual void change_keys(std::uint64_t iteration);
  virtual void reduce() { all_reduce(std::span<std::int32_t>(counts_), Fold::sum); }
  virtual std::vector<std::size_t> borders() const;  // first bucket of each rank, and the number of buckets
  virtual void sort_to_owners();
  virtual void rank_keys(std::uint64_t iteration);

  Share mine_{};                                   // of the keys
  std::vector<Key> keys_;                          // of this rank
  std::vector<Key> kept_;                          // those that it owns itself, by buckets
  std::vector<std::span<const Key>> received_;     // the keys owned, by message; kept_ is the last
  std::vector<std::int32_t> own_counts_, counts_;  // of keys by bucket: of this rank, of all; then the test keys
  std::vector<std::int32_t> smaller_;              // by key of the own range: the number of keys below it
  Key low_ = 0;                                    // least key of the own range
  std::vector<std::uint64_t> found_sums_;          // by iteration: ranks of the own keys, weighted

 private:
  static constexpr std::size_t tests = 5;  // keys whose ranks are noted in each iteration

  std::vector<Key> original(std::uint64_t first, std::uint64_t end) const;
  Key changed(std::uint64_t place, std::uint64_t iteration, Key before) const;
  void count_buckets();
  void agree_on_counts();
  std::uint64_t keys_for(int to) const;
  void count_keys(std::span<const Key> keys);
  void rank_on_device(std::uint64_t iteration);
  void note_tests(std::uint64_t iteration, std::span<const std::int32_t> ranks);
  std::vector<std::size_t> test_keys() const;  // places of the test keys in the own range; others are beyond it
  DeviceKeys::Rooms rooms(const ClassRow& row, int rank, int ranks) const;
  std::vector<std::int32_t> counted() const;
  void check_ranks(Checks& checks, std::span<const std::int32_t> below);
  void check_tests(Checks& checks, std::span<const std::int32_t> below);
  void check_sums(Checks& checks, std::span<const std::int32_t> below);

  Parameter<std::int64_t> log2_keys_{
      *this, {"log2-keys", "keys, without official values; 0: the class's", "log2"}, 0, {0, 40}};
  Parameter<std::int64_t> log2_max_key_{
      *this, {"log2-max-key", "range of the keys, without official values; 0: the class's", "log2"}, 0, {0, 40}};

  ClassRow row_;
  int shift_ = 0;  // of a key to its bucket
  std::size_t buckets_ = 0;
  std::vector<Key> saved_;                  // first keys of this rank, among which are those that iterations change
  std::vector<std::uint64_t> test_places_;  // among all keys
  std::vector<std::size_t> first_bucket_;   // by rank
  std::vector<Key*> next_;                  // by bucket: where its next key goes
  std::vector<std::int64_t> found_keys_, found_ranks_;  // by iteration and test; ranks: 0 unless this rank owns the key
  std::unique_ptr<DeviceKeys> device_;                  // variant device: the keys are there
  std::vector<std::vector<Key>> fetched_;               // of them, for checks
};

}  // namespace plumb::npb
