#include "interpose/staging/requests.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>

namespace plumb::interpose {

namespace {

constexpr std::size_t chunk = 1024, chunks = 1024, stride = 64;
static_assert(chunk * chunks * stride <= std::size_t{64} << 20);  // the range of request_addresses
static_assert(chunk * chunks == integers);

template <class Handle>
Handle to_handle(std::size_t slot) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Handle>(request_addresses.begin + slot * stride);  // NOLINT(performance-no-int-to-ptr)
  else
    return static_cast<Handle>(request_kind | static_cast<std::uint32_t>(slot));
}

template <class Handle>
std::size_t to_slot(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return (reinterpret_cast<std::uintptr_t>(handle) - request_addresses.begin) / stride;
  else
    return static_cast<std::uint32_t>(handle) & ~request_kind_bits;
}

template <class Handle>
MPI_Fint to_integer(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return first_integer + static_cast<MPI_Fint>(to_slot(handle));
  else
    return handle;
}

template <class Handle>
Handle from_integer(MPI_Fint integer) {
  if constexpr (std::is_pointer_v<Handle>)
    return to_handle<Handle>(static_cast<std::size_t>(integer - first_integer));
  else
    return integer;
}

// A slot is found without a lock: requests are not moved, and a slot belongs to one thread at a time.
class Table {
 public:
  std::size_t add(Request request) {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) grow();
    const std::size_t slot = free_.back();
    free_.pop_back();
    at(slot) = std::move(request);
    return slot;
  }
  void remove(std::size_t slot) {
    Request ended = std::move(at(slot));
    const std::scoped_lock lock(mutex_);
    at(slot) = Request();
    free_.push_back(slot);
  }
  bool has(std::size_t slot) const { return slot / chunk < made_ && at(slot).call; }
  Request& at(std::size_t slot) const { return (*pieces_[slot / chunk])[slot % chunk]; }

 private:
  using Piece = std::array<Request, chunk>;

  void grow() {
    if (made_ == chunks)
      throw Error(
          fmt::format("too many incomplete requests on device memory ({}); complete requests with MPI_Wait or MPI_Test",
                      chunk * chunks));
    pieces_[made_] = std::make_unique<Piece>();
    for (std::size_t i = chunk; i-- > 0;) free_.push_back(made_ * chunk + i);
    ++made_;
  }

  std::mutex mutex_;
  std::array<std::unique_ptr<Piece>, chunks> pieces_;
  std::atomic<std::size_t> made_ = 0;
  std::vector<std::size_t> free_;  // latest last
};

Table& table() {
  static Table& only = *std::make_unique<Table>().release();
  return only;
}

}  // namespace

MPI_Fint integer_of(MPI_Request own) {
  return to_integer(own);
}

MPI_Request request_of(MPI_Fint own) {
  return from_integer<MPI_Request>(own);
}

MPI_Request publish(Request request) {
  return to_handle<MPI_Request>(table().add(std::move(request)));
}

Request& own_request(MPI_Request handle) {
  const std::size_t slot = to_slot(handle);
  if (!table().has(slot)) throw Error("invalid request: already completed or freed");
  return table().at(slot);
}

void retire(MPI_Request handle) {
  table().remove(to_slot(handle));
}

}  // namespace plumb::interpose
