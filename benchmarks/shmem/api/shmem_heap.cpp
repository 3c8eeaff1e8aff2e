#include "benchmarks/shmem/api/shmem_heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/data.hpp"
#include "world/shmem_faults.hpp"

namespace plumb::shmem_api {

std::uint64_t Pieces::number(const Setting& s) {
  return std::clamp<std::uint64_t>((std::uint64_t{16} << 20) / s.bytes, 1, 64);
}

Needs Pieces::needs(const Setting& s) {
  Needs needs;
  needs.items_to_check = number(s) * s.bytes;
  needs.symmetric_bytes = number(s) * (s.bytes + 4096);
  needs.fixed_count = number(s);
  return needs;
}

Pieces::Pieces(Action part, Allocate allocate, const Setting& setting)
    : part_(part), allocate_(allocate), setting_(setting), pieces_(number(setting)) {}

void Pieces::reset(std::uint64_t, std::uint64_t) {
  give_back();
  if (part_ == Action::give_back) have();
}

void Pieces::run(std::uint64_t) {
  part_ == Action::have ? have() : give_back();
}

Validation Pieces::validate(std::uint64_t repetition, std::uint64_t) {
  if (part_ == Action::give_back) have();  // freed memory can be allocated again
  Validation found;
  found.reference = "every byte, put by the PE before this one";
  const int next = (setting_.pe + 1) % setting_.pes, before = (setting_.pe + setting_.pes - 1) % setting_.pes;
  const auto identity = [&](int pe, std::size_t piece) {
    return Provenance{setting_.seed, static_cast<std::uint64_t>(pe), piece, setting_.bytes, repetition};
  };
  std::vector<std::byte> bytes(setting_.bytes);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i] == nullptr) throw Error("the symmetric heap gave no memory");
    fill_message(bytes, identity(setting_.pe, i));
    shmem_putmem(pieces_[i], bytes.data(), bytes.size(), next);
    shmem_quiet();
  }
  shmem_barrier_all();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    std::memcpy(bytes.data(), pieces_[i], bytes.size());
    const Difference difference = compare_message(bytes, identity(before, i));
    found.items_checked += bytes.size();
    if (difference.wrong > 0)
      note_wrong(found, fmt::format("piece {}: byte {} is {:#x}, should be {:#x}", i, difference.first_offset,
                                    difference.is, difference.should_be));
  }
  shmem_barrier_all();
  if (part_ == Action::give_back) give_back();
  return found;
}

void Pieces::have() {
  for (void*& piece : pieces_) piece = allocate_(setting_.bytes);
}

void Pieces::give_back() {
  for (void*& piece : pieces_)
    if (piece != nullptr) shmem_free(std::exchange(piece, nullptr));
}

Row piece_row(std::string name, std::string set, Pieces::Action part, Pieces::Allocate allocate) {
  Row row{std::move(name), "heap", std::move(set), 1};
  row.needs = [](const Setting& s) { return Pieces::needs(s); };
  row.make = [part, allocate](const Setting& s) { return std::make_unique<Pieces>(part, allocate, s); };
  return row;
}

namespace {

// A PE's own loads from, or stores to, symmetric memory.
class Local : public Pattern {
 public:
  enum class Action { read, write };
  static Needs needs(Action part, const Setting& s) {
    Needs needs;
    needs.moved = s.bytes / 8 * 8 * static_cast<std::uint64_t>(s.pes);
    (part == Action::read ? needs.work.bytes_read : needs.work.bytes_written) = s.bytes / 8 * 8;
    needs.items_to_check = part == Action::read ? 1 : s.bytes / 8;
    needs.symmetric_bytes = s.bytes * s.slots;
    return needs;
  }

  Local(Action part, const Setting& setting)
      : part_(part),
        setting_(setting),
        region_(setting.bytes * setting.slots, setting.global),
        words_(array_in<std::uint64_t>(region_, 0, setting.bytes / 8 * setting.slots)) {}

  void reset(std::uint64_t repetition, std::uint64_t) override {
    const Provenance origin{setting_.seed, static_cast<std::uint64_t>(setting_.pe), 0, 0, repetition};
    key_ = origin.key();
    part_ == Action::read ? fill_values(words_, origin) : poison_values(words_, origin);
    sum_ = 0;
  }

  void run(std::uint64_t count) override {
    const std::size_t length = setting_.bytes / 8;
    std::size_t slot = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t* const words = words_.data() + slot * length;
      part_ == Action::read ? read(words, length) : write(words, length, key_ + i);
      if (++slot == setting_.slots) slot = 0;
    }
  }

  Validation validate(std::uint64_t, std::uint64_t count) override {
    Validation found;
    found.reference = "sums of the same words, or each word stored";
    const std::size_t length = setting_.bytes / 8;
    if (part_ == Action::read) {
      std::vector<std::uint64_t> of_slot(setting_.slots);
      for (std::size_t i = 0; i < words_.size(); ++i) of_slot[i / length] += value_of<std::uint64_t>(mix64(key_ + i));
      std::uint64_t should = 0;
      for (std::size_t slot = 0; slot < setting_.slots; ++slot)
        should += of_slot[slot] * (count / setting_.slots + (slot < count % setting_.slots ? 1 : 0));
      found.items_checked = 1;
      if (sum_ != should) note_wrong(found, fmt::format("the words read add up to {}, should be {}", sum_, should));
      return found;
    }
    const std::uint64_t last = count - 1;
    const std::uint64_t* const words = words_.data() + last % setting_.slots * length;
    found.items_checked = length;
    for (std::size_t i = 0; i < length; ++i)
      if (words[i] != (key_ + last) * (2 * i + 1)) note_wrong(found, fmt::format("word {} was not stored", i));
    return found;
  }

 private:
  void read(const std::uint64_t* words, std::size_t length) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += words[i];
    asm volatile("" : "+r"(sum) : "r"(words) : "memory");
    sum_ += sum;
  }
  static void write(std::uint64_t* words, std::size_t length, std::uint64_t factor) {
    std::uint64_t value = factor;
    for (std::size_t i = 0; i < length; ++i, value += 2 * factor) words[i] = value;
    asm volatile("" : : "r"(words) : "memory");
  }

  Action part_;
  Setting setting_;
  Region region_;
  std::span<std::uint64_t> words_;
  std::uint64_t key_ = 0, sum_ = 0;
};

Row local_row(std::string name, Local::Action part) {
  Row row{std::move(name), "local", "shoms", 8};
  row.needs = [part](const Setting& s) { return Local::needs(part, s); };
  row.make = [part](const Setting& s) { return std::make_unique<Local>(part, s); };
  return row;
}

}  // namespace

std::vector<Row> heap_rows() {
  Row calloc =
      piece_row("calloc", "later", Pieces::Action::have, [](std::size_t bytes) { return shmem_calloc(bytes, 1); });
  calloc.fault = fault_of_calloc();
  return {
      local_row("local_read", Local::Action::read),
      local_row("local_write", Local::Action::write),
      piece_row("shmalloc", "shoms", Pieces::Action::have, [](std::size_t bytes) { return shmem_malloc(bytes); }),
      piece_row("shfree", "shoms", Pieces::Action::give_back, [](std::size_t bytes) { return shmem_malloc(bytes); }),
      calloc,
      piece_row("align", "later", Pieces::Action::have, [](std::size_t bytes) { return shmem_align(4096, bytes); })};
}

}  // namespace plumb::shmem_api
