// What a program sees of its memory: each kind, wrapped memory objects, addresses for kernels, and many threads at
// once. The halves of the ranks send each other what lies in such memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CL/cl.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "groups.hpp"
#include "plumb_mpi.h"

namespace {

constexpr std::size_t size = 100000;

void check(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what);
}

void done(int code) {
  check(code == 0, plumb_mpi_error());
}

// A call that must fail, with this part of its message.
void refused(int code, const char* part) {
  check(code != 0, fmt::format("nothing was refused, but should be: {}", part));
  check(std::string(plumb_mpi_error()).find(part) != std::string::npos, plumb_mpi_error());
}

std::vector<unsigned char> numbers(int seed) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<unsigned char>(i * 7 + i / 256 + static_cast<unsigned>(seed));
  return bytes;
}

struct Ranks {
  Ranks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = size - 1 - rank;
  }
  int rank = 0, size = 1, other = 0;
};

// Both ranks' bytes change places, from one address to the other.
void exchange(void* from, void* to, int tag) {
  const Ranks ranks;
  const auto sent = numbers(ranks.rank + 10 * tag), expected = numbers(ranks.other + 10 * tag);
  std::vector<unsigned char> received(size);
  done(plumb_mpi_copy(from, sent.data(), size));
  MPI_Sendrecv(from, size, MPI_BYTE, ranks.other, tag, to, size, MPI_BYTE, ranks.other, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  done(plumb_mpi_copy(received.data(), to, size));
  check(received == expected, fmt::format("other bytes came than were sent, tag {}", tag));
}

void try_kind(const char* memory) {
  void *from = nullptr, *to = nullptr;
  done(plumb_mpi_alloc_on(memory, nullptr, nullptr, size, &from));
  done(plumb_mpi_alloc_on(memory, nullptr, nullptr, size, &to));
  check(plumb_mpi_is_device(from) == 1 && plumb_mpi_is_device(&to) == 0, "a device's address is not told from another");
  exchange(from, to, 1);
  std::vector<unsigned char> copied(size);
  done(plumb_mpi_copy(from, to, size));  // within the device
  done(plumb_mpi_copy(copied.data(), from, size));
  check(copied == numbers(Ranks().other + 10), "a copy within the device has other bytes");
  done(plumb_mpi_free(from));
  done(plumb_mpi_free(to));
  check(plumb_mpi_copy(to, from, size) != 0, "freed memory was copied");
}

// Open MPI 4.1 has no windows with MPI_THREAD_MULTIPLE where its osc/rdma finds no network that it can use.
bool has_windows() {
  static int value = 0;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (code == MPI_SUCCESS) return MPI_Win_free(&window) == MPI_SUCCESS;
  std::puts("doors: windows were left out, for this MPI makes none with MPI_THREAD_MULTIPLE");
  return false;
}

// MPI's attributes of a window over device memory; the memory may be freed after it.
void try_window() {
  if (!has_windows()) return;
  void *address = nullptr, *base = nullptr;
  int *model = nullptr, flag = 0;
  done(plumb_mpi_alloc_on("default", nullptr, nullptr, size, &address));
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(static_cast<char*>(address) + 16, size - 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_get_attr(window, MPI_WIN_BASE, static_cast<void*>(&base), &flag);
  check(flag != 0 && base == static_cast<char*>(address) + 16, "a window has another base");
  MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &flag);
  check(flag != 0 && *model == MPI_WIN_SEPARATE, "a window has another memory model");
  check(plumb_mpi_free(address) != 0, "memory was freed that a window lies on");
  MPI_Win_free(&window);
  done(plumb_mpi_free(address));
}

// A program with a context, a queue and memory of its own.
void try_opencl() {
  void* address = nullptr;
  cl_mem memory = nullptr;
  std::size_t offset = 0;
  done(plumb_mpi_alloc(size, &address));
  done(plumb_mpi_buffer(static_cast<char*>(address) + 17, &memory, &offset));
  std::size_t bytes = 0;
  check(clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr) == CL_SUCCESS && bytes == size &&
            offset == 17,
        "an address leads to another memory object");
  void* pointer = nullptr;
  check(plumb_mpi_pointer(address, &pointer) != 0, "a memory object has a pointer");

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS &&
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS,
        "there is no OpenCL device");
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_mem own = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * size, nullptr, nullptr);
  void* wrapped = nullptr;
  done(plumb_mpi_wrap(own, 2 * size, &wrapped));
  exchange(static_cast<char*>(wrapped) + 100, address, 2);
  exchange(address, static_cast<char*>(wrapped) + size - 100, 3);
  done(plumb_mpi_buffer(wrapped, &memory, &offset));
  check(memory == own && offset == 0, "a wrapped memory object is another");
  void* larger = nullptr;
  check(plumb_mpi_wrap(own, 2 * size + 1, &larger) != 0, "more was wrapped than there is");
  check(std::string(plumb_mpi_error()).find("200000 bytes, but 200001 were declared") != std::string::npos,
        plumb_mpi_error());
  done(plumb_mpi_free(wrapped));
  done(plumb_mpi_free(address));
  clReleaseMemObject(own);
  clReleaseContext(context);
}

// Memory of the program's own, which plays a device's: MPI may have it only while it is registered.
struct OwnMemory {
  std::vector<unsigned char> bytes = std::vector<unsigned char>(3 * size);
  bool freed = false;
};

plumb_mpi_access access_to_own() {
  plumb_mpi_access access{};
  access.device = "the program's device";
  access.on_host = 1;
  access.owns = [](void* state, const void* address) {
    const auto& own = *static_cast<OwnMemory*>(state);
    const auto* at = static_cast<const unsigned char*>(address);
    return !own.freed && at >= own.bytes.data() && at < own.bytes.data() + own.bytes.size() ? 1 : 0;
  };
  access.allocate_host = [](void*, std::size_t bytes, void** memory) -> const char* {
    *memory = std::malloc(bytes);
    return *memory == nullptr ? "no memory" : nullptr;
  };
  access.free_host = [](void*, void* memory) { std::free(memory); };
  access.make_queue = [](void*, void** queue) -> const char* { return *queue = nullptr, nullptr; };
  access.free_queue = [](void*, void*) {};
  access.copy = [](void*, void* to, const void* from, std::size_t bytes) -> const char* {
    return std::memmove(to, from, bytes), nullptr;
  };
  access.wait = [](void*) -> const char* { return nullptr; };
  access.finished = [](void*, int* done) -> const char* { return *done = 1, nullptr; };
  return access;
}

void try_registered() {
  static OwnMemory own;
  unsigned char *const first = own.bytes.data(), *const middle = first + size;
  const plumb_mpi_access access = access_to_own();
  const auto add = [&](void* at, std::size_t bytes) { return plumb_mpi_register_memory(&access, &own, at, bytes); };
  done(add(middle, size));
  void* allocated = nullptr;
  done(plumb_mpi_alloc(size, &allocated));
  exchange(middle, allocated, 20);
  exchange(allocated, middle, 21);
  std::vector<unsigned char> host(size);
  exchange(middle, host.data(), 22);
  check(own.bytes[size - 1] == 0 && own.bytes[2 * size] == 0, "bytes beside the registered ones were written");
  refused(add(middle, size), "is registered already");
  refused(add(middle + 10, 5), "which are registered already");
  refused(add(first + 10, size), "overlap those at");
  refused(add(host.data(), size), "is not device memory of the program's device in the context of this queue");
  refused(add(first, 4 * size), "exceed the program's allocation");
  refused(plumb_mpi_free(middle), "not from plumb_mpi_alloc");
  refused(plumb_mpi_unregister(allocated), "not registered");
  refused(plumb_mpi_copy(host.data(), first, size), "memory there is not registered");
  refused(plumb_mpi_copy(host.data(), middle + 1, size), "exceed the device buffer");
  own.freed = true;
  refused(plumb_mpi_copy(host.data(), middle, size), "the memory registered there was freed");
  own.freed = false;
  const Ranks ranks;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(middle, size, MPI_BYTE, ranks.other, 23, MPI_COMM_WORLD, &request);
  refused(plumb_mpi_unregister(middle), "is in use by an incomplete MPI call");
  MPI_Send(host.data(), size, MPI_BYTE, ranks.other, 23, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  done(plumb_mpi_unregister(middle));
  refused(plumb_mpi_copy(host.data(), middle, size), "memory there is not registered");
  refused(plumb_mpi_unregister(middle), "not registered");
  done(add(middle, 1));
  done(plumb_mpi_unregister(middle));
  done(plumb_mpi_free(allocated));
}

// A pointer for the device's code: the host may read there on runtime native only.
void try_pointer(bool readable) {
  void *address = nullptr, *first = nullptr, *sixth = nullptr;
  done(plumb_mpi_alloc(size, &address));
  done(plumb_mpi_pointer(address, &first));
  done(plumb_mpi_pointer(static_cast<char*>(address) + 5, &sixth));
  check(static_cast<char*>(first) + 5 == sixth, "an address's offset is lost");
  done(plumb_mpi_copy(address, numbers(0).data(), size));
  check(!readable || std::memcmp(sixth, numbers(0).data() + 5, size - 5) == 0, "an address leads to other memory");
  done(plumb_mpi_free(address));
}

// A request may go to Fortran and come back.
void try_integer_request() {
  void* address = nullptr;
  int sent = 0, completed = 0;
  MPI_Request requests[2];
  done(plumb_mpi_alloc(sizeof sent, &address));
  MPI_Irecv(address, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
  for (MPI_Request& request : requests) {
    MPI_Request back = MPI_Request_f2c(MPI_Request_c2f(request));
    check(back == request, "a request comes back from Fortran as another");
    MPI_Wait(&back, MPI_STATUS_IGNORE);
    completed += back == MPI_REQUEST_NULL ? 1 : 0;
  }
  check(completed == 2, "a request from Fortran is not completed");
  done(plumb_mpi_free(address));
}

// A buffer for MPI_Bsend has to have room for no more than the message and what MPI asks for beside it.
void try_small_buffer() {
  const Ranks ranks;
  constexpr int tag = 92;
  int sent = 1000 + ranks.rank, received = 0, bytes = 0;
  void* address = nullptr;
  done(plumb_mpi_alloc(sizeof sent, &address));
  done(plumb_mpi_copy(address, &sent, sizeof sent));
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
  std::vector<char> attached(static_cast<std::size_t>(bytes) + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
  MPI_Bsend(address, 1, MPI_INT, ranks.other, tag, MPI_COMM_WORLD);
  MPI_Recv(&received, 1, MPI_INT, ranks.other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  void* detached = nullptr;
  MPI_Buffer_detach(&detached, &bytes);
  check(received == 1000 + ranks.other, "another number came than was sent by MPI_Bsend");
  done(plumb_mpi_free(address));
}

// A message in pieces whose 128th byte is within a number; under peer an envelope of so many comes in its place.
void try_pieces() {
  const Ranks ranks;
  constexpr int tag = 93, elements = 20, extent = 48;
  constexpr std::array<int, 3> counts{1, 3, 2};
  constexpr std::array<MPI_Aint, 3> offsets{0, 8, 40};
  const std::array<MPI_Datatype, 3> types{MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype pieces = MPI_DATATYPE_NULL, element = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, counts.data(), offsets.data(), types.data(), &pieces);
  MPI_Type_create_resized(pieces, 0, extent, &element);
  MPI_Type_commit(&element);
  int bytes = 0;
  MPI_Type_size(element, &bytes);
  bytes *= elements;
  const auto sent = numbers(ranks.rank);
  std::vector<unsigned char> expected(elements * extent), received(expected);
  void *from = nullptr, *to = nullptr;
  done(plumb_mpi_alloc(size, &from));
  done(plumb_mpi_alloc(expected.size(), &to));
  done(plumb_mpi_copy(from, sent.data(), size));
  done(plumb_mpi_copy(to, received.data(), received.size()));
  int at = 0;
  MPI_Unpack(numbers(ranks.other).data(), bytes, &at, expected.data(), elements, element, MPI_COMM_WORLD);
  MPI_Sendrecv(from, bytes, MPI_BYTE, ranks.other, tag, to, elements, element, ranks.other, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  done(plumb_mpi_copy(received.data(), to, received.size()));
  check(received == expected, "other bytes came in pieces than were sent");
  MPI_Type_free(&pieces);
  MPI_Type_free(&element);
  done(plumb_mpi_free(from));
  done(plumb_mpi_free(to));
}

// Memory of the host that two processes share: one makes it, and the other opens it by the numbers of `name`.
class SharedMemory {
 public:
  explicit SharedMemory(std::array<int, 2> name = {})
      : file_(name[0] == 0 ? memfd_create("doors", 0)
                           : open(fmt::format("/proc/{}/fd/{}", name[0], name[1]).c_str(), O_RDWR)) {
    check(file_ >= 0 && ftruncate(file_, size) == 0, "there is no shared memory");
    at_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    check(at_ != MAP_FAILED, "shared memory is not mapped");
  }
  ~SharedMemory() {
    munmap(at_, size);
    close(file_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::array<int, 2> name() const { return {getpid(), file_}; }
  unsigned char* bytes() const { return static_cast<unsigned char*>(at_); }

 private:
  int file_;
  void* at_ = nullptr;
};

// The sender of two messages starts the second once the first is in its receiver's memory.
void send_one_by_one(int to, int tag) {
  constexpr std::chrono::seconds patience{100};
  const SharedMemory room;
  void* address = nullptr;
  const auto sent = numbers(tag);
  done(plumb_mpi_alloc(size, &address));
  done(plumb_mpi_copy(address, sent.data(), size));
  std::array<MPI_Request, 2> requests{};
  MPI_Send(room.name().data(), 2, MPI_INT, to, tag, MPI_COMM_WORLD);
  MPI_Isend(address, size, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[0]);
  const auto until = std::chrono::steady_clock::now() + patience;
  const volatile unsigned char& last = room.bytes()[size - 1];
  for (int flag = 0; last != sent.back();) {
    check(std::chrono::steady_clock::now() < until, "MPI_Waitall takes no message before all have come");
    MPI_Iprobe(to, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);  // a sender's MPI may have to push
  }
  MPI_Isend(address, size, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  done(plumb_mpi_free(address));
}

// MPI_Waitall takes messages in pieces, and offers, as they come.
void try_waitall() {
  const Ranks ranks;
  constexpr int tag = 94;
  if (ranks.rank < ranks.other) return send_one_by_one(ranks.other, tag);
  std::array<int, 2> name{};
  MPI_Recv(name.data(), 2, MPI_INT, ranks.other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const SharedMemory room(name);
  std::vector<unsigned char> second(size);
  std::array<MPI_Request, 3> requests{};
  std::array<MPI_Status, 3> statuses{};
  requests.fill(MPI_REQUEST_NULL);
  MPI_Irecv(room.bytes(), size, MPI_BYTE, ranks.other, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(second.data(), size, MPI_BYTE, ranks.other, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests.data(), statuses.data());
  const auto expected = numbers(tag);
  check(second == expected && std::memcmp(room.bytes(), expected.data(), size) == 0, "MPI_Waitall gave other bytes");
  for (const int received : {0, 2}) {
    int bytes = 0;
    const MPI_Status& status = statuses.at(static_cast<std::size_t>(received));
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    check(bytes == size && status.MPI_SOURCE == ranks.other && status.MPI_TAG == tag,
          "MPI_Waitall gave another status");
  }
  check(requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL, "MPI_Waitall left a request");
}

// A sender may wait for the first of two messages that MPI_Waitall takes before it sends the second.
void send_after_the_first(void* address, int to, int tag) {
  constexpr std::chrono::seconds patience{15};
  MPI_Request first = MPI_REQUEST_NULL;
  MPI_Recv(nullptr, 0, MPI_BYTE, to, tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);  // it is ready: takes it rather than this moves it
  MPI_Isend(address, size, MPI_BYTE, to, tag, MPI_COMM_WORLD, &first);
  const auto until = std::chrono::steady_clock::now() + patience;
  for (int flag = 0; flag == 0; MPI_Test(&first, &flag, MPI_STATUS_IGNORE))
    check(std::chrono::steady_clock::now() < until, "MPI_Waitall keeps a sender waiting until all have come");
  MPI_Send(address, size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

void receive_both(std::array<void*, 2> addresses, int from, int tag) {
  std::array<MPI_Request, 2> requests{};
  for (std::size_t i = 0; i < 2; ++i)
    MPI_Irecv(addresses.at(i), size, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests.at(i));
  MPI_Send(nullptr, 0, MPI_BYTE, from, tag, MPI_COMM_WORLD);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  for (const void* address : addresses) {
    std::vector<unsigned char> received(size);
    done(plumb_mpi_copy(received.data(), address, size));
    check(received == numbers(tag), "MPI_Waitall gave other bytes to a device");
  }
}

void try_release() {
  constexpr int rounds = 20, tag = 95;
  const Ranks ranks;
  std::array<void*, 2> addresses{};
  for (void*& address : addresses) done(plumb_mpi_alloc(size, &address));
  done(plumb_mpi_copy(addresses[0], numbers(tag).data(), size));
  for (int round = 0; round < rounds; ++round) {
    if (ranks.rank < ranks.other)
      send_after_the_first(addresses[0], ranks.other, tag);
    else
      receive_both(addresses, ranks.other, tag);
  }
  for (void* address : addresses) done(plumb_mpi_free(address));
}

// Under peer, too, a receive into the host's memory may be cancelled, and freed before it is complete.
std::vector<unsigned char> freed_receive(size);

void try_host_receives() {
  const Ranks ranks;
  constexpr int unsent = 90, freed = 91;
  int number = 0, cancelled = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Irecv(&number, 1, MPI_INT, ranks.other, unsent, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  check(cancelled != 0, "a receive into the host's memory was not cancelled");
  MPI_Irecv(freed_receive.data(), size, MPI_BYTE, ranks.other, freed, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  check(request == MPI_REQUEST_NULL, "a request that was freed is not null");
  void* address = nullptr;
  done(plumb_mpi_alloc(size, &address));
  done(plumb_mpi_copy(address, numbers(ranks.rank).data(), size));
  MPI_Send(address, size, MPI_BYTE, ranks.other, freed, MPI_COMM_WORLD);
  done(plumb_mpi_free(address));
}

// Threads that each allocate, exchange and free, all at once.
void try_threads() {
  std::vector<std::thread> threads;
  for (int tag = 4; tag < 8; ++tag)
    threads.emplace_back([tag] {
      for (int i = 0; i < 20; ++i) {
        void *from = nullptr, *to = nullptr;
        done(plumb_mpi_alloc(size, &from));
        done(plumb_mpi_alloc(size, &to));
        exchange(from, to, tag);
        done(plumb_mpi_free(from));
        done(plumb_mpi_free(to));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// One message for each invalid call.
void try_bad_input() {
  void* address = nullptr;
  refused(plumb_mpi_alloc_on("hbmm", nullptr, nullptr, size, &address), "did you mean hbm?");
  refused(plumb_mpi_alloc_on(nullptr, "opencll", nullptr, size, &address), "did you mean opencl?");
  refused(plumb_mpi_alloc_on(nullptr, nullptr, "99", size, &address), "PLUMB_MPI_DEVICE 99: unknown device");
  refused(plumb_mpi_alloc(0, &address), "at least one byte");
  refused(plumb_mpi_free(&address), "not from plumb_mpi_alloc or plumb_mpi_wrap");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  bool peer = false;
  void* early = nullptr;
  const bool too_early = plumb_mpi_alloc(size, &early) != 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  try {
    check(too_early, "memory was allocated before MPI_Init");
    const char* runtime = std::getenv("PLUMB_MPI_RUNTIME");
    const char* transport = std::getenv("PLUMB_MPI_TRANSPORT");
    peer = transport != nullptr && std::string(transport) == "peer";
    const bool opencl = runtime == nullptr || std::string(runtime) == "opencl";
    try_registered();
    try_kind("default");
    try_kind("host");
    plumb::doors::try_groups();
    try_window();
    try_bad_input();
    opencl ? try_opencl() : try_pointer(std::string(runtime) == "native");
    try_integer_request();
    try_small_buffer();
    try_pieces();
    try_waitall();
    try_release();
    if (peer) try_host_receives();
    if (provided == MPI_THREAD_MULTIPLE) try_threads();
  } catch (const std::exception& error) {
    fmt::print(stderr, "doors: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const int other = Ranks().other;
  MPI_Finalize();
  if (peer && freed_receive != numbers(other)) {
    fmt::print(stderr, "doors: what a freed request receives is not there at the end\n");
    return 1;
  }
}
