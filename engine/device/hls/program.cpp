#include "device/hls/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <sstream>

#include "device/hls/buffer.hpp"

namespace plumb::hls {

namespace {

std::vector<std::string> split(const std::string& list) {
  std::istringstream text(list);
  std::vector<std::string> parts;
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

bool is_file(const std::string& end) {
  return end.starts_with('/');
}

std::string words_for(const plumb_hls::Parameter& parameter) {
  switch (parameter.kind) {
    case plumb_hls::Parameter::pointer:
      return "a buffer";
    case plumb_hls::Parameter::integer:
      return fmt::format("an integer of {} bytes", parameter.bytes);
    case plumb_hls::Parameter::floating:
      return fmt::format("a floating-point number of {} bytes", parameter.bytes);
    default:
      return fmt::format("a stream of {} bytes", parameter.bytes);
  }
}

// An argument's kind and value.
struct Passed {
  plumb_hls::Parameter parameter{};
  std::array<std::byte, 8> value{};

  template <class T>
  void keep(plumb_hls::Parameter::Kind kind, T given) {
    parameter = {kind, sizeof given};
    std::memcpy(value.data(), &given, sizeof given);
  }
  void operator()(const Buffer* buffer) { keep(plumb_hls::Parameter::pointer, own(*buffer).data()); }
  void operator()(const BufferView& view) { keep(plumb_hls::Parameter::pointer, bytes_of(view)); }
  void operator()(const TiledMatrix&) { throw Unsupported("HLS C++ has no kernels that copy tiles"); }
  template <class T>
  void operator()(T number) {
    keep(std::is_integral_v<T> ? plumb_hls::Parameter::integer : plumb_hls::Parameter::floating, number);
  }
};

}  // namespace

Image::Image(const KernelSource& source) : name_(source.name), loaded_(compile(source)) {
  for (const StreamLink& link : source.streams) connect(link);
}

const plumb_hls::Kernel* Image::find(const std::string& kernel) const {
  for (const plumb_hls::Kernel* one = loaded_.kernels; one->name != nullptr; ++one)
    if (kernel == one->name) return one;
  return nullptr;
}

std::vector<std::string> Image::kernel_names() const {
  std::vector<std::string> names;
  for (const plumb_hls::Kernel* one = loaded_.kernels; one->name != nullptr; ++one) names.emplace_back(one->name);
  return names;
}

const plumb_hls::Parameter& Image::parameter_at(const std::string& end) const {
  const std::size_t dot = end.find('.');
  const plumb_hls::Kernel* kernel = find(end.substr(0, dot));
  if (kernel == nullptr)
    throw Error(fmt::format("{} has no kernel for the stream's end {}: it has {}", name_, end,
                            fmt::join(kernel_names(), ", ")));
  const std::vector<std::string> names = split(kernel->names);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (dot != std::string::npos && names[i] == end.substr(dot + 1) &&
        kernel->parameters[i].kind == plumb_hls::Parameter::stream)
      return kernel->parameters[i];
  throw Error(fmt::format("{}: kernel {} has no stream for the end {}", name_, kernel->name, end));
}

void Image::attach(const std::string& end, plumb_hls::Fifo* fifo) {
  if (!ends_.emplace(end, fifo).second) throw Error(fmt::format("{}: stream {} is connected twice", name_, end));
}

void Image::connect(const StreamLink& link) {
  const bool leaves = is_file(link.to), enters = is_file(link.from);
  const plumb_hls::Parameter& near = parameter_at(enters ? link.to : link.from);
  if (leaves || enters) {
    const std::string& end = enters ? link.to : link.from;
    fifos_.push_back(make_pipe_fifo(end, near.bytes, enters ? link.from : link.to, failed_));
    return attach(end, fifos_.back().get());
  }
  const plumb_hls::Parameter& far = parameter_at(link.to);
  if (far.bytes != near.bytes)
    throw Error(fmt::format("{}: elements of {} have {} bytes, those of {} have {}", name_, link.from, near.bytes,
                            link.to, far.bytes));
  const std::string both = fmt::format("{} to {}", link.from, link.to);
  fifos_.push_back(make_fifo(both, near.bytes, link.depth, failed_));
  inner_.emplace_back(both, fifos_.back().get());
  attach(link.from, fifos_.back().get());
  attach(link.to, fifos_.back().get());
}

plumb_hls::Fifo& Image::stream(const plumb_hls::Kernel& kernel, std::size_t parameter) const {
  const std::string end = fmt::format("{}.{}", kernel.name, split(kernel.names).at(parameter));
  const auto found = ends_.find(end);
  if (found == ends_.end()) throw Error(fmt::format("{}: stream {} is not connected", name_, end));
  return *found->second;
}

void Image::end_launch(bool failed) {
  if (failed) *failed_ = true;
  --launches_;
}

void Image::check_drained() const {
  if (launches_ > 0 || *failed_) return;
  for (const auto& [both, fifo] : inner_)
    if (fifo->size() > 0)
      throw Error(fmt::format("{}: {} element{} left in stream {} after all kernels had ended", name_, fifo->size(),
                              fifo->size() == 1 ? " was" : "s were", both));
}

void Launch::run() {
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < values.size(); ++i)
    addresses.push_back(streams[i] != nullptr ? static_cast<void*>(streams[i]) : values[i].data());
  bool failed = true;
  struct End {
    Launch& launch;
    bool& failed;
    ~End() { launch.image->end_launch(failed); }
  } const end{*this, failed};
  kernel->run(addresses.data());
  failed = false;
}

HlsKernel::HlsKernel(std::shared_ptr<Image> image, const plumb_hls::Kernel& kernel) {
  launch_.kernel = &kernel;
  launch_.values.resize(kernel.count);
  launch_.streams.resize(kernel.count);
  for (std::size_t i = 0; i < kernel.count; ++i)
    if (kernel.parameters[i].kind == plumb_hls::Parameter::stream)
      launch_.streams[i] = &image->stream(kernel, i);
    else
      places_.push_back(i);
  is_set_.resize(places_.size());
  launch_.image = std::move(image);
}

void HlsKernel::set(const std::vector<KernelArgument>& arguments) {
  if (arguments.size() != places_.size())
    throw Error(fmt::format("kernel {} takes {} arguments, but {} were given", launch_.kernel->name, places_.size(),
                            arguments.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i) set(i, arguments[i]);
}

void HlsKernel::set(std::size_t index, const KernelArgument& argument) {
  const std::size_t place = places_.at(index);
  const plumb_hls::Parameter& wanted = launch_.kernel->parameters[place];
  Passed passed;
  std::visit(passed, argument);
  if (passed.parameter.kind != wanted.kind || passed.parameter.bytes != wanted.bytes)
    throw Error(fmt::format("argument {} of kernel {} must be {}, but is {}", index, launch_.kernel->name,
                            words_for(wanted), words_for(passed.parameter)));
  launch_.values[place] = passed.value;
  is_set_[index] = true;
}

Launch HlsKernel::launch(const KernelRange& range) const {
  if (range.global != 1)
    throw Error(fmt::format("kernel {} in HLS C++ is one work item, but {} were to be started", launch_.kernel->name,
                            range.global));
  for (std::size_t i = 0; i < is_set_.size(); ++i)
    if (!is_set_[i]) throw Error(fmt::format("argument {} of kernel {} was not set", i, launch_.kernel->name));
  return launch_;
}

std::unique_ptr<Kernel> HlsProgram::kernel(const std::string& name) {
  const plumb_hls::Kernel* found = image_->find(name);
  if (found == nullptr) throw Error(unknown_name("kernel in " + image_->name(), name, kernel_names()));
  return std::make_unique<HlsKernel>(image_, *found);
}

}  // namespace plumb::hls
