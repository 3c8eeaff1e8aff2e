#include "benchmarks/osu/mpi/mpi_data.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <type_traits>

#include "core/data.hpp"
#include "core/error.hpp"
#include "core/registry.hpp"
#include "measure/clock.hpp"
#include "world/mpi.hpp"

namespace plumb::osu {

namespace {

constexpr std::size_t guard = 64;  // bytes behind the last message

using Kind = Type::Kind;

// The largest number for which the operations are exact in any order.
std::int64_t largest(const Type& type) {
  if (type.kind == Kind::logical) return 1;
  return type.bytes == 1 ? 127 : type.bytes == 2 ? 32767 : (1 << 24) - 1;
}

// A rank's contribution to element i.
std::int64_t contribution(const Type& type, const std::string& operation, int ranks, int rank, std::uint64_t key,
                          std::uint64_t i) {
  const auto random = static_cast<std::int64_t>(mix64(key + i) >> 33);
  const std::int64_t most = largest(type);
  if (operation.starts_with("l") || type.kind == Kind::logical) return random & 1;
  if (operation == "sum") return 1 + random % std::max<std::int64_t>(1, most / ranks);
  if (operation == "prod") {  // a power of two, from as many ranks as the type can hold
    const int twos = most == 127 ? 6 : most == 32767 ? 14 : 23;
    return (rank + static_cast<int>(i % static_cast<std::uint64_t>(ranks))) % ranks < twos ? 1 + (random & 1) : 1;
  }
  return random & most;
}

std::int64_t combined(const std::string& operation, std::int64_t a, std::int64_t b) {
  if (operation == "sum") return a + b;
  if (operation == "prod") return a * b;
  if (operation == "max") return std::max(a, b);
  if (operation == "min") return std::min(a, b);
  if (operation == "band" || operation == "land") return a & b;
  if (operation == "bor" || operation == "lor") return a | b;
  return a ^ b;
}

// libplumb-mpi-device, if loaded before MPI's library.
struct DeviceLibrary {
  int (*allocate)(const char*, const char*, const char*, std::size_t, void**) = nullptr;
  int (*release)(void*) = nullptr;
  int (*copy)(void*, const void*, std::size_t) = nullptr;
  int (*touch)(void*, unsigned long long*) = nullptr;
  const char* (*error)() = nullptr;

  // Throws Unsupported if it was not.
  static const DeviceLibrary& loaded() {
    static const DeviceLibrary library = [] {
      DeviceLibrary found;
      const auto find = [](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
      };
      find(found.allocate, "plumb_mpi_alloc_on");
      find(found.release, "plumb_mpi_free");
      find(found.copy, "plumb_mpi_copy");
      find(found.touch, "plumb_mpi_touch");
      find(found.error, "plumb_mpi_error");
      return found;
    }();
    if (library.allocate == nullptr)
      throw Unsupported(
          "MPI takes host memory only: load libplumb-mpi-device.so before it (LD_PRELOAD; plumb run does)");
    return library;
  }
  void check(int code) const {
    if (code != 0) throw Error(error());
  }
};

}  // namespace

const std::vector<Type>& types() {
  static const std::vector<Type> all{{"mpi_char", MPI_CHAR, 1, Kind::integer, MPI_SIGNED_CHAR},
                                     {"mpi_signed_char", MPI_SIGNED_CHAR, 1},
                                     {"mpi_unsigned_char", MPI_UNSIGNED_CHAR, 1, Kind::unsigned_integer},
                                     {"mpi_byte", MPI_BYTE, 1, Kind::byte},
                                     {"mpi_short", MPI_SHORT, 2},
                                     {"mpi_unsigned_short", MPI_UNSIGNED_SHORT, 2, Kind::unsigned_integer},
                                     {"mpi_int", MPI_INT, 4},
                                     {"mpi_unsigned", MPI_UNSIGNED, 4, Kind::unsigned_integer},
                                     {"mpi_long", MPI_LONG, 8},
                                     {"mpi_unsigned_long", MPI_UNSIGNED_LONG, 8, Kind::unsigned_integer},
                                     {"mpi_long_long", MPI_LONG_LONG, 8},
                                     {"mpi_unsigned_long_long", MPI_UNSIGNED_LONG_LONG, 8, Kind::unsigned_integer},
                                     {"mpi_int8_t", MPI_INT8_T, 1},
                                     {"mpi_int16_t", MPI_INT16_T, 2},
                                     {"mpi_int32_t", MPI_INT32_T, 4},
                                     {"mpi_int64_t", MPI_INT64_T, 8},
                                     {"mpi_uint8_t", MPI_UINT8_T, 1, Kind::unsigned_integer},
                                     {"mpi_uint16_t", MPI_UINT16_T, 2, Kind::unsigned_integer},
                                     {"mpi_uint32_t", MPI_UINT32_T, 4, Kind::unsigned_integer},
                                     {"mpi_uint64_t", MPI_UINT64_T, 8, Kind::unsigned_integer},
                                     {"mpi_float", MPI_FLOAT, 4, Kind::real},
                                     {"mpi_double", MPI_DOUBLE, 8, Kind::real},
                                     {"mpi_long_double", MPI_LONG_DOUBLE, sizeof(long double), Kind::real},
                                     {"mpi_c_float_complex", MPI_C_FLOAT_COMPLEX, 8, Kind::complex},
                                     {"mpi_c_double_complex", MPI_C_DOUBLE_COMPLEX, 16, Kind::complex},
                                     {"mpi_c_bool", MPI_C_BOOL, 1, Kind::logical}};
  return all;
}

const Type& type_called(const std::string& name) {
  std::vector<std::string> names;
  for (const Type& type : types()) {
    if (type.name == name) return type;
    names.push_back(type.name);
  }
  throw UsageError(unknown_name("type", name, names));
}

const Operation& operation_called(const std::string& name) {
  static const std::vector<Operation> all{
      {"sum", MPI_SUM}, {"prod", MPI_PROD}, {"max", MPI_MAX},   {"min", MPI_MIN}, {"band", MPI_BAND},
      {"bor", MPI_BOR}, {"bxor", MPI_BXOR}, {"land", MPI_LAND}, {"lor", MPI_LOR}, {"lxor", MPI_LXOR}};
  const auto found = std::ranges::find_if(all, [&](const Operation& one) { return one.name == name; });
  if (found == all.end()) throw UsageError("there is no operation " + name);
  return *found;
}

// MPI 3.1, section 5.9.2.
std::string refusal(const Operation& operation, const Type& type) {
  const std::string& name = operation.name;
  const bool arithmetic = name == "sum" || name == "prod", order = name == "max" || name == "min";
  const bool bits = name.starts_with("b");
  const bool whole = type.is_whole();
  const bool has = arithmetic ? whole || type.kind == Kind::real || type.kind == Kind::complex
                   : order    ? whole || type.kind == Kind::real
                   : bits     ? whole || type.kind == Kind::byte
                              : whole || type.kind == Kind::logical;
  return has ? "" : fmt::format("MPI has no {} of {}", name, type.name);
}

void store_value(const Type& type, std::int64_t value, std::byte* to) {
  const auto put = [to](auto number) { std::memcpy(to, &number, sizeof number); };
  if (type.kind == Kind::real) {
    if (type.bytes == sizeof(float)) return put(static_cast<float>(value));
    if (type.bytes == sizeof(double)) return put(static_cast<double>(value));
    std::memset(to, 0, type.bytes);  // ten bytes of a long double are significant
    const auto number = static_cast<long double>(value);
    std::memcpy(to, &number, 10);
    return;
  }
  if (type.kind == Kind::complex)
    return type.bytes == sizeof(std::complex<float>) ? put(std::complex<float>(static_cast<float>(value), 0))
                                                     : put(std::complex<double>(static_cast<double>(value), 0));
  std::memcpy(to, &value, type.bytes);  // little endian
}

Layout Layout::read(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return UsageError(fmt::format("--ddt must be cont, vect:STRIDE:BLOCK or indx:FILE, not {}{}", text, why));
  };
  Layout layout;
  if (text.empty()) return layout;
  layout.kind = text.substr(0, text.find(':'));
  if (text == "cont") return layout;
  std::size_t end = 0;
  if (layout.kind == "vect") {
    std::size_t stride = 8, block = 4;
    if (text != "vect" &&
        (std::sscanf(text.c_str(), "vect:%zu:%zu%zn", &stride, &block, &end) != 2 || end != text.size()))
      throw wrong("");
    if (block < 1 || stride < block || stride > 1 << 20) throw wrong(": a block has 1 to STRIDE elements");
    layout.period = stride;
    layout.runs = {{0, block}};
    return layout;
  }
  if (layout.kind != "indx" || text.size() < 6) throw wrong("");
  std::ifstream file(text.substr(5));
  if (!file) throw wrong(": there is no such file");
  layout.runs.clear();
  for (std::string line; std::getline(file, line);) {
    Run run{};
    if (line.empty()) continue;
    if (line[0] == '-' || std::sscanf(line.c_str(), "%zu,%zu%zn", &run.begin, &run.length, &end) != 2 ||
        end != line.size() || run.length < 1 || run.begin > 1 << 20 || run.length > 1 << 20)
      throw wrong(fmt::format(": a line must be DISPLACEMENT,LENGTH, not {}", line));
    layout.runs.push_back(run);
  }
  std::ranges::sort(layout.runs, {}, &Run::begin);
  if (layout.runs.empty() || layout.runs.size() > 100) throw wrong(": it has 1 to 100 lines");
  for (std::size_t i = 1; i < layout.runs.size(); ++i)
    if (layout.runs[i].begin < layout.runs[i - 1].begin + layout.runs[i - 1].length)
      throw wrong(fmt::format(": elements at {} overlap", layout.runs[i].begin));
  layout.period = layout.runs.back().begin + layout.runs.back().length;
  return layout;
}

Layout Layout::in_bytes(const Type& type) const {
  Layout layout = *this;
  layout.period *= type.bytes;
  for (Run& run : layout.runs) run = {run.begin * type.bytes, run.length * type.bytes};
  return layout;
}

std::size_t Layout::sent_of(std::size_t length) const {
  std::size_t sent = 0;
  for (const Run& run : runs) sent += run.length;
  return length / period * sent;
}

Derived::Derived(const Layout& layout, const Type& base, std::size_t bytes) : type(base) {
  const auto elements = [&](std::size_t length) { return static_cast<int>(length / base.bytes); };
  const std::size_t periods = bytes / layout.period;
  type.bytes = periods * layout.period;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  if (layout.kind == "cont") {
    MPI_Type_contiguous(elements(type.bytes), base.handle, &whole);
  } else if (layout.kind == "vect") {
    MPI_Type_vector(static_cast<int>(periods), elements(layout.runs[0].length), elements(layout.period), base.handle,
                    &whole);
  } else {
    std::vector<int> lengths, begins;
    for (std::size_t period = 0; period < periods; ++period)
      for (const Layout::Run& run : layout.runs) {
        lengths.push_back(elements(run.length));
        begins.push_back(elements(period * layout.period + run.begin));
      }
    MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), begins.data(), base.handle, &whole);
  }
  MPI_Type_create_resized(whole, 0, static_cast<MPI_Aint>(type.bytes), &type.handle);
  MPI_Type_free(&whole);
  check_mpi(MPI_Type_commit(&type.handle), "make a derived datatype");
}

Derived::~Derived() {
  MPI_Type_free(&type.handle);
}

Places Places::targets(std::size_t length, std::uint64_t window, std::uint64_t most, std::size_t packed,
                       const Sliding& how) {
  Places places{length, window * length, length, window, most, false};
  if (how.rotate > 0) {
    const std::uint64_t reach = std::max<std::uint64_t>(window * length, guard);
    places.turns = std::clamp<std::uint64_t>(how.rotate / reach, 1, most);
  }
  if (length > packed) {
    places.stride = (guard + how.period - 1) / how.period * how.period;
    places.pitch = (length + (places.steps() - 1) * places.stride + guard - 1) / guard * guard;
  }
  places.spread(how);
  return places;
}

// Messages of one window are closer, since they may overlap.
Places Places::sources(std::size_t length, std::uint64_t window, std::uint64_t most, std::size_t packed,
                       const Sliding& how) {
  Places places = targets(length, window, most, packed, how);
  places.backwards = true;
  if (length > packed && how.rotate == 0) places.pitch = 16;
  return places;
}

// Regions are as long as their messages, and together as long as wished.
void Places::spread(const Sliding& how) {
  if (how.rotate == 0) return;
  const std::size_t own = (window - 1) * pitch + (steps() - 1) * stride + length;
  region = (std::max<std::size_t>(own, how.rotate / turns) + guard - 1) / guard * guard;
}

Places Places::fixed(std::size_t length, std::uint64_t window) {
  return {length, 0, (length + guard - 1) / guard * guard, window, 1, false};
}

std::size_t Places::room() const {
  return (turns - 1) * region + (window - 1) * pitch + (steps() - 1) * stride + length + guard;
}

void Contents::message(std::span<std::byte> out, int rank, std::size_t first) const {
  const std::uint64_t key = Provenance{seed, static_cast<std::uint64_t>(rank), 0, 0, repetition}.key();
  if (operation == nullptr)
    return generate(std::span(reinterpret_cast<std::uint8_t*>(out.data()), out.size()), key, first);
  for (std::size_t at = 0; at < out.size(); at += type->bytes)
    store_value(*type, contribution(*type, operation->name, ranks, rank, key, (first + at) / type->bytes), &out[at]);
}

std::int64_t Contents::value(int rank, std::size_t index) const {
  const std::uint64_t key = Provenance{seed, static_cast<std::uint64_t>(rank), 0, 0, repetition}.key();
  return contribution(*type, operation->name, ranks, rank, key, index);
}

void Contents::reduced(std::span<std::byte> out, std::size_t first) const {
  std::vector<std::uint64_t> keys;
  for (int rank = 0; rank < ranks; ++rank)
    keys.push_back(Provenance{seed, static_cast<std::uint64_t>(rank), 0, 0, repetition}.key());
  for (std::size_t at = 0; at < out.size(); at += type->bytes) {
    const std::uint64_t i = (first + at) / type->bytes;
    std::int64_t result = contribution(*type, operation->name, ranks, 0, keys[0], i);
    for (int rank = 1; rank < ranks; ++rank)
      result = combined(operation->name, result, contribution(*type, operation->name, ranks, rank, keys[rank], i));
    store_value(*type, result, &out[at]);
  }
}

Area::Area(std::size_t size, const Where& where) : size_(size), device_(where.letter != 'H'), touched_(where.touched) {
  if (where.own != nullptr) {
    buffer_ = where.own->allocate(size, {});
    queue_ = where.own->make_queue();
    base_ = whole(*buffer_).device_address();
    device_ = true;
    touched_ = false;
    return;
  }
  if (device_) {
    const DeviceLibrary& library = DeviceLibrary::loaded();
    const char* kind = where.letter == 'B' ? "hbm" : where.letter == 'P' ? "plram" : "default";
    void* address = nullptr;
    const char* device = where.device.empty() ? nullptr : where.device.c_str();
    if (library.allocate(kind, where.runtime.c_str(), device, size, &address) != 0) throw Unsupported(library.error());
    base_ = static_cast<std::byte*>(address);
    return;
  }
  constexpr std::size_t page = 4096;
  base_ = static_cast<std::byte*>(std::aligned_alloc(page, (size + page - 1) / page * page));
  if (base_ == nullptr) throw Error(fmt::format("no memory for a buffer of {} bytes", size));
}

Area::~Area() {
  if (buffer_) return;
  if (device_ && base_ != nullptr)
    DeviceLibrary::loaded().release(base_);
  else
    std::free(base_);
}

Area& Area::operator=(Area&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  std::swap(device_, other.device_);
  std::swap(touched_, other.touched_);
  std::swap(buffer_, other.buffer_);
  std::swap(queue_, other.queue_);
  return *this;
}

namespace {

std::uint64_t& touches_of_all() {  // by this process; the device counts those of all its buffers
  static std::uint64_t count = 0;
  return count;
}

}  // namespace

void Area::touch() const {
  if (!device_ || !touched_) return;
  DeviceLibrary::loaded().check(DeviceLibrary::loaded().touch(base_, nullptr));
  ++touches_of_all();
}

void Area::check_touches() const {
  if (!device_ || !touched_) return;
  unsigned long long ran = 0;
  DeviceLibrary::loaded().check(DeviceLibrary::loaded().touch(base_, &ran));
  if (++touches_of_all() != ran)
    throw Error(fmt::format("kernels touched the device's buffers {} times, but {} ran there", touches_of_all(), ran));
}

double copying_roof(const Where& where, bool within) {
  static std::map<std::string, double> known;
  if (where.letter == 'H') return 0;
  double& roof = known[where.letter + where.runtime + (within ? "+" : "")];
  if (roof > 0) return roof;
  const DeviceLibrary& library = DeviceLibrary::loaded();
  for (const std::size_t bytes : {std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 24}) {
    const Area on_device(bytes, where), other(bytes, within ? where : Where{});
    const std::pair<std::byte*, std::byte*> ways[]{{on_device.at(0), other.at(0)}, {other.at(0), on_device.at(0)}};
    for (const auto& [to, from] : ways)
      for (int turn = 0; turn < 5; ++turn) {
        const double begin = now_seconds();
        library.check(library.copy(to, from, bytes));
        roof = std::max(roof, static_cast<double>(bytes) / (now_seconds() - begin));
      }
  }
  return roof;
}

void copy_bytes(void* to, const void* from, std::size_t size, bool by_library) {
  if (size == 0) return;
  if (by_library)
    DeviceLibrary::loaded().check(DeviceLibrary::loaded().copy(to, from, size));
  else
    std::memcpy(to, from, size);
}

void Area::write(std::span<const std::byte> from) const {
  if (buffer_) return queue_->write(from.data(), {buffer_.get(), 0, from.size()});
  copy_bytes(base_, from.data(), from.size(), device_);
}

void Area::read(std::span<std::byte> to) const {
  if (buffer_) return queue_->read({buffer_.get(), 0, to.size()}, to.data());
  copy_bytes(to.data(), base_, to.size(), device_);
}

void Image::clear(std::uint64_t key) {
  parts_.clear();
  generate(std::span(reinterpret_cast<std::uint8_t*>(should_.data()), should_.size()), mix64(key), 0);
}

std::span<std::byte> Image::expect(std::size_t offset, std::size_t length) {
  parts_.emplace_back(offset, length);
  return std::span(should_).subspan(offset, length);
}

void Image::expect_message(const Contents& contents, int from, std::size_t source, std::size_t target,
                           std::size_t length, const Layout* layout) {
  if (layout == nullptr) return contents.message(expect(target, length), from, source);
  for (std::size_t begin = 0; begin < length; begin += layout->period)
    for (const Layout::Run& run : layout->runs) {
      const std::size_t at = begin + run.begin;
      if (at >= length) continue;
      contents.message(expect(target + at, std::min(run.length, length - at)), from, source + at);
    }
}

void Image::make_opposite() {
  is_ = should_;
  for (const auto& [offset, length] : parts_)
    for (std::size_t i = offset; i < offset + length; ++i) is_[i] = ~should_[i];
}

void Image::poison(const Area& area) {
  make_opposite();
  area.write(is_);
}

void Image::poison(std::span<std::byte> memory) {
  make_opposite();
  std::memcpy(memory.data(), is_.data(), is_.size());
}

// Into fresh memory: what a runtime knows of the old one is of no use to it.
Validation Image::compare(const Area& area, const char* reference) {
  is_ = std::vector<std::byte>(should_.size());
  area.read(is_);
  return judge(reference);
}

Validation Image::compare(std::span<const std::byte> memory, const char* reference) {
  std::memcpy(is_.data(), memory.data(), is_.size());
  return judge(reference);
}

Validation Image::judge(const char* reference) {
  Validation found;
  found.reference = reference;
  found.items_checked = should_.size();
  if (padded)
    for (std::size_t i = 0; i < is_.size(); ++i)
      if (i % 16 >= 10) is_[i] = should_[i];
  if (std::memcmp(is_.data(), should_.data(), is_.size()) == 0) return found;
  for (std::size_t i = 0; i < is_.size(); ++i) {
    if (is_[i] == should_[i]) continue;
    if (found.wrong_items++ == 0)
      found.detail = fmt::format("byte {} of the receive buffer is {:#04x}, should be {:#04x}", i,
                                 std::to_integer<unsigned>(is_[i]), std::to_integer<unsigned>(should_[i]));
  }
  found.error = static_cast<double>(found.wrong_items);
  return found;
}

}  // namespace plumb::osu
