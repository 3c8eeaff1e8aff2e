#include "device/cuda/compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <regex>
#include <sstream>

#include "core/embedded.hpp"
#include "device/cuda/shared_library.hpp"

namespace plumb::cuda {

namespace {

using NvrtcProgram = struct OpaqueNvrtcProgram*;

// The part of nvrtc.h in use.
struct Nvrtc {
  int (*create)(NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(NvrtcProgram*) = nullptr;
  int (*compile)(NvrtcProgram, int, const char* const*) = nullptr;
  int (*log_size)(NvrtcProgram, std::size_t*) = nullptr;
  int (*log)(NvrtcProgram, char*) = nullptr;
  int (*cubin_size)(NvrtcProgram, std::size_t*) = nullptr;
  int (*cubin)(NvrtcProgram, char*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  bool found = false;
  std::string problem;

  Nvrtc() {
    SharedLibrary library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
    found = library.find(create, "nvrtcCreateProgram") && library.find(destroy, "nvrtcDestroyProgram") &&
            library.find(compile, "nvrtcCompileProgram") && library.find(log_size, "nvrtcGetProgramLogSize") &&
            library.find(log, "nvrtcGetProgramLog") && library.find(cubin_size, "nvrtcGetCUBINSize") &&
            library.find(cubin, "nvrtcGetCUBIN") && library.find(error_text, "nvrtcGetErrorString");
    if (!found)
      problem = fmt::format(
          "NVIDIA's run-time compiler could not be loaded ({}): install CUDA 12 or newer (or pip "
          "install nvidia-cuda-nvrtc) and name its folder in LD_LIBRARY_PATH",
          library.problem());
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc once;
  return once;
}

// OpenCL's build options translated for NVRTC: definitions are kept, others are mapped or dropped.
std::vector<std::string> translated(const std::string& options) {
  std::vector<std::string> words;
  std::istringstream text(options);
  for (std::string word; text >> word;) {
    if (word == "-cl-fast-relaxed-math")
      words.emplace_back("--use_fast_math");
    else if (word == "-cl-denorms-are-zero")
      words.emplace_back("--ftz=true");
    else if (word.starts_with("-D") || word.starts_with("-I"))
      words.push_back(word);
  }
  return words;
}

// Removes the qualifier `global`, except in quoted text (PTX).
std::string without_global(const std::string& source) {
  static const std::regex quoted_or_global(R"re(("(?:\\.|[^"\\])*")|\bglobal\b)re");
  return std::regex_replace(source, quoted_or_global, "$1");
}

class Compilation {
 public:
  Compilation(const std::string& text, const std::string& name) {
    check(nvrtc().create(&handle_, text.c_str(), name.c_str(), 0, nullptr, nullptr), "hand " + name + " to NVRTC");
  }
  ~Compilation() { nvrtc().destroy(&handle_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  bool run(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    code_ = nvrtc().compile(handle_, static_cast<int>(words.size()), words.data());
    return code_ == 0;
  }
  std::string error() const { return nvrtc().error_text(code_); }
  std::string log() const { return text(nvrtc().log_size, nvrtc().log); }
  std::string cubin() const { return text(nvrtc().cubin_size, nvrtc().cubin); }

 private:
  static void check(int code, const std::string& action) {
    if (code != 0) throw Error(library_sentence(action, "NVRTC", code, nvrtc().error_text(code), ""));
  }
  std::string text(int (*size_of)(NvrtcProgram, std::size_t*), int (*get)(NvrtcProgram, char*)) const {
    std::size_t size = 0;
    check(size_of(handle_, &size), "read NVRTC's output");
    std::string result(size, '\0');
    check(get(handle_, result.data()), "read NVRTC's output");
    return result;
  }

  NvrtcProgram handle_ = nullptr;
  int code_ = 0;
};

}  // namespace

std::string why_no_compiler() {
  return nvrtc().problem;
}

std::string compile(const KernelSource& source, int major, int minor, const std::string& device) {
  if (!nvrtc().found) throw Unsupported(nvrtc().problem);
  if (!source.binary.empty()) return {source.binary.begin(), source.binary.end()};
  if (source.opencl.empty()) throw Unsupported(fmt::format("{} has no form in OpenCL C", source.name));
  const std::string text = source.is_cuda ? source.opencl
                                          : fmt::format("#line 1 \"opencl_c.cuh\"\n{}\n#line 1 \"{}\"\n{}",
                                                        embedded_text("engine/device/cuda/opencl_c.cuh"), source.name,
                                                        without_global(source.opencl));
  std::vector<std::string> options = translated(source.options);
  const char* suffix = major >= 9 ? "a" : "";  // with architecture-specific instructions
  options.insert(options.begin(), {fmt::format("--gpu-architecture=sm_{}{}{}", major, minor, suffix),
                                   "--device-as-default-execution-space", "--std=c++17",
                                   "--diag-suppress=1444"});  // CUDA 13 asks for an explicit alignment of double4
  // As OpenCL C allows: quotients of floats within 2.5 ulp, roots within 3.
  if (!source.is_cuda) options.insert(options.end(), {"--prec-div=false", "--prec-sqrt=false"});
  Compilation compilation(text, source.name);
  if (!compilation.run(options))
    throw Error(fmt::format("could not compile {} for {} with options \"{}\": {}\n{}", source.name, device,
                            source.options, compilation.error(), compilation.log()));
  return compilation.cubin();
}

}  // namespace plumb::cuda
