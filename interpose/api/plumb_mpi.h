/* Device memory for MPI programs: link with libplumb-mpi-device (before MPI's library), or preload it, and allocate
 * with plumb_mpi_alloc. The address may be passed to MPI functions like any other; the CPU cannot access it.
 *
 * The device is chosen by PLUMB_MPI_RUNTIME (opencl, cuda, sycl, native), PLUMB_MPI_DEVICE (a number, a type or a part
 * of the name) and PLUMB_MPI_MEMORY (default, host, svm, ddr:0, ...). By default the ranks of a host take the devices
 * of the first platform in turn. PLUMB_MPI_TRANSPORT: staged, or peer for messages from device to device on one host.
 *
 * Functions that return an int return 0, or another value on failure; then plumb_mpi_error() describes it. All are
 * thread-safe. The program must finish its own work on a buffer before it passes the buffer to MPI. An MPI call that
 * fails for its device memory (a freed buffer, bytes past the end, a function that takes host memory only) ends the
 * program by MPI_Abort with a message. */
#ifndef PLUMB_MPI_H
#define PLUMB_MPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_mem; /* cl_mem is a pointer to it */

/* Allocates size bytes (at least 1) on the device chosen by the environment, uninitialised. After MPI_Init. */
int plumb_mpi_alloc(size_t size, void** address);

/* The same with the choice as arguments, in the form of the variables; NULL: from the environment. */
int plumb_mpi_alloc_on(const char* memory, const char* runtime, const char* device, size_t size, void** address);

/* Returns an address for the first size bytes of an OpenCL buffer, which is retained until plumb_mpi_free. */
int plumb_mpi_wrap(struct _cl_mem* memory, size_t size, void** address);

/* How the library reaches memory that the program allocated by an interface of its own: plumb_mpi_sycl.hpp has it for
 * SYCL. Any thread calls these functions, one at a time for each queue. Those that return text return NULL, or a
 * failure's description, valid until the thread's next call. All must work until the process ends. */
struct plumb_mpi_access {
  const char* device; /* its name, for messages */
  int on_host;        /* 1: the device's threads are the host's cores */
  /* 1 if the byte at address is in memory of this device that MPI cannot access, 0 for any other. */
  int (*owns)(void* state, const void* address);
  const char* (*allocate_host)(void* state, size_t bytes, void** memory); /* for copies at full speed */
  void (*free_host)(void* state, void* memory);
  const char* (*make_queue)(void* state, void** queue); /* of copies in order */
  void (*free_queue)(void* state, void* queue);
  const char* (*copy)(void* queue, void* to, const void* from, size_t bytes); /* returns at once */
  const char* (*wait)(void* queue);
  const char* (*finished)(void* queue, int* done);
};

/* Makes the program's own memory, bytes from pointer on, a valid argument of MPI calls until
 * plumb_mpi_unregister(pointer). state: the first argument of the functions of access, the same for all memory of one
 * device. The memory must not be freed before. From the first call on, an address in memory that access owns but that
 * is not registered ends the program with a message; other addresses go to MPI as they are. */
int plumb_mpi_register_memory(const struct plumb_mpi_access* access, void* state, void* pointer, size_t bytes);

/* pointer must not be in use by an MPI call. */
int plumb_mpi_unregister(void* pointer);

/* Frees an address returned by plumb_mpi_alloc, plumb_mpi_alloc_on or plumb_mpi_wrap. It must not be in use by an MPI
 * call. NULL does nothing. */
int plumb_mpi_free(void* address);

/* The memory object of an address on runtime opencl, and the address's offset in it in bytes. CL_MEM_CONTEXT of the
 * memory object is its context. */
int plumb_mpi_buffer(const void* address, struct _cl_mem** memory, size_t* offset);

/* The pointer that device code uses for an address: CUDA's device pointer; SYCL's unified shared memory;
 * host memory on runtime native. */
int plumb_mpi_pointer(const void* address, void** pointer);

/* Copies size bytes between addresses of a device or the host. Returns when the copy is complete. */
int plumb_mpi_copy(void* to, const void* from, size_t size);

/* Runs a kernel on the device with the address's buffer as argument, which changes nothing but its own counter there,
 * to the end: some runtimes copy a buffer again only if a kernel may have changed it. runs, if not NULL, receives how
 * often it has run on this device for this process, read from the device. */
int plumb_mpi_touch(void* address, unsigned long long* runs);

/* 1 for a device address, else 0. */
int plumb_mpi_is_device(const void* address);

/* Describes the latest failure of the functions above in this thread; "" if there was none. */
const char* plumb_mpi_error(void);

#ifdef __cplusplus
}
#endif

#endif
