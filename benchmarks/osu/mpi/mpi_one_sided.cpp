// One-sided operations: rank 0 acts on rank 1's window (both ways: each on the other's), one operation or a window of
// them between two synchronisations. Each operation's operands have their own place; operations that accumulate in one
// place each contribute a different number, and fetched values give the number of earlier operations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "benchmarks/osu/mpi/mpi_row.hpp"
#include "core/data.hpp"
#include "world/mpi.hpp"

namespace plumb::osu {

namespace {

constexpr std::size_t packed_remote = 64;  // longer messages slide

enum class Remote { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };

struct RemoteForm {
  Remote act;
  bool windowed = false, both_ways = false;
  bool fetches() const { return act == Remote::get || act >= Remote::get_accumulate; }
  bool gathers() const { return act >= Remote::accumulate; }  // all in one place
};

// How operations are completed (-s), with OSU's line about it. The ranks take part together, or only the one that acts:
// in each operation `begin`, the operations, `end`; around all of them, untimed, a shared lock if `locks_once`.
// `by_groups`: the epochs are the partner's, by its group.
struct Completion {
  const char* option;
  const char* text;
  bool together, locks_once, by_groups;
  int (*begin)(int other, MPI_Win);
  int (*end)(int other, MPI_Win);
};
const Completion& completion_called(const std::string& option) {
  constexpr auto nothing = [](int, MPI_Win) { return MPI_SUCCESS; };
  static const Completion all[]{
      {"lock", "MPI_Win_lock/unlock", false, false, false,
       [](int other, MPI_Win window) { return MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window); }, MPI_Win_unlock},
      {"flush", "MPI_Win_flush", false, true, false, nothing, MPI_Win_flush},
      {"flush_local", "MPI_Win_flush_local", false, true, false, nothing, MPI_Win_flush_local},
      {"lock_all", "MPI_Win_lock_all/unlock_all", false, false, false,
       [](int, MPI_Win window) { return MPI_Win_lock_all(0, window); },
       [](int, MPI_Win window) { return MPI_Win_unlock_all(window); }},
      {"pscw", "MPI_Win_post/start/complete/wait", true, false, true, nothing, nothing},
      {"fence", "MPI_Win_fence", true, false, false,
       [](int, MPI_Win window) { return MPI_Win_fence(MPI_MODE_NOPRECEDE, window); },
       [](int, MPI_Win window) { return MPI_Win_fence(MPI_MODE_NOSUCCEED, window); }}};
  return *std::ranges::find(all, option, &Completion::option);
}

// A rank's memory: operands, and the memory behind a window that is not allocated by MPI.
struct OneSidedMemory {
  Area given, compared, fetched, exposed;

  // Throws Unsupported on all ranks if one of them lacks such memory.
  static OneSidedMemory allocate(const Setting& s, std::size_t given, std::size_t fetched, std::size_t exposed) {
    const Where& where = s.rank == 0 ? s.wishes->from : s.wishes->to;
    if (s.wishes->on_devices() && s.wishes->window_kind != "create")
      throw Unsupported("a window over memory of a device is made by MPI_Win_create (--win-options create)");
    OneSidedMemory memory;
    std::array<char, 256> reason{};
    try {
      if (s.wishes->window_kind != "allocate") memory.exposed = Area(exposed, where);
      memory.given = Area(given, where);
      memory.compared = Area(given + s.wishes->type->bytes, where);
      memory.fetched = Area(fetched, where);
    } catch (const Error& error) {
      std::string(error.what()).copy(reason.data(), reason.size() - 1);
    }
    int lacking = reason[0] != 0 ? s.rank : s.ranks;
    MPI_Allreduce(MPI_IN_PLACE, &lacking, 1, MPI_INT, MPI_MIN, s.comm);
    if (lacking == s.ranks) return memory;
    MPI_Bcast(reason.data(), static_cast<int>(reason.size()), MPI_CHAR, lacking, s.comm);
    throw Unsupported(reason.data());
  }
};

// Memory that other ranks access, in one of MPI's kinds of windows.
class Exposed {
 public:
  Exposed(const Setting& s, const Area& area, std::size_t size) : rank_(s.rank), area_(area) {
    const std::string& kind = s.wishes->window_kind;
    const MPI_Aint bytes = kind == "allocate" ? allocated_window(size) : static_cast<MPI_Aint>(size);
    int code = MPI_SUCCESS;
    if (kind == "allocate") {
      code = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, s.comm, &base_, &window_);
    } else {
      base_ = area_.at(0);
      if (kind == "create")
        code = MPI_Win_create(base_, bytes, 1, MPI_INFO_NULL, s.comm, &window_);
      else
        code = MPI_Win_create_dynamic(MPI_INFO_NULL, s.comm, &window_);
    }
    check_mpi(code, "make a window");
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    if (kind != "dynamic") return;
    check_mpi(MPI_Win_attach(window_, base_, bytes), "attach memory to a window");
    attached_ = true;
    MPI_Get_address(base_, &far_);
    const int other = s.rank < 2 ? 1 - s.rank : s.rank;
    check_mpi(MPI_Sendrecv_replace(&far_, 1, MPI_AINT, other, 0, other, 0, s.comm, MPI_STATUS_IGNORE),
              "tell an address");
  }
  ~Exposed() {
    if (attached_) MPI_Win_detach(window_, base_);
    MPI_Win_free(&window_);
  }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;

  MPI_Win window() const { return window_; }
  MPI_Aint far() const { return far_; }  // start of the other rank's memory
  // The owner's own loads and stores, as an access of its own.
  void write(std::span<const std::byte> from) const {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, window_);
    area_.size() > 0 ? area_.write(from) : void(std::memcpy(base_, from.data(), from.size()));
    MPI_Win_unlock(rank_, window_);
  }
  void read(std::span<std::byte> to, int lock = MPI_LOCK_EXCLUSIVE) const {
    MPI_Win_lock(lock, rank_, 0, window_);
    area_.size() > 0 ? area_.read(to) : void(std::memcpy(to.data(), base_, to.size()));
    MPI_Win_unlock(rank_, window_);
  }

 private:
  int rank_;
  const Area& area_;  // empty: MPI allocated it
  void* base_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Aint far_ = 0;
  bool attached_ = false;
};

class OneSided : public Pattern {
 public:
  // Places of an operation's three operands: the actor's input, the fetched value, and the other rank's memory.
  struct Extent {
    Extent(const RemoteForm& form, const Setting& s) {
      const std::uint64_t window = form.windowed ? s.wishes->window : 1;
      given = Places::sources(s.bytes, window, s.most(), packed_remote);
      fetched = Places::targets(s.bytes, window, s.most(), packed_remote);
      far = form.act == Remote::put ? fetched : form.act == Remote::get ? given : Places::fixed(s.bytes, 1);
    }
    Places given, fetched, far;
  };
  static bool acts(const RemoteForm& form, const Setting& s) { return s.rank == 0 || form.both_ways; }
  static bool exposes(const RemoteForm& form, const Setting& s) { return s.rank == 1 || form.both_ways; }

  static Needs needs(const RemoteForm& form, const Setting& s) {
    const Extent extent(form, s);
    const std::uint64_t window = form.windowed ? s.wishes->window : 1;
    Needs needs = sample_needs(s);
    if (acts(form, s)) {
      (form.fetches() ? needs.work.bytes_read : needs.work.bytes_sent) = s.bytes * window;
      needs.work.messages = window;
    }
    if (acts(form, s) && form.fetches()) needs.items_to_check += extent.fetched.room();
    if (exposes(form, s) && form.act != Remote::get) needs.items_to_check += extent.far.room();
    needs.memory = 3 * extent.given.room() + extent.fetched.room() + extent.far.room() + 2 * needs.items_to_check;
    return needs;
  }

  OneSided(const RemoteForm& form, const Setting& setting)
      : form_(form),
        s_(setting),
        extent_(form, setting),
        window_(form.windowed ? setting.wishes->window : 1),
        count_(static_cast<int>(setting.bytes / setting.wishes->type->bytes)),
        type_(setting.wishes->type->handle),
        other_(1 - setting.rank),
        acts_(acts(form, setting)),
        exposes_(exposes(form, setting)),
        completion_(completion_called(setting.wishes->window_sync)),
        memory_(OneSidedMemory::allocate(setting, extent_.given.room(), extent_.fetched.room(), extent_.far.room())),
        exposed_(setting, memory_.exposed, extent_.far.room()),
        fetched_image_(acts_ && form.fetches() ? extent_.fetched.room() : 0),
        far_image_(exposes_ && form.act != Remote::get ? extent_.far.room() : 0) {
    contents_ = {setting.wishes->type, form.gathers() ? &operation_called("sum") : nullptr,
                 static_cast<int>(2 * setting.most()), setting.seed, 0};
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(s_.comm, &all);
    MPI_Group_incl(all, 1, &other_, &partner_);
    MPI_Group_free(&all);
  }
  ~OneSided() override { MPI_Group_free(&partner_); }

  Json facts() const override {
    static const std::map<std::string, const char*> kinds{
        {"allocate", "MPI_Win_allocate"}, {"create", "MPI_Win_create"}, {"dynamic", "MPI_Win_create_dynamic"}};
    return {{"window_creation", kinds.at(s_.wishes->window_kind)}, {"synchronization", completion_.text}};
  }

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    warm_up(s_, [this](Timed& none) { run_timed(none); });
    contents_.repetition = repetition;
    bytes_.resize(extent_.given.room() / s_.wishes->type->bytes * s_.wishes->type->bytes);
    contents_.message(bytes_, s_.rank, 0);
    memory_.given.write(bytes_);
    if (form_.act == Remote::compare_and_swap) chain();
    prepare_targets(count);
  }

  void run_timed(Timed& timed) override {
    if (acts_ && completion_.locks_once) {
      const Timed::Pause pause(timed);
      code_ |= MPI_Win_lock(MPI_LOCK_SHARED, other_, 0, exposed_.window());
    }
    if (acts_ || completion_.together)
      for (std::uint64_t i = 0; i < timed.count(); ++i) {
        touch_buffers(s_, timed, {&memory_.given, &memory_.fetched, &memory_.exposed}, completion_.together);
        one(i);
        if (s_.wishes->times_each) timed.lap();
      }
    const Timed::Pause pause(timed);
    if (acts_ && completion_.locks_once) code_ |= MPI_Win_unlock(other_, exposed_.window());
    MPI_Barrier(s_.comm);  // where the other rank's library makes progress
  }

  Validation validate(std::uint64_t, std::uint64_t) override {
    check_mpi(code_, "one-sided operations");
    Validation found;
    found.reference = "what follows from the given bytes, byte by byte";
    const auto add = [&found](const Validation& part) {
      found.items_checked += part.items_checked;
      found.wrong_items += part.wrong_items;
      found.error += part.error;
      if (found.detail.empty()) found.detail = part.detail;
    };
    for (const Area* area : {&memory_.given, &memory_.exposed}) area->check_touches();
    if (fetched_image_.size() > 0) add(fetched_image_.compare(memory_.fetched, ""));
    if (far_image_.size() > 0) {
      content_.resize(far_image_.size());
      exposed_.read(content_);
      add(far_image_.compare(content_, ""));
    }
    prove_completion(found);
    return found;
  }

 private:
  // Memory that `count` operations of this repetition will fill, here and at the other rank.
  void prepare_targets(std::uint64_t count) {
    if (fetched_image_.size() > 0) {
      fetched_image_.clear(contents_.repetition * 2);
      expect_fetched(count);
      fetched_image_.poison(memory_.fetched);
    }
    expose(contents_.repetition, count);
    MPI_Barrier(s_.comm);
  }

  // One more operation, as the first. Once it has ended, but before a lock around it does, its own rank must have what
  // it fetched; then a message tells the other rank to look.
  void prove_completion(Validation& found) {
    const auto look = [&found](const Validation& late) {
      found.wrong_items += late.wrong_items;
      found.error += late.error;
      if (found.detail.empty() && late.wrong_items > 0) found.detail = "at the end of an operation " + late.detail;
    };
    const bool locks = acts_ && completion_.locks_once;
    prepare_targets(1);
    if (locks) code_ |= MPI_Win_lock(MPI_LOCK_SHARED, other_, 0, exposed_.window());
    if (acts_ || completion_.together) one(0);
    if (fetched_image_.size() > 0) look(fetched_image_.compare(memory_.fetched, ""));
    notify(acts_, exposes_);
    if (far_image_.size() > 0 && s_.wishes->window_sync != "flush_local") {
      exposed_.read(content_, MPI_LOCK_SHARED);
      look(far_image_.compare(content_, ""));
    }
    notify(exposes_, acts_);
    if (locks) code_ |= MPI_Win_unlock(other_, exposed_.window());
    MPI_Barrier(s_.comm);
    check_mpi(code_, "one-sided operations");
    injection();  // none of a sample's
  }
  // A message to the other rank, from it, or both.
  void notify(bool sends, bool receives) {
    code_ |= MPI_Sendrecv(nullptr, 0, MPI_CHAR, sends ? other_ : MPI_PROC_NULL, 0, nullptr, 0, MPI_CHAR,
                          receives ? other_ : MPI_PROC_NULL, 0, s_.comm, MPI_STATUS_IGNORE);
  }

  std::size_t index_of(std::size_t offset) const { return offset / s_.wishes->type->bytes; }
  // Initial content of the target memory, and the summand of operation i's message in element e.
  std::int64_t first_value(int owner, std::size_t e) const { return contents_.value(owner + 2, e); }
  std::int64_t added(int actor, std::uint64_t i, std::size_t e) const {
    return contents_.value(actor, index_of(extent_.given.at(i)) + e);
  }

  // Each swap compares with the value of the swap before.
  void chain() {
    content_.resize(memory_.compared.size());
    store_value(*s_.wishes->type, first_value(other_, 0), &content_[extent_.given.at(0)]);
    for (std::uint64_t i = 1; i < s_.most(); ++i)
      std::memcpy(&content_[extent_.given.at(i)], &bytes_[extent_.given.at(i - 1)], s_.bytes);
    memory_.compared.write(content_);
  }

  void expect_fetched(std::uint64_t count) {
    if (form_.act == Remote::get) {
      for (std::uint64_t i = 0; i < count; ++i)
        for (std::uint64_t slot = 0; slot < window_; ++slot)
          contents_.message(fetched_image_.expect(extent_.fetched.at(i, slot), extent_.fetched.left(i, count)), other_,
                            extent_.given.at(i, slot));
      return;
    }
    std::vector<std::int64_t> sums(static_cast<std::size_t>(count_));
    for (std::size_t e = 0; e < sums.size(); ++e) sums[e] = first_value(other_, e);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto place = fetched_image_.expect(extent_.fetched.at(i), extent_.fetched.left(i, count));
      for (std::size_t e = 0; e < place.size() / s_.wishes->type->bytes; ++e)
        store_value(*s_.wishes->type, sums[e], &place[e * s_.wishes->type->bytes]);
      for (std::size_t e = 0; e < sums.size(); ++e)
        sums[e] = form_.act == Remote::compare_and_swap ? added(s_.rank, i, e) : sums[e] + added(s_.rank, i, e);
    }
  }

  // Content of the target memory: poison, data to be fetched, or numbers to be added to.
  void expose(std::uint64_t repetition, std::uint64_t count) {
    if (!exposes_) return;
    if (form_.act == Remote::get) return exposed_.write(bytes_);
    std::vector<std::byte>& memory = content_;
    memory.resize(extent_.far.room());
    far_image_.clear(repetition * 2 + 1);
    if (form_.act == Remote::put) {
      for (std::uint64_t i = 0; i < count; ++i)
        for (std::uint64_t slot = 0; slot < window_; ++slot)
          contents_.message(far_image_.expect(extent_.far.at(i, slot), extent_.far.left(i, count)), other_,
                            extent_.given.at(i, slot));
      far_image_.poison(memory);
      return exposed_.write(memory);
    }
    const auto end = far_image_.expect(0, s_.bytes);
    far_image_.poison(memory);
    const std::size_t size = s_.wishes->type->bytes;
    for (std::size_t e = 0; e < static_cast<std::size_t>(count_); ++e) {
      std::int64_t sum = first_value(s_.rank, e);
      store_value(*s_.wishes->type, sum, &memory[e * size]);
      for (std::uint64_t i = 0; i < count; ++i)
        sum = form_.act == Remote::compare_and_swap ? added(other_, i, e) : sum + added(other_, i, e);
      store_value(*s_.wishes->type, sum, &end[e * size]);
    }
    exposed_.write(memory);
  }

  void one(std::uint64_t i) {
    const MPI_Win window = exposed_.window();
    const bool by_groups = completion_.by_groups;
    if (by_groups && exposes_) code_ |= MPI_Win_post(partner_, 0, window);
    code_ |= by_groups && acts_ ? MPI_Win_start(partner_, 0, window) : completion_.begin(other_, window);
    if (acts_) inject(s_, window_, [&] { act(i); });
    code_ |= by_groups && acts_ ? MPI_Win_complete(window) : completion_.end(other_, window);
    if (by_groups && exposes_) code_ |= MPI_Win_wait(window);
  }

  void act(std::uint64_t i) {
    const MPI_Win window = exposed_.window();
    for (std::uint64_t slot = 0; slot < window_; ++slot) {
      std::byte* given = memory_.given.at(extent_.given.at(i, slot));
      std::byte* fetched = memory_.fetched.at(extent_.fetched.at(i, slot));
      const std::size_t offset = form_.gathers() ? 0 : extent_.far.at(i, slot);
      const MPI_Aint far = exposed_.far() + static_cast<MPI_Aint>(offset);
      switch (form_.act) {
        case Remote::put:
          code_ |= MPI_Put(given, count_, type_, other_, far, count_, type_, window);
          break;
        case Remote::get:
          code_ |= MPI_Get(fetched, count_, type_, other_, far, count_, type_, window);
          break;
        case Remote::accumulate:
          code_ |= MPI_Accumulate(given, count_, type_, other_, far, count_, type_, MPI_SUM, window);
          break;
        case Remote::get_accumulate:
          code_ |= MPI_Get_accumulate(given, count_, type_, fetched, count_, type_, other_, far, count_, type_, MPI_SUM,
                                      window);
          break;
        case Remote::fetch_and_op:
          code_ |= MPI_Fetch_and_op(given, fetched, type_, other_, far, MPI_SUM, window);
          break;
        case Remote::compare_and_swap:
          code_ |= MPI_Compare_and_swap(given, memory_.compared.at(extent_.given.at(i)), fetched, type_, other_, far,
                                        window);
          break;
      }
    }
  }

  RemoteForm form_;
  Setting s_;
  Extent extent_;
  std::uint64_t window_;
  int count_;
  MPI_Datatype type_;
  int other_;
  bool acts_, exposes_;
  const Completion& completion_;
  OneSidedMemory memory_;
  Exposed exposed_;
  Image fetched_image_, far_image_;
  Contents contents_;
  MPI_Group partner_ = MPI_GROUP_NULL;
  std::vector<std::byte> bytes_, content_;  // of `given`; of the memory to be written or read next
  int code_ = MPI_SUCCESS;
};

Titled one_sided_row(const char* name, const char* title, RemoteForm form) {
  Titled titled{title, form.windowed ? "one-sided bandwidth" : "one-sided latency", {}};
  titled.row = {name, titled.kind, "osu", 1};
  titled.row.needs = [form](const Setting& s) { return OneSided::needs(form, s); };
  titled.row.make = [form](const Setting& s) { return std::make_unique<OneSided>(form, s); };
  titled.both_ways = form.both_ways;
  titled.gathers = form.gathers();
  titled.single = form.act == Remote::fetch_and_op || form.act == Remote::compare_and_swap;
  titled.whole_numbers = form.act == Remote::compare_and_swap;
  return titled;
}

}  // namespace

std::vector<Titled> one_sided_rows() {
  return {one_sided_row("osu_put_latency", "OSU MPI_Put% Latency Test", {Remote::put}),
          one_sided_row("osu_get_latency", "OSU MPI_Get% latency Test", {Remote::get}),
          one_sided_row("osu_put_bw", "OSU MPI_Put% Bandwidth Test", {Remote::put, true}),
          one_sided_row("osu_get_bw", "OSU MPI_Get% Bandwidth Test", {Remote::get, true}),
          one_sided_row("osu_put_bibw", "OSU MPI_Put% Bi-directional Bandwidth Test", {Remote::put, true, true}),
          one_sided_row("osu_acc_latency", "OSU MPI_Accumulate% latency Test", {Remote::accumulate}),
          one_sided_row("osu_cas_latency", "OSU MPI_Compare_and_swap% latency Test", {Remote::compare_and_swap}),
          one_sided_row("osu_fop_latency", "OSU MPI_Fetch_and_op% latency Test", {Remote::fetch_and_op}),
          one_sided_row("osu_get_acc_latency", "OSU MPI_Get_accumulate% latency Test", {Remote::get_accumulate})};
}

}  // namespace plumb::osu
