// Runtime `xrt`: AMD's boards through XRT's C interface, loaded at run time. Kernels are a bitstream's; they are run in
// order of a queue, one at a time, and transfers are complete when enqueue_* returns.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/patience.hpp"
#include "core/seconds.hpp"
#include "device/board_image.hpp"
#include "device/host_buffer.hpp"
#include "device/xrt/memory.hpp"

namespace plumb::xrt {

namespace {

class XrtKernel final : public Kernel {
 public:
  XrtKernel(SharedCard card, std::string name)
      : card_(std::move(card)),
        name_(std::move(name)),
        kernel_(checked(library().open_kernel(card_->handle, card_->uuid, name_.c_str()), "open kernel " + name_)),
        run_(library().open_run(kernel_)) {
    if (run_ == nullptr) {
      library().close_kernel(kernel_);
      check(-1, "prepare kernel " + name_);
    }
  }
  ~XrtKernel() override {
    library().close_run(run_);
    library().close_kernel(kernel_);
  }
  XrtKernel(const XrtKernel&) = delete;
  XrtKernel& operator=(const XrtKernel&) = delete;

  void set(const std::vector<KernelArgument>& arguments) override {
    for (std::size_t i = 0; i < arguments.size(); ++i) set(i, arguments[i]);
  }
  // Kept until the next start: a started run reads its arguments.
  void set(std::size_t index, const KernelArgument& argument) override {
    if (arguments_.size() <= index) arguments_.resize(index + 1);
    arguments_[index] = argument;
  }
  void start(const KernelRange& range) {
    if (range.global != 1)
      throw Error(
          fmt::format("kernel {} of a bitstream is one work item, but {} were to be started", name_, range.global));
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      check(std::visit([&](const auto& value) { return pass(static_cast<int>(i), value); }, arguments_[i]),
            fmt::format("set argument {} of kernel {}", i, name_));
    check(library().start(run_), "start kernel " + name_);
  }
  bool ended() const {
    const int state = library().state(run_);
    if (state == error || state == aborted || state == timed_out || state == no_response || state == crashed)
      throw Error(fmt::format("kernel {} failed on {}: XRT's state {}", name_, card_->info.name, state));
    return state == completed;
  }
  void wait() const {
    constexpr unsigned slice_ms = 100;
    for (const double begin = now_seconds(); !ended();) {
      library().wait_for(run_, slice_ms);
      if (now_seconds() - begin > kernel_patience_s && !ended())
        throw Error(fmt::format("kernel {} on {} did not end within {:.3g} s (limit: half of --timeout)", name_,
                                card_->info.name, kernel_patience_s.load()));
    }
  }

 private:
  int pass(int index, const Buffer* buffer) { return library().set_argument(run_, index, own(*buffer).from(0)); }
  int pass(int index, const BufferView& view) {
    return library().set_argument(run_, index, own(view).from(view.offset));
  }
  int pass(int, const TiledMatrix&) { throw Unsupported("a bitstream has no kernels that copy tiles"); }
  template <class T>
  int pass(int index, T value) {
    return library().set_argument(run_, index, value);
  }

  SharedCard card_;
  std::string name_;
  KernelHandle kernel_;
  RunHandle run_;
  std::vector<KernelArgument> arguments_;
};

class XrtProgram final : public Program {
 public:
  explicit XrtProgram(SharedCard card) : card_(std::move(card)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override {
    const std::vector<std::string> names = kernel_names();
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(unknown_name("kernel in the bitstream", name, names));
    return std::make_unique<XrtKernel>(card_, name);
  }
  // "calc:calc_1", "calc:calc_2" -> "calc"
  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const std::string& unit : card_->bitstream->units)
      if (const std::string name = unit.substr(0, unit.find(':'));
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    return names;
  }

 private:
  SharedCard card_;
};

class XrtQueue final : public Queue {
 public:
  explicit XrtQueue(bool timed) : timed_(timed) {}

  void enqueue_read(const BufferView& from, std::byte* to) override {
    command([&] { own(from).read(to, from.size, from.offset); });
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    command([&] { own(to).write(from, to.size, to.offset); });
  }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    if (from.size != to.size) throw Error(fmt::format("a copy of {} bytes into {} bytes", from.size, to.size));
    command([&] {
      std::vector<std::byte> bytes(from.size);
      own(from).read(bytes.data(), from.size, from.offset);
      own(to).write(bytes.data(), to.size, to.offset);
    });
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override {
    auto* own_kernel = dynamic_cast<XrtKernel*>(&kernel);
    if (own_kernel == nullptr) throw Error("runtime xrt was given a kernel of another runtime");
    command([&] { own_kernel->start(range); });
    running_ = own_kernel;
  }
  void finish() override {
    end_kernel();
    if (timed_ && open_) span_ = DeviceTime{began_, now_seconds()};
    open_ = false;
  }
  bool finished() override {
    if (running_ != nullptr && !running_->ended()) return false;
    finish();
    return true;
  }
  std::optional<DeviceTime> span() const override { return span_; }

 private:
  // After the kernel that is running.
  template <class Command>
  void command(Command execute) {
    if (!open_) began_ = now_seconds();
    open_ = true;
    end_kernel();
    execute();
  }
  void end_kernel() {
    if (const XrtKernel* kernel = std::exchange(running_, nullptr)) kernel->wait();
  }

  const bool timed_;
  bool open_ = false;  // commands since the last finish()
  double began_ = 0;
  std::optional<DeviceTime> span_;
  XrtKernel* running_ = nullptr;
};

class XrtDevice final : public Device {
 public:
  explicit XrtDevice(SharedCard card) : card_(std::move(card)) {}
  const DeviceInfo& info() const override { return card_->info; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    return std::make_unique<XrtBuffer>(card_, bytes, placement);
  }
  std::unique_ptr<Queue> make_queue(bool timed) override { return std::make_unique<XrtQueue>(timed); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    if (source.binary.empty())
      throw Unsupported(
          fmt::format("{} must be a bitstream for runtime xrt: give --kernel-file FILE.xclbin (plumb "
                      "synth makes one)",
                      source.name));
    card_->load({source.binary.begin(), source.binary.end()});
    return std::make_unique<XrtProgram>(card_);
  }
  Card& card() { return *card_; }

 private:
  SharedCard card_;
};

class XrtRuntime final : public Runtime {
 public:
  std::string name() const override { return "xrt"; }
  std::vector<DeviceInfo> infos() override {
    std::vector<DeviceInfo> infos;
    problem_ = why_no_library();
    if (find_library() == nullptr) return infos;
    try {
      // Emulation (hw_emu, noop) has no cards to count.
      const unsigned count = std::getenv("XCL_EMULATION_MODE") != nullptr ? 1 : library().count_devices();
      for (unsigned ordinal = 0; ordinal < count; ++ordinal) infos.push_back(describe(ordinal));
    } catch (const std::exception& failure) {
      problem_ = fmt::format("XRT could not list its devices: {}", failure.what());
    }
    return infos;
  }
  std::string why_none() const override {
    return problem_.empty() ? "XRT shows no device; see xbutil examine" : problem_;
  }
  std::unique_ptr<Device> open(const DeviceInfo& info) override {
    return std::make_unique<XrtDevice>(std::make_shared<Card>(static_cast<unsigned>(info.ordinal), info));
  }

 private:
  static DeviceInfo describe(unsigned ordinal) {
    constexpr std::uint64_t unknown = std::uint64_t{1} << 40;  // bytes; a bitstream's banks are known after loading it
    const char* emulation = std::getenv("XCL_EMULATION_MODE");
    DeviceInfo info;
    info.ordinal = static_cast<int>(ordinal);
    info.runtime = "xrt";
    info.platform = emulation == nullptr ? "XRT" : fmt::format("XRT (Emulation, {})", emulation);
    info.name = fmt::format("XRT device {}", ordinal);
    info.type = "accelerator";
    info.vendor = "AMD";
    info.version = "XRT C interface 2";
    info.driver = std::getenv("XILINX_XRT");
    info.compute_units = 1;
    info.memory_bytes = info.largest_buffer_bytes = unknown;
    info.view_alignment = 4096;  // of XRT's sub-buffers
    info.memory_kinds = {MemoryKind::automatic, MemoryKind::host, MemoryKind::ddr, MemoryKind::hbm, MemoryKind::plram};
    info.features = {Feature::fp16, Feature::fp64};  // as the bitstream has them
    return info;
  }

  std::string problem_;
};

const Registered<TakeBoardImage> registered_image("xrt", [](Device& device, const std::vector<char>& image) {
  if (is_xclbin(image)) dynamic_cast<XrtDevice&>(device).card().load(image);
});
const Registered<RuntimeFactory> registered_xrt("xrt", [] { return std::make_unique<XrtRuntime>(); });

}  // namespace

}  // namespace plumb::xrt
