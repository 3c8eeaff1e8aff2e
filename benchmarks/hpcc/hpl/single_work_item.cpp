// The form for FPGAs in HLS C++ (runtime `hls`), for matrices that need no pivots: the matrix by rows in the device's
// memory, a kernel for each part of a step. Blocks go to the other ranks of a column of the grid through the hosts.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "benchmarks/hpcc/hpl/form.hpp"
#include "core/data.hpp"
#include "core/embedded.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t tile = 32;  // edge of a product's
constexpr const char* file = "benchmarks/hpcc/hpl/single_work_item_hls.cpp";

std::uint32_t short_of(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

template <class T>
class PipelineForm final : public Form {
 public:
  PipelineForm(Session& session, const Layout& layout, const FormWish& wish)
      : layout_(layout),
        columns_(layout.columns.count()),
        pitch_(row_pitch(layout, sizeof(T))),
        queue_(session.device.make_queue()),
        matrix_(session.device.allocate(std::max<std::size_t>(layout.rows.count() * pitch_, 1) * sizeof(T),
                                        session.memory)),
        upper_(session.device.allocate(std::max<std::size_t>(layout.block * columns_, 1) * sizeof(T), session.memory)),
        x_(session.device.allocate(layout.block * sizeof(T), session.memory)),
        values_(session.device.allocate(std::max(layout.rows.count(), layout.block) * sizeof(T), session.memory)) {
    KernelSource source{file, ""};
    source.hls = embedded_text(file);
    source.options = fmt::format("-DNUMBER={} -DBLOCK={} -DTILE={}", to_string(wish.type), layout.block, tile);
    program_ = session.device.build(session.source(source));
    const std::size_t bytes = panel_places(layout.block, layout.block, layout.rows.count(), sizeof(T)).bytes;
    for (auto& panel : panels_) {
      panel = session.device.allocate((bytes / wish.panel_piece + 1) * wish.panel_piece, session.memory);
      views_.push_back(whole(*panel));
    }
  }

  void write_rows(std::size_t first, std::span<const double> values) override {
    for (std::size_t i = 0; i * columns_ < values.size(); ++i) {
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * columns_);
      give(std::vector<T>(row, row + static_cast<std::ptrdiff_t>(columns_)), part(first + i, 0, columns_));
    }
  }
  void read_rows(std::size_t first, std::span<double> values) override {
    for (std::size_t i = 0; i * columns_ < values.size(); ++i)
      take(part(first + i, 0, columns_), values.subspan(i * columns_, columns_));
  }
  void read_runs(std::span<const Run> runs, std::size_t width, std::span<double> values) override {
    for (std::size_t k = 0; k < runs.size(); ++k)
      take(part(runs[k].row, runs[k].column, width), values.subspan(k * width, width));
  }
  void poison() override {
    for (Buffer* buffer : {upper_.get(), x_.get(), values_.get(), panels_[0].get(), panels_[1].get()}) {
      const std::vector<std::byte> bytes(buffer->size(), poison_byte);
      queue_->write(bytes.data(), whole(*buffer));
    }
  }
  const std::vector<BufferView>& panel_buffers() const override { return views_; }
  std::size_t element_bytes() const override { return sizeof(T); }

  void factor(const Step& step, bool, Team& column, std::size_t panel) override {
    const std::size_t below = layout_.rows.count() - step.below;
    const PanelPlaces places = panel_places(layout_.block, step.width, below, sizeof(T));
    Buffer* to = panels_[panel].get();
    if (step.in_row)
      start("lu",
            {matrix_.get(), at(step.row, step.column), std::uint64_t{pitch_}, short_of(step.width),
             std::uint64_t{step.begin}, to, short_of(layout_.block), to, std::uint64_t{places.diagonal / sizeof(T)}});
    share(column, step.owner_row, step.in_row, {to, 0, places.lower});
    start("left",
          {matrix_.get(), at(step.below, step.column), std::uint64_t{pitch_}, short_of(below), short_of(step.width), to,
           std::uint64_t{places.diagonal / sizeof(T)}, std::uint64_t{places.lower / sizeof(T)}});
    queue_->finished();  // submits them
  }
  bool has_panel() override { return queue_->finished(); }
  bool has_finished() override { return queue_->finished(); }

  PanelHead head(const Step& step, std::size_t panel) override {
    std::vector<std::int64_t> words(layout_.block + 1);
    queue_->read({panels_[panel].get(), 0, words.size() * sizeof words[0]}, reinterpret_cast<std::byte*>(words.data()));
    return {{words.begin(), words.begin() + static_cast<std::ptrdiff_t>(step.width)}, words[layout_.block]};
  }

  // Without pivots only the block's own rows move.
  void exchange_rows(const Step& step, const Interchange&, Columns columns, Team& column) override {
    const std::size_t bytes = columns.count() * sizeof(T);
    if (bytes == 0) return;
    for (std::size_t i = 0; step.in_row && i < step.width; ++i)
      queue_->enqueue_copy(part(step.row + i, columns.begin, columns.count()), {upper_.get(), i * bytes, bytes});
    share(column, step.owner_row, step.in_row, {upper_.get(), 0, step.width * bytes});
  }

  void update(const Step& step, std::size_t panel, Columns columns) override {
    const std::size_t count = columns.count(), below = layout_.rows.count() - step.below;
    if (count == 0) return;
    const PanelPlaces places = panel_places(layout_.block, step.width, below, sizeof(T));
    Buffer* from = panels_[panel].get();
    start("top",
          {upper_.get(), short_of(step.width), short_of(count), from, std::uint64_t{places.diagonal / sizeof(T)},
           matrix_.get(), at(step.row, columns.begin), std::uint64_t{pitch_}, std::uint32_t{step.in_row ? 1u : 0u}});
    if (below > 0)
      start("inner",
            {from, std::uint64_t{places.lower / sizeof(T)}, upper_.get(), matrix_.get(), at(step.below, columns.begin),
             std::uint64_t{pitch_}, short_of(below), short_of(count), short_of(step.width)});
    queue_->finished();  // submits them
  }
  void finish() override { queue_->finish(); }

  void solve_lower(const Step& step, std::span<double> y) override { solve(step, false, y); }
  void solve_upper(const Step& step, std::span<double> x) override { solve(step, true, x); }
  void subtract_lower(const Step& step, std::span<const double> y, std::span<double> rows_below) override {
    subtract(at(step.below, step.column), y, rows_below);
  }
  void subtract_upper(const Step& step, std::span<const double> x, std::span<double> rows_above) override {
    subtract(at(0, step.column), x, rows_above);
  }

  Json facts() const override { return {{"variant", "single_work_item"}, {"library", nullptr}}; }

 private:
  std::uint64_t at(std::size_t row, std::size_t column) const { return row * pitch_ + column; }
  BufferView part(std::size_t row, std::size_t column, std::size_t count) const {
    return {matrix_.get(), at(row, column) * sizeof(T), count * sizeof(T)};
  }
  void give(const std::vector<T>& values, const BufferView& to) {
    queue_->write(reinterpret_cast<const std::byte*>(values.data()), {to.buffer, to.offset, values.size() * sizeof(T)});
  }
  void take(const BufferView& from, std::span<double> values) {
    std::vector<T> own(values.size());
    queue_->read({from.buffer, from.offset, own.size() * sizeof(T)}, reinterpret_cast<std::byte*>(own.data()));
    std::copy(own.begin(), own.end(), values.begin());
  }
  void start(const std::string& name, const std::vector<KernelArgument>& arguments) {
    auto& kernel = kernels_[name];
    if (!kernel) kernel = program_->kernel(name);
    kernel->set(arguments);
    queue_->enqueue(*kernel, {1, 1});
  }
  // From the block's rank to the others of the column.
  void share(Team& column, std::size_t owner, bool is_owner, const BufferView& view) {
    if (column.size() == 1) return;
    std::vector<std::byte> bytes(view.size);
    if (is_owner) queue_->read(view, bytes.data());
    column.broadcast(std::span(bytes), static_cast<int>(owner));
    if (!is_owner) queue_->write(bytes.data(), view);
  }
  void solve(const Step& step, bool is_upper, std::span<double> x) {
    give(std::vector<T>(x.begin(), x.end()), whole(*x_));
    start("solve", {matrix_.get(), at(step.row, step.column), std::uint64_t{pitch_}, short_of(x.size()),
                    std::uint32_t{is_upper ? 1u : 0u}, x_.get()});
    take(whole(*x_), x);
  }
  void subtract(std::uint64_t from, std::span<const double> x, std::span<double> rows) {
    if (rows.empty()) return;
    give(std::vector<T>(x.begin(), x.end()), whole(*x_));
    give(std::vector<T>(rows.begin(), rows.end()), whole(*values_));
    start("subtract", {matrix_.get(), from, std::uint64_t{pitch_}, short_of(rows.size()), short_of(x.size()), x_.get(),
                       values_.get()});
    take(whole(*values_), rows);
  }

  Layout layout_;
  std::size_t columns_, pitch_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> matrix_, upper_, x_, values_, panels_[2];
  std::vector<BufferView> views_;
  std::unique_ptr<Program> program_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace

// All buffers are used by several kernels, so they are in one bank.
BoardKernels pipeline_kernels() {
  BoardKernels made{.source = file,
                    .options = fmt::format("-DTILE={}", tile),
                    .run = {{"variant", "single_work_item"}, {"matrix", "dominant"}}};
  using Arguments = std::vector<BoardKernels::Argument>;
  for (const auto& [name, arguments] :
       {std::pair{"lu", Arguments{{"a"}, {"head"}, {"panel"}}}, std::pair{"left", Arguments{{"a"}, {"panel"}}},
        std::pair{"top", Arguments{{"upper"}, {"panel"}, {"a"}}},
        std::pair{"inner", Arguments{{"panel"}, {"upper"}, {"c"}}}, std::pair{"solve", Arguments{{"a"}, {"x"}}},
        std::pair{"subtract", Arguments{{"a"}, {"x"}, {"values"}}}})
    made.kernels.push_back({.name = name, .numbered = fmt::format("{}_{{replication}}", name), .arguments = arguments});
  return made;
}

std::unique_ptr<Form> make_pipeline(Session& session, const Layout& layout, const FormWish& wish) {
  if (const std::string& runtime = session.device.info().runtime; runtime != "hls" && runtime != "xrt")
    throw Unsupported(
        fmt::format("hpl has no form single_work_item on {}: it is in HLS C++ (--runtime hls); use --variant nd_range",
                    session.device.info().name));
  if (wish.factors != Factors::own)
    throw Unsupported("hpl --variant single_work_item rounds no factors: use --refine off or float");
  if (wish.type == ScalarType::f32) return std::make_unique<PipelineForm<float>>(session, layout, wish);
  return std::make_unique<PipelineForm<double>>(session, layout, wish);
}

}  // namespace plumb::hpl
