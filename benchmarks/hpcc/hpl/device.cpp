// Runtimes that compile kernels (`opencl`, `cuda`): the matrix by rows in the device's memory, generation to
// checks. Panels have their own queue, to overlap with updates.
#include <algorithm>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/hpl/device_panel.hpp"
#include "benchmarks/hpcc/hpl/device_products.hpp"
#include "benchmarks/hpcc/hpl/device_rows.hpp"
#include "benchmarks/hpcc/hpl/form.hpp"
#include "benchmarks/hpcc/hpl/kernels.hpp"
#include "core/data.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t gathered_bytes = std::size_t{64} << 20, team_of_row = 32;

std::size_t in_units(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

Placement apart(Placement memory) {
  memory.shared = false;
  return memory;
}

template <class T>
class DeviceForm final : public Form {
 public:
  DeviceForm(Session& session, const Layout& layout, const FormWish& wish, Team& column)
      : device_(session.device),
        own_(apart(session.memory)),
        layout_(layout),
        columns_(layout.columns.count()),
        pitch_(row_pitch(layout, sizeof(T))),
        upper_pitch_(in_units(columns_, room_.columns)),
        queue_(device_.make_queue()),
        panel_queue_(device_.make_urgent_queue()),
        kernels_(session, wish.type, layout.block),
        matrix_(device_.allocate(layout.rows.count() * pitch_ * sizeof(T), own_)),
        upper_(allocate_upper()),
        copy_(allocate_upper()),
        vector_(device_.allocate(std::max(layout.rows.count(), columns_) * sizeof(T), own_)),
        block_vector_(device_.allocate(layout.block * sizeof(T), own_)) {
    products_ = wish.library ? make_library_products(device_, *queue_, wish.type)
                             : make_device_products(device_, kernels_, layout, wish.type, wish.factors);
    const std::size_t bytes = panel_places(layout.block, layout.block, layout.rows.count(), sizeof(T)).bytes +
                              room_.rows * layout.block * sizeof(T);
    for (auto& panel : panels_) {
      panel = device_.allocate((bytes / wish.panel_piece + 1) * wish.panel_piece, session.memory);
      views_.push_back(whole(*panel));
    }
    panel_ = std::make_unique<DevicePanel>(session, layout, kernels_, *products_, sizeof(T), column, own_, wish.alone);
    rows_ = std::make_unique<DeviceRows>(session, layout, kernels_, sizeof(T), column, own_);
    warm_up();
  }

  void write_rows(std::size_t first, std::span<const double> values) override {
    std::vector<T> row(columns_);
    for (std::size_t i = 0; i * columns_ < values.size(); ++i) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * columns_), columns_, row.begin());
      queue_->write(as_bytes(row), {matrix_.get(), (first + i) * pitch_ * sizeof(T), columns_ * sizeof(T)});
    }
  }
  void read_rows(std::size_t first, std::span<double> values) override {
    std::vector<T> row(columns_);
    for (std::size_t i = 0; i * columns_ < values.size(); ++i) {
      queue_->read({matrix_.get(), (first + i) * pitch_ * sizeof(T), columns_ * sizeof(T)}, as_bytes(row));
      std::copy_n(row.begin(), columns_, values.begin() + static_cast<std::ptrdiff_t>(i * columns_));
    }
  }

  void read_runs(std::span<const Run> runs, std::size_t width, std::span<double> values) override {
    const std::size_t at_once = std::min(runs.size(), std::max<std::size_t>(1, gathered_bytes / 8 / width));
    if (runs.empty()) return;
    const auto places = device_.allocate(at_once * sizeof(std::uint64_t), own_);
    const auto found = device_.allocate(at_once * width * sizeof(double), own_);
    std::vector<std::uint64_t> list;
    for (std::size_t first = 0; first < runs.size(); first += at_once) {
      const std::size_t count = std::min(at_once, runs.size() - first);
      list.clear();
      for (const Run& run : runs.subspan(first, count)) list.push_back(run.row * pitch_ + run.column);
      queue_->write(as_bytes(list), {places.get(), 0, count * sizeof(std::uint64_t)});
      kernels_.start(*queue_, "gather",
                     {matrix_.get(), places.get(), std::uint64_t{width}, std::uint64_t{count}, found.get()},
                     kernels_.groups_of_loop(count * width));
      queue_->read({found.get(), 0, count * width * sizeof(double)},
                   reinterpret_cast<std::byte*>(values.data() + first * width));
    }
  }

  bool generate(const Matrix& matrix) override {
    const auto rule = matrix.rule();
    if (!rule) return false;
    const Numbers numbers(*this, *rule);
    std::vector<KernelArgument> arguments{matrix_.get(), std::uint64_t{pitch_}, std::uint64_t{columns_}};
    numbers.append_to(arguments);
    kernels_.start(*queue_, "generate", arguments, layout_.rows.count());
    queue_->finish();
    return true;
  }

  std::optional<RowSums> row_sums(const Matrix& matrix, std::span<const double> x) override {
    const auto rule = matrix.rule();
    if (!rule) return std::nullopt;
    const std::size_t rows = layout_.rows.count();
    const Numbers numbers(*this, *rule);
    const auto of_device = given(x);
    const auto sums = device_.allocate(3 * rows * sizeof(double), own_);
    std::vector<KernelArgument> arguments{sums.get(), of_device.get(), std::uint64_t{columns_}};
    numbers.append_to(arguments);
    kernels_.start(*queue_, "row_sums", arguments, rows);
    std::vector<double> values(3 * rows);
    queue_->read(whole(*sums), as_bytes(values));
    RowSums found{std::vector<double>(rows), std::vector<double>(rows), std::vector<double>(rows)};
    for (std::size_t i = 0; i < rows; ++i) {
      found.product[i] = values[3 * i];
      found.size[i] = values[3 * i + 1];
      found.norm[i] = values[3 * i + 2];
    }
    return found;
  }

  std::optional<double> largest_of_rows(std::span<const std::uint64_t> lengths) override {
    if (lengths.empty()) return 0;
    const auto of_device = given(lengths);
    const auto largest = device_.allocate(lengths.size() * sizeof(double), own_);
    kernels_.start(*queue_, "largest_of_rows", {matrix_.get(), std::uint64_t{pitch_}, of_device.get(), largest.get()},
                   lengths.size());
    std::vector<double> values(lengths.size());
    queue_->read(whole(*largest), as_bytes(values));
    return *std::ranges::max_element(values);
  }

  void poison() override {
    taken_ = none_;
    std::vector<Buffer*> all{upper_.get(), copy_.get(), vector_.get(), block_vector_.get()};
    for (const auto& panel : panels_) all.push_back(panel.get());
    for (const auto& more : {panel_->buffers(), rows_->buffers()}) all.insert(all.end(), more.begin(), more.end());
    for (Buffer* buffer : all) {
      const std::size_t words = buffer->size() / sizeof(std::uint32_t);
      kernels_.start(*queue_, "fill",
                     {buffer, std::uint64_t{words}, std::to_integer<std::uint32_t>(poison_byte) * 0x01010101u},
                     kernels_.groups_of_loop(words));
    }
    queue_->finish();
  }

  const std::vector<BufferView>& panel_buffers() const override { return views_; }
  std::size_t element_bytes() const override { return sizeof(T); }

  void factor(const Step& step, bool pivoting, Team&, std::size_t panel) override {
    panel_->factor(*panel_queue_, step, pivoting, a(0, 0), *panels_[panel]);
    panel_queue_->finished();  // submits its commands
  }
  bool has_panel() override { return panel_->is_enqueued() && panel_queue_->finished(); }
  bool continue_panel() override {
    if (panel_->is_enqueued()) return false;
    panel_->factor_further(*panel_queue_);
    panel_queue_->finished();  // submits its commands
    return true;
  }
  bool has_finished() override { return rest_.columns == 0 && queue_->finished(); }
  void continue_update() override {
    if (has_panel() || queue_->finished()) update_further();
  }

  PanelHead head(const Step& step, std::size_t panel) override {
    std::vector<std::int64_t> words(layout_.block + 1);
    panel_queue_->read({panels_[panel].get(), 0, words.size() * sizeof(words[0])}, as_bytes(words));
    return {{words.begin(), words.begin() + static_cast<std::ptrdiff_t>(step.width)}, words[layout_.block]};
  }

  void exchange_rows(const Step& step, const Interchange& moves, Columns columns, Team&) override {
    rows_->exchange(*queue_, step, moves, columns, a(0, 0), {copy_.get(), 0, upper_pitch_});
  }

  void update(const Step& step, std::size_t panel, Columns columns) override {
    const std::size_t count = columns.count(), below = layout_.rows.count() - step.below;
    if (count == 0) return;
    const PanelPlaces places = panel_places(layout_.block, step.width, below, sizeof(T));
    const std::size_t diagonal = places.diagonal / sizeof(T), lower = places.lower / sizeof(T);
    Buffer* from = panels_[panel].get();
    const MatrixPart upper{upper_.get(), 0, upper_pitch_}, copy{copy_.get(), 0, upper_pitch_};
    kernels_.copy_block(*queue_, copy, upper, step.width, count);
    if (step.index != taken_)
      products_->take_panel(*queue_, step.width, {from, diagonal, step.width}, below, {from, lower, step.width});
    taken_ = step.index;
    products_->solve(*queue_, step.width, count, copy, upper);
    if (step.in_row) kernels_.copy_block(*queue_, upper, a(step.row, columns.begin), step.width, count);
    if (below > 0) rest_ = {upper, a(step.below, columns.begin), count, count};
    update_further();
  }

  void finish() override {
    while (rest_.columns > 0) update_further();
    queue_->finish();
  }

  void solve_lower(const Step& step, std::span<double> y) override { solve("solve_lower", step, y); }
  void solve_upper(const Step& step, std::span<double> x) override { solve("solve_upper", step, x); }
  void subtract_lower(const Step& step, std::span<const double> y, std::span<double> rows_below) override {
    subtract(a(step.below, step.column), y, rows_below);
  }
  void subtract_upper(const Step& step, std::span<const double> x, std::span<double> rows_above) override {
    subtract(a(0, step.column), x, rows_above);
  }

  Json facts() const override { return products_->facts(); }

 private:
  // Of an update's product: the columns that are not enqueued yet.
  struct Rest {
    MatrixPart upper, to;
    std::size_t columns = 0, all = 0;
  };

  // While a panel is factored, a product of part of the columns, which leaves multiprocessors to it: its kernels would
  // else wait for the whole product. Then all the others.
  void update_further() {
    const bool is_factoring = !has_panel();
    const std::size_t piece =
        is_factoring ? std::max(in_units(rest_.all / 16, room_.columns), least_piece) : rest_.columns;
    const std::size_t columns = std::min(piece, rest_.columns);
    if (columns > 0)
      products_->subtract(*queue_, columns, rest_.upper, rest_.to, is_factoring ? panel_->multiprocessors() : 0);
    rest_.columns -= columns;
    rest_.upper.offset += columns;
    rest_.to.offset += columns;
    queue_->finished();  // submits its commands
  }

  // Libraries compile at their first call.
  void warm_up() {
    const std::size_t rows = std::min(layout_.block, layout_.rows.count());
    const MatrixPart upper{upper_.get(), 0, upper_pitch_}, copy{copy_.get(), 0, upper_pitch_};
    for (const std::size_t columns : {std::min(layout_.block, columns_), columns_}) {
      products_->take_panel(*queue_, rows, {panels_[0].get(), 0, rows}, rows, {panels_[1].get(), 0, rows});
      products_->solve(*queue_, rows, columns, copy, upper);
      products_->subtract(*queue_, columns, upper, a(0, 0), 0);
    }
    queue_->finish();
  }

  // Arguments of the generator's kernels.
  struct Numbers {
    Numbers(DeviceForm& form, const Matrix::Rule& rule)
        : row_factor(form.given(rule.row_factor)),
          row_summand(form.given(rule.row_summand)),
          column_start(form.given(rule.column_start)),
          is_dominant(rule.is_dominant ? 1 : 0),
          is_short(rule.type == ScalarType::f32 ? 1 : 0) {
      std::vector<std::uint64_t> places(form.layout_.rows.count(), ~std::uint64_t{0});
      const Dealt& columns = form.layout_.columns;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t global = form.layout_.rows.global(i);
        if (columns.owner(global) == columns.own) places[i] = columns.below(global);
      }
      std::vector<double> values(rule.diagonal.begin(), rule.diagonal.end());
      values.resize(places.size());
      diagonal_place = form.given(std::span<const std::uint64_t>(places));
      diagonal = form.given(std::span<const double>(values));
    }
    void append_to(std::vector<KernelArgument>& arguments) const {
      for (const auto* buffer : {&row_factor, &row_summand, &column_start, &diagonal_place, &diagonal})
        arguments.emplace_back(buffer->get());
      arguments.emplace_back(is_dominant);
      arguments.emplace_back(is_short);
    }
    std::unique_ptr<Buffer> row_factor, row_summand, column_start, diagonal_place, diagonal;
    std::uint32_t is_dominant, is_short;
  };

  template <class Items>
  static auto* as_bytes(Items& items) {
    if constexpr (std::is_const_v<Items>)
      return reinterpret_cast<const std::byte*>(items.data());
    else
      return reinterpret_cast<std::byte*>(items.data());
  }
  template <class Item>
  std::unique_ptr<Buffer> given(std::span<const Item> items) {
    auto buffer = device_.allocate(std::max<std::size_t>(items.size_bytes(), sizeof(Item)), own_);
    if (!items.empty())
      queue_->write(reinterpret_cast<const std::byte*>(items.data()), {buffer.get(), 0, items.size_bytes()});
    return buffer;
  }
  std::unique_ptr<Buffer> allocate_upper() {
    return device_.allocate((layout_.block + room_.inner) * upper_pitch_ * sizeof(T), own_);
  }
  MatrixPart a(std::size_t row, std::size_t column) const { return {matrix_.get(), row * pitch_ + column, pitch_}; }

  void solve(const std::string& kernel, const Step& step, std::span<double> x) {
    std::vector<T> values(x.begin(), x.end());
    const BufferView view{block_vector_.get(), 0, values.size() * sizeof(T)};
    const MatrixPart block = a(step.row, step.column);
    queue_->enqueue_write(as_bytes(values), view);
    kernels_.start(*queue_, kernel,
                   {block.buffer, std::uint64_t{block.offset}, std::uint64_t{block.pitch},
                    static_cast<std::uint32_t>(x.size()), block_vector_.get()},
                   1);
    queue_->read(view, as_bytes(values));
    std::copy(values.begin(), values.end(), x.begin());
  }

  void subtract(const MatrixPart& part, std::span<const double> x, std::span<double> rows) {
    if (rows.empty()) return;
    const std::vector<T> factors(x.begin(), x.end());
    std::vector<T> values(rows.begin(), rows.end());
    const BufferView view{vector_.get(), 0, values.size() * sizeof(T)};
    queue_->enqueue_write(as_bytes(factors), {block_vector_.get(), 0, factors.size() * sizeof(T)});
    queue_->enqueue_write(as_bytes(values), view);
    kernels_.start(
        *queue_, "subtract_product",
        {part.buffer, std::uint64_t{part.offset}, std::uint64_t{part.pitch}, static_cast<std::uint32_t>(rows.size()),
         static_cast<std::uint32_t>(x.size()), block_vector_.get(), vector_.get()},
        (rows.size() * team_of_row + kernels_.group() - 1) / kernels_.group());
    queue_->read(view, as_bytes(values));
    std::copy(values.begin(), values.end(), rows.begin());
  }

  static constexpr std::size_t none_ = ~std::size_t{0}, least_piece = 1024;
  std::size_t taken_ = none_;  // the step whose panel the products hold
  Rest rest_;
  static constexpr TileRoom room_{};
  Device& device_;
  Placement own_;
  Layout layout_;
  std::size_t columns_, pitch_, upper_pitch_;
  std::unique_ptr<Queue> queue_, panel_queue_;
  Kernels kernels_;
  std::unique_ptr<Buffer> matrix_, upper_, copy_, vector_, block_vector_, panels_[2];
  std::vector<BufferView> views_;
  std::unique_ptr<DeviceProducts> products_;
  std::unique_ptr<DevicePanel> panel_;
  std::unique_ptr<DeviceRows> rows_;
};

}  // namespace

std::unique_ptr<Form> make_on_device(Session& session, const Layout& layout, const FormWish& wish, Team& column) {
  hpcc::require_type(session.device.info(), ScalarType::f64);  // the type of the generator
  if (wish.type == ScalarType::f32) return std::make_unique<DeviceForm<float>>(session, layout, wish, column);
  return std::make_unique<DeviceForm<double>>(session, layout, wish, column);
}

}  // namespace plumb::hpl
