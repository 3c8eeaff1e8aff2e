// Teams over MPI, with communicators of their own.
#include <fmt/format.h>

#include <climits>

#include "core/error.hpp"
#include "world/mpi.hpp"
#include "world/team.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

int as_int(std::size_t bytes) {
  if (bytes > INT_MAX) throw Error(fmt::format("a team's message of {} bytes is too long", bytes));
  return static_cast<int>(bytes);
}

class MpiTeam final : public Team {
 public:
  MpiTeam(World& world, std::vector<int> ranks) : Team(std::move(ranks), world.rank()) {
    // Teams made at the same time have no rank in common, so their first ranks identify them.
    const int color = is_member() ? this->ranks().front() : MPI_UNDEFINED;
    check_mpi(MPI_Comm_split(transport_communicator(world), color, rank(), &team_), "make a team");
    check_mpi(MPI_Op_create(&MpiTeam::combine_elements, 1, &operation_), "make an operation");
  }
  ~MpiTeam() override {
    MPI_Op_free(&operation_);
    if (team_ != MPI_COMM_NULL) MPI_Comm_free(&team_);
  }
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

 private:
  void do_barrier() override {
    const Waiting waiting("a team at a barrier");
    check_mpi(MPI_Barrier(team_), "wait at a barrier");
  }

  void do_broadcast(std::span<std::byte> bytes, int root) override {
    const Waiting waiting("a team's broadcast");
    check_mpi(MPI_Bcast(bytes.data(), as_int(bytes.size()), MPI_BYTE, root, team_), "broadcast");
  }

  std::vector<std::vector<std::byte>> do_gather(std::span<const std::byte> bytes, int root) override {
    const Waiting waiting("a team at a gather");
    const int mine = as_int(bytes.size());
    std::vector<int> lengths(rank() == root ? static_cast<std::size_t>(size()) : 0);
    check_mpi(MPI_Gather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, root, team_), "gather lengths");
    std::vector<int> offsets;
    std::size_t total = 0;
    for (const int length : lengths) {
      offsets.push_back(as_int(total));
      total += static_cast<std::size_t>(length);
    }
    std::vector<std::byte> all(total);
    check_mpi(
        MPI_Gatherv(bytes.data(), mine, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE, root, team_),
        "gather");
    std::vector<std::vector<std::byte>> parts;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      parts.emplace_back(all.begin() + offsets[i], all.begin() + offsets[i] + lengths[i]);
    return parts;
  }

  // MPI passes only elements to its operators, so the combining function is stored per thread.
  void do_all_reduce(std::span<std::byte> values, std::size_t element_bytes, Combine combine) override {
    const Waiting waiting("a team's reduction");
    combining() = {combine, element_bytes};
    MPI_Datatype element = type_of(element_bytes);
    const int code =
        MPI_Allreduce(MPI_IN_PLACE, values.data(), as_int(values.size() / element_bytes), element, operation_, team_);
    MPI_Type_free(&element);
    check_mpi(code, "reduce");
  }

  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all, const std::vector<std::size_t>& counts,
                     std::size_t element_bytes) override {
    const Waiting waiting("a team's all-gather");
    const Lengths elements(counts);
    MPI_Datatype element = type_of(element_bytes);
    const int code = MPI_Allgatherv(mine.data(), as_int(mine.size() / element_bytes), element, all.data(),
                                    elements.counts.data(), elements.offsets.data(), element, team_);
    MPI_Type_free(&element);
    check_mpi(code, "gather on all");
  }

  void do_all_to_all(std::span<const std::byte> sent, const std::vector<std::size_t>& send_bytes,
                     std::span<std::byte> received, const std::vector<std::size_t>& receive_bytes) override {
    const Waiting waiting("a team's all-to-all");
    const Lengths out(send_bytes), in(receive_bytes);
    check_mpi(MPI_Alltoallv(sent.data(), out.counts.data(), out.offsets.data(), MPI_BYTE, received.data(),
                            in.counts.data(), in.offsets.data(), MPI_BYTE, team_),
              "exchange all with all");
  }

  static MPI_Datatype type_of(std::size_t element_bytes) {
    MPI_Datatype element = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(as_int(element_bytes), MPI_BYTE, &element), "make a type");
    check_mpi(MPI_Type_commit(&element), "make a type");
    return element;
  }

  struct Lengths {
    explicit Lengths(const std::vector<std::size_t>& bytes) {
      std::size_t at = 0;
      for (const std::size_t one : bytes) {
        counts.push_back(as_int(one));
        offsets.push_back(as_int(at));
        at += one;
      }
    }
    std::vector<int> counts, offsets;
  };

  struct Combining {
    Combine combine = nullptr;
    std::size_t element_bytes = 1;
  };
  static Combining& combining() {
    static thread_local Combining now;
    return now;
  }
  static void combine_elements(void* more, void* values, int* elements, MPI_Datatype*) {
    combining().combine(static_cast<std::byte*>(values), static_cast<const std::byte*>(more),
                        static_cast<std::size_t>(*elements));
  }

  MPI_Comm team_ = MPI_COMM_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

const RegisteredTeams registered_mpi_teams("mpi", [](World& world, std::vector<int> ranks) {
  return std::make_unique<MpiTeam>(world, std::move(ranks));
});

}  // namespace

}  // namespace plumb
