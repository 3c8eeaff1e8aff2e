// SSCA1: local alignments of two strings of codons by all ranks (kernel 1), and the best ones in detail (kernel 2).
// README.md in this folder derives every metric and defines what is proven.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/shmem/ssca1/kernel1.hpp"
#include "benchmarks/shmem/ssca1/kernel2.hpp"
#include "benchmarks/shmem/ssca1/validator.hpp"
#include "measure/benchmark.hpp"
#include "world/team.hpp"

namespace plumb::ssca1 {

class Ssca1 : public Benchmark {
 public:
  std::string name() const override { return "ssca1"; }
  std::string title() const override { return "local alignments of two strings of codons, by all ranks together"; }
  std::string source() const override {
    return "SSCA#1 (HPCS), kernels 1 and 2, as in the OpenSHMEM Benchmark Suite (OSB); data of its own";
  }
  Preset preset(const std::string& name) const override;
  bool needs_device() const override { return on_device(); }
  bool needs_transport() const override { return on_device(); }
  bool takes_kernel_file() const override { return on_device(); }
  bool threads_communicate() const override { return threads_.given() || variant_ == "threaded"; }
  ValidateWhen validate_when() const override { return ValidateWhen::each_repetition; }

  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& info) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare_group(Session& session, const Group& group, Timed& timed) override;
  void prepare(Session&, const Case&) override {}
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  void release_group() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  // Replaced by mutants.
  virtual Strings strings(const Maker& maker, int rank) const;
  virtual Scores kernel_scores() const { return scores(); }
  virtual std::unique_ptr<Kernel1> make_kernel1(World& world, const std::string& variant, int bits);
  virtual Found find(Kernel1& kernel) { return kernel.run(); }
  virtual Alignment detail(const Problem& problem, const End& end) const { return align(problem, end, limit()); }

  Scores scores() const;
  const Problem& problem() const { return problem_; }
  Team& team() const { return *team_; }
  std::uint64_t tile() const { return static_cast<std::uint64_t>(tile_.get()); }
  std::uint64_t limit() const;

 private:
  Parameter<double> scale_{
      *this, {"scale", "log2 of the number of cells, about: both strings have 2^(scale/2) + 79 codons"}, 20, {1, 62}};
  Choice variant_{*this,
                  {"variant", "how ranks share the cells, or device: by kernels; all: each of them but device"},
                  "blocked",
                  {"all", "put-get", "threaded", "blocked", "device"}};
  Choice bits_{*this,
               {"bits", "variants blocked and device: bits of a score; 16 is an error if a score overflows"},
               "32",
               {"32", "16"}};
  Parameter<std::int64_t> tile_{
      *this,
      {"tile",
       "variants blocked and device: columns sent to the next rank at once, a multiple of 8; default of a "
       "device: by its type"},
      128,
      {8, 1 << 20}};
  Choice form_{*this,
               {"form",
                "variant device: tiles, a launch for each anti-diagonal of them; strips, many columns a launch; auto: "
                "strips on GPUs"},
               "auto",
               {"auto", "tiles", "strips"}};
  Parameter<std::int64_t> threads_{
      *this, {"threads", "variant threaded: threads of a rank, each with a context of its own"}, 2, {1, 1024}};
  Parameter<std::int64_t> exact_{*this, {"exact", "score of equal codons"}, 5, {1, 10000}};
  Parameter<std::int64_t> similar_{*this, {"similar", "score of codons of one amino acid"}, 4, {0, 10000}};
  Parameter<std::int64_t> dissimilar_{*this, {"dissimilar", "score of other codons"}, -3, {-10000, -1}};
  Parameter<std::int64_t> gap_start_{*this, {"gap-start", "cost of a gap, beside that of its codons"}, 5, {0, 5000}};
  Parameter<std::int64_t> gap_extend_{*this, {"gap-extend", "cost of each codon of a gap"}, 2, {1, 5000}};
  Parameter<std::int64_t> minimum_{*this, {"minimum-score", "alignments score more"}, 20, {0, 10000}};
  Parameter<std::int64_t> separation_{
      *this, {"separation", "least distance, in either string, of two reported ends"}, 5, {1, 1 << 20}};
  Parameter<std::int64_t> reports_{*this, {"reports", "ends reported by kernel 1"}, 200, {1, 1 << 20}};
  Parameter<std::int64_t> alignments_{*this, {"alignments", "ends that kernel 2 takes"}, 100, {1, 1 << 20}};
  Parameter<std::int64_t> match_limit_{
      *this, {"match-limit", "codons of an alignment in either string at most; 0: 3 times the scale"}, 0, {0, 4096}};
  Choice proof_{
      *this,
      {"proof",
       "what ends are compared with: oracle, all cells one by one; blocked, all cells by variant blocked with "
       "other bits; windows, cells round the reported ends and 1,000 others; auto, by the number of cells"},
      "auto",
      {"auto", "oracle", "blocked", "windows"}};

  // A pair of strings; repetitions take two pairs in turn, so what an earlier one found is wrong.
  struct Pair {
    Maker maker;
    Strings given;                                   // to the kernels
    Problem right;                                   // of the validation, made apart
    std::optional<std::vector<End>> reference = {};  // of all ranks; by the oracle: on rank 0
  };
  static constexpr std::size_t pairs = 2;

  bool on_device() const { return variant_ == "device"; }
  std::uint64_t device_tile() const { return tile_.given() ? tile() : 0; }
  std::vector<std::string> variants() const;
  Proof proof() const;
  std::vector<End> gathered(std::vector<End> mine) const;
  std::vector<Alignment> align_all(const std::vector<End>& kept) const;
  const std::vector<End>& reference(World& world, Pair& pair);

  std::unique_ptr<Team> team_;
  std::vector<Pair> pairs_;
  std::size_t pair_ = 0;  // of this repetition
  Problem problem_;       // of the kernels
  std::unique_ptr<Kernel1> kernel_;
  Outcome outcome_, first_outcome_;  // of this repetition, and of the last one with the first pair
};

}  // namespace plumb::ssca1
