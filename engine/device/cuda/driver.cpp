#include "device/cuda/driver.hpp"

#include <fmt/format.h>

#include "device/cuda/shared_library.hpp"

namespace plumb::cuda {

namespace {

struct Loaded {
  Driver driver{};
  bool found = false;
  std::string problem;

  Loaded() {
    SharedLibrary library({"libcuda.so.1", "libcuda.so"});
    if (!library || !find_all(library)) {
      problem = fmt::format("NVIDIA's driver library could not be loaded ({}): install the driver of your GPU",
                            library.problem());
      return;
    }
    const Result result = driver.init(0);
    found = result == success;
    if (found) return;
    const char* name = "an unknown code";
    driver.error_name(result, &name);
    problem =
        fmt::format("NVIDIA's driver could not be initialised ({}): see nvidia-smi and CUDA_VISIBLE_DEVICES", name);
  }

  bool find_all(SharedLibrary& library) {
    const bool all =
        library.find(driver.init, "cuInit") && library.find(driver.driver_version, "cuDriverGetVersion") &&
        library.find(driver.device_count, "cuDeviceGetCount") && library.find(driver.device_get, "cuDeviceGet") &&
        library.find(driver.device_name, "cuDeviceGetName") &&
        library.find(driver.device_total_memory, "cuDeviceTotalMem_v2") &&
        library.find(driver.device_attribute, "cuDeviceGetAttribute") &&
        library.find(driver.primary_context_flags, "cuDevicePrimaryCtxSetFlags_v2") &&
        library.find(driver.primary_context_retain, "cuDevicePrimaryCtxRetain") &&
        library.find(driver.context_set_current, "cuCtxSetCurrent") &&
        library.find(driver.memory_info, "cuMemGetInfo_v2") && library.find(driver.memory_alloc, "cuMemAlloc_v2") &&
        library.find(driver.memory_free, "cuMemFree_v2") && library.find(driver.memory_host_alloc, "cuMemHostAlloc") &&
        library.find(driver.memory_host_free, "cuMemFreeHost") &&
        library.find(driver.memory_host_register, "cuMemHostRegister_v2") &&
        library.find(driver.memory_host_unregister, "cuMemHostUnregister") &&
        library.find(driver.memory_managed_alloc, "cuMemAllocManaged") &&
        library.find(driver.ipc_handle, "cuIpcGetMemHandle") &&
        library.find(driver.ipc_open, "cuIpcOpenMemHandle_v2") &&
        library.find(driver.ipc_close, "cuIpcCloseMemHandle") && library.find(driver.memory_set, "cuMemsetD8_v2") &&
        library.find(driver.copy, "cuMemcpyAsync") && library.find(driver.stream_create, "cuStreamCreate") &&
        library.find(driver.stream_destroy, "cuStreamDestroy_v2") &&
        library.find(driver.stream_priorities, "cuCtxGetStreamPriorityRange") &&
        library.find(driver.urgent_stream_create, "cuStreamCreateWithPriority") &&
        library.find(driver.stream_synchronize, "cuStreamSynchronize") &&
        library.find(driver.stream_wait, "cuStreamWaitEvent") && library.find(driver.stream_query, "cuStreamQuery") &&
        library.find(driver.event_create, "cuEventCreate") && library.find(driver.event_destroy, "cuEventDestroy_v2") &&
        library.find(driver.event_record, "cuEventRecord") &&
        library.find(driver.event_elapsed, "cuEventElapsedTime") &&
        library.find(driver.module_load, "cuModuleLoadData") && library.find(driver.module_unload, "cuModuleUnload") &&
        library.find(driver.module_function, "cuModuleGetFunction") && library.find(driver.launch, "cuLaunchKernel") &&
        library.find(driver.function_set_attribute, "cuFuncSetAttribute") &&
        library.find(driver.resident_groups, "cuOccupancyMaxActiveBlocksPerMultiprocessor") &&
        library.find(driver.error_name, "cuGetErrorName") && library.find(driver.error_text, "cuGetErrorString");
    library.find(driver.function_count, "cuModuleGetFunctionCount");
    library.find(driver.list_functions, "cuModuleEnumerateFunctions");
    library.find(driver.function_name, "cuFuncGetName");
    library.find(driver.function_parameter, "cuFuncGetParamInfo");
    library.find(driver.encode_tiles, "cuTensorMapEncodeTiled");
    return all;
  }
};

const Loaded& loaded() {
  static const Loaded once;
  return once;
}

std::string remedy_for(Result result) {
  if (result == out_of_memory) return "Use smaller sizes, or end other processes on the GPU (see nvidia-smi)";
  return "";
}

}  // namespace

const Driver* find_driver() {
  return loaded().found ? &loaded().driver : nullptr;
}

const std::string& why_no_driver() {
  return loaded().problem;
}

Error result_error(Result result, const std::string& action) {
  const char *name = nullptr, *text = nullptr;
  driver().error_name(result, &name);
  driver().error_text(result, &text);
  const std::string words =
      fmt::format("{}: {}", name == nullptr ? "an unknown code" : name, text == nullptr ? "?" : text);
  return Error(library_sentence(action, "CUDA", result, words, remedy_for(result)));
}

}  // namespace plumb::cuda
