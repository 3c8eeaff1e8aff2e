// Between the SYCL plug-in and libplumb-sycl-mkl.so, which is compiled with it, against the same libsycl.
#pragma once

#include <memory>
#include <sycl/sycl.hpp>

#include "interface.hpp"

namespace plumb::sycl_plugin {

class Transform {
 public:
  virtual ~Transform() = default;
  virtual ::sycl::event run(bool inverse, const void* from, void* to) = 0;
};

struct Libraries {
  const char* name;
  ::sycl::event (*multiply)(::sycl::queue& queue, const Product& product);
  // For one queue.
  std::unique_ptr<Transform> (*make_transform)(::sycl::queue& queue, std::size_t element_bytes, std::size_t length,
                                               std::size_t batch);
};

using GetLibraries = const Libraries*();
inline constexpr const char* libraries_file = "libplumb-sycl-mkl.so";
inline constexpr const char* get_libraries_name = "plumb_sycl_libraries";

}  // namespace plumb::sycl_plugin
