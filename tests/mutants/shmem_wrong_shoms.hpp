// Benchmarks with one row replaced by a wrong one.
#pragma once

#include <string>

#include "benchmarks/shmem/api/row.hpp"

namespace plumb::mutants {

// shoms as mutant-shoms-ROW-NAME; as passes-shoms-ROW-NAME where the name begins so.
void add_to_shoms(const std::string& name, const shmem_api::Row& row);
// osu_shmem as mutant-osu-TEST-NAME; `test` without osu_oshm_.
void add_to_osu(const std::string& test, const std::string& name, const shmem_api::Row& row);

}  // namespace plumb::mutants
