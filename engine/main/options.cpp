#include "main/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "measure/parts.hpp"
#include "record/forms.hpp"

namespace plumb {

namespace {

const std::vector<std::string> presets{"smoke", "standard", "full"};

std::string option_names(const ParameterBase& parameter) {
  std::string names = "--" + parameter.name();
  for (const std::string& alias : parameter.about().aliases) names += "," + alias;
  return names;
}

void add_options(CLI::App& app, const Parameters& owner) {
  for (ParameterBase* parameter : owner.parameters()) {
    if (parameter->is_flag())
      app.add_flag_callback(option_names(*parameter), [parameter] { parameter->parse("true"); });
    else
      app.add_option_function<std::string>(option_names(*parameter),
                                           [parameter](const std::string& text) { parameter->parse(text); })
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

// The value of --preset (or --preset=value), read before the other options because they override the preset.
std::string preset_on(const std::vector<std::string>& words) {
  std::string preset = "standard";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--preset=")) preset = words[i].substr(9);
    if (words[i] == "--preset" && i + 1 < words.size()) preset = words[i + 1];
  }
  return preset;
}

void apply_preset(const std::string& name, Benchmark& benchmark, EngineOptions& options) {
  if (std::find(presets.begin(), presets.end(), name) == presets.end()) return;  // parsing --preset reports the error
  for (const auto& [option, value] : benchmark.preset(name)) {
    ParameterBase* parameter = benchmark.find(option);
    if (parameter == nullptr) parameter = options.find(option);
    if (parameter == nullptr) throw Error("preset " + name + " sets --" + option + ", an unknown option");
    parameter->parse(value);
  }
}

std::vector<std::string> all_names(const Benchmark& benchmark, const EngineOptions& options) {
  std::vector<std::string> names;
  for (const Parameters* owner : {static_cast<const Parameters*>(&benchmark), static_cast<const Parameters*>(&options)})
    for (const ParameterBase* parameter : owner->parameters()) names.push_back("--" + parameter->name());
  return names;
}

// Completes options given without a value, if they allow that.
void complete_bare(std::vector<std::string>& words, const Parameters& owner) {
  for (const ParameterBase* parameter : owner.parameters()) {
    if (parameter->about().bare.empty()) continue;
    const std::string name = "--" + parameter->name();
    const auto& aliases = parameter->about().aliases;
    for (std::string& word : words)
      if (word == name || std::find(aliases.begin(), aliases.end(), word) != aliases.end())
        word = name + "=" + parameter->about().bare;
  }
}

// Turns words without an option into the option whose values they are.
void gather_words(std::vector<std::string>& words, const Parameters& owner) {
  for (const ParameterBase* parameter : owner.parameters()) {
    const auto& own = parameter->about().words;
    std::vector<std::string> found;
    std::erase_if(words, [&](const std::string& word) {
      if (std::find(own.begin(), own.end(), word) == own.end()) return false;
      found.push_back(word);
      return true;
    });
    if (!found.empty()) words.push_back(fmt::format("--{}={}", parameter->name(), fmt::join(found, ",")));
  }
}

// words: the arguments after the benchmark's name.
void parse_run(std::vector<std::string> words, EngineOptions& options, Benchmark& benchmark) {
  apply_preset(preset_on(words), benchmark, options);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  add_options(app, benchmark);
  add_options(app, options);
  complete_bare(words, benchmark);
  gather_words(words, benchmark);
  std::reverse(words.begin(), words.end());  // CLI11 expects them in reverse order
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} ({} --help lists the options)", error.what(), benchmark.name()));
  }
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty()) return;
  const std::string& word = unknown.front();
  const std::string near = nearest(word.substr(0, word.find('=')), all_names(benchmark, options));
  throw UsageError(fmt::format("{} has no option {}{}; {} --help lists them", benchmark.name(), word,
                               near.empty() ? "" : " (did you mean " + near + "?)", benchmark.name()));
}

void parse_show(const std::vector<std::string>& words, CommandLine& line, EngineOptions& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] {
      if (i + 1 >= words.size()) throw UsageError(words[i] + " needs a value");
      return words[++i];
    };
    if (words[i] == "--expected")
      line.show_expected = value();
    else if (words[i] == "--format")
      options.format.parse(value());
    else if (line.show_record.empty() && !words[i].starts_with("--"))
      line.show_record = words[i];
    else
      throw UsageError("--show takes a record, --expected FILE and --format FORM, but not " + words[i]);
  }
  if (line.show_record.empty()) throw UsageError("--show needs the file of a record");
}

std::string option_line(const ParameterBase& parameter) {
  std::string names = "--" + parameter.name();
  for (const std::string& alias : parameter.about().aliases) names += ", " + alias;
  const std::string domain = parameter.domain_text();
  const std::string standard = parameter.default_text();
  std::vector<std::string> notes;
  if (!parameter.about().unit.empty()) notes.push_back(parameter.about().unit);
  if (!domain.empty()) notes.push_back(domain);
  if (!standard.empty() && !parameter.is_flag()) notes.push_back("default " + standard);
  return fmt::format("  {:<26} {}{}\n", names, parameter.about().help,
                     notes.empty() ? "" : fmt::format(" [{}]", fmt::join(notes, "; ")));
}

std::string options_text(const Parameters& owner) {
  std::string text;
  for (const ParameterBase* parameter : owner.parameters()) text += option_line(*parameter);
  return text;
}

}  // namespace

std::vector<std::string> EngineOptions::formats() {
  std::vector<std::string> names = form_names();
  names.emplace_back("none");
  return names;
}

RunSettings EngineOptions::settings() const {
  if (min_repetitions.get() > max_repetitions.get())
    throw UsageError(fmt::format("--min-repetitions {} must not exceed --max-repetitions {}", min_repetitions.get(),
                                 max_repetitions.get()));
  if (!device.get().empty() && !device_map.get().empty())
    throw UsageError("--device and --device-map both choose the device; give one of them");
  RunSettings settings;
  settings.policy = {repetitions.given() ? static_cast<std::uint64_t>(repetitions.get()) : 0,
                     static_cast<std::uint64_t>(min_repetitions.get()),
                     static_cast<std::uint64_t>(max_repetitions.get()),
                     std::max(time_limit.get(), least_time.get()),
                     confidence.get(),
                     least_time.get()};
  settings.synchronise_by_clock = sync.get() == "clock";
  settings.validate = !skip_validation;
  settings.setup_only = test;
  settings.parts = parse_parts(parts);
  settings.active_ranks = static_cast<int>(active_ranks.get());
  check_energy_names(energy);
  settings.energy = {energy, energy_time, energy_root};
  return settings;
}

namespace {

// The benchmarks that belong to no family, and the member of one that is nearest to `name`.
std::vector<std::string> names_beside(const std::string& name) {
  const auto& registry = Registry<BenchmarkFactory>::instance();
  std::vector<std::string> names;
  for (const std::string& known : registry.names())
    if ((*registry.find(known))()->family().empty()) names.push_back(known);
  if (const std::string near = nearest(name, registry.names());
      !near.empty() && std::find(names.begin(), names.end(), near) == names.end())
    names.push_back(near);
  return names;
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark(const std::string& name) {
  const auto& registry = Registry<BenchmarkFactory>::instance();
  const BenchmarkFactory* factory = registry.find(name);
  if (factory == nullptr) throw UsageError(unknown_name("benchmark", name, names_beside(name)));
  return (*factory)();
}

CommandLine parse_command_line(int argc, const char* const* argv, EngineOptions& options,
                               std::unique_ptr<Benchmark>& benchmark) {
  std::vector<std::string> words(argv + 1, argv + argc);
  CommandLine line;
  if (words.empty()) return line;
  const std::string first = words.front();
  words.erase(words.begin());
  const std::map<std::string, CommandLine::Action> actions{
      {"--help", CommandLine::Action::help},         {"-h", CommandLine::Action::help},
      {"--version", CommandLine::Action::version},   {"--list", CommandLine::Action::list},
      {"--devices", CommandLine::Action::devices},   {"--transports", CommandLine::Action::transports},
      {"--describe", CommandLine::Action::describe}, {"--show", CommandLine::Action::show},
      {"--embedded", CommandLine::Action::embedded}, {"--compile", CommandLine::Action::compile}};
  if (const auto found = actions.find(first); found != actions.end()) {
    line.action = found->second;
    if (line.action == CommandLine::Action::show) {
      parse_show(words, line, options);
      return line;
    }
    if (line.action == CommandLine::Action::embedded || line.action == CommandLine::Action::compile) {
      const std::size_t least = line.action == CommandLine::Action::embedded ? 1 : 2;
      if (words.size() < least)
        throw UsageError(first + (least == 1 ? " needs a file" : " needs a source and an output"));
      line.words = std::move(words);
      return line;
    }
    const bool format_given = words.size() == 2 && words[0] == "--format";
    if (format_given) options.format.parse(words[1]);
    line.json = format_given && options.format == "json";
    if (!words.empty() && !format_given)
      throw UsageError(first + " stands alone, but \"" + words.front() + "\" follows it");
    return line;
  }
  if (first.starts_with("-"))
    throw UsageError(fmt::format(
        "the first argument must be a benchmark or one of --help, --version, --list, --devices, --transports, "
        "--describe, --show, --embedded, --compile, not \"{}\"",
        first));
  line.benchmark = first;
  benchmark = make_benchmark(first);
  if (std::any_of(words.begin(), words.end(), [](const std::string& w) { return w == "--help" || w == "-h"; }))
    return line;
  line.action = CommandLine::Action::run;
  parse_run(std::move(words), options, *benchmark);
  return line;
}

std::string program_help(const std::string& program) {
  return fmt::format(
      "Plumbline measures accelerated machines, proves each result right and records it.\n\n"
      "  {0} BENCHMARK [options]      run a benchmark (under mpirun or srun for several ranks)\n"
      "  {0} BENCHMARK --help         its options\n"
      "  {0} --list                   benchmarks\n"
      "  {0} --devices                devices, with the index that --device takes\n"
      "  {0} --transports             transports, and which of them work here\n"
      "  {0} --show RECORD            a record again: --format {1}, --expected FILE\n"
      "  {0} --describe               all options, as JSON\n"
      "  {0} --embedded FILE          the text of a kernel source in the program\n"
      "  {0} --compile FILE OUTPUT [OPTION...]  kernels to a binary, by the first OpenCL device's compiler\n"
      "  {0} --version\n\n"
      "Results go to standard output, progress to standard error. Exit status: 0 all passed, 1 a wrong answer,\n"
      "2 bad usage, 3 an error while running.\n",
      program, fmt::join(form_names(), "|"));
}

std::string benchmark_help(const std::string& program, const Benchmark& benchmark, const EngineOptions& options) {
  std::string text = fmt::format("{} {}: {}\n{}\n", program, benchmark.name(), benchmark.title(), benchmark.source());
  text += "\nOptions of " + benchmark.name() + "\n" + options_text(benchmark);
  text += "\nOptions of every benchmark\n" + options_text(options);
  text += "\nPresets (options given beside a preset override it)\n";
  for (const std::string& name : presets) {
    std::vector<std::string> words;
    for (const auto& [option, value] : benchmark.preset(name)) words.push_back("--" + option + " " + value);
    text += fmt::format("  {:<26} {}\n", name, fmt::join(words, " "));
  }
  return text;
}

}  // namespace plumb
