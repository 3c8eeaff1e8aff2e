/* Device memory for MPI programs: link with libplumb-mpi-device (before MPI), or preload it, and allocate through
 * plumb_mpi_alloc. An address that it gives may be passed to MPI calls like any other; the CPU cannot read it.
 *
 * Which device: PLUMB_MPI_RUNTIME (opencl, cuda, native), PLUMB_MPI_DEVICE (a number, a type or a part of the name) and
 * PLUMB_MPI_MEMORY (default, host, svm, ddr:0, ...). Unset, ranks of one host are dealt the devices of the first
 * platform in turn. PLUMB_MPI_TRANSPORT: staged, or peer for messages from device to device on one host.
 *
 * Every function that returns an int returns 0, or another value and then plumb_mpi_error() says what was wrong. Any
 * thread may call them. What the program does with a buffer by queues of its own must be finished before MPI gets the
 * address. An MPI call that cannot be done (a freed buffer, bytes past the end, a call that takes no device memory)
 * ends the program by MPI_Abort with a sentence. */
#ifndef PLUMB_MPI_H
#define PLUMB_MPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_mem; /* cl_mem is a pointer to it */

/* size bytes (at least 1) of the device that the environment names; contents are undefined. After MPI_Init. */
int plumb_mpi_alloc(size_t size, void** address);

/* The same with the choice as arguments, each as its variable has it; NULL = as the environment says. */
int plumb_mpi_alloc_on(const char* memory, const char* runtime, const char* device, size_t size, void** address);

/* An address for the first size bytes of an OpenCL buffer of the program's own. It is retained until plumb_mpi_free. */
int plumb_mpi_wrap(struct _cl_mem* memory, size_t size, void** address);

/* Ends an address that one of the above gave. No MPI call may be using it. NULL does nothing. */
int plumb_mpi_free(void* address);

/* What lies behind an address on runtime opencl: the memory object, and the address's offset in it in bytes. Its
 * context is CL_MEM_CONTEXT of the memory object. */
int plumb_mpi_buffer(const void* address, struct _cl_mem** memory, size_t* offset);

/* What code on the device calls an address: CUDA's device pointer; on runtime native, memory of the host. */
int plumb_mpi_pointer(const void* address, void** pointer);

/* Copies size bytes; each side is a device address or the host's. Returns when they are there. */
int plumb_mpi_copy(void* to, const void* from, size_t size);

/* 1 for an address of a device, 0 for any other. */
int plumb_mpi_is_device(const void* address);

/* What was wrong in this thread's latest call above that failed; "" when none has. */
const char* plumb_mpi_error(void);

#ifdef __cplusplus
}
#endif

#endif
