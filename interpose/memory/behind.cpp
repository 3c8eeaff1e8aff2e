#include "interpose/memory/behind.hpp"

#include "device/cuda/context.hpp"
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
  if (own == nullptr)
    throw Error("only memory of runtime opencl has a memory object; plumb_mpi_pointer() tells others'");
  if (own->memory() == nullptr)
    throw Error("memory of kind svm has no memory object; plumb_mpi_pointer() tells its address");
  return own->memory();
}

std::byte* device_pointer(const DeviceMemory& memory) {
  if (const auto* cuda = dynamic_cast<const cuda::CudaBuffer*>(memory.buffer.get())) return cuda->address();
  if (const auto* opencl = dynamic_cast<const opencl::OpenclBuffer*>(memory.buffer.get())) {
    if (opencl->svm() != nullptr) return opencl->svm();
    throw Error("memory of runtime opencl is known to kernels as a memory object; plumb_mpi_buffer() tells which");
  }
  return memory.buffer->host_pointer();
}

}  // namespace plumb::interpose
