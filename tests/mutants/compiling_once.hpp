// A device that compiles each text once: FPGA emulators take seconds for what the next exchange compiles again.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "core/error.hpp"
#include "tests/mutants/spoiled_device.hpp"

namespace plumb::mutants {

// In this process, and in all where PLUMB_TEST_KERNELS names a folder (tests/launching.py).
class CompilingOnce : public SpoiledDevice {
 public:
  explicit CompilingOnce(std::unique_ptr<Device> real) : SpoiledDevice(*real, {}), real_(std::move(real)) {}
  std::unique_ptr<Queue> make_urgent_queue() override { return real_->make_urgent_queue(); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    if (!source.binary.empty()) return real_->build(source);
    const std::string text = real_->info().name + real_->info().driver + "\n" + source.options + "\n" + source.opencl;
    std::vector<unsigned char>& binary = compiled_[text];
    if (binary.empty()) {
      const char* const folder = std::getenv("PLUMB_TEST_KERNELS");
      const Kept kept(folder == nullptr ? "" : folder, text);
      binary = kept.read();
      if (binary.empty()) {
        auto program = real_->build(source);
        binary = program->binary();
        kept.write(binary);
        return program;
      }
    }
    KernelSource compiled = source;
    compiled.binary = binary;
    try {
      return real_->build(compiled);
    } catch (const Error&) {  // the FPGA emulator refuses binaries where its compiler's target is named
      return real_->build(source);
    }
  }

 private:
  // A file for a text, locked meanwhile: one of the ranks compiles. Without a folder there is none.
  class Kept {
   public:
    Kept(const std::filesystem::path& folder, const std::string& text) {
      if (folder.empty()) return;
      std::filesystem::create_directories(folder);
      path_ = folder / std::to_string(std::hash<std::string>{}(text));
      lock_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (lock_ >= 0) flock(lock_, LOCK_EX);
    }
    ~Kept() {
      if (lock_ >= 0) close(lock_);
    }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    std::vector<unsigned char> read() const {
      std::ifstream file(path_, std::ios::binary);
      return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::vector<unsigned char>& binary) const {
      if (lock_ < 0) return;
      std::ofstream file(path_, std::ios::binary);
      file.write(reinterpret_cast<const char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
    }

   private:
    std::filesystem::path path_;
    int lock_ = -1;
  };

  std::unique_ptr<Device> real_;
  inline static std::map<std::string, std::vector<unsigned char>> compiled_;
};

// The device itself where compiling is quick.
inline std::unique_ptr<Device> compiling_once(std::unique_ptr<Device> device) {
  if (device->info().runtime != "opencl" || device->info().type != "accelerator") return device;
  return std::make_unique<CompilingOnce>(std::move(device));
}

}  // namespace plumb::mutants
