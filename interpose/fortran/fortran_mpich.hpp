// Parts of the wrappers that calls/generate.py makes for MPICH: functions of mpi_f08 without a buffer, which do not
// call C's functions as the rest of MPICH's Fortran does. Handles, statuses and flags are the same in both languages.
#pragma once

#include <mpi.h>

namespace plumb::interpose::fortran {

inline MPI_Status* one(MPI_Status* status) {
  return static_cast<void*>(status) == MPI_F08_STATUS_IGNORE ? MPI_STATUS_IGNORE : status;
}

inline MPI_Status* all(MPI_Status* statuses) {
  return static_cast<void*>(statuses) == MPI_F08_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : statuses;
}

// error: null where the program omits it.
inline void give(int* error, int code) {
  if (error != nullptr) *error = code;
}

inline void count_from_one(int* index) {
  if (*index != MPI_UNDEFINED) ++*index;
}

inline void count_from_one(int* indices, int completed) {
  for (int i = 0; completed != MPI_UNDEFINED && i < completed; ++i) ++indices[i];
}

}  // namespace plumb::interpose::fortran
