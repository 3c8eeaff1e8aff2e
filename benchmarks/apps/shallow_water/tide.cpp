// The tide at sea edges: known constituents, or those of a file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>

#include "benchmarks/apps/shallow_water/physics.hpp"

namespace plumb::shallow_water {

namespace {

constexpr std::size_t numbers_of_constituent = 3;

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Of TOML only what a tide needs: comments, tables [[constituent]], and keys with a number or a string.
class TideFile {
 public:
  TideFile(const std::string& text, const std::string& name) : in_(text), name_(name) {}

  std::vector<Constituent> read() {
    for (std::string line; std::getline(in_, line);) {
      ++line_;
      line = trimmed(line.substr(0, line.find('#')));
      if (line == "[[constituent]]") {
        finish();
        found_.emplace_back();
        began_ = line_;
      } else if (!line.empty()) {
        take(line);
      }
    }
    finish();
    if (found_.empty()) refuse(std::max<std::size_t>(line_, 1), "there is no table [[constituent]]");
    return found_;
  }

 private:
  void take(const std::string& line) {
    const auto equals = line.find('=');
    const std::string key = trimmed(line.substr(0, equals));
    if (equals == std::string::npos || found_.empty())
      refuse(line_, fmt::format("\"{}\" is neither [[constituent]] nor a key of one", line));
    if (key == "name") return;
    const std::array<std::string, numbers_of_constituent> keys{"amplitude_m", "frequency_rad_s", "phase_rad"};
    const auto which = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
    if (which == keys.size())
      refuse(line_, fmt::format("\"{}\" must be name or one of {}", key, fmt::join(keys, ", ")));
    if (has_[which]) refuse(line_, fmt::format("{} occurs twice in a constituent", key));
    has_[which] = true;
    Constituent& last = found_.back();
    *std::array<double*, numbers_of_constituent>{&last.amplitude, &last.frequency, &last.phase}[which] =
        number(trimmed(line.substr(equals + 1)));
  }

  double number(const std::string& text) const {
    double value = 0;
    const char *begin = text.data() + (text.starts_with('+') ? 1 : 0), *end = text.data() + text.size();
    const auto read = std::from_chars(begin, end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value))
      refuse(line_, fmt::format("\"{}\" is not a number", text));
    return value;
  }

  void finish() {
    if (!found_.empty() && !std::ranges::all_of(has_, [](bool one) { return one; }))
      refuse(began_, "a constituent needs amplitude_m, frequency_rad_s and phase_rad");
    has_ = {};
  }

  [[noreturn]] void refuse(std::size_t line, const std::string& sentence) const {
    throw UsageError(fmt::format("{}, line {}: {}", name_, line, sentence));
  }

  std::istringstream in_;
  std::string name_;
  std::size_t line_ = 0, began_ = 0;
  std::vector<Constituent> found_;
  std::array<bool, numbers_of_constituent> has_{};
};

}  // namespace

double Tide::level(double t) const {
  double sum = 0;
  for (const Constituent& one : constituents) sum += one.amplitude * std::cos(one.frequency * t - one.phase);
  return sum * (ramp_seconds > 0 ? std::min(1.0, t / ramp_seconds) : 1.0);
}

Tide tide_of(const std::vector<std::string>& names, double ramp_seconds) {
  static const std::map<std::string, Constituent> known{{"O1", {0.07, 6.759774e-5, 0.35}},
                                                        {"K1", {0.09, 7.292117e-5, 2.1}},
                                                        {"N2", {0.10, 1.378797e-4, 4.9}},
                                                        {"M2", {0.39, 1.405189e-4, 1.2}},
                                                        {"S2", {0.06, 1.454441e-4, 5.6}}};
  Tide tide{{}, ramp_seconds};
  for (const std::string& name : names) {
    if (!known.contains(name)) throw UsageError(fmt::format("--tide: \"{}\" is not one of O1, K1, N2, M2, S2", name));
    tide.constituents.push_back(known.at(name));
  }
  return tide;
}

Tide read_tide(const std::string& text, const std::string& name, double ramp_seconds) {
  return {TideFile(text, name).read(), ramp_seconds};
}

}  // namespace plumb::shallow_water
