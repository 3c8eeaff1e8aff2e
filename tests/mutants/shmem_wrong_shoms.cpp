#include "tests/mutants/shmem_wrong_shoms.hpp"

#include "benchmarks/osu/shmem/shmem_osu.hpp"
#include "benchmarks/shmem/shoms/shmem_shoms.hpp"

namespace plumb::mutants {

namespace {

using shmem_api::Row;

class WrongShoms : public shoms::Shoms {
 public:
  WrongShoms(std::string name, const Row& wrong) : name_(std::move(name)) {
    for (Test& test : tests_)
      if (test.name == wrong.name) test.rows = {wrong};
  }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

class WrongOsu : public osu::OsuShmem {
 public:
  WrongOsu(std::string name, const std::string& test, const Row& wrong) : name_(std::move(name)) {
    for (Test& one : tests_)
      if (one.name == "osu_oshm_" + test) one.rows = {wrong};
  }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

}  // namespace

void add_to_shoms(const std::string& name, const Row& row) {
  const std::string whole = (name.starts_with("passes") ? "passes-shoms-" : "mutant-shoms-") + row.name + "-" + name;
  Registry<BenchmarkFactory>::instance().add(whole, [whole, row] { return std::make_unique<WrongShoms>(whole, row); });
}

void add_to_osu(const std::string& test, const std::string& name, const Row& row) {
  const std::string whole = "mutant-osu-" + test + "-" + name;
  Registry<BenchmarkFactory>::instance().add(
      whole, [whole, test, row] { return std::make_unique<WrongOsu>(whole, test, row); });
}

}  // namespace plumb::mutants
