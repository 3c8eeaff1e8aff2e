// How a call goes to MPI that takes an address, but no device's.
#pragma once

#include <mpi.h>

#include <type_traits>

#include "interpose/address_space.hpp"
#include "interpose/failure.hpp"

namespace plumb::interpose {

// MPI's buffers are its arguments of type void*.
template <class Argument>
void refuse_device(const char* name, Argument argument) {
  if constexpr (std::is_same_v<Argument, void*> || std::is_same_v<Argument, const void*>)
    if (is_device(argument)) [[unlikely]]
      refuse_address(name, argument);
}

// call(arguments...); a device address among them ends the program with a sentence.
template <auto call, class... Arguments>
int pass(const char* name, Arguments... arguments) {
  (refuse_device(name, arguments), ...);
  return call(arguments...);
}

}  // namespace plumb::interpose
