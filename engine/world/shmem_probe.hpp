// Tests of known faults of an OpenSHMEM library, for plumb doctor: plumb-shmem --probe NAME, under the library's
// launcher, without the engine's workarounds.
#pragma once

namespace plumb {

// finalize: starts and ends. compare-swap-32: a 32-bit compare-and-swap on the next PE. fetch-bitwise: a fetching
// 64-bit xor. heap BYTES: allocates that much symmetric memory. features: prints the available features of 1.5. Returns
// the exit status: 0 if it works, 1 if not, 2 for an unknown name; a fault may crash or hang the process before that.
int probe_shmem(int argc, char** argv);

}  // namespace plumb
