// Buffers of an OpenCL device, in each memory kind.
#pragma once

#include <unordered_map>
#include <vector>

#include "device/host_memory.hpp"
#include "device/host_segment.hpp"
#include "device/opencl/context.hpp"
#include "device/reservation.hpp"

namespace plumb::opencl {

// Allocation flags of a placement on this device. Throws Unsupported with the requirement.
struct Storage {
  enum class Kind { device, host, svm } kind = Kind::device;
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  std::optional<unsigned> bank = {};  // of an AMD FPGA: index in the bitstream's memory topology
};
Storage storage_of(const Context& context, const Placement& placement);

// Exactly one of memory() and svm() is not null. The memory is physically allocated.
class OpenclBuffer final : public Buffer {
 public:
  OpenclBuffer(SharedContext context, std::size_t size, const Placement& placement);
  // Host memory of another process.
  OpenclBuffer(SharedContext context, std::unique_ptr<HostSegment> segment, MemoryKind kind);
  // A memory object of the calling program, in the same context.
  OpenclBuffer(SharedContext context, cl::Buffer memory, std::size_t size);
  ~OpenclBuffer() override;

  std::byte* host_pointer() const override { return host_; }
  cl_mem memory() const { return memory_(); }
  // From `offset`, a multiple of the device's view_alignment, to the end; created once and cached.
  cl_mem memory_from(std::size_t offset) const;
  std::byte* svm() const { return svm_.get(); }
  // Pinned memory, mapped for the host: kernels may use it only between unmap() and map().
  bool mapped() const { return host_ != nullptr && !svm_; }
  // Segment of shared memory; otherwise null.
  const HostSegment* segment() const { return segment_.get(); }

  // The host must not access it until it is mapped again.
  void unmap(cl_command_queue queue) const;
  // Maps it for the host, at the same address; valid when `event` is complete.
  void map(cl_command_queue queue, cl_event* event) const;

 private:
  struct FreeSvm {
    void operator()(std::byte* bytes) const { clSVMFree(context, bytes); }
    cl_context context;
  };

  void take();
  void take_memory();
  void take_device();
  void take_host();
  void take_svm();
  template <class Fill>
  void poison(Fill fill);

  SharedContext context_;
  Storage storage_;
  Reservation reservation_;
  HostBytes backing_;                     // outlives memory_, which may use it
  std::unique_ptr<HostSegment> segment_;  // if shared
  bool opened_ = false;                   // of another process: not poisoned here
  cl::Buffer memory_;
  mutable std::vector<cl::Buffer> parts_;                           // views, in the order that they were made
  mutable std::unordered_map<std::size_t, std::size_t> part_from_;  // by offset: which of parts_
  std::unique_ptr<std::byte, FreeSvm> svm_;
  std::byte* host_ = nullptr;
};

// Throws Unsupported if a library that takes cl_mem cannot use this memory kind.
void require_memory_objects(const std::string& library, MemoryKind memory);

// Casts to this runtime's buffer; throws Error for another runtime's buffer or a view out of bounds.
const OpenclBuffer& own(const Buffer& buffer);
const OpenclBuffer& own(const BufferView& view);

}  // namespace plumb::opencl
