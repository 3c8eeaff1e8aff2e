// Variant `messages`: MPI's non-blocking two-sided messages, a buffer of words at a time.
#include <vector>

#include "benchmarks/shmem/graph500/courier.hpp"
#include "transport/idle.hpp"
#include "world/mpi.hpp"
#include "world/watchdog.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::size_t words_of_message = 4095;  // the head, and an even number: pairs stay together
constexpr std::size_t posted_receives = 8;
constexpr int words_tag = 500;
constexpr std::uint64_t last_flag = std::uint64_t{1}
                                    << 63;  // in a head, with the number of this round's messages to that rank

// Messages may be taken out of order: the last of a round holds their number.
class Messages final : public Courier {
 public:
  Messages(World& world, Take take) : take_(std::move(take)), rank_(world.rank()), size_(world.size()) {
    check_mpi(MPI_Comm_dup(transport_communicator(world), &communicator_), "make a communicator");
    peers_.resize(static_cast<std::size_t>(size_));
    for (std::size_t i = 0; i < posted_receives && size_ > 1; ++i) {
      arriving_.emplace_back(words_of_message);
      receives_.push_back(MPI_REQUEST_NULL);
      post(i);
    }
  }

  ~Messages() override {
    for (MPI_Request& request : receives_) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (Peer& peer : peers_) MPI_Waitall(2, peer.sends, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&communicator_);
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  void send(int rank, std::uint64_t word) override {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    peer.buffers[peer.now][peer.collected++] = word;
    if (peer.collected == words_of_message) flush(rank, 0);
  }

  void finish() override {
    const Waiting waiting("words of other ranks");
    for (int away = 1; away < size_; ++away) {
      const int rank = (rank_ + away) % size_;
      flush(rank, last_flag | (peers_[static_cast<std::size_t>(rank)].messages + 1));
      peers_[static_cast<std::size_t>(rank)].messages = 0;
    }
    Idle idle(true);
    for (unsigned looks = 1; ended_ + 1 < size_ || taken_ < announced_; ++looks)
      if (poll())
        idle.moved();
      else if (looks % 64 == 0)
        idle.look();
    ended_ = 0;
    taken_ = announced_ = 0;
  }

 private:
  struct Peer {
    std::vector<std::uint64_t> buffers[2] = {std::vector<std::uint64_t>(words_of_message),
                                             std::vector<std::uint64_t>(words_of_message)};
    MPI_Request sends[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::size_t now = 0, collected = 1;
    std::uint64_t messages = 0;  // of this round
  };

  void post(std::size_t i) {
    check_mpi(MPI_Irecv(arriving_[i].data(), static_cast<int>(words_of_message), MPI_UINT64_T, MPI_ANY_SOURCE,
                        words_tag, communicator_, &receives_[i]),
              "receive words");
  }

  void flush(int rank, std::uint64_t head) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    peer.buffers[peer.now][0] = head;
    check_mpi(MPI_Isend(peer.buffers[peer.now].data(), static_cast<int>(peer.collected), MPI_UINT64_T, rank, words_tag,
                        communicator_, &peer.sends[peer.now]),
              "send words");
    ++peer.messages;
    peer.now = 1 - peer.now;
    peer.collected = 1;
    int is_free = 0;
    for (;;) {
      check_mpi(MPI_Test(&peer.sends[peer.now], &is_free, MPI_STATUS_IGNORE), "send words");
      if (is_free != 0) break;
      poll();
    }
    poll();
  }

  // Takes an arrived message; false if there is none.
  bool poll() {
    int index = MPI_UNDEFINED, arrived = 0, words = 0;
    MPI_Status status;
    check_mpi(MPI_Testany(static_cast<int>(receives_.size()), receives_.data(), &index, &arrived, &status),
              "receive words");
    if (arrived == 0 || index == MPI_UNDEFINED) return false;
    Waiting::progress();
    check_mpi(MPI_Get_count(&status, MPI_UINT64_T, &words), "receive words");
    const std::vector<std::uint64_t>& message = arriving_[static_cast<std::size_t>(index)];
    ++taken_;
    if ((message[0] & last_flag) != 0) {
      ++ended_;
      announced_ += message[0] & ~last_flag;
    }
    take_(std::span(message).subspan(1, static_cast<std::size_t>(words) - 1));
    post(static_cast<std::size_t>(index));
    return true;
  }

  Take take_;
  int rank_, size_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::vector<Peer> peers_;
  std::vector<std::vector<std::uint64_t>> arriving_;
  std::vector<MPI_Request> receives_;
  int ended_ = 0;                            // ranks that have sent their last message of this round
  std::uint64_t taken_ = 0, announced_ = 0;  // messages of this round
};

const RegisteredCourier registered_messages("messages", [](World& world, Courier::Take take) {
  return std::make_unique<Messages>(world, std::move(take));
});

}  // namespace

}  // namespace plumb::graph500
