// Ends the program at a failed MPI call: one message with rank, call and address, then MPI_Abort.
#pragma once

#include <exception>
#include <string>

namespace plumb::interpose {

[[noreturn]] void abort_call(const char* call, const std::string& sentence);

// Returns work(); an exception ends the program with its message.
template <class Work>
auto or_abort(const char* call, Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    abort_call(call, error.what());
  }
}

}  // namespace plumb::interpose
