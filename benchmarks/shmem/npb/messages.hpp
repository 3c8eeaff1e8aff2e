// Messages between ranks for the NPB, in one of three forms. A benchmark lists the links of its rank once, and then
// uses them by index; no benchmark has a communication call of its own.
//
//   const std::vector<Link> out{{right, 0, bytes}}, in{{left, 0, bytes}};
//   auto messages = make_messages(Form::signal, session, out, in);  // collective
//   messages->expect(0);                         // this rank has room for the next message of incoming link 0
//   auto to = messages->outgoing_as<double>(0);  // where to write the next message of outgoing link 0
//   ...                                          // pack
//   messages->post(0);                           // it leaves
//   ...                                          // compute what does not need the message
//   messages->meet();                            // only form `barrier` does anything here
//   auto from = messages->take_as<double>(0);    // waits for the message
//   ...                                          // unpack: `from` is valid until the next expect(0)
//   messages->complete();                        // at the end of a sample
//
// Form       post                                 take
// two-sided  starts the session's transport       waits for the transport's receive, which expect() started
// signal     put_nb, then notify                  tests the notified word; expect() returned credit for the slot
// barrier    nothing                              a blocking get from the sender, after the barrier in meet()
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/benchmark.hpp"

namespace plumb {
class OneSided;
}

namespace plumb::npb {

enum class Form { two_sided, signal, barrier };
Form form_of(const std::string& name);  // "two-sided", "signal", "barrier"
const char* to_string(Form form);

// Messages in one direction between this rank and another. Links between the same two ranks in the same direction
// differ by tag (0 to 999), also those of different Messages objects that exist at the same time. Both ends declare the
// same tag, bytes (of the largest message, at least 1) and depth.
struct Link {
  int peer = 0;  // not this rank
  int tag = 0;
  std::size_t bytes = 0;
  int depth = 1;  // messages that may be expected at a time: 1 to 8
};

class Messages {
 public:
  virtual ~Messages() = default;

  // Room for the next message of outgoing link i: `bytes` of the link. Waits until the slot is free: in form `signal`
  // until the receiver expects that message.
  std::span<std::byte> outgoing(std::size_t i);
  // Sends what was written there, its first `bytes` (default: all). Returns at once.
  void post(std::size_t i, std::size_t bytes = whole_link);
  // The receiver has room for one more message of incoming link j, of exactly `bytes` (default: all). At most `depth`
  // messages are expected and not taken. Invalidates the span of the message taken `depth` messages earlier. Expect as
  // early as possible: the sender waits for it.
  void expect(std::size_t j, std::size_t bytes = whole_link);
  // Whether the oldest message expected and not taken has arrived. Never waits; lets all messages make progress.
  bool arrived(std::size_t j);
  // Waits for it, and returns it.
  std::span<const std::byte> take(std::size_t j);
  // Collective, the same number of times on all ranks: between the post() of a message and its take() there is exactly
  // one meet(), and at most `depth` messages of a link are posted between two of them. Form `barrier` has its barrier
  // here; in the others it costs nothing and orders nothing, so pipelines simply call it once a stage.
  void meet();
  // All messages posted have left, and those expected are taken: before a wait for other ranks (a reduction) that these
  // calls cannot see, as some transports send only while they are asked.
  void settle();
  // Collective: at the end of a sample, when every expected message is taken. All messages sent have left.
  void complete();

  template <class T>
  std::span<T> outgoing_as(std::size_t i) {
    const auto bytes = outgoing(i);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> take_as(std::size_t j) {
    const auto bytes = take(j);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // Of this rank, since its making. Exposed: seconds within these calls (waits, and copies by the library).
  double exposed_seconds() const { return exposed_; }
  std::uint64_t messages_sent() const { return messages_; }
  std::uint64_t bytes_sent() const { return bytes_; }

  static constexpr std::size_t whole_link = ~std::size_t{0};

 protected:
  Messages(std::vector<Link> outgoing, std::vector<Link> incoming);

  // A message by its number on the link, from 0.
  virtual std::span<std::byte> do_outgoing(std::size_t i, std::uint64_t number) = 0;
  virtual void do_post(std::size_t i, std::uint64_t number, std::size_t bytes) = 0;
  virtual void do_expect(std::size_t j, std::uint64_t number, std::size_t bytes) = 0;
  virtual bool do_arrived(std::size_t j, std::uint64_t number) = 0;
  virtual std::span<const std::byte> do_take(std::size_t j, std::uint64_t number, std::size_t bytes) = 0;
  virtual void do_meet() {}
  virtual void do_settle() {}
  virtual void do_complete() {}

  struct End {
    Link link;
    std::uint64_t posted = 0;                   // messages sent, or expected
    std::uint64_t taken = 0;                    // of an incoming link
    std::vector<std::size_t> expected_bytes{};  // by slot
  };
  const Link& out(std::size_t i) const { return outgoing_.at(i).link; }
  const Link& in(std::size_t j) const { return incoming_.at(j).link; }

 private:
  std::vector<End> outgoing_, incoming_;
  double exposed_ = 0;
  std::uint64_t messages_ = 0, bytes_ = 0;
};

// Collective. Throws Unsupported on all ranks if the form is impossible here, Error if the ends of a link differ.
std::unique_ptr<Messages> make_messages(Form form, Session& session, const std::vector<Link>& outgoing,
                                        const std::vector<Link>& incoming);

// Symmetric memory of one rank with these links, for Group::symmetric_bytes (the most of any rank counts).
std::size_t one_sided_bytes(Form form, const std::vector<Link>& outgoing, const std::vector<Link>& incoming);

// --- for the forms' implementations and their mutants

// An end of a link as its rank declared it.
struct DeclaredLink {
  std::int32_t rank = 0, peer = 0, tag = 0, depth = 0, index = 0, outgoing = 0;
  std::uint64_t bytes = 0;
  int from() const { return outgoing != 0 ? rank : peer; }
  int to() const { return outgoing != 0 ? peer : rank; }
};

// All links of all ranks, by rank: outgoing ones, then incoming ones. Collective; throws Error, the same on all ranks,
// if an end has no other.
std::vector<DeclaredLink> all_links(World& world, const std::vector<Link>& outgoing, const std::vector<Link>& incoming);

std::unique_ptr<Messages> make_two_sided(Session& session, const std::vector<Link>& outgoing,
                                         const std::vector<Link>& incoming);
// `memory` has at least one_sided_bytes() of the greatest rank, zeroed; null: made here.
std::unique_ptr<Messages> make_signal(World& world, std::unique_ptr<OneSided> memory, const std::vector<Link>& outgoing,
                                      const std::vector<Link>& incoming);
std::unique_ptr<Messages> make_barrier(World& world, std::unique_ptr<OneSided> memory,
                                       const std::vector<Link>& outgoing, const std::vector<Link>& incoming);

}  // namespace plumb::npb
