#include "core/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

#include "core/json.hpp"

namespace plumb {

namespace {

template <class T>
Json bound(T value, T none) {
  return value == none ? Json(nullptr) : Json(value);
}

Json build_json(const Build& build) {
  return {{"letter", build.letter},
          {"macro", build.macro},
          {"log2", build.log2},
          {"zero", build.zero},
          {"options", nullptr}};
}

Json described(const ParameterBase& parameter, const char* type, Json standard) {
  const About& about = parameter.about();
  return Json{{"name", about.name},   {"aliases", about.aliases},
              {"type", type},         {"default", std::move(standard)},
              {"unit", about.unit},   {"minimum", nullptr},
              {"maximum", nullptr},   {"choices", nullptr},
              {"help", about.help},   {"bare", about.bare},
              {"words", about.words}, {"build", about.build ? build_json(*about.build) : Json(nullptr)}};
}

// With the compiler's options of each of `values`, if they are not the macro's.
Json with_options(Json description, const ParameterBase& parameter, const std::vector<std::string>& values) {
  const auto& build = parameter.about().build;
  if (!build || !build->options) return description;
  Json options = Json::object();
  for (const std::string& value : values) options[value] = build->options(value);
  description["build"]["options"] = std::move(options);
  return description;
}

template <class T>
std::string range_text(const Range<T>& range) {
  const bool below = range.minimum != std::numeric_limits<T>::lowest();
  const bool above = range.maximum != std::numeric_limits<T>::max();
  if (below && above) return fmt::format("{}..{}", range.minimum, range.maximum);
  if (below) return fmt::format("at least {}", range.minimum);
  if (above) return fmt::format("at most {}", range.maximum);
  return "";
}

bool is_log2(const ParameterBase& parameter) {
  return parameter.about().unit.starts_with("log2");
}

// Bytes of the unit, or 0 for units that do not count bytes.
std::int64_t bytes_of_unit(const std::string& unit) {
  if (unit == "B" || unit == "log2 B") return 1;
  if (unit == "KiB") return std::int64_t{1} << 10;
  return unit == "MiB" ? std::int64_t{1} << 20 : 0;
}

std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Written> read_written(const std::string& text) {
  if (const auto plain = digits(text)) return Written{*plain};
  if (text.starts_with("2^")) {
    const auto exponent = digits(std::string_view(text).substr(2));
    if (!exponent || *exponent < 0 || *exponent > 62) return std::nullopt;
    return Written{std::int64_t{1} << *exponent, false};
  }
  std::string_view rest(text);
  const bool bytes = rest.ends_with('B');
  if (bytes) rest.remove_suffix(1);
  const std::size_t prefix = rest.size() >= 3 && rest.ends_with('i')
                                 ? std::string_view("KMGT").find(rest[rest.size() - 2])
                                 : std::string_view::npos;
  if (prefix == std::string_view::npos) return std::nullopt;
  const auto value = digits(rest.substr(0, rest.size() - 2));
  const int shift = 10 * (static_cast<int>(prefix) + 1);
  if (!value || *value < 0 || *value > (std::numeric_limits<std::int64_t>::max() >> shift)) return std::nullopt;
  return Written{*value << shift, false, bytes};
}

std::optional<std::int64_t> read_exponent(const std::string& text, std::int64_t low, std::int64_t high) {
  const auto written = read_written(text);
  if (!written) return std::nullopt;
  if (written->plain && written->value >= low && written->value <= high) return written->value;
  if (written->value < 1 || !std::has_single_bit(static_cast<std::uint64_t>(written->value))) return std::nullopt;
  return std::countr_zero(static_cast<std::uint64_t>(written->value));
}

ParameterBase* Parameters::find(const std::string& name) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(), [&](auto* p) { return p->name() == name; });
  return found == parameters_.end() ? nullptr : *found;
}

void ParameterBase::refuse(const std::string& text, const std::string& wanted) const {
  throw UsageError(fmt::format("--{} must be {}, not \"{}\"", name(), wanted, text));
}

template <class T>
void Parameter<T>::read(const std::string& text) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") refuse(text, "true or false");
    value_ = text == "true";
  } else if constexpr (std::is_same_v<T, std::string>) {
    value_ = text;
  } else {
    const std::string kind = std::is_integral_v<T> ? "an integer" : "a number";
    const std::string domain = domain_text();
    std::string wanted = domain.empty() ? kind : kind + " (" + domain + ")";
    if (is_log2(*this)) wanted += ", the exponent, or a power of two in another form (2^11, 2Ki)";
    const std::optional<T> value = whole_number(text);
    if (!value || !(*value >= range_.minimum && *value <= range_.maximum)) refuse(text, wanted);
    value_ = *value;
  }
}

template <class T>
std::optional<T> Parameter<T>::whole_number(const std::string& text) const {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    const auto written = read_written(text);
    const std::int64_t unit = bytes_of_unit(about().unit);
    if (!written || (written->bytes && (unit == 0 || written->value % unit != 0))) return std::nullopt;
    if (is_log2(*this)) return read_exponent(text, range_.minimum, range_.maximum);
    return written->bytes ? written->value / unit : written->value;
  } else if constexpr (std::is_same_v<T, double>) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  } else {
    return std::nullopt;
  }
}

template <class T>
std::string Parameter<T>::understood() const {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (!given()) return "";
    const auto written = read_written(text());
    if (is_log2(*this)) return fmt::format("2^{}{}", value_, about().unit.substr(4));
    if (written && written->plain) return "";
    return fmt::format("{}{}{}", value_, about().unit.empty() ? "" : " ", about().unit);
  } else {
    return "";
  }
}

template <class T>
Json Parameter<T>::value_json() const {
  return value_;
}

template <class T>
Json Parameter<T>::describe() const {
  if constexpr (std::is_same_v<T, bool>) {
    return with_options(described(*this, "flag", default_), *this, {"false", "true"});
  } else if constexpr (std::is_same_v<T, std::string>) {
    return described(*this, "text", default_.empty() ? Json(nullptr) : Json(default_));
  } else {
    Json result = described(*this, std::is_integral_v<T> ? "integer" : "number", default_);
    result["minimum"] = bound(range_.minimum, std::numeric_limits<T>::lowest());
    result["maximum"] = bound(range_.maximum, std::numeric_limits<T>::max());
    return result;
  }
}

template <class T>
std::string Parameter<T>::default_text() const {
  return fmt::format("{}", default_);
}

template <class T>
std::string Parameter<T>::domain_text() const {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
    return "";
  else
    return range_text(range_);
}

Json Choice::value_json() const {
  return value_;
}

Json Choice::describe() const {
  Json result = described(*this, "choice", default_);
  result["choices"] = choices_;
  return with_options(std::move(result), *this, choices_);
}

std::string Choice::domain_text() const {
  return fmt::format("{}", fmt::join(choices_, "|"));
}

void Choice::read(const std::string& text) {
  if (std::find(choices_.begin(), choices_.end(), text) == choices_.end())
    refuse(text, fmt::format("one of {}", fmt::join(choices_, ", ")));
  value_ = text;
}

template class Parameter<std::int64_t>;
template class Parameter<double>;
template class Parameter<bool>;
template class Parameter<std::string>;

}  // namespace plumb
