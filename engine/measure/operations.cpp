#include "measure/operations.hpp"

#include <fnmatch.h>

#include <sstream>

#include "core/error.hpp"

namespace plumb::operations {

namespace {

bool picks(const std::string& part, const std::string& name, bool is_name) {
  if (is_name) return name == part;
  return part.find('*') != std::string::npos ? fnmatch(part.c_str(), name.c_str(), 0) == 0 : name.starts_with(part);
}

constexpr std::int64_t longest_message = std::int64_t{1} << 36;

}  // namespace

std::vector<std::uint64_t> growing_sizes(std::uint64_t minimum, std::uint64_t maximum, std::uint64_t factor) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = minimum; size <= maximum; size *= factor) sizes.push_back(size);
  return sizes;
}

std::vector<std::string> names_picked(const std::string& selection, const std::vector<std::string>& known) {
  if (selection.empty()) return known;
  std::vector<std::string> names;
  std::istringstream parts(selection);
  for (std::string part; std::getline(parts, part, ',');) {
    const bool is_name = std::ranges::find(known, part) != known.end();
    std::size_t picked = 0;
    for (const std::string& name : known) {
      if (part.empty() || !picks(part, name, is_name)) continue;
      ++picked;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    const std::string near = picked == 0 ? nearest(part, known) : "";
    if (picked == 0)
      throw UsageError(fmt::format("--only {}: no test is called or begins so{}", part,
                                   near.empty() ? "" : " (did you mean " + near + "?)"));
  }
  if (names.empty()) throw UsageError("--only names no test");
  return names;
}

Options::Options(std::int64_t smallest, std::int64_t largest)
    : minsize_(*this, {"minsize", "smallest message", "B"}, smallest, {1, longest_message}),
      maxsize_(*this, {"maxsize", "largest message", "B"}, largest, {1, longest_message}) {}

void Options::check_between_ranks(const Plan& plan) const {
  if (plan.ranks < 2)
    throw UsageError(fmt::format("{0} measures between PEs: it needs two or more (plumb run {0} -n 2)", name()));
  if (minsize_.get() > maxsize_.get())
    throw UsageError(fmt::format("--minsize {} is above --maxsize {}", minsize_.get(), maxsize_.get()));
}

std::vector<std::uint64_t> Options::swept_sizes() const {
  return growing_sizes(static_cast<std::uint64_t>(minsize_.get()), static_cast<std::uint64_t>(maxsize_.get()),
                       static_cast<std::uint64_t>(size_factor_.get()));
}

void add_injection(std::vector<Metric>& metrics, const CaseResult& result, double unit, const char* name) {
  const auto seconds = result.tallies.find("injection_s");
  if (seconds == result.tallies.end()) return;
  metrics.push_back({"injection", seconds->second / result.tallies.at("injections") / unit, name,
                     "begun and not waited for, several at a time; mean"});
}

}  // namespace plumb::operations
