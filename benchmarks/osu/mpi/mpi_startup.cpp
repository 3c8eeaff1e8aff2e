// Startup: MPI_Init, timed where the world is made, and a program that prints hello.
#include <fmt/format.h>

#include "benchmarks/osu/mpi/mpi_row.hpp"
#include "world/mpi.hpp"

namespace plumb::osu {

namespace {

// Checks the ranks' numbers, on all ranks.
class Started : public Pattern {
 public:
  static Needs needs(const Setting& s) {
    Needs needs;
    needs.items_to_check = static_cast<std::uint64_t>(s.ranks);
    needs.once = true;
    return needs;
  }
  Started(const Setting& setting, bool init)
      : s_(setting), init_(init), seen_(static_cast<std::size_t>(setting.ranks)) {}

  void reset(std::uint64_t, std::uint64_t) override { std::fill(seen_.begin(), seen_.end(), -1); }
  void run_timed(Timed& timed) override {
    MPI_Allgather(&s_.rank, 1, MPI_INT, seen_.data(), 1, MPI_INT, s_.comm);
    if (init_) timed.tally("from_process_start_s", mpi_start().since_process_start);
  }
  Validation validate(std::uint64_t, std::uint64_t) override {
    Validation found;
    found.reference = "the numbers of all ranks";
    for (int rank = 0; rank < s_.ranks; ++rank) {
      ++found.items_checked;
      if (seen_[rank] != rank && found.wrong_items++ == 0)
        found.detail = fmt::format("rank {} says that it is {}", rank, seen_[rank]);
    }
    found.error = static_cast<double>(found.wrong_items);
    return found;
  }
  std::optional<double> seconds_elsewhere() const override {
    return init_ ? std::optional(mpi_start().seconds) : std::nullopt;
  }

 private:
  Setting s_;
  bool init_;
  std::vector<int> seen_;
};

Titled startup_row(const char* name, const char* title, bool init) {
  Titled titled{title, init ? "init" : "hello", {name, init ? "init" : "hello", "osu"}};
  titled.row.needs = [](const Setting& s) { return Started::needs(s); };
  titled.row.make = [init](const Setting& s) { return std::make_unique<Started>(s, init); };
  return titled;
}

}  // namespace

std::vector<Titled> startup_rows() {
  return {startup_row("osu_init", "OSU MPI% Init Test", true),
          startup_row("osu_hello", "OSU MPI% Hello World Test", false)};
}

}  // namespace plumb::osu
