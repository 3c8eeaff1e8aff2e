// Table of a text's kernels, compiled after the text: their parameters' types, and functions that call them with
// arguments by address.
#pragma once

#include "hls_stream.h"
#include "plumb_hls.h"

namespace plumb_hls {

// An argument, converted from its address to its parameter's type.
template <class T>
struct Argument {
  static constexpr Parameter parameter{T(0.5) == T(0) ? Parameter::integer : Parameter::floating, sizeof(T)};
  explicit Argument(void* at) : value(*static_cast<T*>(at)) {}
  operator T() const { return value; }
  T value;
};

template <class T>
struct Argument<T*> {
  static constexpr Parameter parameter{Parameter::pointer, sizeof(T*)};
  explicit Argument(void* at) : value(*static_cast<T**>(at)) {}
  operator T*() const { return value; }
  T* value;
};

template <class T>
struct Argument<hls::stream<T>&> {
  static constexpr Parameter parameter{Parameter::stream, sizeof(T)};
  explicit Argument(void* at) : value(static_cast<Fifo*>(at)) {}
  operator hls::stream<T>&() { return value; }
  hls::stream<T> value;
};

template <size_t... I>
struct Places {};
template <size_t N, size_t... I>
struct PlacesTo : PlacesTo<N - 1, N - 1, I...> {};
template <size_t... I>
struct PlacesTo<0, I...> {
  using Type = Places<I...>;
};

template <auto function>
struct Entry;

template <class... P, void (*function)(P...)>
struct Entry<function> {
  static constexpr size_t count = sizeof...(P);
  static constexpr Parameter parameters[count + 1] = {Argument<P>::parameter...};
  static void run(void* const* arguments) { call(arguments, typename PlacesTo<count>::Type()); }
  static constexpr Kernel named(const char* name, const char* names) {
    return {name, names, count, parameters, run};
  }

 private:
  template <size_t... I>
  static void call(void* const* arguments, Places<I...>) {
    function(Argument<P>(arguments[I])...);
  }
};

}  // namespace plumb_hls

plumb_hls::MakeFifo plumb_hls::plumb_hls_make_fifo = nullptr;
