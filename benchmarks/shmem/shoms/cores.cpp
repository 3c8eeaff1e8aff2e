#include "benchmarks/shmem/shoms/cores.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/error.hpp"

namespace plumb::shoms {

namespace {

int number(const std::string& text, const std::string& list) {
  int value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || value < 0)
    throw UsageError(fmt::format("--cores {}: invalid core \"{}\" (must be a list such as 0,2,4-7)", list, text));
  return value;
}

}  // namespace

std::vector<int> cores(const std::string& list) {
  const auto online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  std::vector<int> result;
  std::istringstream parts(list.empty() ? fmt::format("0-{}", online - 1) : list);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto dash = part.find('-');
    const int first = number(part.substr(0, dash), list);
    const int last = dash == std::string::npos ? first : number(part.substr(dash + 1), list);
    if (last < first || last >= online)
      throw UsageError(fmt::format("--cores {} exceeds this host's cores 0 to {}", list, online - 1));
    for (int core = first; core <= last; ++core)
      if (std::ranges::find(result, core) == result.end()) result.push_back(core);
  }
  return result;
}

void bind_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw Unsupported(fmt::format("this process may not run on core {}", core));
}

std::size_t largest_cache_bytes() {
  long largest = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    largest = std::max(largest, sysconf(level));
  return largest > 0 ? static_cast<std::size_t>(largest) : std::size_t{32} << 20;
}

}  // namespace plumb::shoms
