#include "device/cuda/shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace plumb::cuda {

namespace {

// "" = the loader's search path
std::vector<std::string> folders() {
  std::vector<std::string> found{""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(variable)) found.push_back(std::string(folder) + "/lib64/");
  found.emplace_back("/usr/local/cuda/lib64/");
  return found;
}

}  // namespace

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  std::string first_problem;
  for (const std::string& folder : folders())
    for (const std::string& name : names) {
      handle_ = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
      if (first_problem.empty()) first_problem = dlerror();
    }
  problem_ = first_problem;
}

void* SharedLibrary::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace plumb::cuda
