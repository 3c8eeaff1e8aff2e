// Messages between two ranks: ping-pong, and windows of messages. Rank i of the first half is paired with rank i of the
// second; one operation is a ping and its pong, or a window in each direction of the test, with an answer. In tests of
// congestion the ranks of the first host are paired with those of equal place on all others, at once.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "benchmarks/osu/mpi/mpi_row.hpp"
#include "core/data.hpp"
#include "world/mpi.hpp"
#include "world/mpi_later.hpp"

namespace plumb::osu {

namespace {

constexpr std::size_t packed_message = 64;  // longer messages slide
constexpr int tag = 1;

// One direction of messages between this rank and its partner, from one end's memory to the other's.
class Way {
 public:
  Way(const Setting& s, bool persistent, std::uint64_t window)
      : layout_(s.wishes->layout.get()),
        sources_(persistent ? Places::fixed(s.bytes, window)
                            : Places::sources(s.bytes, window, s.most(), packed_message, s.wishes->sliding)),
        targets_(persistent ? Places::fixed(s.bytes, window)
                            : Places::targets(s.bytes, window, s.most(), packed_message, s.wishes->sliding)) {
    if (s.wishes->one_source) sources_.pitch = 0;
  }
  const Places& sources() const { return sources_; }
  const Places& targets() const { return targets_; }

  // Expected content at the receiver after `count` operations of `from`'s messages, whose places begin at `base`.
  void expect(Image& image, const Contents& contents, int from, std::size_t base, std::uint64_t count) const {
    for (std::uint64_t operation = 0; operation < count; ++operation)
      for (std::uint64_t slot = 0; slot < targets_.window; ++slot)
        image.expect_message(contents, from, sources_.at(operation, slot), base + targets_.at(operation, slot),
                             targets_.left(operation, count), layout_);
  }

 private:
  const Layout* layout_;
  Places sources_, targets_;
};

enum class Traffic { ping_pong, exchange, one_way, both_ways, to_first_host, from_first_host };

struct PairsForm {
  Traffic act = Traffic::ping_pong;
  bool pairs = false;  // any even number of ranks; otherwise two
  bool persistent = false;
  bool partitioned = false;  // persistent; each message is passed to MPI in parts
  bool forks = false;        // each rank has child processes, which sleep
  bool threads = false;      // thread i modulo S of the first rank answers thread i of the second, operations in turn
  bool congests() const { return act >= Traffic::to_first_host; }
  bool is_windowed() const { return act >= Traffic::one_way; }
  bool is_one_way() const { return act == Traffic::one_way || congests(); }
};

// Number in a persistent message's first bytes, set before each start: identifies the operation and the slot.
std::uint64_t stamp_of(std::uint64_t key, std::uint64_t operation, std::uint64_t slot) {
  return mix64(key + operation) + slot;
}

// Processes forked by this one, which sleep, and end at destruction.
class Children {
 public:
  explicit Children(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child < 0) throw Error("a child process could not be forked");
      if (child > 0) {
        children_.push_back(child);
        continue;
      }
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
  }
  ~Children() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

 private:
  std::vector<pid_t> children_;
};

class Pairs : public Pattern {
 public:
  struct Role {
    Role(const PairsForm& form, const Setting& s) {
      const Hosts& hosts = Hosts::found();
      const int pairs = form.pairs ? (s.wishes->pairs > 0 ? s.wishes->pairs : s.ranks / 2) : 1;
      first = s.rank < pairs;
      if (!form.congests() && s.rank < 2 * pairs) partners = {first ? s.rank + pairs : s.rank - pairs};
      if (form.congests() && hosts.are_known()) {
        first = hosts.on_first(s.rank) == (form.act == Traffic::from_first_host);
        partners = hosts.twins_of(s.rank);
      }
      sends = !partners.empty() && (first || !form.is_one_way());
      receives = !partners.empty() && (!first || !form.is_one_way());
    }
    bool first = false, sends = false, receives = false;
    std::vector<int> partners;  // one at most, but with congestion
  };

  static Needs needs(const PairsForm& form, const Setting& s) {
    const Role role(form, s);
    const Way way(s, form.persistent, window_of(form, s));
    Needs needs = sample_needs(s);
    if (role.sends || form.congests()) {
      needs.work.bytes_sent = s.bytes * window_of(form, s);
      needs.work.messages = window_of(form, s);
    }
    if (role.receives) needs.items_to_check = way.targets().room() * role.partners.size();
    needs.memory = (role.sends ? 2 * way.sources().room() : 0) + 3 * needs.items_to_check;
    if (role.receives && form.persistent) needs.items_to_check += window_of(form, s);
    if (!form.threads) return needs;
    const std::uint64_t threads = needs.count_multiple = static_cast<std::uint64_t>(s.wishes->receivers);
    needs.laps = false;
    needs.most_operations = s.most() / threads * threads;
    needs.fixed_count = (s.wishes->iterations + threads - 1) / threads * threads;
    return needs;
  }

  Pairs(const PairsForm& form, const Setting& setting)
      : form_(form),
        s_(setting),
        role_(form, setting),
        window_(window_of(form, setting)),
        way_(setting, form.persistent, window_),
        count_(static_cast<int>(setting.bytes / setting.wishes->type->bytes)),
        type_(setting.wishes->type->handle),
        partner_(role_.partners.empty() ? -1 : role_.partners[0]),
        sent_(role_.sends ? way_.sources().room() : 1, role_.first ? setting.wishes->from : setting.wishes->to),
        received_(role_.receives ? way_.targets().room() * role_.partners.size() : 1,
                  role_.first ? setting.wishes->from : setting.wishes->to),
        image_(role_.receives ? received_.size() : 0),
        contents_{setting.wishes->type, nullptr, setting.ranks, setting.seed, 0},
        requests_(2 * window_ * std::max<std::size_t>(role_.partners.size(), 1), MPI_REQUEST_NULL),
        children_(form.forks ? (role_.first ? setting.wishes->senders : setting.wishes->receivers) - 1 : 0) {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (form.threads && provided < MPI_THREAD_MULTIPLE)
      throw Unsupported(
          "several threads communicate: run it alone, plumb run osu_latency_mt, with a library that lets them");
    if (form.partitioned && setting.wishes->on_devices())
      throw Unsupported("libplumb-mpi-device takes no partitioned messages: MPI itself reads their parts");
    if (form.persistent && setting.wishes->layout && setting.wishes->layout->runs[0].begin > 0)
      throw Unsupported("persistent messages begin with their number, not with a hole");
    if (partner_ < 0 || !form.persistent) return;
    for (std::uint64_t slot = 0; slot < window_ && !form.partitioned; ++slot) {
      if (role_.receives)
        code_ |= MPI_Recv_init(received_.at(way_.targets().at(0, slot)), count_, type_, partner_, tag, s_.comm,
                               &requests_[slot]);
      if (role_.sends)
        code_ |= MPI_Send_init(sent_.at(way_.sources().at(0, slot)), count_, type_, partner_, tag, s_.comm,
                               &requests_[window_ + slot]);
    }
    if (form.partitioned) make_partitioned(mpi_later::psend_init, mpi_later::precv_init);
    check_mpi(code_, "make persistent requests");
  }

  ~Pairs() override {
    if (form_.persistent)
      for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    warm_up(s_, [this](Timed& none) { run_timed(none); });
    contents_.repetition = repetition;
    if (role_.sends) {
      source_.resize(sent_.size());
      contents_.message(source_, s_.rank, 0);
      sent_.write(source_);
    }
    if (form_.persistent) seen_.assign(count * window_, 0);
    if (!role_.receives) return;
    image_.clear(contents_.seed * 31 + repetition);
    for (std::size_t i = 0; i < role_.partners.size(); ++i)
      way_.expect(image_, contents_, role_.partners[i], i * way_.targets().room(), form_.persistent ? 1 : count);
    if (form_.persistent) stamp_image(count);
    image_.poison(received_);
  }

  void run_timed(Timed& timed) override {
    if (form_.threads) return run_threads(timed.count());
    key_ = key(s_.rank);
    for (std::uint64_t i = 0; i < timed.count(); ++i) {
      touch_buffers(s_, timed, {&sent_, &received_});
      operate(timed, i);
      end_operation(s_, timed);
    }
  }

  Validation validate(std::uint64_t, std::uint64_t count) override {
    check_mpi(code_, "send and receive");
    for (const Area* area : {&sent_, &received_}) area->check_touches();
    if (!role_.receives) return {};
    Validation found = image_.compare(received_, "what the partner sent, byte by byte");
    if (!form_.persistent) return found;
    found.items_checked += window_;
    for (std::uint64_t i = 0; i < count * window_; ++i) {
      const std::uint64_t should = stamp_of(key(partner_), i / window_, i % window_);
      if (std::memcmp(&seen_[i], &should, stamp_bytes()) == 0 || found.wrong_items++ > 0) continue;
      found.detail = fmt::format("message {} of start {} of {} is an older one's", i % window_, i / window_, count);
    }
    found.error = static_cast<double>(found.wrong_items);
    return found;
  }

 private:
  static std::uint64_t window_of(const PairsForm& form, const Setting& s) {
    return form.is_windowed() ? s.wishes->window : 1;
  }
  std::size_t stamp_bytes() const {
    const Layout* layout = s_.wishes->layout.get();
    return std::min<std::size_t>(8, layout != nullptr ? layout->runs[0].length : s_.bytes);
  }
  std::uint64_t key(int rank) const {
    return Provenance{s_.seed, static_cast<std::uint64_t>(rank), 1, s_.bytes, contents_.repetition}.key();
  }
  void stamp_image(std::uint64_t count) {
    for (std::uint64_t slot = 0; slot < window_; ++slot) {
      const std::uint64_t stamp = stamp_of(key(partner_), count - 1, slot);
      std::memcpy(image_.expect(way_.targets().at(0, slot), stamp_bytes()).data(), &stamp, stamp_bytes());
    }
  }

  void operate(Timed& timed, std::uint64_t i) {
    if (role_.partners.empty()) return;
    if (form_.is_windowed() && !form_.persistent) return window(i);
    if (form_.act == Traffic::exchange) return exchange(i);
    if (!form_.persistent) {
      code_ |= ping_pong(i, tag);
      return;
    }
    number_messages(timed, i);
    start();
    keep_numbers(timed, i);
  }
  // For libraries that have them.
  template <class SendInit, class ReceiveInit>
  void make_partitioned(SendInit send_init, ReceiveInit receive_init) {
    if constexpr (!std::is_null_pointer_v<SendInit>) {
      const auto parts = static_cast<int>(s_.wishes->partitions);
      code_ |=
          send_init(sent_.at(0), parts, count_ / parts, type_, partner_, tag, s_.comm, MPI_INFO_NULL, &requests_[1]);
      code_ |= receive_init(received_.at(0), parts, count_ / parts, type_, partner_, tag, s_.comm, MPI_INFO_NULL,
                            &requests_[0]);
    }
  }
  template <class Ready>
  void ready_parts(Ready ready, MPI_Request& request) {
    if constexpr (!std::is_null_pointer_v<Ready>)
      for (int part = 0; part < static_cast<int>(s_.wishes->partitions); ++part) code_ |= ready(part, request);
  }

  int ping_pong(std::uint64_t i, int channel) const {
    const auto send = [&] {
      return MPI_Send(sent_.at(way_.sources().at(i)), count_, type_, partner_, channel, s_.comm);
    };
    int code = role_.first ? send() : MPI_SUCCESS;
    code |= MPI_Recv(received_.at(way_.targets().at(i)), count_, type_, partner_, channel, s_.comm, MPI_STATUS_IGNORE);
    return role_.first ? code : code | send();
  }
  void exchange(std::uint64_t i) {
    code_ |= MPI_Sendrecv(sent_.at(way_.sources().at(i)), count_, type_, partner_, tag,
                          received_.at(way_.targets().at(i)), count_, type_, partner_, tag, s_.comm, MPI_STATUS_IGNORE);
  }

  void window(std::uint64_t i) {
    int open = 0;
    for (std::size_t p = 0; p < role_.partners.size() && role_.receives; ++p)
      for (std::uint64_t slot = 0; slot < window_; ++slot)
        code_ |= MPI_Irecv(received_.at(p * way_.targets().room() + way_.targets().at(i, slot)), count_, type_,
                           role_.partners[p], tag, s_.comm, &requests_[open++]);
    if (role_.sends)
      inject(s_, window_ * role_.partners.size(), [&] {
        for (const int partner : role_.partners)
          for (std::uint64_t slot = 0; slot < window_; ++slot)
            code_ |= MPI_Isend(sent_.at(way_.sources().at(i, slot)), count_, type_, partner, tag, s_.comm,
                               &requests_[open++]);
      });
    code_ |= MPI_Waitall(open, requests_.data(), MPI_STATUSES_IGNORE);
    answer();
  }
  // One direction only: confirms that all messages have arrived.
  void answer() {
    if (!form_.is_one_way()) return;
    char yes = 1;
    for (const int partner : role_.partners)
      code_ |= role_.first ? MPI_Recv(&yes, 1, MPI_CHAR, partner, tag, s_.comm, MPI_STATUS_IGNORE)
                           : MPI_Send(&yes, 1, MPI_CHAR, partner, tag, s_.comm);
  }

  // Threads start and end with the sample: some 50 us, spread over many operations.
  void run_threads(std::uint64_t count) {
    const int mine = role_.first ? s_.wishes->senders : s_.wishes->receivers;
    std::vector<int> codes(static_cast<std::size_t>(mine), MPI_SUCCESS);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < mine; ++thread)
      threads.emplace_back([this, thread, mine, count, &found = codes[thread]] {
        int code = MPI_SUCCESS;
        for (std::uint64_t i = 0; i < count; ++i)
          if (const auto channel = static_cast<int>(i) % s_.wishes->receivers; channel % mine == thread)
            code |= ping_pong(i, channel);
        found = code;
      });
    for (std::thread& thread : threads) thread.join();
    for (const int code : codes) code_ |= code;
  }

  void start() {
    MPI_Request* receives = requests_.data();
    MPI_Request* sends = receives + window_;
    const int all = static_cast<int>(window_);
    if (form_.act == Traffic::ping_pong) {
      MPI_Request* const order[]{role_.first ? sends : receives, role_.first ? receives : sends};
      for (MPI_Request* one : order) {
        code_ |= MPI_Start(one);
        if (form_.partitioned && one == sends) ready_parts(mpi_later::pready, *one);
        code_ |= MPI_Wait(one, MPI_STATUS_IGNORE);
      }
    } else {
      if (role_.receives) code_ |= MPI_Startall(all, receives);
      if (role_.sends) inject(s_, window_, [&] { code_ |= MPI_Startall(all, sends); });
      if (role_.sends) code_ |= MPI_Waitall(all, sends, MPI_STATUSES_IGNORE);
      if (role_.receives) code_ |= MPI_Waitall(all, receives, MPI_STATUSES_IGNORE);
      answer();
    }
  }
  // The number of each of operation i's messages, and what came of the partner's: timed only in host memory, where it
  // takes less than a reading of the clock.
  void number_messages(Timed& timed, std::uint64_t i) {
    if (!role_.sends) return;
    std::optional<Timed::Pause> pause;
    if (sent_.on_device()) pause.emplace(timed);
    for (std::uint64_t slot = 0; slot < window_; ++slot) {
      const std::uint64_t stamp = stamp_of(key_, i, slot);
      copy_bytes(sent_.at(way_.sources().at(0, slot)), &stamp, stamp_bytes(), sent_.on_device());
    }
  }
  void keep_numbers(Timed& timed, std::uint64_t i) {
    if (!role_.receives || seen_.empty()) return;
    std::optional<Timed::Pause> pause;
    if (received_.on_device()) pause.emplace(timed);
    for (std::uint64_t slot = 0; slot < window_; ++slot)
      copy_bytes(&seen_[(i * window_ + slot) % seen_.size()], received_.at(way_.targets().at(0, slot)), stamp_bytes(),
                 received_.on_device());
  }

  PairsForm form_;
  Setting s_;
  Role role_;
  std::uint64_t window_;
  Way way_;
  int count_;
  MPI_Datatype type_;
  int partner_;  // the only one; -1: none
  Area sent_, received_;
  Image image_;
  Contents contents_;
  std::vector<MPI_Request> requests_;
  std::vector<std::byte> source_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t key_ = 0;
  int code_ = MPI_SUCCESS;
  Children children_;
};

Titled pairs_row(const char* name, const char* title, const char* kind, PairsForm form) {
  Row row{name, kind, "osu", 1};
  row.needs = [form](const Setting& s) { return Pairs::needs(form, s); };
  row.make = [form](const Setting& s) { return std::make_unique<Pairs>(form, s); };
  if (form.partitioned && mpi_later::psend_init == nullptr)
    row.missing = "this MPI library has no partitioned messages (MPI 4)";
  Titled titled{title, kind, row};
  titled.pairs = form.pairs;
  titled.both_ways = form.act == Traffic::both_ways;
  titled.threads = form.threads || form.forks;
  titled.thread_multiple = form.threads;
  titled.partitioned = form.partitioned;
  return titled;
}

}  // namespace

// By the place of each rank among those of its host, once MPI is initialised.
const Hosts& Hosts::found() {
  static const Hosts hosts = [] {
    Hosts all;
    int begun = 0, rank = 0, ranks = 1, first = 0;
    MPI_Initialized(&begun);
    if (begun == 0) return all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    first = rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, host);
    MPI_Comm_free(&host);
    all.first_of_host.resize(static_cast<std::size_t>(ranks));
    MPI_Allgather(&first, 1, MPI_INT, all.first_of_host.data(), 1, MPI_INT, MPI_COMM_WORLD);
    return all;
  }();
  return hosts;
}

std::string Hosts::misfit() const {
  const std::set<int> firsts(first_of_host.begin(), first_of_host.end());
  if (first_of_host.empty()) return "";
  if (firsts.size() < 2) return "it is between the ranks of two hosts or more, and all are on one";
  const auto on = [this](int first) { return std::ranges::count(first_of_host, first); };
  for (const int first : firsts)
    if (on(first) != on(0)) return "it needs equally many ranks on each host";
  return "";
}

std::size_t Hosts::pairs() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(first_of_host, [&](int first) { return first != first_of_host[0]; }));
}

std::vector<int> Hosts::twins_of(int rank) const {
  std::map<int, int> next;  // place of the next rank of each host
  std::vector<int> places, twins;
  for (const int first : first_of_host) places.push_back(next[first]++);
  for (int other = 0; other < static_cast<int>(places.size()); ++other)
    if (places[other] == places[rank] && (on_first(rank) ? !on_first(other) : on_first(other))) twins.push_back(other);
  return twins;
}

std::vector<Titled> pt2pt_rows() {
  using enum Traffic;
  return {pairs_row("osu_latency", "OSU MPI% Latency Test", "latency", {}),
          pairs_row("osu_multi_lat", "OSU MPI% Multi Latency Test", "multi latency", {.pairs = true}),
          pairs_row("osu_bw", "OSU MPI% Bandwidth Test", "bandwidth", {one_way}),
          pairs_row("osu_bibw", "OSU MPI% Bi-Directional Bandwidth Test", "bandwidth", {both_ways}),
          pairs_row("osu_mbw_mr", "OSU MPI% Multiple Bandwidth / Message Rate Test", "message rate",
                    {.act = one_way, .pairs = true}),
          pairs_row("osu_latency_persistent", "OSU MPI% Latency Persistent Test", "latency", {.persistent = true}),
          pairs_row("osu_bw_persistent", "OSU MPI% Bandwidth Persistent Test", "bandwidth",
                    {.act = one_way, .persistent = true}),
          pairs_row("osu_bibw_persistent", "OSU MPI% Bi-Directional Bandwidth Persistent Test", "bandwidth",
                    {.act = both_ways, .persistent = true}),
          pairs_row("osu_latency_mt", "OSU MPI% Multi-threaded Latency Test", "latency", {.threads = true}),
          pairs_row("osu_latency_mp", "OSU MPI% Multi-process Latency Test", "latency", {.forks = true}),
          pairs_row("osu_partitioned_latency", "OSU MPI% Partitioned Latency Test", "latency",
                    {.persistent = true, .partitioned = true}),
          pairs_row("osu_bw_fan_in", "OSU MPI% Bandwidth Congestion In Test", "congestion", {to_first_host}),
          pairs_row("osu_bw_fan_out", "OSU MPI% Bandwidth Congestion Out Test", "congestion", {from_first_host}),
          pairs_row("osu_sendrecv", "MPI_Sendrecv% Latency Test (not of OSU's)", "exchange", {exchange})};
}

}  // namespace plumb::osu
