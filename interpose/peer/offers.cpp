#include "interpose/peer/offers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <string_view>
#include <thread>
#include <tuple>

#include "device/host_segment.hpp"
#include "device/opencl_c.hpp"
#include "interpose/memory/devices.hpp"
#include "interpose/memory/failure.hpp"
#include "interpose/memory/seat.hpp"
#include "interpose/peer/probed.hpp"
#include "transport/idle.hpp"

namespace plumb::interpose {

bool offers_on = false, peer_on = false;
std::size_t pieces_from = 0;

enum State : std::uint32_t { unused, offered, taken, moving, moved, done };

// In memory shared by all processes of the host; complete before the sender sends the envelope.
struct Entry {
  std::atomic<std::uint32_t> state;
  std::uint32_t handle_size;
  std::uint64_t buffer, offset, bytes;
  std::array<char, 24> runtime;
  std::array<char, 128> device;  // its name, truncated
  std::array<char, 200> handle;  // of the buffer; the message begins at `offset`
};

namespace {

constexpr std::size_t entries = 1024;
// Limit on the device memory of a sender for messages that are not taken yet.
constexpr std::size_t most_bytes = std::size_t{1} << 30;
// A waiting receiver takes a message sooner than its sender could move it.
constexpr std::chrono::microseconds patience{100};
constexpr double moved_bytes_per_s = 20e9;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

std::size_t offered_from() {
  static const std::size_t bytes = std::max<std::size_t>(bytes_from("PLUMB_MPI_PEER_FROM", 1), 1);
  return bytes;
}

template <class Done>
void wait_until(Done&& is_done) {
  for (int looks = 0; !is_done(); ++looks)
    if (looks > 100) std::this_thread::yield();
}

// Unique: shared buffers are kept until the process ends (OpenDevice::keep_shared).
std::uint64_t number_of(const DeviceMemory& memory) {
  return reinterpret_cast<std::uintptr_t>(memory.buffer.get());
}

// The messages that this process has offered.
class Board {
 public:
  Board() : segment_(entries * sizeof(Entry)), slots_(entries), counted_(entries) {
    blank_.process = static_cast<std::uint64_t>(getpid());
    segment_.handle().copy(blank_.board.data(), blank_.board.size() - 1);
  }

  Entry& at(std::size_t entry) const { return reinterpret_cast<Entry*>(segment_.data())[entry]; }
  Envelope envelope_of(std::size_t entry) const {
    const Entry& it = at(entry);
    Envelope envelope = blank_;
    envelope.bytes = it.bytes;
    envelope.entry = entry;
    envelope.buffer = it.buffer;
    envelope.offset = it.offset;
    return envelope;
  }

  // None if too many messages are not taken yet.
  std::optional<std::size_t> take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t look = 0; look < entries; ++look) {
      const std::size_t entry = next_++ % entries;
      if (!is_free(entry)) continue;
      if (!count(entry, bytes)) return {};
      at(entry).state = taken;
      return entry;
    }
    return {};
  }
  // For a message that its receiver has read from the sender's own memory.
  void give_back(std::size_t entry) {
    const std::scoped_lock lock(mutex_);
    bytes_ -= counted_[entry];
    counted_[entry] = 0;
    at(entry).state = unused;
  }
  // Copies a message into a slot, which keeps it until it is taken.
  void move(std::size_t entry, const DeviceMemory& memory) {
    Entry& it = at(entry);
    auto slot = std::make_shared<DeviceMemory>();
    slot->device = memory.device;
    slot->share(it.bytes);
    const Staging queue = memory.device->stage(1);
    queue.queue().enqueue_copy({memory.buffer.get(), it.offset, it.bytes}, {slot->buffer.get(), 0, it.bytes});
    wait_for(queue.queue(), memory.device->info());
    it.offset = 0;
    write_handle(it, *slot);
    const std::scoped_lock lock(mutex_);
    slots_[entry] = std::move(slot);
  }
  static void write_handle(Entry& entry, const DeviceMemory& memory) {
    const std::string& handle = memory.handle;
    const std::string& runtime = memory.device->info().runtime;
    if (handle.size() > entry.handle.size() || runtime.size() >= entry.runtime.size())
      throw Error("the handle or the runtime's name of shared memory exceeds the size of a message entry");
    entry.buffer = number_of(memory);
    entry.handle_size = static_cast<std::uint32_t>(handle.size());
    std::memcpy(entry.handle.data(), handle.data(), handle.size());
    entry.runtime = {};
    entry.device = {};
    runtime.copy(entry.runtime.data(), entry.runtime.size() - 1);
    memory.device->info().name.copy(entry.device.data(), entry.device.size() - 1);
  }

 private:
  // A moved message is ended by its receiver.
  bool is_free(std::size_t entry) {
    const std::uint32_t state = at(entry).state.load(std::memory_order_acquire);
    if (state == done && slots_[entry]) {
      slots_[entry].reset();
      bytes_ -= counted_[entry];
      counted_[entry] = 0;
      return true;
    }
    return state == unused;
  }
  bool count(std::size_t entry, std::size_t bytes) {
    for (std::size_t other = 0; other < entries && bytes_ + bytes > most_bytes; ++other)
      if (slots_[other] && is_free(other)) at(other).state = unused;
    if (bytes_ + bytes > most_bytes) return false;
    bytes_ += bytes;
    counted_[entry] = bytes;
    return true;
  }

  HostSegment segment_;
  Envelope blank_;
  std::mutex mutex_;
  std::size_t next_ = 0, bytes_ = 0;
  std::vector<std::shared_ptr<DeviceMemory>> slots_;
  std::vector<std::size_t> counted_;
};

// Never destroyed: other processes read it.
Board& board() {
  static Board& only = *std::make_unique<Board>().release();
  return only;
}

// The board of another process.
Entry& entry_of(const Envelope& envelope) {
  static std::mutex mutex;
  static auto& known = *std::make_unique<std::map<std::uint64_t, HostSegment>>().release();
  const std::scoped_lock lock(mutex);
  auto found = known.find(envelope.process);
  if (found == known.end()) found = known.try_emplace(envelope.process, std::string(envelope.board.data())).first;
  return reinterpret_cast<Entry*>(found->second.data())[envelope.entry];
}

// Whether a device can read the buffer of an entry; through an OpenCL driver only a buffer of the same kind of device.
bool reads(const DeviceInfo& info, const Entry& entry) {
  return info.runtime == entry.runtime.data() &&
         (!has_opencl_driver(info) || info.name.substr(0, entry.device.size() - 1) == entry.device.data());
}

// Buffers of other processes, as opened by the device that reads them.
struct OpenedBuffer {
  std::shared_ptr<OpenDevice> device;
  Buffer* buffer = nullptr;
};

OpenedBuffer open_buffer(std::uint64_t process, std::uint64_t buffer, const Entry& entry,
                         const std::shared_ptr<OpenDevice>& wanted) {
  using Key = std::tuple<std::uint64_t, std::uint64_t, const OpenDevice*>;
  static std::mutex mutex;
  static auto& known = *std::make_unique<std::map<Key, OpenedBuffer>>().release();
  const std::scoped_lock lock(mutex);
  OpenedBuffer& it = known[{process, buffer, wanted.get()}];
  if (it.buffer == nullptr) {
    it.device = wanted && reads(wanted->info(), entry)
                    ? wanted
                    : open_device(entry.runtime.data(), entry.device.data(), this_seat());
    it.buffer = &it.device->open_shared({entry.handle.data(), entry.handle_size});
  }
  return it;
}

using Partners = std::vector<Partner>;

int end_partners(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<Partners> ended(static_cast<Partners*>(value));
  return MPI_SUCCESS;
}

MPI_Group host_group = MPI_GROUP_NULL, world_group = MPI_GROUP_NULL;
int partners_key = MPI_KEYVAL_INVALID;

std::vector<int> translated(MPI_Group from, MPI_Group to) {
  int size = 0;
  PMPI_Group_size(from, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(from, size, ranks.data(), to, found.data());
  return found;
}

std::unique_ptr<Partners> find_partners(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  int between = 0, own = 0;
  PMPI_Comm_test_inter(comm, &between);
  if (between != 0)
    PMPI_Comm_remote_group(comm, &group);
  else
    PMPI_Comm_group(comm, &group);
  PMPI_Group_rank(host_group, &own);
  const std::vector<int> of_host = translated(group, host_group), of_world = translated(group, world_group);
  PMPI_Group_free(&group);
  auto found = std::make_unique<Partners>();
  for (std::size_t i = 0; i < of_host.size(); ++i)
    found->push_back({of_world[i], of_host[i] != MPI_UNDEFINED && of_host[i] != own});
  return found;
}

// In bytes, the same on all ranks; 0 if one of them wants naive staging.
std::size_t agreed_pieces() {
  const char* value = std::getenv("PLUMB_MPI_STAGING");
  const std::string_view name = value == nullptr || *value == '\0' ? "pieces" : value;
  if (name != "pieces" && name != "naive")
    abort_call("MPI_Init", fmt::format("invalid value '{}' for PLUMB_MPI_STAGING (choose from pieces, naive)", name));
  // Fewer bytes than this are faster whole. An envelope is never longer than what it stands for.
  const std::size_t wished = bytes_from("PLUMB_MPI_PIECES_FROM", std::size_t{1} << 20);
  const auto own = name == "naive" ? std::uint64_t{0} : std::max<std::uint64_t>(wished, sizeof(Envelope) + 1);
  std::uint64_t least = 0, most = 0;
  PMPI_Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  PMPI_Allreduce(&own, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return least == 0 ? 0 : most;
}

}  // namespace

std::optional<Envelope> Envelope::of(const void* message, std::size_t bytes) {
  Envelope envelope;
  if (bytes != sizeof envelope) return {};
  std::memcpy(&envelope, message, sizeof envelope);
  return envelope.mark == mark_value ? std::optional(envelope) : std::nullopt;
}

std::size_t bytes_from(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  std::size_t bytes = 0;
  const char* end = text + std::strlen(text);
  if (const auto [read, error] = std::from_chars(text, end, bytes); error != std::errc() || read != end)
    throw Error(fmt::format("invalid value '{}' for {} (must be a number of bytes)", text, variable));
  return bytes;
}

void agree_on_offers(MPI_Comm host) {
  const char* value = std::getenv("PLUMB_MPI_TRANSPORT");
  const std::string_view name = value == nullptr || *value == '\0' ? "staged" : value;
  if (name != "staged" && name != "peer")
    abort_call("MPI_Init", fmt::format("invalid value '{}' for PLUMB_MPI_TRANSPORT (choose from staged, peer)", name));
  const int own = name == "peer" ? 1 : 0;
  int all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  peer_on = all != 0;
  pieces_from = agreed_pieces();
  offers_on = peer_on || pieces_from != 0;
  if (!offers_on) return;
  begin_probing();
  PMPI_Comm_group(host, &host_group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_partners, &partners_key, nullptr);
}

Partner partner_of(int rank, MPI_Comm comm) {
  void* known = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, partners_key, static_cast<void*>(&known), &found);
  if (found == 0) {
    auto made = find_partners(comm);
    known = made.get();
    PMPI_Comm_set_attr(comm, partners_key, made.release());
  }
  const Partners& partners = *static_cast<const Partners*>(known);
  return rank >= 0 && static_cast<std::size_t>(rank) < partners.size() ? partners[static_cast<std::size_t>(rank)]
                                                                       : Partner{};
}

std::unique_ptr<Offer> Offer::make(const void* address, std::ptrdiff_t first, std::size_t bytes, int to,
                                   MPI_Comm comm) {
  if (!peer_on || bytes < offered_from() || !partner_of(to, comm).on_host) return nullptr;
  Place place = buffers().find(address, first, first + static_cast<std::ptrdiff_t>(bytes));
  if (place.memory->handle.empty()) return nullptr;
  const auto entry = board().take(bytes);
  if (!entry) return nullptr;
  Entry& it = board().at(*entry);
  it.offset = place.offset;
  it.bytes = bytes;
  Board::write_handle(it, *place.memory);
  const Envelope envelope = board().envelope_of(*entry);
  it.state.store(offered, std::memory_order_release);
  return std::make_unique<Offer>(std::move(place.memory), *entry, envelope);
}

Offer::Offer(std::shared_ptr<DeviceMemory> memory, std::size_t entry, const Envelope& envelope)
    : memory_(std::move(memory)),
      entry_(entry),
      envelope_(envelope),
      until_(std::chrono::steady_clock::now() + patience +
             std::chrono::nanoseconds(
                 static_cast<std::int64_t>(static_cast<double>(envelope.bytes) / moved_bytes_per_s * 1e9))) {}

bool Offer::settled() {
  if (settled_) return true;
  Entry& it = board().at(entry_);
  std::uint32_t state = it.state.load(std::memory_order_acquire);
  if (state == done) {
    board().give_back(entry_);
    return settled_ = true;
  }
  if (state != offered || std::chrono::steady_clock::now() < until_) return false;
  if (!it.state.compare_exchange_strong(state, moving)) return false;
  board().move(entry_, *memory_);
  it.state.store(moved, std::memory_order_release);
  return settled_ = true;
}

void Offer::settle() {
  wait_until([this] { return settled(); });
}

Taking::Taking(const Envelope& envelope, const std::shared_ptr<OpenDevice>& wanted) : entry_(&entry_of(envelope)) {
  std::uint32_t state = offered;
  std::uint64_t buffer = envelope.buffer, offset = envelope.offset;
  if (!entry_->state.compare_exchange_strong(state, taken)) {
    wait_until([this] { return entry_->state.load(std::memory_order_acquire) == moved; });
    buffer = entry_->buffer;
    offset = entry_->offset;
  }
  const OpenedBuffer opened = open_buffer(envelope.process, buffer, *entry_, wanted);
  device_ = opened.device;
  bytes_ = {opened.buffer, offset, envelope.bytes};
}

Taking::~Taking() {
  entry_->state.store(done, std::memory_order_release);
}

}  // namespace plumb::interpose
