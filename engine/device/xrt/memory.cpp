#include "device/xrt/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/data.hpp"
#include "core/units.hpp"
#include "device/host_buffer.hpp"

namespace plumb::xrt {

namespace {

unsigned bank_of(const Card& card, const Placement& placement) {
  if (placement.shared) throw Unsupported("runtime xrt does not share a board's memory with other processes");
  if (placement.kind == MemoryKind::svm) throw Unsupported("runtime xrt has no memory of kind svm");
  if (!card.bitstream)
    throw Unsupported(
        "runtime xrt allocates memory in the banks of a bitstream: give --kernel-file FILE.xclbin (plumb synth makes "
        "one)");
  return topology_index(*card.bitstream, placement);
}

}  // namespace

Card::Card(unsigned ordinal, DeviceInfo its_info)
    : info(std::move(its_info)),
      handle(checked(library().open_device(ordinal), fmt::format("open XRT's device {}", ordinal))) {}

Card::~Card() {
  library().close_device(handle);
}

void Card::load(const std::vector<char>& wanted) {
  if (bitstream) {
    if (wanted == image) return;
    throw Error("a bitstream is loaded already, and this run's kernels are in another one");
  }
  Xclbin parsed = parse_xclbin(wanted);
  // XRT's C function for bytes relies on their alignment, so they go through a file.
  const std::string file = (std::filesystem::temp_directory_path() / fmt::format("plumb-{}.xclbin", getpid())).string();
  struct Removed {
    const std::string& file;
    ~Removed() { std::remove(file.c_str()); }
  } const removed{file};
  std::ofstream out(file, std::ios::binary);
  out.write(wanted.data(), static_cast<std::streamsize>(wanted.size()));
  out.close();
  if (!out) throw Error("could not write the bitstream to " + file);
  check(library().load_file(handle, file.c_str()), "load the bitstream");
  check(library().bitstream_uuid(handle, uuid), "query the bitstream's identity");
  bitstream = std::move(parsed);
  image = wanted;
}

XrtBuffer::XrtBuffer(SharedCard card, std::size_t size, const Placement& placement)
    : Buffer(size, placement), card_(std::move(card)) {
  if (placement.kind == MemoryKind::host && !placement.shared) {
    check_host_bytes(size);
    host_ = take_host_bytes(size);
    std::memset(host_.get(), std::to_integer<int>(fresh_byte), size);
    return;
  }
  if (size == 0) throw Error("a buffer has at least one byte");
  const unsigned bank = bank_of(*card_, placement);
  const XclbinBank& chosen = card_->bitstream->banks[bank];
  if (chosen.bytes > 0 && size > chosen.bytes)
    throw Unsupported(fmt::format("a buffer of {} is larger than {}, {}", format_bytes(size), chosen.tag,
                                  format_bytes(chosen.bytes)));
  memory_ = checked(library().allocate(card_->handle, size, no_flags, bank),
                    fmt::format("allocate {} in bank {} of {}", format_bytes(size), chosen.tag, card_->info.name));
  const std::vector<std::byte> fresh(size, fresh_byte);
  write(fresh.data(), size, 0);
}

XrtBuffer::~XrtBuffer() {
  for (const auto& [offset, part] : parts_) library().free(part);
  if (memory_ != nullptr) library().free(memory_);
}

BufferHandle XrtBuffer::from(std::size_t offset) const {
  if (memory_ == nullptr) throw Unsupported("a kernel on a board cannot use memory of kind host through runtime xrt");
  if (offset == 0) return memory_;
  const auto known = parts_.find(offset);
  if (known != parts_.end()) return known->second;
  return parts_
      .emplace(offset, checked(library().part(memory_, size() - offset, offset),
                               fmt::format("make a view of a buffer from byte {}", offset)))
      .first->second;
}

void XrtBuffer::write(const std::byte* bytes, std::size_t size, std::size_t offset) const {
  if (host_) return move_bytes(bytes, host_.get() + offset, size);
  if (size == 0) return;
  check(library().write(memory_, bytes, size, offset), "write to a buffer");
  check(library().synchronise(memory_, to_device, size, offset), "write to the device");
}

void XrtBuffer::read(std::byte* bytes, std::size_t size, std::size_t offset) const {
  if (host_) return move_bytes(host_.get() + offset, bytes, size);
  if (size == 0) return;
  check(library().synchronise(memory_, from_device, size, offset), "read from the device");
  check(library().read(memory_, bytes, size, offset), "read from a buffer");
}

const XrtBuffer& own(const Buffer& buffer) {
  const auto* result = dynamic_cast<const XrtBuffer*>(&buffer);
  if (result == nullptr) throw Error("runtime xrt was given a buffer of another runtime");
  return *result;
}

const XrtBuffer& own(const BufferView& view) {
  const XrtBuffer& buffer = own(*view.buffer);
  check_view(view);
  return buffer;
}

}  // namespace plumb::xrt
