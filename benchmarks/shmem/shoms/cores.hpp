// Cores and caches of this host, for the affinity mode and for --off-cache.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plumb::shoms {

// "0,2,4-7" -> 0 2 4 5 6 7, each once; "" -> all that are online here. Throws UsageError for anything else, or a core
// that there is not.
std::vector<int> cores(const std::string& list);

// Binds this process to one core. Throws Unsupported where it may not run there.
void bind_to_core(int core);

// As the system says; 32 MiB where it does not.
std::size_t largest_cache_bytes();

}  // namespace plumb::shoms
