// links: the components of a transfer between two devices, by plain library calls. Independent of the transports, which
// are judged by it.
#pragma once

#include "benchmarks/hpcc/b_eff/messages.hpp"

namespace plumb::links {

// A transfer's part.
enum class Way { relay, exchange, copy };

// One case.
struct Message {
  Way way = Way::relay;
  std::uint64_t bytes = 0;
};

class Links : public Benchmark {
 public:
  std::string name() const override { return "links"; }
  std::string title() const override { return "parts of a transfer between devices, by bare library calls"; }
  std::string source() const override {
    return "sub-steps of a staged transfer (Meyer 2024, section 5.1.2) without a transport";
  }
  ValidateWhen validate_when() const override { return ValidateWhen::first_and_last; }
  Preset preset(const std::string& name) const override {
    if (name == "smoke") return {{"sizes", "8,65536"}, {"time-limit", "0.1"}};
    return {{"time-limit", name == "full" ? "5" : "1"}};
  }
  void check(const Plan&) const override { sizes(); }
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session&, const Case&, Timed& timed) override;
  Validation validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  // The messages of one turn, sent and received; copied ones are announced by a message of a byte.
  virtual void deliver(std::uint64_t turn, bool yields);
  // The message that a turn sends; of the next turn it is the one received.
  BufferView slot(std::uint64_t lane, std::uint64_t turn) const { return slot(buffers_->lane(lane), turn); }
  std::uint64_t lanes() const { return lanes_.size(); }

  std::vector<BareMessage> receives_, sends_;
  std::unique_ptr<BareMessages> messages_;

 private:
  struct Lane {
    int to = 0, from = 0;  // ranks
    std::unique_ptr<Buffer> sent, received;
    std::unique_ptr<Buffer> there = nullptr;  // buffer of the next rank, if another
    std::unique_ptr<Queue> queue = nullptr;   // of its copies
  };

  std::vector<std::uint64_t> sizes() const;
  b_eff::Pattern pattern(std::uint64_t bytes, const Plan& plan) const;
  Case make_case(std::uint64_t bytes, const Plan& plan) const;
  Way way() const { return part_ == "relay" ? Way::relay : part_ == "copy" ? Way::copy : Way::exchange; }
  void open_neighbours(Session& session);
  BufferView slot(Buffer& buffer, std::uint64_t turn) const;
  void relay(std::uint64_t turn, double* times);
  void exchange(std::uint64_t turn);

  Choice part_{*this,
               {"part",
                "read, exchange and write one after the other; the exchange between hosts alone; or copies by the "
                "device into the neighbour's memory on this host"},
               "relay",
               {"relay", "exchange", "copy"}};
  Choice ring_{*this, {"ring", "order of the ranks in the ring"}, "natural", {"natural", "random"}};
  Parameter<std::int64_t> replications_{
      *this, {"replications", "messages to each neighbour at once", "", {"-r"}}, 1, {1, 64}};
  Choice beside_{*this,
                 {"beside", "as part of a run: visited beside the cases of its message size and ring, or all cases"},
                 "size",
                 {"size", "all"}};
  Parameter<std::string> sizes_{*this, {"sizes", "of messages, with commas", "B"}, "1,64,4096,65536,1048576"};

  b_eff::Pattern pattern_;  // of the prepared case
  Way way_ = Way::relay;
  bool yields_ = false;
  World* world_ = nullptr;
  std::unique_ptr<b_eff::LaneBuffers> buffers_;
  std::vector<Lane> lanes_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace plumb::links
