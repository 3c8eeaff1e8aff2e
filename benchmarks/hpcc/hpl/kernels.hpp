// device.cl, compiled for a device: kernels by name, started with their arguments in one call.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "device/library.hpp"
#include "measure/benchmark.hpp"

namespace plumb::hpl {

inline constexpr std::size_t narrow_columns = 16;     // of a panel, eliminated one by one
inline constexpr std::size_t held_rows = 4;           // of these columns, per work item, in one kernel
inline constexpr std::size_t subpanel_columns = 128;  // updated by narrow ones; the panel right of them by products

// Definitions that device.cl is compiled with, for groups of so many work items.
std::string kernel_options(ScalarType type, std::size_t group, std::size_t block);

class Kernels {
 public:
  Kernels(Session& session, ScalarType type, std::size_t block);
  // Starts the given number of groups of group() work items.
  void start(Queue& queue, const std::string& name, const std::vector<KernelArgument>& arguments, std::size_t groups);
  // Starts one work item.
  void start_alone(Queue& queue, const std::string& name, const std::vector<KernelArgument>& arguments);
  void copy_block(Queue& queue, const MatrixPart& from, const MatrixPart& to, std::size_t rows, std::size_t columns);
  std::size_t group() const { return group_; }
  std::size_t groups_of(std::size_t items) const { return (items + group_ - 1) / group_; }
  // Groups for a loop over the given number of items: enough for any device.
  std::size_t groups_of_loop(std::size_t items) const;
  // Groups that share a strip of a row, the argument `strips` of copy_rows.
  std::size_t strips_of(std::size_t columns) const;

 private:
  Kernel& kernel(const std::string& name, const std::vector<KernelArgument>& arguments);

  std::size_t group_;
  std::unique_ptr<Program> program_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace plumb::hpl
