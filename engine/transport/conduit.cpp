#include "transport/conduit.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "device/host_memory.hpp"
#include "transport/trade.hpp"

namespace plumb {

namespace {

std::size_t place_bytes(const ConduitShape& shape) {
  return (shape.piece_bytes + small_page - 1) / small_page * small_page;
}

// A segment begins with two counters on separate cache lines, pieces sent and pieces emptied, then the places.
class Segment {
 public:
  Segment(std::unique_ptr<Buffer> buffer, const ConduitShape& shape) : buffer_(std::move(buffer)), shape_(shape) {}
  static std::size_t bytes(const ConduitShape& shape) { return small_page + shape.depth * place_bytes(shape); }

  std::atomic_ref<std::uint64_t> sent() const { return counter(0); }
  std::atomic_ref<std::uint64_t> emptied() const { return counter(128); }
  std::byte* place(std::uint64_t piece) const {
    return buffer_->host_pointer() + small_page + piece % shape_.depth * place_bytes(shape_);
  }
  unsigned depth() const { return shape_.depth; }
  const Buffer& buffer() const { return *buffer_; }

 private:
  std::atomic_ref<std::uint64_t> counter(std::size_t offset) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(buffer_->host_pointer() + offset));
  }

  std::unique_ptr<Buffer> buffer_;
  ConduitShape shape_;
};

class SegmentSend : public SendConduit {
 public:
  explicit SegmentSend(Segment segment) : segment_(std::move(segment)) {
    segment_.sent().store(0);
    segment_.emptied().store(0);
  }
  const Buffer& buffer() const { return segment_.buffer(); }
  bool room(std::uint64_t piece) override {
    return piece - segment_.emptied().load(std::memory_order_acquire) < segment_.depth();
  }
  std::byte* place(std::uint64_t piece) override { return segment_.place(piece); }
  void sent(std::uint64_t piece, std::size_t) override { segment_.sent().store(piece + 1, std::memory_order_release); }

 private:
  Segment segment_;
};

class SegmentReceive : public ReceiveConduit {
 public:
  explicit SegmentReceive(Segment segment) : segment_(std::move(segment)) {}
  void expect(std::uint64_t, std::size_t) override {}
  bool arrived(std::uint64_t piece) override { return segment_.sent().load(std::memory_order_acquire) > piece; }
  const std::byte* place(std::uint64_t piece) override { return segment_.place(piece); }
  void emptied(std::uint64_t piece) override { segment_.emptied().store(piece + 1, std::memory_order_release); }

 private:
  Segment segment_;
};

// One place with the message for its piece.
struct Place {
  std::byte* bytes = nullptr;
  std::unique_ptr<CompiledExchange> message;
  std::size_t size = 0;  // of the current message
  bool sends = false;

  bool done() { return message->test(); }
  void start(std::size_t wished) {
    if (wished != size) message->set_sizes({sends ? StepSizes{{wished}, {}} : StepSizes{{}, {wished}}});
    size = wished;
    message->start(0, 1);
  }
};

struct LanePlaces {
  std::unique_ptr<Buffer> buffer;
  std::vector<Place> list;

  LanePlaces(const Transfer& transfer, bool sends, Transport& host, Device& device, const ConduitShape& shape)
      : buffer(allocate_host(device, shape.depth * place_bytes(shape))), list(shape.depth) {
    for (unsigned i = 0; i < shape.depth; ++i) {
      const std::size_t offset = i * place_bytes(shape);
      const std::size_t size = std::min(transfer.slots.bytes(), shape.piece_bytes);
      const std::vector<Transfer> message{{transfer.peer, transfer.lane, {{buffer.get(), offset, size}}}};
      list[i] = {buffer->host_pointer() + offset, host.compile({{sends ? Step{message, {}} : Step{{}, message}}, 1}),
                 size, sends};
    }
  }
  Place& at(std::uint64_t piece) { return list[piece % list.size()]; }
};

class WorldSend : public SendConduit {
 public:
  explicit WorldSend(LanePlaces places) : places_(std::move(places)) {}
  bool room(std::uint64_t piece) override { return places_.at(piece).done(); }
  std::byte* place(std::uint64_t piece) override { return places_.at(piece).bytes; }
  void sent(std::uint64_t piece, std::size_t bytes) override { places_.at(piece).start(bytes); }
  bool idle() override {
    bool all = true;
    for (Place& place : places_.list) all = place.done() && all;
    return all;
  }

 private:
  LanePlaces places_;
};

// Messages match in the order of posting, so a piece is posted only when its place is free.
class WorldReceive : public ReceiveConduit {
 public:
  explicit WorldReceive(LanePlaces places) : places_(std::move(places)) {}
  void expect(std::uint64_t piece, std::size_t bytes) override {
    sizes_.push_back(bytes);
    last_ = piece + 1;
    post();
  }
  bool arrived(std::uint64_t piece) override { return piece < posted_ && places_.at(piece).done(); }
  const std::byte* place(std::uint64_t piece) override { return places_.at(piece).bytes; }
  void emptied(std::uint64_t piece) override {
    emptied_ = piece + 1;
    post();
  }

 private:
  void post() {
    for (; posted_ < last_ && posted_ - emptied_ < places_.list.size(); ++posted_)
      places_.at(posted_).start(sizes_[sizes_.size() - (last_ - posted_)]);
    if (posted_ == last_) sizes_.clear();
  }

  LanePlaces places_;
  std::vector<std::size_t> sizes_;  // of the pieces expected but not all posted
  std::uint64_t last_ = 0, posted_ = 0, emptied_ = 0;
};

}  // namespace

Conduits segment_conduits(const Step& step, World& world, Device& device, const ConduitShape& shape) {
  Conduits conduits;
  std::vector<std::string> handles;
  for (std::size_t i = 0; i < step.sends.size(); ++i) {
    auto send = std::make_unique<SegmentSend>(Segment(allocate_host(device, Segment::bytes(shape), true), shape));
    handles.push_back(device.share(send->buffer()));
    conduits.sends.push_back(std::move(send));
  }
  for (const std::string& handle : trade(world, step.sends, handles, step.receives))
    conduits.receives.push_back(std::make_unique<SegmentReceive>(Segment(device.open_shared(handle), shape)));
  return conduits;
}

Conduits world_conduits(const Step& step, Transport& host, Device& device, const ConduitShape& shape) {
  Conduits conduits;
  for (const Transfer& transfer : step.sends)
    conduits.sends.push_back(std::make_unique<WorldSend>(LanePlaces(transfer, true, host, device, shape)));
  for (const Transfer& transfer : step.receives)
    conduits.receives.push_back(std::make_unique<WorldReceive>(LanePlaces(transfer, false, host, device, shape)));
  return conduits;
}

namespace {

const RegisteredTransportOptions registered_conduit_options("conduit",
                                                            [] { return std::make_unique<ConduitOptions>(); });

}  // namespace

}  // namespace plumb
