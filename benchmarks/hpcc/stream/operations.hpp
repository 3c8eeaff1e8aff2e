// What STREAM's cases do: rows of a table. The order is HPCC FPGA's, with BabelStream's Dot before the last.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace plumb::stream {

enum class Array { a, b, c };
inline constexpr std::array all_arrays{Array::a, Array::b, Array::c};

inline constexpr double scalar = 3;  // j, as in HPCC FPGA

struct Operation {
  enum class Kind { write, read, kernel, dot };  // host to device, device to host, on the device

  std::string name;
  Kind kind = Kind::kernel;
  std::vector<Array> inputs, outputs;  // of Dot no array is the output: it has one number
  bool takes_scalar = false;
  double flops = 0;  // an element
  // One element of the output from the same element of the inputs, as far as there are.
  double (*rule)(double first, double second) = nullptr;

  bool is_transfer() const { return kind == Kind::write || kind == Kind::read; }
};

const std::vector<Operation>& operations();
const Operation& operation(const std::string& name);  // throws Error

}  // namespace plumb::stream
