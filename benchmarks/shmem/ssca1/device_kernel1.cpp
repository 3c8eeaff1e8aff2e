#include "benchmarks/shmem/ssca1/device_kernel1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/embedded.hpp"
#include "transport/idle.hpp"
#include "transport/transport.hpp"
#include "world/watchdog.hpp"

namespace plumb::ssca1 {

namespace {

const std::string file_of_kernels = "benchmarks/shmem/ssca1/ssca1.cl",
                  file_of_array = "benchmarks/shmem/ssca1/systolic.cl",
                  file_of_strips = "benchmarks/shmem/ssca1/strips.cl";
constexpr std::uint64_t rows_at_once = 8;  // a rank's rows are a multiple of it
constexpr std::uint64_t alignment = 64;    // of columns, so that messages begin at cache lines
constexpr std::uint16_t row_beyond = 0xffff, column_beyond = 0xfefe;
constexpr std::uint64_t launches_under_way = 64;
constexpr std::uint64_t cells_of_launch = std::uint64_t{1} << 38;  // of strips at most, so that it ends within seconds
constexpr std::uint64_t lead =
    128;  // columns between strips at the begin of a launch: a little more than they lie apart

// Rows of each rank but the last ones, which may have fewer, or none.
std::uint64_t rows_of_rank(std::uint64_t length, int ranks) {
  const std::uint64_t all = rows_at_once * static_cast<std::uint64_t>(ranks);
  return (length + all - 1) / all * rows_at_once;
}

std::uint64_t columns_of(std::uint64_t length, std::uint64_t tile) {
  return (length + tile - 1) / tile * tile;
}

// Ends that a rank has room for.
std::uint64_t room_of(std::uint64_t cells) {
  return std::clamp<std::uint64_t>(cells / 128, 1 << 16, 1 << 25);
}

std::uint16_t code_of(Codon codon) {
  return static_cast<std::uint16_t>(codon | amino_acids.find(amino_acids[codon]) << 8);
}

std::vector<std::uint16_t> codes_of(const std::vector<Codon>& codons, std::uint64_t first, std::uint64_t count,
                                    std::uint16_t beyond) {
  std::vector<std::uint16_t> codes(count, beyond);
  for (std::uint64_t i = 0; i < count && first + i < codons.size(); ++i) codes[i] = code_of(codons[first + i]);
  return codes;
}

std::vector<Codon> all_codons() {
  std::vector<Codon> all(no_codon);
  std::iota(all.begin(), all.end(), Codon{0});
  return all;
}

enum class Form { tiles, array, strips };

Form form_of(const DeviceInfo& info, const std::string& wanted, const Scores& scores) {
  if (info.type == "accelerator") return Form::array;
  if (wanted == "strips" || (wanted == "auto" && info.type == "gpu" && scores_fit_bytes(scores))) return Form::strips;
  return Form::tiles;
}

// Columns of a launch of strips: all of one rank; of several, a message's.
std::uint64_t strip_columns(std::uint64_t length, int ranks) {
  const std::uint64_t share = ranks == 1 ? length : length / (8 * static_cast<std::uint64_t>(ranks));
  const std::uint64_t rows = rows_of_rank(length, ranks);
  return columns_of(std::max<std::uint64_t>(1024, std::min(share, cells_of_launch / rows)), alignment);
}

// Work items of a group, rows of each, and columns of a launch. A GPU needs a tile for each of its units; a CPU's item
// is a lane of its vectors; on an FPGA one item is an array of so many lanes; a strip's items are a sub-group of
// NVIDIA's.
struct Shape {
  Form form;
  std::uint64_t group = 32, item_rows = rows_at_once, columns = 256;
  bool shared = true;  // tiles: rows in local memory
  std::uint64_t looks = std::uint64_t{1} << 30;

  Shape(Form wanted, const DeviceInfo& info, std::uint64_t length, std::uint64_t rows, int ranks, std::uint64_t tile)
      : form(wanted) {
    if (form == Form::array) item_rows = 1;
    if (form == Form::strips) columns = strip_columns(length, ranks);
    if (info.type == "gpu") {
      shared = false;
      looks = std::uint64_t{1} << 24;  // each waits for memory
    }
    if (info.type == "gpu" && form == Form::tiles) {
      for (group = 128; group > 32 && rows / (group * item_rows) < info.compute_units;) group /= 2;
      columns = 4 * group;
    }
    if (tile > 0) columns = columns_of(tile, alignment);
  }
  std::uint64_t tile_rows() const { return group * item_rows; }
  KernelRange range(std::uint64_t groups) const {
    return form == Form::array ? KernelRange{1, 1} : KernelRange{groups * group, group};
  }
  std::string options() const {
    if (form == Form::array) return fmt::format("-DLANES={} -DCOLUMNS={}", group, columns);
    const std::string items = fmt::format("-DGROUP={} -DROWS={}", group, item_rows);
    if (form == Form::strips) return fmt::format("{} -DLOOKS={}u", items, looks);
    return fmt::format("{} -DCOLUMNS={} -DSHARED={}", items, columns, shared ? 1 : 0);
  }
  const std::string& file() const {
    return form == Form::array ? file_of_array : form == Form::strips ? file_of_strips : file_of_kernels;
  }
  std::string name() const {
    return form == Form::array ? "systolic array" : form == Form::strips ? "strips" : "work items";
  }
};

class DeviceKernel1 final : public Kernel1 {
 public:
  DeviceKernel1(Session& session, Team& team, const Problem& problem, int bits, std::uint64_t tile,
                const std::string& form)
      : problem_(problem),
        team_(team),
        first_(static_cast<std::uint64_t>(team.rank()) * rows_of_rank(problem.length(), team.size())),
        rows_(first_ < problem.length() ? rows_of_rank(problem.length(), team.size()) : 0),
        score_bytes_(bits == 16 ? 2 : 4),
        most_(bits == 16 ? std::numeric_limits<std::int16_t>::max() : std::numeric_limits<std::int32_t>::max()),
        shape_(form_of(session.device.info(), form, problem.scores), session.device.info(), problem.length(), rows_,
               team.size(), tile),
        queue_(session.device.make_queue()) {
    shape_.columns = team.all_reduce(shape_.columns, Fold::maximum);  // devices may differ
    strips_ = columns_of(problem.length(), shape_.columns) / shape_.columns;
    tile_rows_ = (rows_ + shape_.tile_rows() - 1) / shape_.tile_rows();
    lead_ = !has_strips() ? shape_.columns : strips_ == 1 ? 0 : lead;
    behind_ = tile_rows_ == 0 ? 0 : columns_of((tile_rows_ - 1) * lead_, shape_.columns) / shape_.columns;
    ends_kept_ = room_ = room_of(rows_ * problem.length());
    allocate(session);
    build(session);
    connect(session);
  }

  void reset() override {
    const std::vector<std::uint16_t> main = codes_of(problem_.strings.main, first_, rows_ + 1, row_beyond),
                                     match = codes_of(problem_.strings.match, 0, columns() + 1, column_beyond);
    write(main, *main_codes_);
    write(match, *match_codes_);
    // As high as a score can be without an overflow: an edge used before it arrives is no low one.
    const std::int64_t edge = first_ == 0 ? 0 : most_ / 2;
    if (has_strips()) {
      write(codes_of(all_codons(), 0, all_codons().size(), column_beyond), *codons_);
      begin_->set({last_.get(), along_.get(), corners_.get(), arrived_.get(), edges_.get(), highest_.get(), ends_.get(),
                   count_.get(), taken_.get(), begun_.get(), narrow(rows_), narrow(tile_rows_), narrow(columns()),
                   static_cast<std::uint32_t>(edge), narrow(3 * ends_kept_)});
    } else {
      begin_->set({last_.get(), along_.get(), corners_.get(), edges_.get(), highest_.get(), ends_.get(), count_.get(),
                   narrow(rows_), narrow(tile_rows_), narrow(2 * columns()), static_cast<std::uint32_t>(edge),
                   narrow(3 * ends_kept_)});
    }
    queue_->enqueue(*begin_, shape_.range(64));
    queue_->finish();
    team_.barrier();  // nothing arrives before
  }

  Found run() override {
    const Waiting waiting("kernel 1 of SSCA1 on the device");
    if (rows_ == 0) return {};
    if (in_.exchange != nullptr) receive(0);
    for (std::uint64_t launch = 0; launch < strips_ + behind_; ++launch) {
      if (in_.exchange != nullptr && launch < strips_) {
        finish(in_);
        if (launch + 1 < strips_) receive(launch + 1);
      }
      if (has_strips())
        score_strips(launch);
      else
        score_tiles(launch);
      if (out_.exchange != nullptr && launch >= behind_) send(launch - behind_);
      if (launch % launches_under_way != 0) continue;
      queue_->finish();
      Waiting::progress();
    }
    finish(out_);
    return found();
  }

  Json facts() const override {
    return {{"form", shape_.name()}, {"tile", {shape_.tile_rows(), shape_.columns}}, {"tiles", {tile_rows_, strips_}}};
  }

 private:
  // Messages of one direction, one at a time.
  struct Way {
    CompiledExchange* exchange = nullptr;  // null: no neighbour there
    bool active = false;
  };

  static std::uint32_t narrow(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
  bool has_strips() const { return shape_.form == Form::strips; }
  std::uint64_t columns() const { return strips_ * shape_.columns; }
  std::uint64_t strip_bytes() const { return 2 * shape_.columns * score_bytes_; }

  template <class T>
  void write(const std::vector<T>& values, Buffer& to) {
    queue_->write(reinterpret_cast<const std::byte*>(values.data()), {&to, 0, values.size() * sizeof(T)});
  }

  void allocate(Session& session) {
    Placement own = session.memory;
    own.shared = false;
    const auto buffer = [&](std::uint64_t bytes, const Placement& placement) {
      return session.device.allocate(std::max<std::uint64_t>(bytes, 64), placement);
    };
    main_codes_ = buffer(2 * (rows_ + 1), own);
    match_codes_ = buffer(2 * (columns() + 1), own);
    for (auto* rows : {&last_, &along_}) *rows = buffer(score_bytes_ * rows_, own);
    corners_ = buffer(score_bytes_ * tile_rows_, own);
    highest_ = buffer(sizeof(std::int32_t) * tile_rows_, own);
    ends_ = buffer(3 * sizeof(std::uint32_t) * room_, own);
    count_ = buffer(sizeof(std::uint32_t), own);
    edges_ = buffer(strips_ * strip_bytes(), session.memory);
    if (!has_strips()) return;
    arrived_ = buffer(strips_ * strip_bytes(), session.memory);
    codons_ = buffer(sizeof(std::uint16_t) * all_codons().size(), own);
    taken_ = buffer(sizeof(std::uint32_t), own);
    begun_ = buffer(sizeof(std::uint32_t) * tile_rows_, own);
  }

  void build(Session& session) {
    const Scores& scores = problem_.scores;
    const std::string options = fmt::format(
        "{} {} -DEXACT={} -DSIMILAR={} -DDISSIMILAR={} -DOPEN={} -DEXTEND={} -DMINIMUM={}", shape_.options(),
        has_strips()        ? fmt::format("-DSCORE_BITS={}", 8 * score_bytes_)
        : score_bytes_ == 2 ? "-DSCORE=short"
                            : "-DSCORE=int",
        scores.exact, scores.similar, scores.dissimilar, scores.gap(1), scores.gap_extend, problem_.minimum);
    program_ = session.device.build(session.source({shape_.file(), embedded_text(shape_.file()), options}));
    begin_ = program_->kernel("begin");
    score_ = program_->kernel("score");
    if (has_strips())
      score_->set({main_codes_.get(), match_codes_.get(), codons_.get(),          last_.get(),
                   along_.get(),      arrived_.get(),     edges_.get(),           corners_.get(),
                   highest_.get(),    ends_.get(),        count_.get(),           taken_.get(),
                   begun_.get(),      narrow(rows_),      narrow(columns()),      narrow(room_),
                   std::uint32_t{0},  std::uint32_t{0},   narrow(shape_.columns), narrow(lead_)});
    else
      score_->set({main_codes_.get(), match_codes_.get(), last_.get(), along_.get(), edges_.get(), corners_.get(),
                   highest_.get(), ends_.get(), count_.get(), narrow(rows_), std::uint32_t{0}, std::uint32_t{0},
                   narrow(room_)});
  }

  // What leaves a rank's last row is in `edges`, where it arrives, too, but for strips. Links begin at even ranks, then
  // at odd ones, so that each rank has one message of an exchange.
  void connect(Session& session) {
    const std::uint64_t rows = rows_of_rank(problem_.length(), team_.size());
    const int active = static_cast<int>((problem_.length() + rows - 1) / rows), rank = team_.rank();
    for (int parity = 0; parity < 2; ++parity) {
      Exchange exchange;
      Transfer transfer;
      transfer.lane = parity;
      transfer.slots.view = {edges_.get(), 0, strip_bytes()};
      transfer.slots.stride = strip_bytes();
      Way* way = nullptr;
      Step step;
      if (rank % 2 == parity && rank + 1 < active) {
        transfer.peer = rank + 1;
        step.sends = {transfer};
        way = &out_;
      } else if (rank % 2 != parity && rank > 0 && rank < active) {
        transfer.peer = rank - 1;
        if (has_strips()) transfer.slots.view.buffer = arrived_.get();
        step.receives = {transfer};
        way = &in_;
      }
      if (way != nullptr) exchange.steps = {step};
      exchanges_.push_back(session.transport->compile(exchange));
      if (way != nullptr) way->exchange = exchanges_.back().get();
    }
  }

  // Both ways go on, as the other rank may wait for either.
  void finish(Way& wanted) {
    for (Idle idle(true); wanted.active;) {
      for (Way* way : {&in_, &out_})
        if (way->active) way->active = !way->exchange->test();
      if (wanted.active) idle.look();
    }
  }
  void receive(std::uint64_t strip) {
    in_.exchange->start(strip, 1);
    in_.active = true;
  }
  void send(std::uint64_t strip) {
    finish(out_);
    out_.exchange->start_after(*queue_, strip, 1);
    out_.active = true;
  }

  // All tiles of an anti-diagonal.
  void score_tiles(std::uint64_t diagonal) {
    const std::uint64_t first = diagonal < strips_ ? 0 : diagonal - strips_ + 1,
                        last = std::min(diagonal, tile_rows_ - 1);
    score_->set(11, narrow(diagonal));
    const std::uint64_t at_once = shape_.form == Form::array ? 1 : last - first + 1;
    for (std::uint64_t tile = first; tile <= last; tile += at_once) {
      score_->set(10, narrow(tile));
      queue_->enqueue(*score_, shape_.range(at_once));
    }
  }

  void score_strips(std::uint64_t launch) {
    score_->set(16, narrow(launch * tile_rows_));
    score_->set(17, narrow(launch * shape_.columns));
    queue_->enqueue(*score_, shape_.range(tile_rows_));
  }

  Found found() {
    std::uint32_t count = 0;
    std::vector<std::int32_t> highest(tile_rows_);
    queue_->enqueue_read({count_.get(), 0, sizeof count}, reinterpret_cast<std::byte*>(&count));
    queue_->enqueue_read({highest_.get(), 0, sizeof(std::int32_t) * tile_rows_},
                         reinterpret_cast<std::byte*>(highest.data()));
    queue_->finish();
    if (*std::min_element(highest.begin(), highest.end()) < 0)
      throw Error("a strip waited in vain for the one above it on the device: use --form tiles, and report this");
    if (count > room_)
      throw Error(fmt::format("{} alignments end on this rank, and its device has room for {}: raise --minimum-score",
                              count, room_));
    ends_kept_ = count;
    std::vector<std::uint32_t> ends(3 * std::size_t{count});
    if (count > 0)
      queue_->read({ends_.get(), 0, sizeof(std::uint32_t) * ends.size()}, reinterpret_cast<std::byte*>(ends.data()));
    Found all;
    all.ends.reserve(count);
    const std::uint64_t last = problem_.length() - 1;  // wrong places stay within the strings, for the validation
    for (std::size_t i = 0; i < ends.size(); i += 3)
      all.ends.push_back({static_cast<std::int32_t>(ends[i]), std::min(first_ + ends[i + 1], last),
                          std::min<std::uint64_t>(ends[i + 2], last)});
    all.cells = (std::min(problem_.length(), first_ + rows_) - first_) * problem_.length();
    all.overflowed = *std::max_element(highest.begin(), highest.end()) > most_ - problem_.scores.exact;
    return all;
  }

  const Problem& problem_;
  Team& team_;
  std::uint64_t first_, rows_;  // of the main string; rows are whole items
  std::uint64_t score_bytes_;
  std::int64_t most_;
  Shape shape_;
  std::uint64_t strips_ = 0, tile_rows_ = 0, room_ = 0;  // of columns, of rows; ends
  std::uint64_t lead_ = 0;                               // columns that a row of tiles is behind the one above
  std::uint64_t behind_ = 0;                             // launches that the last row of tiles is behind the first
  std::uint64_t ends_kept_ = 0;                          // in the device's memory from the last run
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> main_codes_, match_codes_, last_, along_, corners_, highest_, ends_, count_, edges_, arrived_,
      codons_, taken_, begun_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> begin_, score_;
  std::vector<std::unique_ptr<CompiledExchange>> exchanges_;  // destroyed before `edges_`
  Way in_, out_;
};

}  // namespace

std::unique_ptr<Kernel1> make_device_kernel1(Session& session, Team& team, const Problem& problem, int bits,
                                             std::uint64_t tile, const std::string& form) {
  return std::make_unique<DeviceKernel1>(session, team, problem, bits, tile, form);
}

bool scores_fit_bytes(const Scores& scores) {
  const auto fits = [](int score) { return score >= -128 && score <= 127; };
  return fits(scores.exact) && fits(scores.similar) && fits(scores.dissimilar);
}

DeviceBytes device_bytes(std::uint64_t length, int ranks, std::uint64_t tile) {
  const std::uint64_t widest = std::max<std::uint64_t>(strip_columns(length, ranks), 512);  // of the usual tiles
  const std::uint64_t at_once = std::max(tile, widest) + alignment;
  const std::uint64_t rows = rows_of_rank(length, ranks), columns = length + at_once;
  const std::uint64_t ends = 3 * sizeof(std::uint32_t) * room_of(rows * length);
  return {16 * rows + 18 * columns + ends, std::max(ends, 8 * columns), 8 * at_once};
}

}  // namespace plumb::ssca1
