// An optional library, loaded at run time.
#pragma once

#include <string>
#include <vector>

namespace plumb::cuda {

class SharedLibrary {
 public:
  // Opens the first of `names` found by the loader or in a CUDA toolkit's folder (CUDA_HOME, CUDA_PATH,
  // /usr/local/cuda); problem() gives the reason if none was found.
  explicit SharedLibrary(const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }
  // Sets a function pointer; returns false, with problem() set, if the library lacks the function.
  template <class Function>
  bool find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol(name));
    if (function == nullptr && problem_.empty()) problem_ = std::string("it has no function ") + name;
    return function != nullptr;
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;  // never closed: drivers do not support unloading
  std::string problem_;
};

}  // namespace plumb::cuda
