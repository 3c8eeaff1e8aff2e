// memory/read, write, copy: how fast long arrays stream from and to the device's memory.
#include "benchmarks/device/ceilings/parts.hpp"
#include "benchmarks/device/ceilings/reference.hpp"

namespace plumb::ceilings {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

// The keys of launches, so that each leaves something else behind.
std::uint64_t key_of(std::uint64_t seed, std::uint64_t launch) {
  return mix64(seed ^ (launch << 20)) | 1;
}

class MemoryPart : public Part {
 public:
  MemoryPart(Session& session, const Case& measured)
      : operation_(measured.labels.at("operation").get<std::string>()),
        seed_(mix64(session.seed + static_cast<std::uint64_t>(session.world.rank()))),
        words_(bytes_of(measured) / word_bytes),
        layout_(layout_of(session.device.info())),
        queue_(session.device.make_queue()) {
    lanes_ = layout_.lanes(word_bytes);
    const std::string word = lanes_ == 1 ? "ulong" : fmt::format("ulong{}", lanes_);
    program_ = session.device.build(session.source(kernels("-DWORD=" + word + layout_options(layout_))));
    kernel_ = program_->kernel("memory_" + operation_);
    from_ = make_buffer(session, operation_ == "write" ? 0 : words_, [&](std::uint64_t i) { return content(i); });
    const bool sums = operation_ == "read";
    to_ = make_buffer(session, sums ? layout_.items * lanes_ : words_, [](std::uint64_t) { return 0; });
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      ++launches_;
      set_arguments();
      queue_->enqueue(*kernel_, {layout_.items, layout_.group});
    }
    queue_->finish();
  }

  Validation validate() override {
    const std::vector<std::uint64_t> is = get(*queue_, *to_);
    if (operation_ == "read") return validate_sums(is);
    const std::uint64_t key = key_of(seed_, launches_);
    if (operation_ == "write")
      return compare(
          words_, "the last launch's key and each word's place", [&](auto i) { return is[i]; },
          [&](auto i) { return key ^ (i / lanes_); });
    return compare(
        words_, "each word of the source, made again, and the last launch's key", [&](auto i) { return is[i]; },
        [&](auto i) { return content(i) + key; });
  }

 private:
  std::uint64_t content(std::uint64_t i) const { return mix64(seed_ + i); }

  template <class Make>
  std::unique_ptr<Buffer> make_buffer(Session& session, std::uint64_t words, Make make) {
    if (words == 0) return nullptr;
    auto buffer = session.device.allocate(words * word_bytes, session.memory);
    put(*queue_, made_words(words, make), *buffer);
    return buffer;
  }

  void set_arguments() {
    const std::uint64_t units = words_ / lanes_, key = key_of(seed_, launches_);
    const Buffer *from = from_.get(), *to = to_.get();
    if (operation_ == "read")
      kernel_->set({from, to, units});
    else if (operation_ == "write")
      kernel_->set({to, units, key});
    else
      kernel_->set({from, to, units, key});
  }

  // Each sum stands for the words that went into it.
  Validation validate_sums(const std::vector<std::uint64_t>& is) const {
    const auto share = [&](std::uint64_t sum) {
      return share_of(sum / lanes_, layout_.items, words_ / lanes_, layout_.interleaved);
    };
    const auto should_be = [&](std::uint64_t sum) {
      std::uint64_t result = 0;
      const Share words = share(sum);
      for (std::uint64_t i = words.first; i < words.last; i += words.step) result += content(i * lanes_ + sum % lanes_);
      return result * launches_;
    };
    Validation found = compare(
        is.size(), "sums of the words read, made again, times the launches", [&](auto i) { return is[i]; }, should_be);
    found.items_checked = 0;
    for (std::uint64_t sum = 0; sum < is.size(); ++sum) {
      const Share words = share(sum);
      if (words.first < words.last) found.items_checked += (words.last - words.first + words.step - 1) / words.step;
    }
    return found;
  }

  std::string operation_;
  std::uint64_t seed_, words_;
  Layout layout_;
  std::size_t lanes_ = 1;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> from_, to_;
  std::uint64_t launches_ = 0;  // since the sums were zero
};

}  // namespace

std::unique_ptr<Part> make_memory(Session& session, const Case& measured) {
  return std::make_unique<MemoryPart>(session, measured);
}

}  // namespace plumb::ceilings
