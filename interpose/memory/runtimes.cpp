#include "interpose/memory/runtimes.hpp"

#include "device/opencl/adopt.hpp"
#include "device/opencl/buffer.hpp"

namespace plumb::interpose {

std::shared_ptr<DeviceMemory> wrap_memory(_cl_mem* memory, std::size_t size) {
  auto result = std::make_shared<DeviceMemory>();
  opencl::Adopted adopted = opencl::adopt(memory, size);
  result->device = std::make_shared<OpenDevice>(std::move(adopted.device));
  result->buffer = std::move(adopted.buffer);
  return result;
}

_cl_mem* memory_object(const Buffer& buffer) {
  const auto* own = dynamic_cast<const opencl::OpenclBuffer*>(&buffer);
  if (own == nullptr) throw Error("only runtime opencl has memory objects; use plumb_mpi_pointer()");
  if (own->memory() == nullptr) throw Error("memory of kind svm has no memory object; use plumb_mpi_pointer()");
  return own->memory();
}

std::byte* device_pointer(const DeviceMemory& memory) {
  if (std::byte* const address = memory.buffer->device_address(); address != nullptr) return address;
  if (const auto* opencl = dynamic_cast<const opencl::OpenclBuffer*>(memory.buffer.get())) {
    if (opencl->svm() != nullptr) return opencl->svm();
    throw Error("runtime opencl has memory objects instead of pointers; use plumb_mpi_buffer()");
  }
  return memory.buffer->host_pointer();
}

}  // namespace plumb::interpose
