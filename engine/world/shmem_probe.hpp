// Small tries of an OpenSHMEM library's known faults, for plumb doctor: plumb-shmem --probe NAME, under the library's
// launcher, without any of the engine's cures.
#pragma once

namespace plumb {

// finalize: starts and ends. compare-swap-32: a 32-bit compare-and-swap on the next PE. fetch-bitwise: a fetching
// 64-bit xor. heap BYTES: whether so much symmetric memory is there. features: prints what of 1.5 there is. Returns the
// exit status: 0 when it works, 1 when it does not, 2 for a word it does not know; a fault may end the process before
// that.
int probe_shmem(int argc, char** argv);

}  // namespace plumb
