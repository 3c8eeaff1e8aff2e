// Messages between two ranks: ping-pong, and windows of messages. Rank i of the first half acts with rank i of the
// second; one operation is a ping and its pong, or a window in each direction that the test has, with an answer.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "benchmarks/osu/mpi/mpi_row.hpp"
#include "core/data.hpp"
#include "world/mpi.hpp"

namespace plumb::osu {

namespace {

constexpr std::size_t pair_packed_bytes = 64;  // longer messages slide
constexpr int tag = 1;

// One way of messages between this rank and its partner, from one end's memory to the other's.
class Way {
 public:
  Way(const Setting& s, bool persistent, std::uint64_t window)
      : length_(s.bytes),
        sources_(persistent ? Places::fixed(s.bytes, window)
                            : Places::sources(s.bytes, window, s.most(), pair_packed_bytes)),
        targets_(persistent ? Places::fixed(s.bytes, window)
                            : Places::targets(s.bytes, window, s.most(), pair_packed_bytes)) {
    if (s.wishes->one_source) sources_.pitch = 0;
  }
  const Places& sources() const { return sources_; }
  const Places& targets() const { return targets_; }

  // What the receiver should find after `count` operations of what `from` sent.
  void expect(Image& image, const Contents& contents, int from, std::uint64_t count) const {
    for (std::uint64_t operation = 0; operation < count; ++operation)
      for (std::uint64_t slot = 0; slot < targets_.window; ++slot)
        contents.message(image.expect(targets_.at(operation, slot), targets_.left(operation, count)), from,
                         sources_.at(operation, slot));
  }

 private:
  std::size_t length_;
  Places sources_, targets_;
};

enum class Act { ping_pong, one_way, both_ways };

struct Form {
  Act act = Act::ping_pong;
  bool pairs = false;  // any even number of ranks; else two
  bool persistent = false;
};

// A number that a persistent message's first bytes are given before each start: it tells the operation and the slot.
std::uint64_t stamp_of(std::uint64_t key, std::uint64_t operation, std::uint64_t slot) {
  return mix64(key + operation) + slot;
}

class Pairs : public Pattern {
 public:
  struct Role {
    Role(const Form& form, const Setting& s) {
      const int pairs = form.pairs ? (s.wishes->pairs > 0 ? s.wishes->pairs : s.ranks / 2) : 1;
      first = s.rank < pairs;
      partner = first ? s.rank + pairs : s.rank < 2 * pairs ? s.rank - pairs : -1;
      sends = partner >= 0 && (first || form.act != Act::one_way);
      receives = partner >= 0 && (!first || form.act != Act::one_way);
    }
    bool first = false, sends = false, receives = false;
    int partner = -1;
  };

  static Needs needs(const Form& form, const Setting& s) {
    const Role role(form, s);
    const std::uint64_t window = form.act == Act::ping_pong ? 1 : s.wishes->window;
    const Way way(s, form.persistent, window);
    Needs needs;
    if (role.sends) {
      needs.work.bytes_sent = s.bytes * window;
      needs.work.messages = window;
    }
    if (role.receives) needs.items_to_check = way.targets().room();
    if (role.receives && form.persistent) needs.items_to_check += window;
    needs.laps = true;
    needs.most_operations = s.most();
    needs.fixed_count = s.wishes->iterations;
    return needs;
  }

  Pairs(const Form& form, const Setting& setting)
      : form_(form),
        s_(setting),
        role_(form, setting),
        window_(form.act == Act::ping_pong ? 1 : setting.wishes->window),
        way_(setting, form.persistent, window_),
        count_(static_cast<int>(setting.bytes / setting.wishes->type->bytes)),
        type_(setting.wishes->type->handle),
        sent_(role_.sends ? way_.sources().room() : 1, role_.first ? setting.wishes->from : setting.wishes->to),
        received_(role_.receives ? way_.targets().room() : 1, role_.first ? setting.wishes->from : setting.wishes->to),
        image_(role_.receives ? way_.targets().room() : 0),
        contents_{setting.wishes->type, nullptr, setting.ranks, setting.seed, 0},
        requests_(2 * window_, MPI_REQUEST_NULL) {
    if (role_.partner < 0 || !form.persistent) return;
    for (std::uint64_t slot = 0; slot < window_; ++slot) {
      if (role_.receives)
        code_ |= MPI_Recv_init(received_.at(way_.targets().at(0, slot)), count_, type_, role_.partner, tag, s_.comm,
                               &requests_[slot]);
      if (role_.sends)
        code_ |= MPI_Send_init(sent_.at(way_.sources().at(0, slot)), count_, type_, role_.partner, tag, s_.comm,
                               &requests_[window_ + slot]);
    }
    check_mpi(code_, "make persistent requests");
  }

  ~Pairs() override {
    if (form_.persistent)
      for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    Timed none({s_.wishes->warmup});
    if (s_.wishes->warmup > 0) operate(none, std::min(s_.wishes->warmup, s_.most()));
    contents_.repetition = repetition;
    if (role_.sends) {
      source_.resize(sent_.size());
      contents_.message(source_, s_.rank, 0);
      sent_.write(source_);
    }
    if (form_.persistent) seen_.assign(count * window_, 0);
    if (!role_.receives) return;
    image_.clear(contents_.seed * 31 + repetition);
    way_.expect(image_, contents_, role_.partner, form_.persistent ? 1 : count);
    if (form_.persistent) stamp_image(count);
    image_.poison(received_);
  }

  void run_timed(Timed& timed) override { operate(timed, timed.count()); }

  Validation validate(std::uint64_t, std::uint64_t count) override {
    check_mpi(code_, "send and receive");
    Validation found;
    if (!role_.receives) return found;
    found = image_.compare(received_, "what the partner sent, byte by byte");
    if (!form_.persistent) return found;
    found.items_checked += window_;
    for (std::uint64_t i = 0; i < count * window_; ++i) {
      const std::uint64_t should = stamp_of(key(role_.partner), i / window_, i % window_);
      if (std::memcmp(&seen_[i], &should, stamp_bytes()) == 0 || found.wrong_items++ > 0) continue;
      found.detail = fmt::format("message {} of start {} of {} is an older one's", i % window_, i / window_, count);
    }
    found.error = static_cast<double>(found.wrong_items);
    return found;
  }

 private:
  std::size_t stamp_bytes() const { return std::min<std::size_t>(8, s_.bytes); }
  std::uint64_t key(int rank) const {
    return Provenance{s_.seed, static_cast<std::uint64_t>(rank), 1, s_.bytes, contents_.repetition}.key();
  }
  void stamp_image(std::uint64_t count) {
    for (std::uint64_t slot = 0; slot < window_; ++slot) {
      const std::uint64_t stamp = stamp_of(key(role_.partner), count - 1, slot);
      std::memcpy(image_.expect(way_.targets().at(0, slot), stamp_bytes()).data(), &stamp, stamp_bytes());
    }
  }

  void operate(Timed& timed, std::uint64_t count) {
    if (role_.partner < 0) {
      for (std::uint64_t i = 0; i < count; ++i) sync_next(s_, timed);
      return;
    }
    key_ = key(s_.rank);
    if (form_.persistent)
      each(timed, count, [this](std::uint64_t i) { start(i); });
    else if (form_.act == Act::ping_pong)
      each(timed, count, [this](std::uint64_t i) { ping_pong(i); });
    else
      each(timed, count, [this](std::uint64_t i) { window(i); });
  }
  template <class One>
  void each(Timed& timed, std::uint64_t count, One one) {
    for (std::uint64_t i = 0; i < count; ++i) {
      one(i);
      end_operation(s_, timed);
    }
  }

  void send(std::uint64_t i) {
    code_ |= MPI_Send(sent_.at(way_.sources().at(i)), count_, type_, role_.partner, tag, s_.comm);
  }
  void receive(std::uint64_t i) {
    code_ |=
        MPI_Recv(received_.at(way_.targets().at(i)), count_, type_, role_.partner, tag, s_.comm, MPI_STATUS_IGNORE);
  }
  void ping_pong(std::uint64_t i) {
    if (role_.first) send(i);
    receive(i);
    if (!role_.first) send(i);
  }

  void window(std::uint64_t i) {
    int open = 0;
    if (role_.receives)
      for (std::uint64_t slot = 0; slot < window_; ++slot)
        code_ |= MPI_Irecv(received_.at(way_.targets().at(i, slot)), count_, type_, role_.partner, tag, s_.comm,
                           &requests_[open++]);
    if (role_.sends)
      for (std::uint64_t slot = 0; slot < window_; ++slot)
        code_ |= MPI_Isend(sent_.at(way_.sources().at(i, slot)), count_, type_, role_.partner, tag, s_.comm,
                           &requests_[open++]);
    code_ |= MPI_Waitall(open, requests_.data(), MPI_STATUSES_IGNORE);
    answer();
  }
  // One way only: that all has come.
  void answer() {
    if (form_.act != Act::one_way) return;
    char yes = 1;
    code_ |= role_.first ? MPI_Recv(&yes, 1, MPI_CHAR, role_.partner, tag, s_.comm, MPI_STATUS_IGNORE)
                         : MPI_Send(&yes, 1, MPI_CHAR, role_.partner, tag, s_.comm);
  }

  void start(std::uint64_t i) {
    MPI_Request* receives = requests_.data();
    MPI_Request* sends = receives + window_;
    const int all = static_cast<int>(window_);
    if (role_.sends)
      for (std::uint64_t slot = 0; slot < window_; ++slot) {
        const std::uint64_t stamp = stamp_of(key_, i, slot);
        std::memcpy(sent_.at(way_.sources().at(0, slot)), &stamp, stamp_bytes());
      }
    if (form_.act == Act::ping_pong) {
      MPI_Request* const order[]{role_.first ? sends : receives, role_.first ? receives : sends};
      for (MPI_Request* one : order) code_ |= MPI_Start(one) | MPI_Wait(one, MPI_STATUS_IGNORE);
    } else {
      if (role_.receives) code_ |= MPI_Startall(all, receives);
      if (role_.sends) code_ |= MPI_Startall(all, sends);
      if (role_.sends) code_ |= MPI_Waitall(all, sends, MPI_STATUSES_IGNORE);
      if (role_.receives) code_ |= MPI_Waitall(all, receives, MPI_STATUSES_IGNORE);
      answer();
    }
    if (role_.receives && !seen_.empty())
      for (std::uint64_t slot = 0; slot < window_; ++slot)
        std::memcpy(&seen_[(i * window_ + slot) % seen_.size()], received_.at(way_.targets().at(0, slot)),
                    stamp_bytes());
  }

  Form form_;
  Setting s_;
  Role role_;
  std::uint64_t window_;
  Way way_;
  int count_;
  MPI_Datatype type_;
  Area sent_, received_;
  Image image_;
  Contents contents_;
  std::vector<MPI_Request> requests_;
  std::vector<std::byte> source_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t key_ = 0;
  int code_ = MPI_SUCCESS;
};

Titled pairs_row(const char* name, const char* title, const char* kind, Form form) {
  Row row{name, kind, "osu", 1};
  row.needs = [form](const Setting& s) { return Pairs::needs(form, s); };
  row.make = [form](const Setting& s) { return std::make_unique<Pairs>(form, s); };
  Titled titled{title, kind, row};
  titled.pairs = form.pairs;
  titled.both_ways = form.act == Act::both_ways;
  return titled;
}

}  // namespace

std::vector<Titled> pt2pt_rows() {
  return {
      pairs_row("osu_latency", "OSU MPI% Latency Test", "latency", {}),
      pairs_row("osu_multi_lat", "OSU MPI% Multi Latency Test", "multi latency", {Act::ping_pong, true}),
      pairs_row("osu_bw", "OSU MPI% Bandwidth Test", "bandwidth", {Act::one_way}),
      pairs_row("osu_bibw", "OSU MPI% Bi-Directional Bandwidth Test", "bandwidth", {Act::both_ways}),
      pairs_row("osu_mbw_mr", "OSU MPI% Multiple Bandwidth / Message Rate Test", "message rate", {Act::one_way, true}),
      pairs_row("osu_latency_persistent", "OSU MPI% Latency Persistent Test", "latency", {Act::ping_pong, false, true}),
      pairs_row("osu_bw_persistent", "OSU MPI% Bandwidth Persistent Test", "bandwidth", {Act::one_way, false, true}),
      pairs_row("osu_bibw_persistent", "OSU MPI% Bi-Directional Bandwidth Persistent Test", "bandwidth",
                {Act::both_ways, false, true})};
}

}  // namespace plumb::osu
