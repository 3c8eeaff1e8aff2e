#include "device/sycl/context.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace plumb::sycl {

namespace {

constexpr const char* remedy = "plumb setup intel-sycl --accept-eula installs it, and --runtime intel-sycl uses it";

// dlopen uses the bytes that a library's header promises, and a process ends by SIGBUS where the file has fewer. All
// other faults dlopen names itself.
bool is_cut_off(const char* path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  const std::uint64_t promised = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  return file.seekg(0, std::ios::end) && static_cast<std::uint64_t>(file.tellg()) < promised;
}

struct Loaded {
  const Interface* found = nullptr;
  std::string problem;

  Loaded() {
    const char* const path = std::getenv("PLUMBLINE_SYCL");
    if (path == nullptr || *path == '\0') {
      problem = fmt::format("PLUMBLINE_SYCL names no SYCL plug-in; {}", remedy);
      return;
    }
    if (is_cut_off(path)) {
      problem = fmt::format("the SYCL plug-in {} is damaged: its end is missing; {}", path, remedy);
      return;
    }
    setenv("SYCL_CACHE_PERSISTENT", "1", 0);                    // of kernels by the run-time compiler
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // never closed: SYCL does not support unloading
    if (library == nullptr) {
      problem = fmt::format("could not load the SYCL plug-in: {}; {}", dlerror(), remedy);
      return;
    }
    auto* const get = reinterpret_cast<sycl_plugin::GetInterface*>(dlsym(library, sycl_plugin::get_interface_name));
    if (get == nullptr) {
      problem = fmt::format("{} is not a SYCL plug-in: it has no function {}; {}", path,
                            sycl_plugin::get_interface_name, remedy);
      return;
    }
    accept(path, *get());
  }

  void accept(const char* path, const Interface& offered) {
    if (offered.version != sycl_plugin::interface_version)
      problem = fmt::format("{} has version {} of the interface, but this program needs {}; {}", path, offered.version,
                            sycl_plugin::interface_version, remedy);
    else if (std::string_view(offered.built_with) != offered.loaded_with)
      problem = fmt::format("{} was compiled with libsycl {}, but libsycl {} is loaded; {}", path, offered.built_with,
                            offered.loaded_with, remedy);
    else
      found = &offered;
  }
};

const Loaded& loaded() {
  static const Loaded once;
  return once;
}

}  // namespace

const Interface* find_plugin() {
  return loaded().found;
}

const std::string& why_no_plugin() {
  return loaded().problem;
}

const Interface& plugin() {
  return *loaded().found;
}

Error plugin_error(const std::string& action) {
  const std::string text = plugin().error();
  const long code = plugin().error_code();
  if (code == -1) return Error(fmt::format("could not {}: {}", action, text));  // the plug-in's own sentence
  return Error(library_sentence(action, "SYCL", code, text, ""));
}

Context::Context(DeviceInfo its_info, Aspects its_aspects)
    : info(std::move(its_info)),
      aspects(its_aspects),
      handle(made(plugin().open(info.ordinal), "open " + info.name)),
      service(plugin().make_queue(handle, 0)) {
  if (service == nullptr) {
    plugin().close(handle);
    throw plugin_error("make a queue on " + info.name);
  }
  if (const int opened = check(plugin().opened(handle), "ask which device is open"); opened != info.ordinal) {
    plugin().free_queue(service);
    plugin().close(handle);
    throw Error(fmt::format("the SYCL plug-in has opened device {} of SYCL's instead of {}", opened, info.ordinal));
  }
}

Context::~Context() {
  plugin().free_queue(service);
  plugin().close(handle);
}

}  // namespace plumb::sycl
