#include "world/mpi.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "core/error.hpp"
#include "core/seconds.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

MpiStart start_of_mpi;

// Time since this process started: field 22 of its status (proc(5)), in ticks since the host's start.
double seconds_of_process() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name = text.rfind(')');
  std::istringstream fields(name == std::string::npos ? "" : text.substr(name + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  std::timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Open MPI 4's component `rdma` of windows crashes in MPI_Compare_and_swap on a window of MPI_Win_allocate. `plumb run`
// leaves it out as well; this is for programs started by hand.
void leave_out_broken_windows() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  MPI_Get_library_version(library.data(), &length);
  if (std::string(library.data()).starts_with("Open MPI v4.")) setenv("OMPI_MCA_osc", "^rdma", 0);
}

class MpiBareMessages : public BareMessages {
 public:
  MpiBareMessages(MPI_Comm communicator, std::size_t most) : communicator_(communicator), requests_(most) {}

  void exchange(std::span<const BareMessage> receives, std::span<const BareMessage> sends, bool yields) override {
    int code = MPI_SUCCESS, active = 0;
    for (const BareMessage& m : receives)
      code |= MPI_Irecv(m.at, static_cast<int>(m.bytes), MPI_BYTE, m.peer, m.tag, communicator_, &requests_[active++]);
    for (const BareMessage& m : sends)
      code |= MPI_Isend(m.at, static_cast<int>(m.bytes), MPI_BYTE, m.peer, m.tag, communicator_, &requests_[active++]);
    if (yields) {
      for (int done = 0; done == 0 && code == MPI_SUCCESS;) {
        code |= MPI_Testall(active, requests_.data(), &done, MPI_STATUSES_IGNORE);
        if (done == 0) sched_yield();
      }
    } else {
      code |= MPI_Waitall(active, requests_.data(), MPI_STATUSES_IGNORE);
    }
    if (code != MPI_SUCCESS) [[unlikely]]
      check_mpi(code, "exchange bare messages");
  }

 private:
  MPI_Comm communicator_;
  std::vector<MPI_Request> requests_;
};

class MpiWorld : public World {
 public:
  MpiWorld(int& argc, char**& argv, const WorldNeeds& needs) {
    int provided = 0;
    const int wanted = needs.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    leave_out_broken_windows();
    const double begin = now_seconds();
    check_mpi(MPI_Init_thread(&argc, &argv, wanted, &provided), "initialise MPI");
    start_of_mpi = {now_seconds() - begin, seconds_of_process()};
    if (needs.threads && provided < MPI_THREAD_MULTIPLE)
      throw Error("this MPI library does not support MPI_THREAD_MULTIPLE: omit --threads");
    info_ = mpi_info();
    control_ = duplicate();
    transport_ = duplicate();
    MPI_Comm_rank(control_, &rank_);
    MPI_Comm_size(control_, &size_);
    MPI_Comm host = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(control_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host),
              "find the ranks of a host");
    MPI_Comm_rank(host, &local_rank_);
    MPI_Comm_size(host, &local_size_);
    MPI_Comm_free(&host);
  }
  ~MpiWorld() override {
    const Waiting waiting("MPI_Finalize");
    MPI_Comm_free(&transport_);
    MPI_Comm_free(&control_);
    if (size_ > local_size_) let_others_leave();
    MPI_Finalize();
  }
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  const WorldInfo& info() const override { return info_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }
  MPI_Comm transport() const { return transport_; }

  void barrier() override {
    const Waiting waiting("all ranks at a barrier");
    check_mpi(MPI_Barrier(control_), "wait at a barrier");
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    const Waiting waiting("a broadcast");
    check_mpi(MPI_Bcast(bytes.data(), length(bytes.size()), MPI_BYTE, root, control_), "broadcast");
  }

  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) override {
    const Waiting waiting("all ranks at a gather");
    const bool here = rank_ == root;
    const int mine = length(bytes.size());
    std::vector<int> lengths(here ? size_ : 0);
    check_mpi(MPI_Gather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, root, control_), "gather lengths");
    std::vector<int> offsets(lengths.size());
    std::size_t total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      offsets[i] = length(total);
      total += static_cast<std::size_t>(lengths[i]);
    }
    std::vector<std::byte> all(total);
    check_mpi(
        MPI_Gatherv(bytes.data(), mine, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE, root, control_),
        "gather");
    std::vector<std::vector<std::byte>> parts;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      parts.emplace_back(all.begin() + offsets[i], all.begin() + offsets[i] + lengths[i]);
    return parts;
  }

  void send(std::span<const std::byte> bytes, int to) override {
    const Waiting waiting("a control message to be received");
    check_mpi(MPI_Send(bytes.data(), length(bytes.size()), MPI_BYTE, to, 0, control_), "send");
  }

  void receive(std::span<std::byte> bytes, int from) override {
    const Waiting waiting("a control message");
    check_mpi(MPI_Recv(bytes.data(), length(bytes.size()), MPI_BYTE, from, 0, control_, MPI_STATUS_IGNORE), "receive");
  }

  // On the transports' communicator, as libraries may treat communicators differently.
  std::unique_ptr<BareMessages> bare_messages(std::size_t most) override {
    return std::make_unique<MpiBareMessages>(transport_, most);
  }

  void abort(int exit_status) override {
    MPI_Abort(MPI_COMM_WORLD, exit_status);
    std::_Exit(exit_status);
  }

 private:
  // MPICH before 4.2 over UCX (its pull request 6596): a rank whose connections are flushed waits in PMI's barrier and
  // answers nobody, so one that is still in an earlier call then waits for ever. All ranks leave their last call before
  // the first of them finalises; the watchdog ends what is left of this.
  static void let_others_leave() {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
    MPI_Barrier(MPI_COMM_WORLD);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
#endif
  }

  static MPI_Comm duplicate() {
    MPI_Comm copy = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "duplicate the communicator");
    check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "set the error handler");
    return copy;
  }

  static int length(std::size_t bytes) {
    if (bytes > INT_MAX) throw Error(fmt::format("a control message of {} bytes is too long", bytes));
    return static_cast<int>(bytes);
  }

  WorldInfo info_;
  MPI_Comm control_ = MPI_COMM_NULL;    // for the world's own messages
  MPI_Comm transport_ = MPI_COMM_NULL;  // for measured messages
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
};

}  // namespace

std::unique_ptr<World> make_mpi_world(int& argc, char**& argv, const WorldNeeds& needs) {
  return std::make_unique<MpiWorld>(argc, argv, needs);
}

WorldInfo mpi_info() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string library(text.data(), static_cast<std::size_t>(length));
  library = library.substr(0, library.find('\n'));
  if (library.starts_with("Open MPI")) library = library.substr(0, library.find(','));  // without the packager's suffix
  if (library.starts_with("MPICH Version:")) library = "MPICH " + library.substr(library.find_first_not_of(" \t", 14));
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  return {"mpi", library, fmt::format("MPI {}.{}", version, subversion), "mpi"};
}

const MpiStart& mpi_start() {
  return start_of_mpi;
}

MPI_Comm transport_communicator(const World& world) {
  const auto* mpi = dynamic_cast<const MpiWorld*>(&world);
  if (mpi == nullptr) throw Unsupported("this transport needs a world over MPI; this world is " + world.info().kind);
  return mpi->transport();
}

void check_mpi(int code, const char* action) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(library_sentence(action, "MPI", code, std::string(text.data(), static_cast<std::size_t>(length)), ""));
}

}  // namespace plumb
