/* The program's own SYCL memory as an argument of MPI calls, under libplumb-mpi-device. Compiled with the program, by
 * any compiler of SYCL 2020 and C++17:
 *
 *   double* field = sycl::malloc_device<double>(n, queue);
 *   if (plumb_mpi_register(queue, field, n * sizeof(double)) != 0) std::fputs(plumb_mpi_error(), stderr);
 *   MPI_Send(field, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
 *   plumb_mpi_unregister(field);
 *   sycl::free(field, queue);
 *
 * Memory of malloc_host and malloc_shared goes to MPI as it is, and is not registered. The program must finish its own
 * work on the memory before it passes it to MPI (queue.wait()): the copies run on queues of the library. */
#ifndef PLUMB_MPI_SYCL_HPP
#define PLUMB_MPI_SYCL_HPP

#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <sycl/sycl.hpp>
#include <utility>
#include <vector>

#include "plumb_mpi.h"

namespace plumb_mpi_sycl {

// A device in a context. Never destroyed: the library copies on it until the process ends.
struct State {
  sycl::context context;
  sycl::device device;
  std::string name;
};

struct Copies {
  sycl::queue queue;
  sycl::event last;
};

// Returns null after work(), or its failure's text.
template <class Work>
const char* reported(Work work) {
  thread_local std::string text;
  try {
    work();
    return nullptr;
  } catch (const std::exception& error) {
    text = error.what();
    return text.c_str();
  }
}

inline plumb_mpi_access access_of(const State& state) {
  plumb_mpi_access access{};
  access.device = state.name.c_str();
  access.on_host = state.device.is_cpu() ? 1 : 0;
  access.owns = [](void* of, const void* address) {
    const auto& its = *static_cast<State*>(of);
    return sycl::get_pointer_type(address, its.context) == sycl::usm::alloc::device &&
                   sycl::get_pointer_device(address, its.context) == its.device
               ? 1
               : 0;
  };
  access.allocate_host = [](void* of, std::size_t bytes, void** memory) {
    return reported([&] {
      *memory = sycl::malloc_host(bytes, static_cast<State*>(of)->context);
      if (*memory == nullptr) throw sycl::exception(sycl::errc::memory_allocation, "malloc_host returned no memory");
    });
  };
  access.free_host = [](void* of, void* memory) {
    reported([&] { sycl::free(memory, static_cast<State*>(of)->context); });
  };
  access.make_queue = [](void* of, void** queue) {
    const auto& its = *static_cast<State*>(of);
    return reported([&] { *queue = new Copies{{its.context, its.device, sycl::property::queue::in_order()}, {}}; });
  };
  access.free_queue = [](void*, void* queue) { delete static_cast<Copies*>(queue); };
  access.copy = [](void* queue, void* to, const void* from, std::size_t bytes) {
    auto& copies = *static_cast<Copies*>(queue);
    return reported([&] { copies.last = copies.queue.memcpy(to, from, bytes); });
  };
  access.wait = [](void* queue) { return reported([&] { static_cast<Copies*>(queue)->last.wait_and_throw(); }); };
  access.finished = [](void* queue, int* done) {
    return reported([&] {
      *done = static_cast<Copies*>(queue)->last.get_info<sycl::info::event::command_execution_status>() ==
              sycl::info::event_command_status::complete;
    });
  };
  return access;
}

inline State& state_of(const sycl::queue& queue) {
  static std::mutex mutex;
  static auto& all = *new std::vector<State*>;
  const std::scoped_lock lock(mutex);
  const sycl::context context = queue.get_context();
  const sycl::device device = queue.get_device();
  for (State* state : all)
    if (state->context == context && state->device == device) return *state;
  all.push_back(new State{context, device, device.get_info<sycl::info::device::name>()});
  return *all.back();
}

}  // namespace plumb_mpi_sycl

/* pointer: from malloc_device in the queue's context, or inside such memory; bytes: from there on. Returns 0, or
 * another value on failure; then plumb_mpi_error() describes it. plumb_mpi_unregister(pointer) must come before
 * sycl::free. */
inline int plumb_mpi_register(const sycl::queue& queue, void* pointer, std::size_t bytes) {
  auto& state = plumb_mpi_sycl::state_of(queue);
  const plumb_mpi_access access = plumb_mpi_sycl::access_of(state);
  return plumb_mpi_register_memory(&access, &state, pointer, bytes);
}

/* A sycl::buffer has no address that MPI could take: use malloc_device. */
template <class T, int dimensions, class Allocator>
int plumb_mpi_register(const sycl::queue& queue, const sycl::buffer<T, dimensions, Allocator>& buffer,
                       std::size_t bytes) = delete;

#endif
