#include "device/opencl/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace plumb::opencl {

namespace {

std::string build_log(const cl::Error& error) {
  const auto* build = dynamic_cast<const cl::BuildError*>(&error);
  std::string text;
  if (build != nullptr)
    for (const auto& [device, log] : build->getBuildLog()) text += log;
  return text.empty() ? "(the compiler wrote no log)" : text;
}

}  // namespace

OpenclKernel::OpenclKernel(cl::Kernel kernel)
    : kernel_(std::move(kernel)),
      name_(kernel_.getInfo<CL_KERNEL_FUNCTION_NAME>()),
      parameters_(kernel_.getInfo<CL_KERNEL_NUM_ARGS>()) {}

void OpenclKernel::refuse(cl_int code, cl_uint index) const {
  throw status_error(code, fmt::format("set argument {} of kernel {}", index, name_));
}

void OpenclKernel::set_view(cl_uint index, const OpenclBuffer& buffer, std::size_t offset) {
  if (buffer.mapped() && std::find(mapped_.begin(), mapped_.end(), &buffer) == mapped_.end())
    mapped_.push_back(&buffer);
  if (buffer.svm() == nullptr) return set_value(index, buffer.memory_from(offset));
  if (const cl_int code = clSetKernelArgSVMPointer(kernel_(), index, buffer.svm() + offset); code != CL_SUCCESS)
    refuse(code, index);
}

void OpenclKernel::set_value(cl_uint, const TiledMatrix&) {
  throw Unsupported(fmt::format("kernel {} copies tiles, which OpenCL cannot", name_));
}

template <class T>
void OpenclKernel::set_value(cl_uint index, const T& value) {
  if (const cl_int code = clSetKernelArg(kernel_(), index, sizeof value, &value); code != CL_SUCCESS)
    refuse(code, index);
}

void OpenclKernel::set(const std::vector<KernelArgument>& arguments) {
  if (arguments.size() != parameters_)
    throw Error(fmt::format("kernel {} takes {} arguments, but {} were given", name_, parameters_, arguments.size()));
  mapped_.clear();
  for (cl_uint index = 0; index < parameters_; ++index) set(index, arguments[index]);
}

void OpenclKernel::set(std::size_t index, const KernelArgument& argument) {
  std::visit([&](const auto& value) { set_value(static_cast<cl_uint>(index), value); }, argument);
}

OpenclProgram::OpenclProgram(const SharedContext& context, const KernelSource& source) : name_(source.name) {
  if ((source.opencl.empty() || source.is_cuda) && source.binary.empty())
    throw Unsupported(fmt::format("{} has no form in OpenCL C", source.name));
  guarded("hand " + name_ + " to the compiler", [&] {
    program_ = source.binary.empty() ? cl::Program(context->context, source.opencl)
                                     : cl::Program(context->context, {context->device}, {source.binary});
  });
  try {
    program_.build({context->device}, source.options.c_str());
  } catch (const cl::Error& error) {
    const auto action = fmt::format("compile {} for {} with options \"{}\"", name_, context->info.name, source.options);
    throw Error(fmt::format("{}\n{}", status_error(error.err(), action).what(), build_log(error)));
  }
}

// "read;write" -> {"read", "write"}
std::vector<std::string> OpenclProgram::kernel_names() const {
  const std::string listed =
      guarded("list the kernels of " + name_, [&] { return program_.getInfo<CL_PROGRAM_KERNEL_NAMES>(); });
  std::istringstream text(listed);
  std::vector<std::string> names;
  for (std::string name; std::getline(text, name, ';');) names.push_back(name);
  return names;
}

std::vector<unsigned char> OpenclProgram::binary() const {
  return guarded("read the binary of " + name_, [&] { return program_.getInfo<CL_PROGRAM_BINARIES>().at(0); });
}

std::unique_ptr<Kernel> OpenclProgram::kernel(const std::string& name) {
  const auto known = kernel_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(unknown_name("kernel in " + name_, name, known));
  return guarded("make kernel " + name,
                 [&] { return std::make_unique<OpenclKernel>(cl::Kernel(program_, name.c_str())); });
}

}  // namespace plumb::opencl
