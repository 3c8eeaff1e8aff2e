// A library that is there or not, known only when the program runs.
#pragma once

#include <string>
#include <vector>

namespace plumb::cuda {

class SharedLibrary {
 public:
  // Opens the first of `names` that can be, as the loader finds them or in a CUDA toolkit's folder (CUDA_HOME,
  // CUDA_PATH, /usr/local/cuda); problem() says why none could.
  explicit SharedLibrary(const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }
  // Fills a function pointer; false (and problem() says so) when the library has no such function.
  template <class Function>
  bool find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol(name));
    if (function == nullptr && problem_.empty()) problem_ = std::string("it has no function ") + name;
    return function != nullptr;
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;  // never closed: drivers do not take that well
  std::string problem_;
};

}  // namespace plumb::cuda
