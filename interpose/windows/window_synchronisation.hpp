// Synchronisation of a window: the owner's copies are reconciled, and results of calls go to the device. mpi() is MPI's
// own function with its arguments.
#pragma once

#include <functional>

#include "interpose/windows/window.hpp"

namespace plumb::interpose {

using Mpi = std::function<int()>;

int fence(Window& window, int assertion, const Mpi& mpi);
int post(Window& window, int assertion, const Mpi& mpi);
int wait(Window& window, const Mpi& mpi);
int test(Window& window, const int* flag, const Mpi& mpi);
int lock(Window& window, int kind, int rank, int assertion, const Mpi& mpi);
int lock_all(Window& window, int assertion, const Mpi& mpi);
int unlock(Window& window, int rank, const Mpi& mpi);
int unlock_all(Window& window, const Mpi& mpi);
int flush(Window& window, int rank, const Mpi& mpi);
int flush_all(Window& window, const Mpi& mpi);  // also MPI_Win_complete
int sync(Window& window, const Mpi& mpi);

}  // namespace plumb::interpose
