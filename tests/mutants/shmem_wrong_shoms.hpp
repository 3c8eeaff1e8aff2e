// Benchmarks of wrong rows, each as a test of its own.
#pragma once

#include <string>

#include "benchmarks/shmem/api/row.hpp"

namespace plumb::mutants {

// To wrong-shoms, as test ROW-NAME, beside the others.
void add_to_shoms(const std::string& name, const shmem_api::Row& row);
// To wrong-osu, as test TEST-NAME, in place of osu_oshm_TEST.
void add_to_osu(const std::string& test, const std::string& name, const shmem_api::Row& row);

}  // namespace plumb::mutants
