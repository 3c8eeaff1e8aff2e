// Small tries of an MPI library's known faults, for plumb doctor: plumb-mpi --probe NAME, under the library's launcher.
// Plain MPI calls and nothing of the engine.
#pragma once

namespace plumb {

// finalize: every rank exchanges a message with every other, and ends. Returns the exit status: 0 when it works, 2 for
// an unknown name; a fault may end the process before that, or never.
int probe_mpi(int argc, char** argv);

}  // namespace plumb
