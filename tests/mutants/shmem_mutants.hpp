// Functions of OpenSHMEM made wrong on purpose: benchmarks mutant-shoms-ROW-NAME, which are shoms with one row of its
// table replaced. Each must come out `failed` with --only ROW.
#pragma once

namespace plumb::mutants {

// To be called in main.
void register_wrong_rows();

}  // namespace plumb::mutants
