// Initialisation and finalisation of OpenSHMEM, each once per program.
#include "benchmarks/shmem/api/row.hpp"
#include "benchmarks/shmem/api/shmem_region.hpp"

namespace plumb::shmem_api {

namespace {

// shmem_init was timed at the construction of the world.
class Initialised : public Pattern {
 public:
  static Needs needs(const Setting&) {
    Needs needs;
    needs.items_to_check = 1;
    needs.once = true;
    return needs;
  }
  explicit Initialised(const Setting& setting) : setting_(setting) {}
  void reset(std::uint64_t, std::uint64_t) override {}
  void run(std::uint64_t) override {}
  Validation validate(std::uint64_t, std::uint64_t) override {
    Validation found;
    found.reference = "rank and size of the world";
    found.items_checked = 1;
    if (shmem_my_pe() != setting_.pe || shmem_n_pes() != setting_.pes)
      note_wrong(found, "OpenSHMEM's PE numbers differ");
    return found;
  }
  std::optional<double> seconds_elsewhere() const override { return shmem_init_seconds(); }

 private:
  Setting setting_;
};

}  // namespace

std::vector<Row> startup_rows() {
  Row init{"init", "startup", "shoms"};
  init.needs = Initialised::needs;
  init.make = [](const Setting& s) { return std::make_unique<Initialised>(s); };
  Row finalize{"finalize", "startup", "shoms"};
  finalize.missing = "shmem_finalize ends the world: no results can be gathered after it";
  return {init, finalize};
}

}  // namespace plumb::shmem_api
