#include "benchmarks/shmem/ssca1/device_kernel1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/embedded.hpp"
#include "transport/idle.hpp"
#include "transport/transport.hpp"
#include "world/watchdog.hpp"

namespace plumb::ssca1 {

namespace {

const std::string file_of_kernels = "benchmarks/shmem/ssca1/ssca1.cl",
                  file_of_array = "benchmarks/shmem/ssca1/systolic.cl";
constexpr std::uint64_t rows_at_once = 8;  // a rank's rows are a multiple of it
constexpr std::uint64_t alignment = 64;    // of columns, so that messages begin at cache lines
constexpr std::uint16_t row_beyond = 0xffff, column_beyond = 0xfefe;
constexpr std::uint64_t diagonals_under_way = 64;

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

// Work items of a group, rows of each, and columns of a tile. A GPU needs a tile for each of its units; a CPU's item is
// a lane of its vectors; on an FPGA one item is an array of so many lanes.
struct Shape {
  std::uint64_t group = 32, item_rows = rows_at_once, columns = 256;
  bool shared = true;  // rows in local memory
  bool array = false;

  Shape(const DeviceInfo& info, std::uint64_t rows, std::uint64_t tile) : array(info.type == "accelerator") {
    if (array) item_rows = 1;
    if (info.type == "gpu") {
      shared = false;
      for (group = 128; group > 32 && rows / (group * item_rows) < info.compute_units;) group /= 2;
      columns = 4 * group;
    }
    if (tile > 0) columns = (tile + alignment - 1) / alignment * alignment;
  }
  std::uint64_t tile_rows() const { return group * item_rows; }
  KernelRange range(std::uint64_t groups) const {
    return array ? KernelRange{1, 1} : KernelRange{groups * group, group};
  }
  std::string options() const {
    if (array) return fmt::format("-DLANES={} -DCOLUMNS={}", group, columns);
    return fmt::format("-DGROUP={} -DROWS={} -DCOLUMNS={} -DSHARED={}", group, item_rows, columns, shared ? 1 : 0);
  }
};

class DeviceKernel1 final : public Kernel1 {
 public:
  DeviceKernel1(Session& session, Team& team, const Problem& problem, int bits, std::uint64_t tile)
      : problem_(problem),
        team_(team),
        first_(static_cast<std::uint64_t>(team.rank()) * rows_of_rank(problem.length(), team.size())),
        rows_(first_ < problem.length() ? rows_of_rank(problem.length(), team.size()) : 0),
        score_bytes_(bits == 16 ? 2 : 4),
        most_(bits == 16 ? std::numeric_limits<std::int16_t>::max() : std::numeric_limits<std::int32_t>::max()),
        shape_(session.device.info(), rows_, tile),
        queue_(session.device.make_queue()) {
    shape_.columns = team.all_reduce(shape_.columns, Fold::maximum);  // devices may differ
    strips_ = columns_of(problem.length(), shape_.columns) / shape_.columns;
    tile_rows_ = (rows_ + shape_.tile_rows() - 1) / shape_.tile_rows();
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
    begin_->set({last_.get(), along_.get(), corners_.get(), edges_.get(), highest_.get(), ends_.get(), count_.get(),
                 narrow(rows_), narrow(tile_rows_), narrow(2 * columns()), static_cast<std::uint32_t>(edge),
                 narrow(3 * ends_kept_)});
    queue_->enqueue(*begin_, shape_.range(64));
    queue_->finish();
    team_.barrier();  // nothing arrives before
  }

  Found run() override {
    const Waiting waiting("kernel 1 of SSCA1 on the device");
    if (rows_ == 0) return {};
    if (in_.exchange != nullptr) receive(0);
    for (std::uint64_t diagonal = 0; diagonal + 1 < strips_ + tile_rows_; ++diagonal) {
      if (in_.exchange != nullptr && diagonal < strips_) {
        finish(in_);
        if (diagonal + 1 < strips_) receive(diagonal + 1);
      }
      score(diagonal);
      if (out_.exchange != nullptr && diagonal + 1 >= tile_rows_) send(diagonal + 1 - tile_rows_);
      if (diagonal % diagonals_under_way != 0) continue;
      queue_->finish();
      Waiting::progress();
    }
    finish(out_);
    return found();
  }

  Json facts() const override {
    return {{"form", shape_.array ? "systolic array" : "work items"},
            {"tile", {shape_.tile_rows(), shape_.columns}},
            {"tiles", {tile_rows_, strips_}}};
  }

 private:
  // Messages of one direction, one at a time.
  struct Way {
    CompiledExchange* exchange = nullptr;  // null: no neighbour there
    bool active = false;
  };

  static std::uint32_t narrow(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
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
  }

  void build(Session& session) {
    const Scores& scores = problem_.scores;
    const std::string options =
        fmt::format("{} -DSCORE={} -DEXACT={} -DSIMILAR={} -DDISSIMILAR={} -DOPEN={} -DEXTEND={} -DMINIMUM={}",
                    shape_.options(), score_bytes_ == 2 ? "short" : "int", scores.exact, scores.similar,
                    scores.dissimilar, scores.gap(1), scores.gap_extend, problem_.minimum);
    const std::string& file = shape_.array ? file_of_array : file_of_kernels;
    program_ = session.device.build(session.source({file, embedded_text(file), options}));
    begin_ = program_->kernel("begin");
    score_ = program_->kernel("score");
    score_->set({main_codes_.get(), match_codes_.get(), last_.get(), along_.get(), edges_.get(), corners_.get(),
                 highest_.get(), ends_.get(), count_.get(), narrow(rows_), std::uint32_t{0}, std::uint32_t{0},
                 narrow(room_)});
  }

  // What leaves a rank's last row is in `edges`, where it arrives. Links begin at even ranks, then at odd ones, so that
  // each rank has one message of an exchange.
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
  void score(std::uint64_t diagonal) {
    const std::uint64_t first = diagonal < strips_ ? 0 : diagonal - strips_ + 1,
                        last = std::min(diagonal, tile_rows_ - 1);
    score_->set(11, narrow(diagonal));
    const std::uint64_t at_once = shape_.array ? 1 : last - first + 1;
    for (std::uint64_t tile = first; tile <= last; tile += at_once) {
      score_->set(10, narrow(tile));
      queue_->enqueue(*score_, shape_.range(at_once));
    }
  }

  Found found() {
    std::uint32_t count = 0;
    std::vector<std::int32_t> highest(tile_rows_);
    queue_->enqueue_read({count_.get(), 0, sizeof count}, reinterpret_cast<std::byte*>(&count));
    queue_->enqueue_read({highest_.get(), 0, sizeof(std::int32_t) * tile_rows_},
                         reinterpret_cast<std::byte*>(highest.data()));
    queue_->finish();
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
  std::uint64_t strips_ = 0, tile_rows_ = 0, room_ = 0;
  std::uint64_t ends_kept_ = 0;  // in the device's memory from the last run
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> main_codes_, match_codes_, last_, along_, corners_, highest_, ends_, count_, edges_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> begin_, score_;
  std::vector<std::unique_ptr<CompiledExchange>> exchanges_;  // destroyed before `edges_`
  Way in_, out_;
};

}  // namespace

std::unique_ptr<Kernel1> make_device_kernel1(Session& session, Team& team, const Problem& problem, int bits,
                                             std::uint64_t tile) {
  return std::make_unique<DeviceKernel1>(session, team, problem, bits, tile);
}

DeviceBytes device_bytes(std::uint64_t length, int ranks, std::uint64_t tile) {
  constexpr std::uint64_t widest = 512;  // of the usual tiles
  const std::uint64_t rows = rows_of_rank(length, ranks), columns = length + std::max(tile, widest) + alignment;
  const std::uint64_t ends = 3 * sizeof(std::uint32_t) * room_of(rows * length);
  return {16 * rows + 10 * columns + ends, std::max(ends, 8 * columns), 8 * (std::max(tile, widest) + alignment)};
}

}  // namespace plumb::ssca1
