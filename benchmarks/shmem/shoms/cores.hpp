// Cores and caches of this host, for the affinity mode and for --off-cache.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plumb::shoms {

// "0,2,4-7" -> 0 2 4 5 6 7, without duplicates; "" -> all online cores. Throws UsageError for anything else, or a core
// that does not exist.
std::vector<int> cores(const std::string& list);

// Binds this process to one core. Throws Unsupported if not allowed.
void bind_to_core(int core);

// As reported by the system, otherwise 32 MiB.
std::size_t largest_cache_bytes();

}  // namespace plumb::shoms
