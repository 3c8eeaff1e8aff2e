// A SYCL plug-in that another one serves (PLUMBLINE_SYCL_SERVED), with one function made wrong on purpose, the one
// named by PLUMBLINE_SYCL_MUTANT ("none": all are right). The engine loads it like the real one.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device/sycl/plugin/interface.hpp"

namespace plumb::sycl_plugin {

namespace {

const Interface* real = nullptr;

// ---- a queue whose copies do not wait for its kernels ----

std::map<QueueHandle*, QueueHandle*>& copies() {
  static std::map<QueueHandle*, QueueHandle*> queues;
  return queues;
}

QueueHandle* with_copies(ContextHandle* context, int timed) {
  QueueHandle* const queue = real->make_queue(context, timed);
  copies()[queue] = real->make_queue(context, timed);
  return queue;
}

int copy_beside(QueueHandle* queue, void* to, const void* from, std::size_t bytes) {
  return real->copy(copies().at(queue), to, from, bytes);
}

int wait_for_both(QueueHandle* queue) {
  return std::min(real->wait(queue), real->wait(copies().at(queue)));
}

int finished_both(QueueHandle* queue) {
  return std::min(real->finished(queue), real->finished(copies().at(queue)));
}

// ---- copies that wait to be started together ----

struct Waiting {
  void* to;
  const void* from;
  std::size_t bytes;
};

std::vector<Waiting>& waiting(QueueHandle* queue) {
  static std::map<QueueHandle*, std::vector<Waiting>> all;
  return all[queue];
}

int let_wait(QueueHandle* queue, void* to, const void* from, std::size_t bytes) {
  waiting(queue).push_back({to, from, bytes});
  return 0;
}

// The last begins.
void start_backwards(QueueHandle* queue) {
  std::vector<Waiting> copies;
  copies.swap(waiting(queue));
  for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) real->copy(queue, copy->to, copy->from, copy->bytes);
}

// At most eight; the others are forgotten.
void start_eight(QueueHandle* queue) {
  std::vector<Waiting> copies;
  copies.swap(waiting(queue));
  copies.resize(std::min<std::size_t>(copies.size(), 8));
  for (const Waiting& copy : copies) real->copy(queue, copy.to, copy.from, copy.bytes);
}

// A command after those that wait.
template <auto start, auto command>
constexpr auto after = [](QueueHandle* queue, auto... arguments) {
  start(queue);
  return (real->*command)(queue, arguments...);
};

template <auto start>
void gather(Interface& wrong) {
  wrong.copy = let_wait;
  wrong.launch = after<start, &Interface::launch>;
  wrong.wait = after<start, &Interface::wait>;
  wrong.finished = after<start, &Interface::finished>;
}

// ---- arguments ----

std::map<std::uintptr_t, std::size_t>& allocations() {
  static std::map<std::uintptr_t, std::size_t> sizes;
  return sizes;
}

void* remembered(ContextHandle* context, Memory kind, std::size_t bytes, std::size_t alignment) {
  void* const memory = real->allocate(context, kind, bytes, alignment);
  allocations()[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  return memory;
}

// The start of the allocation that holds an address.
const void* without_offset(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto next = allocations().upper_bound(at);
  if (next == allocations().begin()) return address;
  const auto [begin, size] = *std::prev(next);
  return at - begin < size ? reinterpret_cast<const void*>(begin) : address;
}

int launch_without_offsets(QueueHandle* queue, KernelHandle* kernel, const Argument* given, std::size_t count,
                           std::size_t global, std::size_t local) {
  std::vector<Argument> arguments(given, given + count);
  for (Argument& argument : arguments)
    if (argument.size == 0) argument.address = without_offset(argument.address);
  return real->launch(queue, kernel, arguments.data(), count, global, local);
}

// Each value comes as the next of its size.
int launch_shifted(QueueHandle* queue, KernelHandle* kernel, const Argument* given, std::size_t count,
                   std::size_t global, std::size_t local) {
  std::vector<Argument> arguments(given, given + count);
  for (const std::uint32_t size : {0u, 4u, 8u}) {
    std::vector<Argument*> alike;
    for (Argument& argument : arguments)
      if (argument.size == size) alike.push_back(&argument);
    for (std::size_t i = 1; i < alike.size(); ++i) std::swap(*alike[i - 1], *alike[i]);
  }
  return real->launch(queue, kernel, arguments.data(), count, global, local);
}

// ---- memory objects ----

struct Made {
  ContextHandle* context;
  std::size_t bytes;
};

std::map<ObjectHandle*, Made>& objects() {
  static std::map<ObjectHandle*, Made> all;
  return all;
}

ObjectHandle* remembered_object(ContextHandle* context, std::size_t bytes) {
  ObjectHandle* const object = real->make_object(context, bytes);
  objects()[object] = {context, bytes};
  return object;
}

ObjectHandle* remembered_part(ObjectHandle* of, std::size_t offset, std::size_t bytes) {
  ObjectHandle* const part = real->part(of, offset, bytes);
  objects()[part] = {objects().at(of).context, bytes};
  return part;
}

// A kernel writes to copies of its objects, which are never copied back.
int launch_on_copies(QueueHandle* queue, KernelHandle* kernel, const Argument* given, std::size_t count,
                     std::size_t global, std::size_t local) {
  std::vector<Argument> arguments(given, given + count);
  for (Argument& argument : arguments) {
    if (argument.size != object_argument) continue;
    const Made& its = objects().at(argument.object);
    ObjectHandle* const copy = real->make_object(its.context, its.bytes);
    real->copy_object(queue, copy, 0, argument.object, 0, its.bytes);
    argument.object = copy;
  }
  return real->launch(queue, kernel, arguments.data(), count, global, local);
}

// ---- devices and their memory ----

ContextHandle* open_first(int) {
  return real->open(0);
}

int host_always_may_access(ContextHandle*, const void*) {
  return 1;
}

// ---- commands left out ----

int launch_nothing(QueueHandle*, KernelHandle*, const Argument*, std::size_t, std::size_t, std::size_t) {
  return 0;
}

int launch_without_last_group(QueueHandle* queue, KernelHandle* kernel, const Argument* arguments, std::size_t count,
                              std::size_t global, std::size_t local) {
  const std::size_t less = std::max<std::size_t>(local, 1);
  return real->launch(queue, kernel, arguments, count, global > less ? global - less : global, local);
}

int launch_every_second(QueueHandle* queue, KernelHandle* kernel, const Argument* arguments, std::size_t count,
                        std::size_t global, std::size_t local) {
  static unsigned launches = 0;
  return ++launches % 2 == 0 ? 0 : real->launch(queue, kernel, arguments, count, global, local);
}

int copy_without_last_byte(QueueHandle* queue, void* to, const void* from, std::size_t bytes) {
  return bytes == 1 ? 0 : real->copy(queue, to, from, bytes - 1);
}

// Of a copy that has several pieces the second is left out.
int copy_without_a_piece(QueueHandle* queue, void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t piece = 1 << 18;
  if (bytes < 2 * piece) return real->copy(queue, to, from, bytes);
  real->copy(queue, to, from, piece);
  return real->copy(queue, static_cast<char*>(to) + 2 * piece, static_cast<const char*>(from) + 2 * piece,
                    bytes - 2 * piece);
}

// Large copies go by whole vectors.
int copy_whole_vectors(QueueHandle* queue, void* to, const void* from, std::size_t bytes) {
  return real->copy(queue, to, from, bytes < (4 << 20) ? bytes : bytes / 64 * 64);
}

int wait_for_nothing(QueueHandle*) {
  return 0;
}

int finished_at_once(QueueHandle*) {
  return 1;
}

int follow_nothing(QueueHandle*, QueueHandle*) {
  return 0;
}

// ---- times, programs ----

// Those of the first command that was asked for.
int times_of_another(QueueHandle* queue, Times* times) {
  static Times first{};
  const int result = real->times(queue, times);
  if (result == 1 && first.ended == 0) first = *times;
  if (result == 1) *times = first;
  return result;
}

ProgramHandle* build_without_options(ContextHandle* context, int by_sycl, const char* text, const unsigned char* binary,
                                     std::size_t bytes, const char*, const char** log) {
  return real->build(context, by_sycl, text, binary, bytes, "", log);
}

// A cache whose key is the text alone.
ProgramHandle* build_once(ContextHandle* context, int by_sycl, const char* text, const unsigned char* binary,
                          std::size_t bytes, const char* options, const char** log) {
  static std::map<std::pair<ContextHandle*, std::string>, ProgramHandle*> built;
  ProgramHandle*& program = built[{context, text}];
  if (program == nullptr) program = real->build(context, by_sycl, text, binary, bytes, options, log);
  return program;
}

void keep_program(ProgramHandle*) {}

const std::map<std::string, std::function<void(Interface&)>>& mutants() {
  static const std::map<std::string, std::function<void(Interface&)>> all{
      {"none", [](Interface&) {}},
      {"queue-without-order",
       [](Interface& wrong) {
         wrong.make_queue = with_copies;
         wrong.copy = copy_beside;
         wrong.wait = wait_for_both;
         wrong.finished = finished_both;
       }},
      {"wait-for-nothing", [](Interface& wrong) { wrong.wait = wait_for_nothing; }},
      {"finished-at-once", [](Interface& wrong) { wrong.finished = finished_at_once; }},
      {"follow-nothing", [](Interface& wrong) { wrong.follow = follow_nothing; }},
      {"copy-without-last-byte", [](Interface& wrong) { wrong.copy = copy_without_last_byte; }},
      {"copy-without-a-piece", [](Interface& wrong) { wrong.copy = copy_without_a_piece; }},
      {"copy-of-whole-vectors", [](Interface& wrong) { wrong.copy = copy_whole_vectors; }},
      {"copies-started-backwards", gather<start_backwards>},
      {"copies-forgotten", gather<start_eight>},
      {"offset-dropped",
       [](Interface& wrong) {
         wrong.allocate = remembered;
         wrong.launch = launch_without_offsets;
       }},
      {"arguments-shifted", [](Interface& wrong) { wrong.launch = launch_shifted; }},
      {"write-not-copied-back",
       [](Interface& wrong) {
         wrong.make_object = remembered_object;
         wrong.part = remembered_part;
         wrong.launch = launch_on_copies;
       }},
      {"always-the-first-device", [](Interface& wrong) { wrong.open = open_first; }},
      {"device-memory-of-the-host", [](Interface& wrong) { wrong.host_may_access = host_always_may_access; }},
      {"older-interface", [](Interface& wrong) { wrong.version = 1; }},
      {"another-libsycl", [](Interface& wrong) { wrong.built_with = "00000000"; }},
      {"no-launch", [](Interface& wrong) { wrong.launch = launch_nothing; }},
      {"last-group-left-out", [](Interface& wrong) { wrong.launch = launch_without_last_group; }},
      {"every-second-launch", [](Interface& wrong) { wrong.launch = launch_every_second; }},
      {"times-of-another", [](Interface& wrong) { wrong.times = times_of_another; }},
      {"options-dropped", [](Interface& wrong) { wrong.build = build_without_options; }},
      {"cached-without-options",
       [](Interface& wrong) {
         wrong.build = build_once;
         wrong.free_program = keep_program;
       }},
  };
  return all;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const Interface* spoiled() {
  static Interface wrong;
  void* const library = dlopen(variable("PLUMBLINE_SYCL_SERVED").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  real = reinterpret_cast<GetInterface*>(dlsym(library, get_interface_name))();
  wrong = *real;
  mutants().at(variable("PLUMBLINE_SYCL_MUTANT"))(wrong);
  return &wrong;
}

}  // namespace

}  // namespace plumb::sycl_plugin

extern "C" const plumb::sycl_plugin::Interface* plumb_sycl_interface() {
  static const plumb::sycl_plugin::Interface* const offered = plumb::sycl_plugin::spoiled();
  return offered;
}
