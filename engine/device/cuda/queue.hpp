// Streams of a CUDA device, and kernels.
#pragma once

#include "device/cuda/context.hpp"

namespace plumb::cuda {

class CudaProgram;

class CudaKernel final : public Kernel {
 public:
  CudaKernel(std::shared_ptr<const CudaProgram> program, Function function, std::string name);
  void set(const std::vector<KernelArgument>& arguments) override;
  void set(std::size_t index, const KernelArgument& argument) override;
  Function function() const { return function_; }
  void** parameters() { return pointers_.data(); }
  // Sets the local memory added to the kernel's own. Throws Unsupported if the device has less.
  void allow_local(std::size_t bytes);

 private:
  std::shared_ptr<const CudaProgram> program_;
  Function function_;
  std::string name_;
  std::vector<std::size_t> sizes_;  // of the parameters; empty if the driver cannot tell
  std::vector<std::uint64_t> values_;
  std::vector<TileMap> maps_;
  std::vector<void*> pointers_;
  std::size_t allowed_local_ = 0;
};

class CudaProgram final : public std::enable_shared_from_this<CudaProgram> {
 public:
  CudaProgram(SharedContext context, const KernelSource& source);
  ~CudaProgram();
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  std::unique_ptr<Kernel> kernel(const std::string& name) const;
  std::vector<std::string> kernel_names() const;

 private:
  SharedContext context_;
  std::string name_;
  Module module_ = nullptr;
};

class CudaQueue final : public Queue {
 public:
  CudaQueue(SharedContext context, bool timed, bool urgent = false);
  ~CudaQueue() override;
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  void finish() override;
  bool finished() override;
  void follow(Queue& earlier) override;
  std::optional<DeviceTime> span() const override;

  // For kernels that a library enqueues.
  template <class Call>
  void enqueue_foreign(Call call) {
    begin_command();
    call();
    end_command();
  }
  Stream stream() const { return stream_; }

 private:
  void copy(const std::byte* from, Address to, std::size_t size);
  void begin_command();
  void end_command();
  void mark_end();

  SharedContext context_;
  Stream stream_ = nullptr;
  bool timed_;
  bool pending_ = false;   // commands may be incomplete
  bool measured_ = false;  // a command was timed
  bool marked_ = true;     // an event follows the last command, if timed
  Event first_ = nullptr, end_ = nullptr;
  Event for_others_ = nullptr;  // recorded for queues that follow this one
};

}  // namespace plumb::cuda
