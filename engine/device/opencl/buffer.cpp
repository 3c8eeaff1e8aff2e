#include "device/opencl/buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/data.hpp"
#include "core/units.hpp"
#include "device/host_memory.hpp"

namespace plumb::opencl {

namespace {

constexpr int intel_banks = 7;            // CL_CHANNEL_1_INTELFPGA … CL_CHANNEL_7_INTELFPGA
constexpr int intel_bank_shift = 16;      // n << 16 (cl_ext_intelfpga.h, absent from Khronos's headers)
constexpr std::size_t svm_alignment = 0;  // default: the device's largest type

// cl_ext_intelfpga.h: the memory that the kernel's argument names by its attribute buffer_location.
constexpr cl_mem_flags intel_heterogeneous = cl_mem_flags{1} << 19;

// cl_ext_xilinx.h, absent from Khronos's headers: the buffer's host pointer is this structure, and its flags name a
// bank by its index in the bitstream's memory topology.
constexpr cl_mem_flags xilinx_extended = cl_mem_flags{1} << 31;
constexpr unsigned xilinx_topology = 1u << 31;
struct XilinxExtended {
  unsigned flags;
  void* host;
  void* kernel;  // null: `flags` is no kernel's argument
};

[[noreturn]] void refuse(const Context& context, const Placement& placement, const std::string& needed) {
  throw Unsupported(fmt::format("{} has no memory of kind {}: {}", context.info.name, to_string(placement), needed));
}

cl_mem_flags bank_flags(const Context& context, const Placement& placement) {
  if (!placement.bank) return 0;
  if (*placement.bank >= intel_banks)
    refuse(context, placement, fmt::format("OpenCL names banks 0 to {} of an Intel FPGA", intel_banks - 1));
  return static_cast<cl_mem_flags>(*placement.bank + 1) << intel_bank_shift;
}

Storage in_bitstream(const Context& context, const Placement& placement) {
  if (!context.bitstream)
    refuse(context, placement, "its banks are a bitstream's: give --kernel-file FILE.xclbin (plumb synth makes one)");
  return {Storage::Kind::device, CL_MEM_READ_WRITE | xilinx_extended, topology_index(*context.bitstream, placement)};
}

}  // namespace

Storage storage_of(const Context& context, const Placement& placement) {
  using Kind = Storage::Kind;
  const bool in_bank =
      placement.kind == MemoryKind::ddr || placement.kind == MemoryKind::hbm || placement.kind == MemoryKind::plram;
  const bool by_default = placement.kind == MemoryKind::automatic && context.bitstream;
  if (by_default || (in_bank && context.abilities.by_bitstream)) return in_bitstream(context, placement);
  switch (placement.kind) {
    case MemoryKind::automatic:
      return {Kind::device, CL_MEM_READ_WRITE};
    case MemoryKind::host:
      return {Kind::host, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR};
    case MemoryKind::svm:
      if (context.abilities.svm)
        return {Kind::svm,
                CL_MEM_READ_WRITE | (context.abilities.fine_svm ? cl_mem_flags{CL_MEM_SVM_FINE_GRAIN_BUFFER} : 0)};
      refuse(context, placement,
             fmt::format("shared virtual memory is an option of OpenCL 2.0 and later that this device ({}) "
                         "does not offer",
                         context.info.version));
    case MemoryKind::ddr:
      if (context.abilities.banks) return {Kind::device, CL_MEM_READ_WRITE | bank_flags(context, placement)};
      refuse(context, placement,
             "the choice of DDR banks needs an Intel FPGA (CL_CHANNEL_n_INTELFPGA), or an AMD FPGA with its bitstream");
    case MemoryKind::hbm:
      // The kernel's argument names the bank; a bank given here only separates replications.
      if (context.abilities.banks) return {Kind::device, CL_MEM_READ_WRITE | intel_heterogeneous};
      refuse(
          context, placement,
          "the choice of HBM needs an Intel FPGA (CL_MEM_HETEROGENEOUS_INTELFPGA), or an AMD FPGA with its bitstream; "
          "where all memory is HBM, default is HBM");
    case MemoryKind::plram:
      refuse(context, placement, "on-chip memory as a buffer needs an AMD FPGA with its bitstream");
  }
  refuse(context, placement, "no such kind");
}

namespace {

// The memories that take a buffer's bytes: both, for a device on the host.
bool of_device(const Context& context, const Storage& storage) {
  return context.abilities.on_host || storage.kind != Storage::Kind::host;
}
bool of_host(const Context& context, const Storage& storage) {
  return context.abilities.on_host || storage.kind == Storage::Kind::host;
}

// Only host memory is shared: OpenCL cannot share a GPU's.
void check_sharing(const Context& context, const Storage& storage) {
  const bool of_host =
      storage.kind == Storage::Kind::host || (context.abilities.on_host && storage.kind == Storage::Kind::device);
  if (!of_host)
    throw Unsupported(
        fmt::format("{} does not share its memory with other processes through OpenCL; an NVIDIA GPU "
                    "does with --runtime cuda",
                    context.info.name));
}

}  // namespace

OpenclBuffer::OpenclBuffer(SharedContext context, std::size_t size, const Placement& placement)
    : Buffer(size, placement),
      context_(std::move(context)),
      storage_(storage_of(*context_, placement)),
      reservation_(context_->info, context_->allocated, size, of_device(*context_, storage_),
                   of_host(*context_, storage_)),
      svm_(nullptr, {context_->context()}) {
  if (placement.shared) {
    check_sharing(*context_, storage_);
    segment_ = std::make_unique<HostSegment>(size);
  }
  // Other processes reduce the free memory that the device reports.
  const std::uint64_t left = context_->info.memory_bytes - std::min(context_->info.memory_bytes, context_->allocated);
  guarded(fmt::format("allocate a buffer on {} (needed {}, available {} less what other processes have taken)",
                      context_->info.name, format_bytes(size), format_bytes(left + size)),
          [&] { take(); });
}

OpenclBuffer::OpenclBuffer(SharedContext context, std::unique_ptr<HostSegment> segment, MemoryKind kind)
    : Buffer(segment->size(), {kind, {}, true}),
      context_(std::move(context)),
      storage_(storage_of(*context_, placement())),
      reservation_(context_->info, context_->allocated, segment->size(), of_device(*context_, storage_),
                   of_host(*context_, storage_)),
      segment_(std::move(segment)),
      opened_(true),
      svm_(nullptr, {context_->context()}) {
  guarded("open another process's memory on " + context_->info.name, [&] { take(); });
}

OpenclBuffer::OpenclBuffer(SharedContext context, cl::Buffer memory, std::size_t size)
    : Buffer(size, {}),
      context_(std::move(context)),
      memory_(std::move(memory)),
      svm_(nullptr, {context_->context()}) {}

void OpenclBuffer::take() {
  switch (storage_.kind) {
    case Storage::Kind::device:
      return take_device();
    case Storage::Kind::host:
      return take_host();
    case Storage::Kind::svm:
      return take_svm();
  }
}

OpenclBuffer::~OpenclBuffer() {
  // NVIDIA's driver 580 crashes in the release of a sub-buffer that a kernel has used, unless the last made goes first.
  while (!parts_.empty()) parts_.pop_back();
  if (mapped()) {
    clEnqueueUnmapMemObject(context_->service(), memory_(), host_, 0, nullptr, nullptr);
    clFinish(context_->service());
  }
}

// OpenCL allocates memory at its first use: use it here, so that exhaustion is reported here and no page is first
// touched in a timed section. fill(pattern, pattern size, offset, size): the pattern must divide the size, so the tail
// is filled by bytes.
template <class Fill>
void OpenclBuffer::poison(Fill fill) {
  std::array<cl_uchar, 16> pattern{};
  pattern.fill(std::to_integer<unsigned char>(fresh_byte));
  const std::size_t tail = size() % pattern.size();
  cl_int code = CL_SUCCESS;
  if (size() > tail) code = fill(pattern.data(), pattern.size(), 0, size() - tail);
  if (tail > 0 && code == CL_SUCCESS) code = fill(pattern.data(), 1, size() - tail, tail);
  if (code == CL_SUCCESS) code = clFinish(context_->service());
  if (code != CL_SUCCESS) throw cl::Error(code);
}

// Devices on the host accept any host memory, so large buffers can lie on huge pages.
void OpenclBuffer::take_memory() {
  cl_mem_flags flags = storage_.flags;
  if (!segment_ && context_->abilities.on_host && size() >= huge_pages_from) backing_ = take_host_bytes(size());
  std::byte* bytes = segment_ ? segment_->data() : backing_.get();
  if (bytes != nullptr) flags = (flags & ~cl_mem_flags{CL_MEM_ALLOC_HOST_PTR}) | CL_MEM_USE_HOST_PTR;
  XilinxExtended extended{xilinx_topology | storage_.bank.value_or(0), bytes, nullptr};
  memory_ = cl::Buffer(context_->context, flags, size(), storage_.bank ? static_cast<void*>(&extended) : bytes);
}

void OpenclBuffer::take_device() {
  take_memory();
  if (opened_) return;
  poison([&](const void* pattern, std::size_t pattern_size, std::size_t offset, std::size_t bytes) {
    return clEnqueueFillBuffer(context_->service(), memory_(), pattern, pattern_size, offset, bytes, 0, nullptr,
                               nullptr);
  });
}

void OpenclBuffer::take_host() {
  take_memory();
  host_ = static_cast<std::byte*>(
      context_->service.enqueueMapBuffer(memory_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size()));
  if (!opened_) std::memset(host_, std::to_integer<int>(fresh_byte), size());
}

void OpenclBuffer::take_svm() {
  svm_.reset(static_cast<std::byte*>(clSVMAlloc(context_->context(), storage_.flags, size(), svm_alignment)));
  if (!svm_) throw cl::Error(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  poison([&](const void* pattern, std::size_t pattern_size, std::size_t offset, std::size_t bytes) {
    return clEnqueueSVMMemFill(context_->service(), svm() + offset, pattern, pattern_size, bytes, 0, nullptr, nullptr);
  });
  if (context_->abilities.fine_svm) host_ = svm();
}

cl_mem OpenclBuffer::memory_from(std::size_t offset) const {
  if (offset == 0) return memory_();
  const auto known = part_from_.find(offset);
  if (known != part_from_.end()) return parts_[known->second]();
  return guarded(fmt::format("make a view of a buffer from byte {} on {}", offset, context_->info.name), [&] {
    const cl_buffer_region region{offset, size() - offset};
    cl::Buffer whole = memory_;
    parts_.push_back(whole.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region));
    part_from_.emplace(offset, parts_.size() - 1);
    return parts_.back()();
  });
}

void OpenclBuffer::unmap(cl_command_queue queue) const {
  check(clEnqueueUnmapMemObject(queue, memory_(), host_, 0, nullptr, nullptr), "unmap pinned memory for a kernel");
}

void OpenclBuffer::map(cl_command_queue queue, cl_event* event) const {
  cl_int code = CL_SUCCESS;
  const void* address =
      clEnqueueMapBuffer(queue, memory_(), CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, size(), 0, nullptr, event, &code);
  check(code, "map pinned memory after a kernel");
  if (address != host_) throw Error("OpenCL has moved pinned memory while a kernel used it; use --memory default");
}

void require_memory_objects(const std::string& library, MemoryKind memory) {
  if (memory == MemoryKind::svm)
    throw Unsupported(library + " works on OpenCL's memory objects, which memory of kind svm is not");
}

const OpenclBuffer& own(const Buffer& buffer) {
  const auto* result = dynamic_cast<const OpenclBuffer*>(&buffer);
  if (result == nullptr) [[unlikely]]
    throw Error("runtime opencl was given a buffer of another runtime");
  return *result;
}

const OpenclBuffer& own(const BufferView& view) {
  const OpenclBuffer& buffer = own(*view.buffer);
  if (view.offset > buffer.size() || view.size > buffer.size() - view.offset) [[unlikely]]
    throw Error(fmt::format("bytes {} to {} lie outside a buffer of {} bytes", view.offset, view.offset + view.size,
                            buffer.size()));
  return buffer;
}

}  // namespace plumb::opencl
