// Compiled HLS C++: kernels, and the streams between them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/hls/compiler.hpp"
#include "device/hls/streams.hpp"

namespace plumb::hls {

// A program's code and streams, kept alive by its kernels and their launches.
class Image {
 public:
  // Compiles and connects. Throws Error for links whose ends do not exist, differ in type, or occur twice.
  explicit Image(const KernelSource& source);

  const std::string& name() const { return name_; }
  const plumb_hls::Kernel* find(const std::string& kernel) const;
  std::vector<std::string> kernel_names() const;
  // The stream of a kernel's parameter. Throws Error if it is not connected.
  plumb_hls::Fifo& stream(const plumb_hls::Kernel& kernel, std::size_t parameter) const;

  // Calls around each launch: enqueued, then ended.
  void add_launch() { ++launches_; }
  void end_launch(bool failed);
  // Throws Error if, with no launch left, a stream between two kernels holds elements.
  void check_drained() const;

 private:
  void connect(const StreamLink& link);
  void attach(const std::string& end, plumb_hls::Fifo* fifo);
  const plumb_hls::Parameter& parameter_at(const std::string& end) const;

  std::string name_;
  Loaded loaded_;
  Failed failed_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::unique_ptr<plumb_hls::Fifo>> fifos_;
  std::vector<std::pair<std::string, plumb_hls::Fifo*>> inner_;  // between kernels: "a.out to b.in"
  std::map<std::string, plumb_hls::Fifo*> ends_;                 // by "KERNEL.PARAMETER"
  std::atomic<int> launches_{0};
};

// One launch: a kernel with its arguments at that time.
struct Launch {
  std::shared_ptr<Image> image;
  const plumb_hls::Kernel* kernel = nullptr;
  std::vector<std::array<std::byte, 8>> values;
  std::vector<plumb_hls::Fifo*> streams;  // by parameter; null if it is a value

  void run();
};

class HlsKernel final : public Kernel {
 public:
  HlsKernel(std::shared_ptr<Image> image, const plumb_hls::Kernel& kernel);
  // Streams are not among the arguments.
  void set(const std::vector<KernelArgument>& arguments) override;
  void set(std::size_t index, const KernelArgument& argument) override;
  // Throws Error for more than one work item, or arguments not set.
  Launch launch(const KernelRange& range) const;

 private:
  Launch launch_;
  std::vector<std::size_t> places_;  // parameter of each argument
  std::vector<bool> is_set_;
};

class HlsProgram final : public Program {
 public:
  explicit HlsProgram(const KernelSource& source) : image_(std::make_shared<Image>(source)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override;
  std::vector<std::string> kernel_names() const override { return image_->kernel_names(); }

 private:
  std::shared_ptr<Image> image_;
};

}  // namespace plumb::hls
