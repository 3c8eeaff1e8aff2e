// Tests of known faults of an MPI library, for plumb doctor: plumb-mpi --probe NAME, under the library's launcher.
// Plain MPI calls, independent of the engine.
#pragma once

namespace plumb {

// finalize: every rank exchanges a message with every other, and ends. Returns the exit status: 0 if it works, 2 for an
// unknown name; a fault may crash or hang the process before that.
int probe_mpi(int argc, char** argv);

}  // namespace plumb
