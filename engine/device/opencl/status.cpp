#include "device/opencl/status.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <utility>

namespace plumb::opencl {

namespace {

using Entry = std::pair<cl_int, const char*>;

constexpr std::array names{
    Entry{CL_SUCCESS, "CL_SUCCESS"},
    Entry{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    Entry{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    Entry{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    Entry{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    Entry{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    Entry{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    Entry{CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    Entry{CL_MEM_COPY_OVERLAP, "CL_MEM_COPY_OVERLAP"},
    Entry{CL_IMAGE_FORMAT_MISMATCH, "CL_IMAGE_FORMAT_MISMATCH"},
    Entry{CL_IMAGE_FORMAT_NOT_SUPPORTED, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    Entry{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    Entry{CL_MAP_FAILURE, "CL_MAP_FAILURE"},
    Entry{CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    Entry{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    Entry{CL_COMPILE_PROGRAM_FAILURE, "CL_COMPILE_PROGRAM_FAILURE"},
    Entry{CL_LINKER_NOT_AVAILABLE, "CL_LINKER_NOT_AVAILABLE"},
    Entry{CL_LINK_PROGRAM_FAILURE, "CL_LINK_PROGRAM_FAILURE"},
    Entry{CL_DEVICE_PARTITION_FAILED, "CL_DEVICE_PARTITION_FAILED"},
    Entry{CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    Entry{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    Entry{CL_INVALID_DEVICE_TYPE, "CL_INVALID_DEVICE_TYPE"},
    Entry{CL_INVALID_PLATFORM, "CL_INVALID_PLATFORM"},
    Entry{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    Entry{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    Entry{CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES"},
    Entry{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    Entry{CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR"},
    Entry{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    Entry{CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    Entry{CL_INVALID_IMAGE_SIZE, "CL_INVALID_IMAGE_SIZE"},
    Entry{CL_INVALID_SAMPLER, "CL_INVALID_SAMPLER"},
    Entry{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    Entry{CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    Entry{CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
    Entry{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    Entry{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    Entry{CL_INVALID_KERNEL_DEFINITION, "CL_INVALID_KERNEL_DEFINITION"},
    Entry{CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
    Entry{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    Entry{CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
    Entry{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    Entry{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    Entry{CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION"},
    Entry{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    Entry{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
    Entry{CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET"},
    Entry{CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST"},
    Entry{CL_INVALID_EVENT, "CL_INVALID_EVENT"},
    Entry{CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    Entry{CL_INVALID_GL_OBJECT, "CL_INVALID_GL_OBJECT"},
    Entry{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    Entry{CL_INVALID_MIP_LEVEL, "CL_INVALID_MIP_LEVEL"},
    Entry{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
    Entry{CL_INVALID_PROPERTY, "CL_INVALID_PROPERTY"},
    Entry{CL_INVALID_IMAGE_DESCRIPTOR, "CL_INVALID_IMAGE_DESCRIPTOR"},
    Entry{CL_INVALID_COMPILER_OPTIONS, "CL_INVALID_COMPILER_OPTIONS"},
    Entry{CL_INVALID_LINKER_OPTIONS, "CL_INVALID_LINKER_OPTIONS"},
    Entry{CL_INVALID_DEVICE_PARTITION_COUNT, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    Entry{CL_INVALID_PIPE_SIZE, "CL_INVALID_PIPE_SIZE"},
    Entry{CL_INVALID_DEVICE_QUEUE, "CL_INVALID_DEVICE_QUEUE"},
    Entry{CL_INVALID_SPEC_ID, "CL_INVALID_SPEC_ID"},
    Entry{CL_MAX_SIZE_RESTRICTION_EXCEEDED, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
    Entry{CL_PLATFORM_NOT_FOUND_KHR, "CL_PLATFORM_NOT_FOUND_KHR"},
};

constexpr const char* too_large =
    "the device or this host has too little free memory: take smaller sizes, fewer ranks on a "
    "device, or end other processes on it";

constexpr std::array remedies{
    Entry{CL_OUT_OF_HOST_MEMORY, too_large},
    Entry{CL_MEM_OBJECT_ALLOCATION_FAILURE, too_large},
    Entry{CL_OUT_OF_RESOURCES,
          "a kernel accessed memory out of bounds, or the device has too little free memory or too few "
          "registers for this size"},
    Entry{CL_DEVICE_NOT_AVAILABLE,
          "another process holds the device, or its driver has failed: end that process, or see the "
          "kernel's log (dmesg)"},
    Entry{CL_COMPILER_NOT_AVAILABLE, "this device takes ready-made binaries only"},
    Entry{CL_PLATFORM_NOT_FOUND_KHR,
          "apt-get install pocl-opencl-icd, or plumb setup intel-cpu, or point OCL_ICD_VENDORS at "
          "your vendor's folder"},
};

const char* find(const auto& entries, cl_int code, const char* otherwise) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.first == code; });
  return found == entries.end() ? otherwise : found->second;
}

}  // namespace

std::string status_name(cl_int code) {
  return find(names, code, "an unknown code");
}

Error status_error(cl_int code, const std::string& action) {
  return Error(library_sentence(action, "OpenCL", code, status_name(code), find(remedies, code, "")));
}

}  // namespace plumb::opencl
