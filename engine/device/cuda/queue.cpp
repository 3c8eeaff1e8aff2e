#include "device/cuda/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/cuda/compiler.hpp"

namespace plumb::cuda {

namespace {

// Default group size: enough threads to fill a multiprocessor, within any kernel's registers.
constexpr std::size_t usual_group = 256;

constexpr std::size_t tile_row_bytes = 128;

TileElement element_of(const TiledMatrix& matrix) {
  if (matrix.element_bytes == 2) return TileElement::bits_16;
  if (matrix.element_bytes == 8) return TileElement::float_64;
  return matrix.to_tf32 ? TileElement::tf32 : TileElement::float_32;
}

TileMap map_of(const TiledMatrix& matrix) {
  if (driver().encode_tiles == nullptr)
    throw Unsupported("copies of tiles need a driver of CUDA 12 or newer: update NVIDIA's driver");
  TileMap map{};
  const std::uint64_t sizes[]{matrix.columns, matrix.rows}, strides[]{matrix.row_bytes};
  const std::uint32_t tile[]{static_cast<std::uint32_t>(tile_row_bytes / matrix.element_bytes),
                             static_cast<std::uint32_t>(matrix.tile_rows)};
  const std::uint32_t all[]{1, 1};
  check(
      driver().encode_tiles(&map, element_of(matrix), 2, own(matrix.view).device_address() + matrix.view.offset, sizes,
                            strides, tile, all, no_interleave, swizzle_128_bytes, fetch_256_bytes, zeros_outside),
      "describe a matrix's tiles to the GPU");
  return map;
}

}  // namespace

CudaKernel::CudaKernel(std::shared_ptr<const CudaProgram> program, Function function, std::string name)
    : program_(std::move(program)), function_(function), name_(std::move(name)) {
  if (driver().function_parameter == nullptr) return;
  std::size_t offset = 0, size = 0;
  while (driver().function_parameter(function_, sizes_.size(), &offset, &size) == success) sizes_.push_back(size);
}

void CudaKernel::set(const std::vector<KernelArgument>& arguments) {
  const bool told = driver().function_parameter != nullptr;
  if (told && arguments.size() != sizes_.size())
    throw Error(fmt::format("kernel {} takes {} arguments, but {} were given", name_, sizes_.size(), arguments.size()));
  values_.assign(arguments.size(), 0);
  const auto is_tiled = [](const KernelArgument& one) { return std::holds_alternative<TiledMatrix>(one); };
  maps_.resize(std::any_of(arguments.begin(), arguments.end(), is_tiled) ? arguments.size() : 0);
  pointers_.clear();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    set(i, arguments[i]);
    pointers_.push_back(is_tiled(arguments[i]) ? static_cast<void*>(&maps_[i]) : &values_[i]);
  }
}

void CudaKernel::set(std::size_t index, const KernelArgument& argument) {
  const auto put = [&](const auto& value, void* to) {
    if (driver().function_parameter != nullptr && sizeof value != sizes_[index])
      throw Error(fmt::format("argument {} of kernel {} has {} bytes, but {} were given", index, name_, sizes_[index],
                              sizeof value));
    std::memcpy(to, &value, sizeof value);
  };
  void* const to = &values_.at(index);
  if (const auto* const* buffer = std::get_if<const Buffer*>(&argument)) return put(own(**buffer).device_address(), to);
  if (const auto* view = std::get_if<BufferView>(&argument)) return put(own(*view).device_address() + view->offset, to);
  if (const auto* matrix = std::get_if<TiledMatrix>(&argument)) return put(map_of(*matrix), &maps_.at(index));
  std::visit(
      [&](const auto& value) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) put(value, to);
      },
      argument);
}

void CudaKernel::allow_local(std::size_t bytes) {
  if (bytes <= allowed_local_) return;
  const Result result = driver().function_set_attribute(function_, FunctionAttribute::largest_added_shared_bytes,
                                                        static_cast<int>(bytes));
  if (result != success)
    throw Unsupported(fmt::format("kernel {} needs {} bytes of local memory, more than the GPU has", name_, bytes));
  allowed_local_ = bytes;
}

CudaProgram::CudaProgram(SharedContext context, const KernelSource& source)
    : context_(std::move(context)), name_(source.name) {
  const std::string code = compile(source, context_->major, context_->minor, context_->info.name);
  context_->use();
  const Result result = driver().module_load(&module_, code.data());
  if (result != success) throw result_error(result, "load " + name_ + " onto the GPU");
}

CudaProgram::~CudaProgram() {
  driver().module_unload(module_);
}

std::vector<std::string> CudaProgram::kernel_names() const {
  std::vector<std::string> names;
  unsigned count = 0;
  const Driver& cuda = driver();
  if (cuda.function_count == nullptr || cuda.list_functions == nullptr || cuda.function_name == nullptr) return names;
  check(cuda.function_count(&count, module_), "count a program's kernels");
  std::vector<Function> functions(count);
  check(cuda.list_functions(functions.data(), count, module_), "list the kernels of a program");
  for (const Function function : functions) {
    const char* name = nullptr;
    check(cuda.function_name(&name, function), "query a kernel's name");
    names.emplace_back(name);
  }
  return names;
}

std::unique_ptr<Kernel> CudaProgram::kernel(const std::string& name) const {
  context_->use();
  Function function = nullptr;
  if (driver().module_function(&function, module_, name.c_str()) != success)
    throw Error(unknown_name("kernel in " + name_, name, kernel_names()));
  return std::make_unique<CudaKernel>(shared_from_this(), function, name);
}

CudaQueue::CudaQueue(SharedContext context, bool timed, bool urgent) : context_(std::move(context)), timed_(timed) {
  context_->use();
  int least = 0, greatest = 0;
  if (urgent) check(driver().stream_priorities(&least, &greatest), "ask for the priorities of queues");
  check(driver().urgent_stream_create(&stream_, stream_non_blocking, greatest), "make a queue");
  if (!timed_) return;
  for (Event* event : {&first_, &end_}) check(driver().event_create(event, 0), "make a queue's clock");
  context_->start_clock(stream_);
}

CudaQueue::~CudaQueue() {
  if (pending_) driver().stream_synchronize(stream_);
  for (const Event event : {first_, end_, for_others_})
    if (event != nullptr) driver().event_destroy(event);
  driver().stream_destroy(stream_);
}

void CudaQueue::begin_command() {
  context_->use();
  if (timed_ && !pending_) check(driver().event_record(first_, stream_), "read the GPU's clock");
}

void CudaQueue::end_command() {
  measured_ = timed_;
  marked_ = !timed_;
  pending_ = true;
}

void CudaQueue::mark_end() {
  if (!marked_) check(driver().event_record(end_, stream_), "read the GPU's clock");
  marked_ = true;
}

void CudaQueue::copy(const std::byte* from, Address to, std::size_t size) {
  if (size == 0) return;
  begin_command();
  check(driver().copy(to, from, size, stream_), "copy memory");
  end_command();
}

void CudaQueue::enqueue_read(const BufferView& from, std::byte* to) {
  copy(own(from).device_address() + from.offset, to, from.size);
}

void CudaQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  copy(from, own(to).device_address() + to.offset, to.size);
}

void CudaQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  if (from.size != to.size) throw Error(fmt::format("a copy of {} bytes into {} bytes", from.size, to.size));
  copy(own(from).device_address() + from.offset, own(to).device_address() + to.offset, from.size);
}

void CudaQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  auto* own_kernel = dynamic_cast<CudaKernel*>(&kernel);
  if (own_kernel == nullptr) [[unlikely]]
    throw Error("runtime cuda was given a kernel of another runtime");
  std::size_t local = range.local;
  if (local == 0)
    for (local = usual_group; range.global % local != 0;) local /= 2;
  if (range.global % local != 0)
    throw Error(fmt::format("{} work items cannot be split into groups of {}", range.global, local));
  begin_command();
  own_kernel->allow_local(range.local_bytes);
  check(driver().launch(own_kernel->function(), static_cast<unsigned>(range.global / local), 1, 1,
                        static_cast<unsigned>(local), 1, 1, static_cast<unsigned>(range.local_bytes), stream_,
                        own_kernel->parameters(), nullptr),
        "start a kernel");
  end_command();
}

void CudaQueue::finish() {
  if (!pending_) return;
  mark_end();
  const Result result = driver().stream_synchronize(stream_);
  pending_ = false;
  if (result != success) throw result_error(result, "complete the commands on " + context_->info.name);
}

bool CudaQueue::finished() {
  if (!pending_) return true;
  mark_end();
  const Result result = driver().stream_query(stream_);
  pending_ = result == not_ready;
  if (result != success && result != not_ready)
    throw result_error(result, "complete the commands on " + context_->info.name);
  return !pending_;
}

void CudaQueue::follow(Queue& earlier) {
  auto* const other = dynamic_cast<CudaQueue*>(&earlier);
  if (other == nullptr) return earlier.finish();
  if (other == this || !other->pending_) return;
  context_->use();
  if (other->for_others_ == nullptr)
    check(driver().event_create(&other->for_others_, event_without_time), "make an event");
  check(driver().event_record(other->for_others_, other->stream_), "record an event");
  begin_command();
  check(driver().stream_wait(stream_, other->for_others_, 0), "make a queue wait for another");
  end_command();
}

std::optional<DeviceTime> CudaQueue::span() const {
  if (pending_ || !measured_) return std::nullopt;
  const double start = context_->clock_at(first_);
  return DeviceTime{start, start + DeviceContext::seconds_between(first_, end_)};
}

}  // namespace plumb::cuda
