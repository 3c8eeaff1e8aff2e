// OpenCL C, compiled for one device, and its kernels.
#pragma once

#include "device/opencl/buffer.hpp"

namespace plumb::opencl {

class OpenclKernel final : public Kernel {
 public:
  explicit OpenclKernel(cl::Kernel kernel);
  void set(const std::vector<KernelArgument>& arguments) override;
  void set(std::size_t index, const KernelArgument& argument) override;
  cl_kernel handle() const { return kernel_(); }
  // Arguments in mapped pinned memory: unmapped for each launch.
  const std::vector<const OpenclBuffer*>& mapped() const { return mapped_; }

 private:
  void set_value(cl_uint index, const Buffer* buffer) { set_view(index, own(*buffer), 0); }
  void set_value(cl_uint index, const BufferView& view) { set_view(index, own(view), view.offset); }
  [[noreturn]] void set_value(cl_uint index, const TiledMatrix& matrix);
  template <class T>
  void set_value(cl_uint index, const T& value);
  void set_view(cl_uint index, const OpenclBuffer& buffer, std::size_t offset);
  [[noreturn]] void refuse(cl_int code, cl_uint index) const;

  cl::Kernel kernel_;
  std::string name_;
  cl_uint parameters_;
  std::vector<const OpenclBuffer*> mapped_;
};

class OpenclProgram final : public Program {
 public:
  // Throws Error with the build log.
  OpenclProgram(const SharedContext& context, const KernelSource& source);
  std::unique_ptr<Kernel> kernel(const std::string& name) override;
  std::vector<std::string> kernel_names() const override;
  std::vector<unsigned char> binary() const override;

 private:
  std::string name_;
  cl::Program program_;
};

}  // namespace plumb::opencl
