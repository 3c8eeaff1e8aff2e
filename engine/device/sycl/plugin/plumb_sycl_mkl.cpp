// libplumb-sycl-mkl.so: oneMKL behind libraries.hpp. Compiled by `plumb setup intel-sycl --onemkl`; C++17, as the
// plug-in.
#include <mkl_version.h>

#include <complex>
#include <oneapi/mkl/blas.hpp>
#include <oneapi/mkl/dft.hpp>
#include <stdexcept>

#include "libraries.hpp"

namespace plumb::sycl_plugin {

namespace {

namespace mkl = oneapi::mkl;
namespace dft = oneapi::mkl::dft;

template <class T>
::sycl::event multiplied(::sycl::queue& queue, const Product& its) {
  const auto rows = static_cast<std::int64_t>(its.rows), columns = static_cast<std::int64_t>(its.columns),
             inner = static_cast<std::int64_t>(its.inner);
  return mkl::blas::row_major::gemm(queue, mkl::transpose::nontrans, mkl::transpose::nontrans, rows, columns, inner,
                                    static_cast<T>(its.alpha), static_cast<const T*>(its.a), inner,
                                    static_cast<const T*>(its.b), columns, static_cast<T>(its.beta),
                                    static_cast<T*>(its.c), columns);
}

::sycl::event multiply(::sycl::queue& queue, const Product& product) {
  if (product.element_bytes == 2) return multiplied<::sycl::half>(queue, product);
  if (product.element_bytes == 4) return multiplied<float>(queue, product);
  return multiplied<double>(queue, product);
}

template <class T, dft::precision precision>
class MklTransform final : public Transform {
 public:
  MklTransform(::sycl::queue& queue, std::size_t length, std::size_t batch) : plan_(static_cast<std::int64_t>(length)) {
    plan_.set_value(dft::config_param::NUMBER_OF_TRANSFORMS, static_cast<std::int64_t>(batch));
    plan_.set_value(dft::config_param::FWD_DISTANCE, static_cast<std::int64_t>(length));
    plan_.set_value(dft::config_param::BWD_DISTANCE, static_cast<std::int64_t>(length));
    plan_.set_value(dft::config_param::PLACEMENT, dft::config_value::NOT_INPLACE);
    plan_.commit(queue);
  }
  ::sycl::event run(bool inverse, const void* from, void* to) override {
    auto* const in = static_cast<std::complex<T>*>(const_cast<void*>(from));
    auto* const out = static_cast<std::complex<T>*>(to);
    return inverse ? dft::compute_backward(plan_, in, out) : dft::compute_forward(plan_, in, out);
  }

 private:
  dft::descriptor<precision, dft::domain::COMPLEX> plan_;
};

std::unique_ptr<Transform> make_transform(::sycl::queue& queue, std::size_t element_bytes, std::size_t length,
                                          std::size_t batch) {
  if (element_bytes == sizeof(float))
    return std::make_unique<MklTransform<float, dft::precision::SINGLE>>(queue, length, batch);
  return std::make_unique<MklTransform<double, dft::precision::DOUBLE>>(queue, length, batch);
}

#define PLUMB_TEXT_OF(x) #x
#define PLUMB_TEXT(x) PLUMB_TEXT_OF(x)
const Libraries table{"oneMKL " PLUMB_TEXT(__INTEL_MKL__) "." PLUMB_TEXT(__INTEL_MKL_UPDATE__), multiply,
                      make_transform};

}  // namespace

}  // namespace plumb::sycl_plugin

extern "C" const plumb::sycl_plugin::Libraries* plumb_sycl_libraries() {
  return &plumb::sycl_plugin::table;
}
