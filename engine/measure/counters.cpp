#include "measure/counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "core/registry.hpp"

namespace plumb {

namespace {

struct CountedEvent {
  const char *name, *papi;  // PAPI's name, or ""
  std::uint32_t type;
  std::uint64_t config;
};
constexpr std::uint32_t hardware = PERF_TYPE_HARDWARE, software = PERF_TYPE_SOFTWARE;
constexpr std::array events{CountedEvent{"cycles", "PAPI_TOT_CYC", hardware, PERF_COUNT_HW_CPU_CYCLES},
                            CountedEvent{"instructions", "PAPI_TOT_INS", hardware, PERF_COUNT_HW_INSTRUCTIONS},
                            CountedEvent{"cache-references", "PAPI_L3_TCA", hardware, PERF_COUNT_HW_CACHE_REFERENCES},
                            CountedEvent{"cache-misses", "PAPI_L3_TCM", hardware, PERF_COUNT_HW_CACHE_MISSES},
                            CountedEvent{"branches", "PAPI_BR_INS", hardware, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
                            CountedEvent{"branch-misses", "PAPI_BR_MSP", hardware, PERF_COUNT_HW_BRANCH_MISSES},
                            CountedEvent{"task-clock", "", software, PERF_COUNT_SW_TASK_CLOCK},
                            CountedEvent{"page-faults", "", software, PERF_COUNT_SW_PAGE_FAULTS},
                            CountedEvent{"context-switches", "", software, PERF_COUNT_SW_CONTEXT_SWITCHES},
                            CountedEvent{"cpu-migrations", "", software, PERF_COUNT_SW_CPU_MIGRATIONS}};

const CountedEvent& event_called(const std::string& name) {
  std::vector<std::string> names;
  for (const CountedEvent& one : events) {
    if (name == one.name || (*one.papi != 0 && name == one.papi)) return one;
    names.emplace_back(one.name);
  }
  throw UsageError(unknown_name("event", name, names));
}

// Of this thread and its later ones; the kernel's part as well, where that is permitted. -1: no such event.
int open_counter(const CountedEvent& event) {
  perf_event_attr wish{};
  wish.size = sizeof wish;
  wish.type = event.type;
  wish.config = event.config;
  wish.disabled = wish.inherit = 1;
  wish.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  for (const bool user_only : {false, true}) {
    wish.exclude_kernel = wish.exclude_hv = user_only ? 1 : 0;
    const auto file = static_cast<int>(syscall(SYS_perf_event_open, &wish, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (file >= 0 || (errno != EACCES && errno != EPERM)) return file;
  }
  return -1;
}

}  // namespace

void Counters::check(const std::vector<std::string>& names) {
  for (const std::string& name : names) event_called(name);
}

Counters::Counters(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    files_.push_back(open_counter(event_called(name)));
    if (files_.back() >= 0) continue;
    const std::string why = std::strerror(errno);
    files_.pop_back();
    for (const int file : files_) close(file);
    throw Unsupported(fmt::format("the kernel counts no {} here ({}; see perf_event_paranoid)", name, why));
  }
}

Counters::~Counters() {
  for (const int file : files_) close(file);
}

void Counters::start() const {
  for (const int file : files_) {
    ioctl(file, PERF_EVENT_IOC_RESET, 0);
    ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
  }
}

std::vector<double> Counters::stop() const {
  for (const int file : files_) ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
  std::vector<double> counts;
  for (const int file : files_) {
    std::array<std::uint64_t, 3> now{};  // the count; nanoseconds enabled, and counting
    if (read(file, now.data(), sizeof now) != sizeof now) now = {};
    const double share = now[1] > 0 ? static_cast<double>(now[2]) / static_cast<double>(now[1]) : 1;
    counts.push_back(share > 0 ? static_cast<double>(now[0]) / share : 0);
  }
  return counts;
}

}  // namespace plumb
