// A result that is right but took less time than it can.
#pragma once

#include "core/error.hpp"

namespace plumb {

// Thrown by Benchmark::validate(), on all ranks or none: the case's outcome is `error`.
class Implausible : public Error {
 public:
  using Error::Error;
};

}  // namespace plumb
