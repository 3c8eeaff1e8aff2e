#include "core/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/json.hpp"

namespace plumb {

namespace {

template <class T>
Json bound(T value, T none) {
  return value == none ? Json(nullptr) : Json(value);
}

Json described(const ParameterBase& parameter, const char* type, Json standard) {
  const About& about = parameter.about();
  return Json{{"name", about.name}, {"aliases", about.aliases}, {"type", type},       {"default", std::move(standard)},
              {"unit", about.unit}, {"minimum", nullptr},       {"maximum", nullptr}, {"choices", nullptr},
              {"help", about.help}};
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

}  // namespace

ParameterBase* Parameters::find(const std::string& name) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(), [&](auto* p) { return p->name() == name; });
  return found == parameters_.end() ? nullptr : *found;
}

void ParameterBase::refuse(const std::string& text, const std::string& wanted) const {
  throw UsageError(fmt::format("--{} is {}, but \"{}\" was given", name(), wanted, text));
}

template <class T>
void Parameter<T>::read(const std::string& text) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") refuse(text, "true or false");
    value_ = text == "true";
  } else if constexpr (std::is_same_v<T, std::string>) {
    value_ = text;
  } else {
    const std::string kind = std::is_integral_v<T> ? "a whole number" : "a number";
    const std::string domain = domain_text();
    const std::string wanted = domain.empty() ? kind : kind + " (" + domain + ")";
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) refuse(text, wanted);
    if (!(value >= range_.minimum && value <= range_.maximum)) refuse(text, wanted);
    value_ = value;
  }
}

template <class T>
Json Parameter<T>::value_json() const {
  return value_;
}

template <class T>
Json Parameter<T>::describe() const {
  if constexpr (std::is_same_v<T, bool>) {
    return described(*this, "flag", default_);
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
  return result;
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
