#include <cstdlib>
#include <cstring>
#include <deque>

#include "core/error.hpp"
#include "world/world.hpp"

namespace plumb {

namespace {

class SerialWorld : public World {
 public:
  const WorldInfo& info() const override { return info_; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int) override {
    return {{bytes.begin(), bytes.end()}};
  }
  void send(std::span<const std::byte> bytes, int) override { messages_.emplace_back(bytes.begin(), bytes.end()); }
  void receive(std::span<std::byte> bytes, int) override {
    if (messages_.empty() || messages_.front().size() != bytes.size())
      throw Error("no such message was sent in the serial world");
    std::memcpy(bytes.data(), messages_.front().data(), bytes.size());
    messages_.pop_front();
  }
  void abort(int exit_status) override { std::_Exit(exit_status); }

 private:
  WorldInfo info_{"serial", "none", "none", "local"};
  std::deque<std::vector<std::byte>> messages_;
};

}  // namespace

std::unique_ptr<World> make_serial_world() {
  return std::make_unique<SerialWorld>();
}

}  // namespace plumb
