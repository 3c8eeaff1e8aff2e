// hls::stream for C simulation. Streams are bounded, unlike those of vendors' simulators, so that a kernel that writes
// more than fits, or reads what nobody writes, ends with a message after a time limit. A stream between kernels has the
// depth of its link; one declared within a kernel that of its template argument, or 2.
#pragma once

#include "plumb_hls.h"

namespace hls {

constexpr int default_depth = 2;  // of Vitis HLS

template <class T, int Depth = 0>
class stream;

template <class T>
class stream<T, 0> {
 public:
  explicit stream(const char* name = "of a kernel") : stream(name, default_depth) {}
  explicit stream(plumb_hls::Fifo* fifo) : fifo_(fifo) {}
  ~stream() {
    if (owned_) delete fifo_;
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  T read() {
    T element;
    fifo_->read(&element);
    return element;
  }
  void read(T& element) { fifo_->read(&element); }
  bool read_nb(T& element) { return fifo_->try_read(&element); }
  void write(const T& element) { fifo_->write(&element); }
  bool write_nb(const T& element) { return fifo_->try_write(&element); }
  void operator>>(T& element) { read(element); }
  void operator<<(const T& element) { write(element); }
  bool empty() const { return fifo_->size() == 0; }
  bool full() const { return fifo_->size() >= fifo_->capacity(); }
  size_t size() const { return fifo_->size(); }
  size_t capacity() const { return fifo_->capacity(); }

 protected:
  stream(const char* name, int depth) : fifo_(plumb_hls::plumb_hls_make_fifo(name, sizeof(T), depth)), owned_(true) {}

 private:
  plumb_hls::Fifo* fifo_;
  bool owned_ = false;
};

template <class T, int Depth>
class stream : public stream<T, 0> {
 public:
  explicit stream(const char* name = "of a kernel") : stream<T, 0>(name, Depth) {}
};

}  // namespace hls
