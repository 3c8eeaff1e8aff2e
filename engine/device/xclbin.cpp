#include "device/xclbin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace plumb {

namespace {

constexpr char magic[] = "xclbin2";  // with its zero byte
// Positions and sizes in bytes, by xclbin.h.
constexpr std::size_t sections_at = 448, section_table_at = 456;
constexpr std::size_t section_bytes = 40, bank_bytes = 40, tag_bytes = 16, unit_bytes = 80, unit_name_bytes = 64;
constexpr std::uint32_t memory_topology = 6, ip_layout = 8, most_sections = 0x10000;
constexpr std::uint32_t ip_kernel = 1;

class Bytes {
 public:
  explicit Bytes(std::span<const char> bytes) : bytes_(bytes) {}

  template <class T>
  T at(std::size_t position) const {
    T value;
    std::memcpy(&value, part(position, sizeof value).data(), sizeof value);
    return value;
  }
  std::string text(std::size_t position, std::size_t longest) const {
    const std::span<const char> all = part(position, longest);
    return {all.data(), strnlen(all.data(), longest)};
  }
  Bytes section(std::size_t position, std::size_t size) const { return Bytes(part(position, size)); }

 private:
  std::span<const char> part(std::size_t position, std::size_t size) const {
    if (position > bytes_.size() || size > bytes_.size() - position)
      throw Error(fmt::format("the bitstream (.xclbin) is truncated: it has {} bytes, but byte {} is referred to",
                              bytes_.size(), position + size));
    return bytes_.subspan(position, size);
  }
  std::span<const char> bytes_;
};

// A section's count, then its entries from byte 8 on.
template <class Read>
void each_entry(const Bytes& section, std::size_t entry_bytes, Read read) {
  const auto count = section.at<std::int32_t>(0);
  for (std::int32_t i = 0; i < count; ++i) read(8 + static_cast<std::size_t>(i) * entry_bytes);
}

void read_section(const Bytes& section, std::uint32_t kind, Xclbin& found) {
  if (kind == memory_topology)
    each_entry(section, bank_bytes, [&](std::size_t at) {
      found.banks.push_back({section.text(at + 24, tag_bytes), section.at<std::uint64_t>(at + 8) * 1024,
                             section.at<std::uint8_t>(at + 1) != 0});
    });
  if (kind == ip_layout)
    each_entry(section, unit_bytes, [&](std::size_t at) {
      if (section.at<std::uint32_t>(at) == ip_kernel) found.units.push_back(section.text(at + 16, unit_name_bytes));
    });
}

// Kind and number of a bank by its tag; none for host memory and streams.
std::optional<Placement> placement_of(const std::string& tag) {
  struct Prefix {
    const char* text;
    MemoryKind kind;
  };
  for (const auto& [text, kind] : {Prefix{"DDR[", MemoryKind::ddr}, Prefix{"bank", MemoryKind::ddr},
                                   Prefix{"HBM[", MemoryKind::hbm}, Prefix{"PLRAM[", MemoryKind::plram}})
    if (tag.starts_with(text)) return Placement{kind, std::atoi(tag.c_str() + std::strlen(text))};
  return std::nullopt;
}

}  // namespace

namespace {

unsigned first_used(const Xclbin& bitstream) {
  const auto bank = std::find_if(bitstream.banks.begin(), bitstream.banks.end(),
                                 [](const XclbinBank& candidate) { return candidate.used; });
  if (bank == bitstream.banks.end()) throw Unsupported("the bitstream uses no memory bank");
  return static_cast<unsigned>(bank - bitstream.banks.begin());
}

}  // namespace

bool is_xclbin(std::span<const char> bytes) {
  return bytes.size() >= sizeof magic && std::memcmp(bytes.data(), magic, sizeof magic) == 0;
}

Xclbin parse_xclbin(std::span<const char> bytes) {
  if (!is_xclbin(bytes))
    throw Error("the file is no bitstream of AMD's (.xclbin): its first bytes are not \"xclbin2\"");
  const Bytes file(bytes);
  Xclbin found;
  const auto sections = file.at<std::uint32_t>(sections_at);
  if (sections > most_sections)
    throw Error(fmt::format("the bitstream (.xclbin) is invalid: it has {} sections", sections));
  for (std::uint32_t i = 0; i < sections; ++i) {
    const std::size_t entry = section_table_at + i * section_bytes;
    const auto position = file.at<std::uint64_t>(entry + 24), size = file.at<std::uint64_t>(entry + 32);
    read_section(file.section(position, size), file.at<std::uint32_t>(entry), found);
  }
  return found;
}

unsigned topology_index(const Xclbin& bitstream, const Placement& placement) {
  if (placement.kind == MemoryKind::automatic) return first_used(bitstream);
  std::optional<unsigned> first;
  std::vector<std::string> tags;
  for (unsigned index = 0; index < bitstream.banks.size(); ++index) {
    const XclbinBank& bank = bitstream.banks[index];
    tags.push_back(bank.tag);
    const std::optional<Placement> place = placement_of(bank.tag);
    if (!place || place->kind != placement.kind) continue;
    if (placement.bank ? place->bank == placement.bank : bank.used) return index;
    if (!placement.bank && !first) first = index;
  }
  if (first) return *first;
  throw Unsupported(fmt::format("the bitstream has no memory of kind {}: it has {}", to_string(placement),
                                tags.empty() ? "no banks" : fmt::format("{}", fmt::join(tags, ", "))));
}

}  // namespace plumb
