#include "device/hls/compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "core/embedded.hpp"
#include "device/hls/streams.hpp"
#include "device/hls/text.hpp"

extern char** environ;

namespace plumb::hls {

namespace {

namespace files = std::filesystem;

using Words = std::vector<std::string>;

constexpr std::array headers{"plumb_hls.h", "plumb_hls_kernels.h", "hls_stream.h", "hls_vector.h",
                             "hls_half.h",  "ap_axi_sdata.h",      "ap_utils.h"};
// Libraries of two texts with the same names must not share their tables, which "unique" symbols would be.
const Words flags{"-std=c++17", "-O2", "-fno-gnu-unique", "-fPIC", "-Wno-psabi", "-Wno-attributes"};

std::string header_text(const std::string& name) {
  return embedded_text("engine/device/hls/include/" + name);
}

std::string read_file(const files::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const files::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(fmt::format("could not write {}", path.string()));
}

// Definitions and folders of headers; other options are for OpenCL's compilers.
Words definitions_in(const std::string& options) {
  Words words;
  std::istringstream text(options);
  for (std::string word; text >> word;)
    if (word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I")) words.push_back(word);
  return words;
}

// Exit status of a program, whose output goes to `output` and messages to `log`.
int run(Words words, const files::path& output, const files::path& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int mode = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), mode, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), mode, 0600);
  pid_t child = 0;
  const int code = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw Error(fmt::format("could not start {}: {}", words[0], std::strerror(code)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// 128 bits: two FNV-1a hashes with different starts.
std::string hash_of(const std::string& text) {
  std::array<std::uint64_t, 2> hashes{0xcbf29ce484222325ull, 0x84222325cbf29ce4ull};
  for (std::uint64_t& hash : hashes)
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return fmt::format("{:016x}{:016x}", hashes[0], hashes[1]);
}

// An open file, locked until destroyed: ranks of one host compile a text once.
class Lock {
 public:
  explicit Lock(const files::path& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0)
      throw Error(fmt::format("could not lock {}: {}", path.string(), std::strerror(errno)));
  }
  ~Lock() { close(file_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

// Existing and writable by this user alone; "" if there is none.
files::path cache_root() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if ((cache == nullptr || *cache == '\0') && home == nullptr) return {};
  const files::path root =
      (cache != nullptr && *cache != '\0' ? files::path(cache) : files::path(home) / ".cache") / "plumbline" / "hls";
  std::error_code error;
  files::create_directories(root, error);
  struct stat found {};
  const bool own = stat(root.c_str(), &found) == 0 && found.st_uid == geteuid() && (found.st_mode & 022) == 0;
  return own && access(root.c_str(), W_OK) == 0 ? root : files::path();
}

// A folder that is removed at the end, for machines without a cache.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    std::string name = files::temp_directory_path(error).string();
    name = (error ? "/tmp" : name) + "/plumb-hls-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      throw Error(fmt::format("could not make a folder {}: {}; TMPDIR names another", name, std::strerror(errno)));
    path_ = name;
  }
  ~PrivateFolder() {
    std::error_code error;
    files::remove_all(path_, error);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const files::path& path() const { return path_; }

 private:
  files::path path_;
};

class Compilation {
 public:
  Compilation(const KernelSource& source, std::string compiler, files::path folder)
      : source_(source), compiler_(std::move(compiler)), folder_(std::move(folder)) {
    for (const char c : source.name) {
      if (c == '"' || c == '\\') file_ += '\\';
      file_ += c;
    }
  }

  // Writes kernels.so into the folder.
  void make() const {
    for (const char* header : headers) write_file(folder_ / header, header_text(header));
    write_file(folder_ / "text.cpp", fmt::format("#line 1 \"{}\"\n{}\n", file_, source_.hls));
    call({"-E", (folder_ / "text.cpp").string()}, folder_ / "text.ii");
    const std::vector<Declared> kernels = kernels_in(read_file(folder_ / "text.ii"), file_);
    if (kernels.empty())
      throw Error(fmt::format("{} has no kernel: a kernel is a function 'extern \"C\" void'", source_.name));
    std::string table =
        "#include \"text.cpp\"\n#include \"plumb_hls_kernels.h\"\n"
        "extern \"C\" const plumb_hls::Kernel plumb_hls_table[] = {\n";
    for (const Declared& kernel : kernels)
      table += fmt::format("    plumb_hls::Entry<&{0}>::named(\"{0}\", \"{1}\"),\n", kernel.name,
                           fmt::join(kernel.parameters, ","));
    write_file(folder_ / "kernels.cpp", table + "    {nullptr, nullptr, 0, nullptr, nullptr}};\n");
    call({"-shared", (folder_ / "kernels.cpp").string(), "-o", (folder_ / "kernels.so").string()}, "/dev/null");
  }

 private:
  void call(const Words& last, const files::path& output) const {
    Words words{compiler_};
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back("-I" + folder_.string());
    for (const std::string& word : definitions_in(source_.options)) words.push_back(word);
    words.insert(words.end(), last.begin(), last.end());
    const files::path log = folder_ / "log.txt";
    if (const int status = run(words, output, log); status != 0)
      throw Error(fmt::format("could not compile {} by {} (status {}) with options \"{}\":\n{}", source_.name,
                              compiler_, status, source_.options, read_file(log)));
  }

  const KernelSource& source_;
  std::string compiler_, file_;
  files::path folder_;
};

plumb_hls::Fifo* make_local_fifo(const char* name, std::size_t element_bytes, std::size_t capacity) {
  static const Failed never = std::make_shared<std::atomic<bool>>(false);
  return make_fifo(fmt::format("\"{}\"", name), element_bytes, capacity, never).release();
}

Loaded load(const files::path& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Error(fmt::format("could not load compiled HLS kernels: {}", dlerror()));
  Loaded loaded;
  loaded.library = {handle, [](void* open) { dlclose(open); }};
  loaded.kernels = static_cast<const plumb_hls::Kernel*>(dlsym(handle, "plumb_hls_table"));
  auto* const make = static_cast<plumb_hls::MakeFifo*>(dlsym(handle, "plumb_hls_make_fifo"));
  if (loaded.kernels == nullptr || make == nullptr) throw Error("compiled HLS kernels lack their table");
  *make = make_local_fifo;
  return loaded;
}

// All that the library depends on.
std::string inputs_of(const KernelSource& source, const std::string& compiler) {
  struct stat found {};
  stat(compiler.c_str(), &found);
  std::string inputs = fmt::format("{} {} {}\n{}\n{}\n{}\n", compiler, found.st_size, found.st_mtime,
                                   fmt::join(flags, " "), source.options, source.name);
  for (const char* header : headers) inputs += header_text(header);
  for (const char* folders : {"CPATH", "CPLUS_INCLUDE_PATH"})  // of further headers
    if (const char* value = std::getenv(folders)) inputs += fmt::format("{} {}\n", folders, value);
  return inputs + source.hls;
}

}  // namespace

std::string find_compiler() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string program = folder + "/g++"; access(program.c_str(), X_OK) == 0) return program;
  return "";
}

Loaded compile(const KernelSource& source) {
  if (source.hls.empty()) throw Unsupported(fmt::format("{} has no form in HLS C++", source.name));
  const std::string compiler = find_compiler();
  if (compiler.empty()) throw Unsupported(why_no_compiler);
  const files::path root = cache_root();
  if (root.empty()) {
    const PrivateFolder folder;
    Compilation(source, compiler, folder.path()).make();
    return load(folder.path() / "kernels.so");
  }
  const std::string inputs = inputs_of(source, compiler), hash = hash_of(inputs);
  const Lock lock(root / (hash + ".lock"));
  const files::path folder = root / hash;
  if (read_file(folder / "inputs") != inputs) {
    files::create_directories(folder);
    Compilation(source, compiler, folder).make();
    write_file(folder / "inputs", inputs);
  }
  return load(folder / "kernels.so");
}

}  // namespace plumb::hls
