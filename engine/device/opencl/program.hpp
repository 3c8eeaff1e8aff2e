// OpenCL C, compiled for one device, and its kernels.
#pragma once

#include "device/opencl/buffer.hpp"

namespace plumb::opencl {

class OpenclKernel final : public Kernel {
 public:
  explicit OpenclKernel(cl::Kernel kernel);
  void set(const std::vector<KernelArgument>& arguments) override;
  cl_kernel handle() const { return kernel_(); }
  // Arguments in memory that is mapped for the host: unmapped for each launch.
  const std::vector<const OpenclBuffer*>& mapped() const { return mapped_; }

 private:
  void set_buffer(cl_uint index, const OpenclBuffer& buffer);
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

 private:
  std::string name_;
  cl::Program program_;
};

}  // namespace plumb::opencl
