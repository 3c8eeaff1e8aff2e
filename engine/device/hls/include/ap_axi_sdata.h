// Words of AXI4 streams for C simulation: data and, of the side channels, TLAST. Other side channels need arbitrary
// precision integers, which this simulation does not have.
#pragma once

#include <stddef.h>

#define AXIS_ENABLE_LAST 0b00010000

namespace hls {

template <class T, unsigned char Signals>
struct axis_data {
  static_assert(Signals == AXIS_ENABLE_LAST, "of the side channels, this simulation has TLAST only");
  T data;
  bool last;

  const T& get_data() const { return data; }
  void set_data(const T& value) { data = value; }
  bool get_last() const { return last; }
  void set_last(bool value) { last = value; }
};

}  // namespace hls
