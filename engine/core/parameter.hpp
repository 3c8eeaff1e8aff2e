// Options, declared once: name, default, unit, range and help serve parsing, --help, --describe and the record.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json_fwd.hpp"

namespace plumb {

class ParameterBase;

// An owner of parameters: a benchmark, the engine's options.
class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;
  virtual ~Parameters() = default;

  const std::vector<ParameterBase*>& parameters() const { return parameters_; }
  ParameterBase* find(const std::string& name) const;

 protected:
  // Adds another owner's parameters, which must live as long as this object.
  void include(const Parameters& others) {
    parameters_.insert(parameters_.end(), others.parameters_.begin(), others.parameters_.end());
  }

 private:
  friend class ParameterBase;
  std::vector<ParameterBase*> parameters_;
};

// A parameter that is fixed when a board's bitstream is built. Presets, names and checks of bitstreams use it.
struct Build {
  std::string letter;      // before the value in the bitstream's name, "b"; "": the value alone
  std::string macro = {};  // that the kernels' source reads; "": none
  bool log2 = false;       // the macro is the logarithm of the value
  // The compiler's options for a value, in place of the macro.
  std::function<std::string(const std::string&)> options = {};
  bool zero = false;  // 0 is a value like others; otherwise it stands for a choice at run time
};

// Name and help of a parameter.
struct About {
  std::string name;                       // "max-size": the option is --max-size
  std::string help;                       // one clause
  std::string unit = {};                  // "B", "s", "log2 B"; empty for a pure number
  std::vector<std::string> aliases = {};  // "-m", "--BLOCK_SIZE"
  std::string bare = {};                  // value of the option given without one; any other is then attached: -z50
  std::vector<std::string> words = {};    // words without an option that are its values, in order: osu_bw D H
  std::optional<Build> build = {};
};

template <class T>
struct Range {
  T minimum = std::numeric_limits<T>::lowest();
  T maximum = std::numeric_limits<T>::max();
};

// An integer as users write sizes: 2048, 2^11, 2Ki, and 2KiB for units of bytes (Ki, Mi, Gi, Ti).
struct Written {
  std::int64_t value = 0;
  bool plain = true;   // digits only
  bool bytes = false;  // with suffix B
};
std::optional<Written> read_written(const std::string& text);

// The exponent given by `text` for a logarithmic parameter in low..high: a plain number in the range is the exponent; a
// plain number above it, or any other form, is the size and must be a power of two. None if invalid.
std::optional<std::int64_t> read_exponent(const std::string& text, std::int64_t low, std::int64_t high);

class ParameterBase {
 public:
  ParameterBase(Parameters& owner, About about) : about_(std::move(about)) { owner.parameters_.push_back(this); }
  ParameterBase(const ParameterBase&) = delete;
  ParameterBase& operator=(const ParameterBase&) = delete;
  virtual ~ParameterBase() = default;

  const About& about() const { return about_; }
  const std::string& name() const { return about_.name; }
  bool given() const { return given_; }  // set by the user or a preset

  // Throws UsageError if the text is invalid.
  void parse(const std::string& text) {
    read(text);
    given_ = true;
    text_ = text;
  }

  // The resulting size, "2^11 B", if the parameter is logarithmic or the text differs from the value's usual form;
  // otherwise "".
  virtual std::string understood() const { return ""; }

  virtual bool is_flag() const { return false; }
  virtual Json value_json() const = 0;
  virtual Json describe() const = 0;  // as --describe prints it
  virtual std::string default_text() const = 0;
  virtual std::string domain_text() const = 0;  // "0..30", "natural|random|both" or ""

 protected:
  virtual void read(const std::string& text) = 0;
  [[noreturn]] void refuse(const std::string& text, const std::string& wanted) const;
  const std::string& text() const { return text_; }  // as given by the user

 private:
  About about_;
  bool given_ = false;
  std::string text_;
};

// An integer, number, flag (bool) or text, read with get() or by name in an expression.
template <class T>
class Parameter : public ParameterBase {
 public:
  Parameter(Parameters& owner, About about, T value, Range<T> range = {})
      : ParameterBase(owner, std::move(about)), value_(value), default_(std::move(value)), range_(range) {}

  const T& get() const { return value_; }
  operator const T&() const { return value_; }

  bool is_flag() const override { return std::is_same_v<T, bool>; }
  Json value_json() const override;
  Json describe() const override;
  std::string default_text() const override;
  std::string domain_text() const override;
  std::string understood() const override;

 protected:
  void read(const std::string& text) override;

 private:
  std::optional<T> whole_number(const std::string& text) const;

  T value_;
  T default_;
  Range<T> range_;
};

template <>
struct Range<std::string> {};
template <>
struct Range<bool> {};

// One word of a fixed list.
class Choice : public ParameterBase {
 public:
  Choice(Parameters& owner, About about, std::string value, std::vector<std::string> choices)
      : ParameterBase(owner, std::move(about)),
        value_(value),
        default_(std::move(value)),
        choices_(std::move(choices)) {}

  const std::string& get() const { return value_; }
  operator const std::string&() const { return value_; }
  bool operator==(const std::string& word) const { return value_ == word; }

  Json value_json() const override;
  Json describe() const override;
  std::string default_text() const override { return default_; }
  std::string domain_text() const override;

 protected:
  void read(const std::string& text) override;

 private:
  std::string value_;
  std::string default_;
  std::vector<std::string> choices_;
};

extern template class Parameter<std::int64_t>;
extern template class Parameter<double>;
extern template class Parameter<bool>;
extern template class Parameter<std::string>;

}  // namespace plumb
