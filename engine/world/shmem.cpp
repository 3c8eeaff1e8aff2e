#include "world/shmem.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"
#include "world/collect.hpp"
#include "world/shmem_mailbox.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

constexpr const char* heap_remedy =
    "give the symmetric heap more: SHMEM_SYMMETRIC_SIZE (OpenSHMEM's name), SHMEM_SYMMETRIC_HEAP_SIZE (Open MPI's), "
    "both "
    "as in 1G; plumb run sets them";

double init_seconds = 0;

class ShmemWorld : public World {
 public:
  explicit ShmemWorld(const WorldNeeds& needs) {
    initialise(needs);
    info_ = shmem_info();
    rank_ = shmem_my_pe();
    size_ = shmem_n_pes();
    mailbox_ = std::make_unique<Mailbox>(rank_, size_);
    find_neighbours();
  }
  ~ShmemWorld() override {
    const Waiting waiting("shmem_finalize");
    mailbox_.reset();
    shmem_finalize();
  }
  ShmemWorld(const ShmemWorld&) = delete;
  ShmemWorld& operator=(const ShmemWorld&) = delete;

  const WorldInfo& info() const override { return info_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }

  void barrier() override {
    const Waiting waiting("all ranks at a barrier");
    shmem_barrier_all();
  }

  // Binomial tree: ranks with the bytes send them to the rank at a distance of the number of ranks that have them.
  void broadcast(std::span<std::byte> bytes, int root) override {
    const Waiting waiting("a broadcast");
    const int place = (rank_ - root + size_) % size_;
    const auto rank_at = [&](int other) { return (other + root) % size_; };
    int have = 1;
    for (; have <= place; have *= 2)
      if (place < 2 * have) mailbox_->receive(bytes, rank_at(place - have));
    for (; have < size_; have *= 2)
      if (place + have < size_) mailbox_->send(bytes, rank_at(place + have));
  }

  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) override {
    const Waiting waiting("all ranks at a gather");
    if (rank_ != root) {
      const std::uint64_t length = bytes.size();
      mailbox_->send(std::as_bytes(std::span(&length, 1)), root);
      mailbox_->send(bytes, root);
      return {};
    }
    std::vector<std::vector<std::byte>> parts(static_cast<std::size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) {
      auto& part = parts[static_cast<std::size_t>(rank)];
      if (rank == root) {
        part.assign(bytes.begin(), bytes.end());
        continue;
      }
      std::uint64_t length = 0;
      mailbox_->receive(std::as_writable_bytes(std::span(&length, 1)), rank);
      part.resize(length);
      mailbox_->receive(part, rank);
    }
    return parts;
  }

  void send(std::span<const std::byte> bytes, int to) override {
    const Waiting waiting("a control message to be received");
    mailbox_->send(bytes, to);
  }

  void receive(std::span<std::byte> bytes, int from) override {
    const Waiting waiting("a control message");
    mailbox_->receive(bytes, from);
  }

  // Asks the library instead of a variable: libraries use different names for the heap's size, and reserve parts of it.
  std::string symmetric_problem(std::uint64_t bytes) override {
    if (bytes == 0) return "";
    const Waiting waiting("symmetric memory");
    void* memory = shmem_malloc(bytes);
    const std::string problem =
        memory != nullptr ? ""
                          : fmt::format("each PE needs {} of symmetric memory, more than its symmetric heap has: {}",
                                        format_bytes(bytes), heap_remedy);
    if (memory != nullptr) shmem_free(memory);
    return problem;
  }

  void abort(int exit_status) override {
    shmem_global_exit(exit_status);
    std::_Exit(exit_status);
  }

 private:
  static void initialise(const WorldNeeds& needs) {
    // Open MPI 4.1's one-sided component `rdma` crashes in shmem_finalize (its issue 11604); SHMEM does not need it.
    setenv("OMPI_MCA_osc", "^rdma", 0);
    const int wanted = needs.threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_FUNNELED;
    int provided = wanted;
    const auto begin = std::chrono::steady_clock::now();
    const int failed = shmem_init_thread(wanted, &provided);
    init_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (failed != 0)
      throw Error("OpenSHMEM could not be initialised: is the program started by the library's launcher (oshrun)?");
    if (needs.threads && provided < SHMEM_THREAD_MULTIPLE)
      throw Error("this OpenSHMEM library does not support SHMEM_THREAD_MULTIPLE: omit --threads");
  }

  // Ranks are grouped by a hash of their host names.
  void find_neighbours() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const std::uint64_t mine = std::hash<std::string>{}(name.data());
    std::vector<std::uint64_t> hosts = gather_values(*this, mine);
    hosts.resize(static_cast<std::size_t>(size_));
    broadcast(std::as_writable_bytes(std::span(hosts)), 0);
    const auto begin = hosts.begin();
    local_rank_ = static_cast<int>(std::count(begin, begin + rank_, mine));
    local_size_ = static_cast<int>(std::count(begin, hosts.end(), mine));
  }

  WorldInfo info_;
  std::unique_ptr<Mailbox> mailbox_;  // destroyed before shmem_finalize
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
};

}  // namespace

std::unique_ptr<World> make_shmem_world(int&, char**&, const WorldNeeds& needs) {
  return std::make_unique<ShmemWorld>(needs);
}

double shmem_init_seconds() {
  return init_seconds;
}

WorldInfo shmem_info() {
#if PLUMBLINE_SHMEM_IS_OPEN_MPI
  const std::string library =
      fmt::format("Open MPI v{}.{}.{}", OSHMEM_MAJOR_VERSION, OSHMEM_MINOR_VERSION, OSHMEM_RELEASE_VERSION);
#else
  const std::string library = SHMEM_VENDOR_STRING;
#endif
  return {"shmem", library, fmt::format("OpenSHMEM {}.{}", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION), "shmem"};
}

SymmetricMemory::SymmetricMemory(std::size_t bytes) : size_(bytes) {
  data_ = static_cast<std::byte*>(shmem_malloc(std::max<std::size_t>(bytes, 1)));
  if (data_ == nullptr)
    throw Error(fmt::format("no {} of symmetric memory can be had: {}", format_bytes(bytes), heap_remedy));
  std::memset(data_, 0, bytes);
  shmem_barrier_all();  // no puts before the memory is zeroed
}

SymmetricMemory::~SymmetricMemory() {
  shmem_free(data_);
}

bool shmem_fetches_bits(SymmetricWord* word) {
  const int here = shmem_my_pe();
  shmem_ulong_atomic_set(word, 5, here);
  shmem_quiet();
  const bool fetched = shmem_ulong_atomic_fetch_xor(word, 3, here) == 5;
  shmem_quiet();
  const bool changed = shmem_ulong_atomic_fetch(word, here) == 6;
  shmem_ulong_atomic_set(word, 0, here);
  shmem_quiet();
  shmem_barrier_all();  // no use of the word before that
  return fetched && changed;
}

void Backoff::wait() {
  constexpr unsigned looks_before_sleep = 20000;
  if (looks_++ < looks_before_sleep) {
    sched_yield();
    return;
  }
  const timespec little{0, 20000};
  nanosleep(&little, nullptr);
}

// Open MPI 4.1's shmem_test only looks. Over TCP, atomics of another PE wait until this one drives the library, which
// its shmem_wait_until does by this function; without it two hosts wait for each other.
bool at_least(SymmetricWord* word, SymmetricWord value) {
  static const auto drive = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "opal_progress"));
  if (shmem_ulong_test(word, SHMEM_CMP_GE, value) != 0) return true;
  if (drive != nullptr) drive();
  return false;
}

void wait_at_least(SymmetricWord* word, SymmetricWord value) {
  Backoff backoff;
  while (!at_least(word, value)) backoff.wait();
}

}  // namespace plumb
