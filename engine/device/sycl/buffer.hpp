// Buffers of a SYCL device: unified shared memory of each kind, host memory shared with other processes, or memory
// objects (sycl::buffer).
#pragma once

#include "device/host_segment.hpp"
#include "device/reservation.hpp"
#include "device/sycl/context.hpp"

namespace plumb::sycl {

class SyclBuffer final : public Buffer {
 public:
  SyclBuffer(SharedContext context, std::size_t size, const Placement& placement);
  // Host memory of another process.
  SyclBuffer(SharedContext context, std::unique_ptr<HostSegment> segment, MemoryKind kind);

  std::byte* host_pointer() const override { return host_; }
  // What kernels get, also for `host`.
  std::byte* device_address() const override { return address_; }
  // A memory object, which has no address; otherwise null.
  sycl_plugin::ObjectHandle* object() const { return object_.get(); }
  // Segment of shared memory; otherwise null.
  const HostSegment* segment() const { return segment_.get(); }

 private:
  struct Release {
    void operator()(std::byte* memory) const { plugin().release(context, memory); }
    sycl_plugin::ContextHandle* context;
  };

  SharedContext context_;
  Reservation reservation_;
  std::unique_ptr<HostSegment> segment_;     // if shared
  std::unique_ptr<std::byte, Release> usm_;  // otherwise
  struct ReleaseObject {
    void operator()(sycl_plugin::ObjectHandle* object) const { plugin().free_object(object); }
  };
  void allocate(const Placement& placement);
  void make_object(const Placement& placement);

  std::unique_ptr<sycl_plugin::ObjectHandle, ReleaseObject> object_;
  std::byte* address_ = nullptr;
  std::byte* host_ = nullptr;
};

// Casts to this runtime's buffer; throws Error for another runtime's buffer or a view out of bounds.
const SyclBuffer& own(const Buffer& buffer);
const SyclBuffer& own(const BufferView& view);

}  // namespace plumb::sycl
