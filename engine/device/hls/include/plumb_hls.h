// Interface between the text of HLS kernels and runtime `hls`, which compiles this header on both sides: streams are
// objects of the runtime, and kernels are called with the addresses of their arguments. Without other headers, since
// each kernel text compiles it.
#pragma once

#include <stddef.h>

namespace plumb_hls {

// Elements of one type in order, at most a fixed number of them at a time. The functions that wait end their kernel
// with an exception when the limit of a wait has passed.
class Fifo {
 public:
  virtual ~Fifo() = default;
  virtual void write(const void* element) = 0;  // waits while full
  virtual void read(void* element) = 0;         // waits while empty
  virtual bool try_write(const void* element) = 0;
  virtual bool try_read(void* element) = 0;
  virtual size_t size() = 0;
  virtual size_t capacity() = 0;
};

// Fifo of a stream that a kernel declares for itself.
using MakeFifo = Fifo* (*)(const char* name, size_t element_bytes, size_t capacity);
extern "C" MakeFifo plumb_hls_make_fifo;  // set by the runtime

struct Parameter {
  enum Kind : int { pointer, integer, floating, stream } kind;
  size_t bytes;  // of the value, or of a stream's element
};

struct Kernel {
  const char* name;
  const char* names;  // of its parameters, separated by commas
  size_t count;  // of parameters
  const Parameter* parameters;
  void (*run)(void* const* arguments);  // address of each argument; for a stream, its Fifo
};

}  // namespace plumb_hls
