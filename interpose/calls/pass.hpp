// Functions that take host memory only, and functions with counts of type MPI_Count implemented by those with int.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <limits>
#include <type_traits>

#include "interpose/memory/address_space.hpp"
#include "interpose/memory/failure.hpp"
#include "interpose/peer/offers.hpp"

namespace plumb::interpose {

// MPI's buffers are its arguments of type void*.
template <class Argument>
bool is_on_device(Argument argument) {
  if constexpr (std::is_same_v<Argument, void*> || std::is_same_v<Argument, const void*>) return is_device(argument);
  return false;
}

[[noreturn]] inline void refuse_address(const char* name, const void* address) {
  abort_call(name, fmt::format("invalid device address {}: this function takes host memory only; copy the data to the "
                               "host (plumb_mpi_copy) or use a function that takes device memory",
                               address));
}

template <class Argument>
void refuse_device(const char* name, Argument argument) {
  if constexpr (std::is_same_v<Argument, void*> || std::is_same_v<Argument, const void*>)
    if (is_device(argument)) [[unlikely]]
      refuse_address(name, argument);
}

// A count as an int; a larger one ends the program with a message. Other arguments are returned unchanged.
template <class Argument>
auto narrowed(const char* name, Argument argument) {
  if constexpr (std::is_same_v<Argument, MPI_Count>) {
    if (argument > std::numeric_limits<int>::max())
      abort_call(name,
                 fmt::format("on device memory, and in receives unless PLUMB_MPI_STAGING=naive, a count must be at "
                             "most 2147483647, not {}; use a larger datatype",
                             argument));
    return static_cast<int>(argument);
  } else {
    return argument;
  }
}

// call(arguments...), with counts of type MPI_Count; if an argument is a device address, the same with counts of type
// int.
template <auto call, auto call_of_int, class... Arguments>
int narrow(const char* name, Arguments... arguments) {
  if (!(is_on_device(arguments) || ...)) [[likely]]
    return call(arguments...);
  return call_of_int(narrowed(name, arguments)...);
}

// The same for a call that may receive a message offered by another rank, or that all ranks must agree on (transport
// peer), wherever its own operands are.
template <auto call, auto call_of_int, class... Arguments>
int narrow_all(const char* name, Arguments... arguments) {
  if (offers_on) [[unlikely]]
    return call_of_int(narrowed(name, arguments)...);
  return narrow<call, call_of_int>(name, arguments...);
}

// call(arguments...); a device address among the arguments ends the program with a message.
template <auto call, class... Arguments>
int pass(const char* name, Arguments... arguments) {
  (refuse_device(name, arguments), ...);
  return call(arguments...);
}

}  // namespace plumb::interpose
