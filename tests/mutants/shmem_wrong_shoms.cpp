#include "tests/mutants/shmem_wrong_shoms.hpp"

#include "benchmarks/osu/shmem/shmem_osu.hpp"
#include "benchmarks/shmem/shoms/shmem_shoms.hpp"

namespace plumb::mutants {

namespace {

using shmem_api::Row;

struct WrongRow {
  std::string name;  // of its test in the wrong table
  std::string test;  // the test of the right table that it replaces
  Row row;
};

template <class Right>
std::vector<WrongRow>& wrong_rows() {
  static std::vector<WrongRow> all;
  return all;
}

// A benchmark with the wrong rows alone, each in a test of its own.
template <class Right>
class Wrong : public Right {
 public:
  explicit Wrong(std::string name) : name_(std::move(name)) {
    auto& tests = this->tests_;
    const auto right = std::exchange(tests, {});
    for (const WrongRow& wrong : wrong_rows<Right>())
      for (const auto& test : right)
        if (test.name == wrong.test) tests.push_back({wrong.name, test.kind, {wrong.row}});
  }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

template <class Right>
void add(const std::string& benchmark, WrongRow wrong) {
  if (wrong_rows<Right>().empty())
    Registry<BenchmarkFactory>::instance().add(benchmark,
                                               [benchmark] { return std::make_unique<Wrong<Right>>(benchmark); });
  wrong_rows<Right>().push_back(std::move(wrong));
}

}  // namespace

void add_to_shoms(const std::string& name, const Row& row) {
  add<shoms::Shoms>("wrong-shoms", {row.name + "-" + name, row.name, row});
}

void add_to_osu(const std::string& test, const std::string& name, const Row& row) {
  add<osu::OsuShmem>("wrong-osu", {test + "-" + name, "osu_oshm_" + test, row});
}

}  // namespace plumb::mutants
