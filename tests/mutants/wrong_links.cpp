// links with wrong messages, or without messages in some turns: mutant-links-WAY.
#include <functional>

#include "benchmarks/device/links/links.hpp"

namespace plumb::mutants {

namespace {

// Whether the messages of a turn are delivered.
using Delivers = std::function<bool(std::uint64_t turn, std::uint64_t count)>;

constexpr std::uint64_t turns = 13;  // each way omits some of them

class WrongLinks : public links::Links {
 public:
  WrongLinks(std::string name, Delivers delivers, bool flips)
      : name_(std::move(name)), delivers_(std::move(delivers)), flips_(flips) {}
  std::string name() const override { return name_; }
  std::vector<Group> groups(const Plan& plan) const override {
    std::vector<Group> groups = Links::groups(plan);
    for (Group& group : groups)
      for (Case& one : group.cases) one.fixed_count = turns;
    return groups;
  }
  void run(Session& session, const Case& measured, Timed& timed) override {
    count_ = timed.count();
    Links::run(session, measured, timed);
    if (flips_) flip(session, slot(lanes() - 1, count_));
  }

 protected:
  void deliver(std::uint64_t turn, bool yields) override {
    if (delivers_(turn, count_)) Links::deliver(turn, yields);
  }

 private:
  // The last byte of a message.
  static void flip(Session& session, BufferView message) {
    message.offset += message.size - 1;
    message.size = 1;
    std::byte byte{};
    const auto queue = session.device.make_queue();
    queue->read(message, &byte);
    byte ^= std::byte{1};
    queue->write(&byte, message);
  }

  std::string name_;
  Delivers delivers_;
  bool flips_;
  std::uint64_t count_ = 0;
};

RegisteredBenchmark links_that(const std::string& way, const Delivers& delivers, bool flips = false) {
  const std::string name = "mutant-links-" + way;
  return {name, [=] { return std::make_unique<WrongLinks>(name, delivers, flips); }};
}

const RegisteredBenchmark wrong_links[] = {
    links_that("nothing", [](auto, auto) { return false; }),
    links_that("first-only", [](auto turn, auto) { return turn == 0; }),
    links_that("last-only", [](auto turn, auto count) { return turn + 1 == count; }),
    links_that("every-second", [](auto turn, auto) { return turn % 2 == 0; }),
    links_that("all-but-one", [](auto turn, auto count) { return turn != count / 2; }),
    links_that("count-mod-6", [](auto turn, auto count) { return turn < count % 6; }),
    links_that(
        "last-byte", [](auto, auto) { return true; }, true),
};

}  // namespace

}  // namespace plumb::mutants
