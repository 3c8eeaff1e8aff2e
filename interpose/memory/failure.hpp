// Ends the program at an MPI call that cannot be done: one sentence with rank, call and address, then MPI_Abort.
#pragma once

#include <exception>
#include <string>

namespace plumb::interpose {

[[noreturn]] void abort_call(const char* call, const std::string& sentence);

// Returns work(); an exception ends the program with its sentence.
template <class Work>
auto or_abort(const char* call, Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    abort_call(call, error.what());
  }
}

}  // namespace plumb::interpose
