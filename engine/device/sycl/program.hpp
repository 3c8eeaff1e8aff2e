// Kernels of a SYCL device: OpenCL C, compiled by the device's OpenCL and used through SYCL's interoperability.
#pragma once

#include "device/sycl/buffer.hpp"

namespace plumb::sycl {

class SyclKernel final : public Kernel {
 public:
  SyclKernel(SharedContext context, std::shared_ptr<sycl_plugin::ProgramHandle> program, std::string name);
  ~SyclKernel() override;
  void set(const std::vector<KernelArgument>& arguments) override;
  void set(std::size_t index, const KernelArgument& argument) override;

  sycl_plugin::KernelHandle* handle() const { return handle_; }
  const std::vector<sycl_plugin::Argument>& arguments() const { return arguments_; }

 private:
  void check_fits(std::size_t index) const;

  SharedContext context_;
  std::shared_ptr<sycl_plugin::ProgramHandle> program_;
  std::string name_;
  sycl_plugin::KernelHandle* handle_;
  std::vector<sycl_plugin::Argument> arguments_;  // SYCL takes all of them at each launch
};

class SyclProgram final : public Program {
 public:
  // Throws Error with the build log.
  SyclProgram(SharedContext context, const KernelSource& source);
  std::unique_ptr<Kernel> kernel(const std::string& name) override;
  std::vector<std::string> kernel_names() const override;

 private:
  void build(const KernelSource& source, const std::string& text);

  SharedContext context_;
  std::string name_;
  std::shared_ptr<sycl_plugin::ProgramHandle> program_;
};

}  // namespace plumb::sycl
