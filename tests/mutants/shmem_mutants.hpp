// Functions of OpenSHMEM made wrong on purpose: benchmarks mutant-shoms-ROW-NAME and mutant-osu-TEST-NAME, which are
// shoms and osu_shmem with one row replaced. Each must come out `failed` with --only ROW, or --only osu_oshm_TEST.
#pragma once

namespace plumb::mutants {

// To be called in main.
void register_wrong_rows();
void register_dropped();  // operations of a sample left out
void register_lazy();     // puts, gets and atomics that wait for shmem_quiet

}  // namespace plumb::mutants
