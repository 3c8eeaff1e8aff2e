// Buffers of an OpenCL device, in every memory kind that it has.
#pragma once

#include <unordered_map>

#include "device/host_memory.hpp"
#include "device/host_segment.hpp"
#include "device/opencl/context.hpp"

namespace plumb::opencl {

// What a placement becomes on this device. Throws Unsupported with what would be needed.
struct Storage {
  enum class Kind { device, host, svm } kind = Kind::device;
  cl_mem_flags flags = CL_MEM_READ_WRITE;
};
Storage storage_of(const Context& context, const Placement& placement);

// Bytes taken from the device's budget for as long as this lives. Throws Error with needed and available.
class Reservation {
 public:
  Reservation(SharedContext context, std::uint64_t bytes, const Storage& storage);
  // Of nothing.
  explicit Reservation(SharedContext context) : context_(std::move(context)) {}
  ~Reservation() { context_->allocated -= counted_; }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

 private:
  SharedContext context_;
  std::uint64_t counted_ = 0;
};

// Exactly one of memory() and svm() is not null. Its memory exists, physically, from the start.
class OpenclBuffer final : public Buffer {
 public:
  OpenclBuffer(SharedContext context, std::size_t size, const Placement& placement);
  // Another process's, in host memory.
  OpenclBuffer(SharedContext context, std::unique_ptr<HostSegment> segment, MemoryKind kind);
  // The program's own memory object, of the same context.
  OpenclBuffer(SharedContext context, cl::Buffer memory, std::size_t size);
  ~OpenclBuffer() override;

  std::byte* host_pointer() const override { return host_; }
  cl_mem memory() const { return memory_(); }
  // From `offset`, a multiple of the device's view_alignment, to the end; made once and kept.
  cl_mem memory_from(std::size_t offset) const;
  std::byte* svm() const { return svm_.get(); }
  // Pinned memory that the host holds mapped: a kernel may have it between unmap() and map() only.
  bool mapped() const { return host_ != nullptr && !svm_; }
  // What it lies in where it is shared; else null.
  const HostSegment* segment() const { return segment_.get(); }

  // The host may not touch it until it is mapped again.
  void unmap(cl_command_queue queue) const;
  // Back to the host, at the same address; valid when `event` is complete.
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
  HostBytes backing_;                     // outlives memory_, which may lie in it
  std::unique_ptr<HostSegment> segment_;  // likewise, where it is shared
  bool opened_ = false;                   // another process's, whose contents are not this one's to poison
  cl::Buffer memory_;
  mutable std::unordered_map<std::size_t, cl::Buffer> parts_;
  std::unique_ptr<std::byte, FreeSvm> svm_;
  std::byte* host_ = nullptr;
};

// Throws Unsupported where a library that takes cl_mem cannot be given this kind.
void require_memory_objects(const std::string& library, MemoryKind memory);

// The buffer as this runtime's own; throws Error when it is another's, or when the view leaves it.
const OpenclBuffer& own(const Buffer& buffer);
const OpenclBuffer& own(const BufferView& view);

}  // namespace plumb::opencl
