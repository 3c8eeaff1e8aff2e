#include "device/sycl/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/embedded.hpp"
#include "device/build_time.hpp"

namespace plumb::sycl {

namespace {

using sycl_plugin::Argument;

Argument object_argument(sycl_plugin::ObjectHandle* object) {
  Argument argument{};
  argument.size = sycl_plugin::object_argument;
  argument.object = object;
  return argument;
}

Argument argument_of(const Buffer* buffer) {
  const SyclBuffer& its = own(*buffer);
  if (its.object() != nullptr) return object_argument(its.object());
  Argument argument{};
  argument.address = its.device_address();
  return argument;
}

Argument argument_of(const BufferView& view) {
  const SyclBuffer& its = own(view);
  if (its.object() != nullptr)
    return object_argument(made(plugin().part(its.object(), view.offset, view.size), "make a part of a sycl::buffer"));
  Argument argument{};
  argument.address = its.device_address() + view.offset;
  return argument;
}

Argument argument_of(const TiledMatrix&) {
  throw Unsupported("a kernel of runtime sycl cannot copy tiles");
}

template <class Value>
Argument argument_of(const Value& value) {
  static_assert(sizeof value == sizeof(std::uint32_t) || sizeof value == sizeof(std::uint64_t));
  Argument argument{};
  argument.size = sizeof value;
  std::memcpy(sizeof value == sizeof argument.word ? static_cast<void*>(&argument.word) : &argument.long_word, &value,
              sizeof value);
  return argument;
}

// The text behind OpenCL C's keywords and functions in SYCL.
std::string as_sycl(const KernelSource& source) {
  if (!source.binary.empty())
    throw UsageError(fmt::format("{} is a binary, but --kernel-language sycl takes text", source.name));
  return fmt::format("#line 1 \"opencl_c.sycl\"\n{}\n#line 1 \"{}\"\n{}",
                     embedded_text("engine/device/sycl/opencl_c.sycl"), source.name, source.opencl);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool keeps_kernels() {
  return variable("SYCL_CACHE_PERSISTENT") != "" && variable("SYCL_CACHE_PERSISTENT") != "0";
}

// Number of files in libsycl's persistent cache. It tells nobody what it took from there.
std::size_t cached_files() {
  std::string folder = variable("SYCL_CACHE_DIR");
  if (folder.empty() && !variable("XDG_CACHE_HOME").empty()) folder = variable("XDG_CACHE_HOME") + "/libsycl_cache";
  if (folder.empty()) folder = variable("HOME") + "/.cache/libsycl_cache";
  std::error_code none;
  const auto skip = std::filesystem::directory_options::skip_permission_denied;
  const std::filesystem::recursive_directory_iterator files(folder, skip, none);
  return none ? 0 : static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

SyclKernel::SyclKernel(SharedContext context, std::shared_ptr<sycl_plugin::ProgramHandle> program, std::string name)
    : context_(std::move(context)),
      program_(std::move(program)),
      name_(std::move(name)),
      handle_(made(plugin().kernel(program_.get(), name_.c_str()), "make kernel " + name_)),
      arguments_(static_cast<std::size_t>(check(plugin().parameters(handle_), "count a kernel's parameters"))) {}

SyclKernel::~SyclKernel() {
  plugin().free_kernel(handle_);
}

void SyclKernel::set(const std::vector<KernelArgument>& arguments) {
  if (arguments.size() != arguments_.size())
    throw Error(
        fmt::format("kernel {} takes {} arguments, but {} were given", name_, arguments_.size(), arguments.size()));
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    set(index, arguments[index]);
    check_fits(index);
  }
}

void SyclKernel::set(std::size_t index, const KernelArgument& argument) {
  arguments_[index] = std::visit([](const auto& value) { return argument_of(value); }, argument);
}

// At a launch SYCL names neither the kernel nor the argument.
void SyclKernel::check_fits(std::size_t index) const {
  const Argument& argument = arguments_[index];
  const bool is_value = argument.size != 0 && argument.size != sycl_plugin::object_argument;
  if (is_value && plugin().fits(handle_, static_cast<unsigned>(index), &argument) < 0)
    throw plugin_error(fmt::format("set argument {} of kernel {}", index, name_));
}

SyclProgram::SyclProgram(SharedContext context, const KernelSource& source)
    : context_(std::move(context)), name_(source.name) {
  if ((source.opencl.empty() || source.is_cuda) && source.binary.empty())
    throw Unsupported(fmt::format("{} has no form in OpenCL C", name_));
  if (!source.by_sycl) {
    build(source, source.opencl);
    return;
  }
  const std::string text = as_sycl(source);
  const std::size_t before = cached_files();
  build(source, text);
  const bool compiled = !keeps_kernels() || cached_files() != before;
  // The binary of what was just compiled lies under a name for which the next start does not look; of what came from
  // the cache, under that name.
  if (compiled && keeps_kernels()) build(source, text);
  TimedBuild::tell(!compiled);
}

void SyclProgram::build(const KernelSource& source, const std::string& text) {
  const char* const form = source.by_sycl ? "SYCL" : source.binary.empty() ? "OpenCL C" : "SPIR-V or a binary";
  const char* log = nullptr;
  auto* const program = plugin().build(context_->handle, source.by_sycl ? 1 : 0, text.c_str(), source.binary.data(),
                                       source.binary.size(), source.options.c_str(), &log);
  if (program == nullptr)
    throw Error(fmt::format("{}\n{}",
                            plugin_error(fmt::format("compile {} as {} for {} with options \"{}\"", name_, form,
                                                     context_->info.name, source.options))
                                .what(),
                            log == nullptr || *log == '\0' ? "(the compiler wrote no log)" : log));
  program_ = {program, plugin().free_program};
}

// "read;write" -> {"read", "write"}
std::vector<std::string> SyclProgram::kernel_names() const {
  std::istringstream text(plugin().kernel_names(program_.get()));
  std::vector<std::string> names;
  for (std::string name; std::getline(text, name, ';');) names.push_back(name);
  return names;
}

std::unique_ptr<Kernel> SyclProgram::kernel(const std::string& name) {
  const auto known = kernel_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(unknown_name("kernel in " + name_, name, known));
  return std::make_unique<SyclKernel>(context_, program_, name);
}

}  // namespace plumb::sycl
