/* Heat in a square plate, on OpenCL devices of several MPI ranks: each rank has a block of the plate in its device's
 * memory, and MPI moves edges from device to device. An ordinary program of MPI and OpenCL, except for MPI's use of
 * device memory, enabled by the lines marked (*).
 *
 *   mpicc heat.c -lplumb-mpi-device -lOpenCL -o heat
 *   mpirun -n 4 heat [points of a side of the plate] [steps]
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "plumb_mpi.h" /* (*) */

static const char* source =
    "kernel void step_heat(global const float* old, global float* new, int columns) {\n"
    "  size_t i = (get_global_id(1) + 1) * columns + get_global_id(0) + 1;\n"
    "  new[i] = 0.25f * (old[i - 1] + old[i + 1] + old[i - columns] + old[i + columns]);\n"
    "}\n";

static void need(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "heat: could not %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The upper edge is hot, the others are cold. */
static void set_plate(float* plate, int rows, int columns, int hot) {
  for (int i = 0; i < rows * columns; ++i) plate[i] = hot && i < columns ? 100.0f : 0.0f;
}

/* Exchanges edges with the four neighbours, into the frame around this block; memory is an address for MPI. */
static void exchange_edges(float* block, int rows, int columns, MPI_Datatype row, MPI_Datatype column, MPI_Comm plate) {
  int up, down, left, right;
  MPI_Request requests[8];
  MPI_Cart_shift(plate, 0, 1, &up, &down);
  MPI_Cart_shift(plate, 1, 1, &left, &right);
  MPI_Irecv(block + 1, 1, row, up, 0, plate, &requests[0]);
  MPI_Irecv(block + (rows - 1) * columns + 1, 1, row, down, 1, plate, &requests[1]);
  MPI_Irecv(block + columns, 1, column, left, 2, plate, &requests[2]);
  MPI_Irecv(block + 2 * columns - 1, 1, column, right, 3, plate, &requests[3]);
  MPI_Isend(block + (rows - 2) * columns + 1, 1, row, down, 0, plate, &requests[4]);
  MPI_Isend(block + columns + 1, 1, row, up, 1, plate, &requests[5]);
  MPI_Isend(block + 2 * columns - 2, 1, column, right, 2, plate, &requests[6]);
  MPI_Isend(block + columns + 1, 1, column, left, 3, plate, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* Compares with a computation on the host: the largest difference over this rank's block. */
static double difference(const float* block, int rows, int columns, int points, int steps, int row0, int column0) {
  const int side = points + 2;
  float* old = malloc(sizeof(float) * side * side);
  float* new = malloc(sizeof(float) * side * side);
  double largest = 0;
  set_plate(old, side, side, 1);
  set_plate(new, side, side, 1);
  for (int s = 0; s < steps; ++s) {
    for (int i = 1; i <= points; ++i)
      for (int j = 1; j <= points; ++j)
        new[i * side + j] =
            0.25f * (old[i * side + j - 1] + old[i * side + j + 1] + old[(i - 1) * side + j] + old[(i + 1) * side + j]);
    float* last = old;
    old = new;
    new = last;
  }
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 1; j < columns - 1; ++j)
      largest = fmax(largest, fabs(block[i * columns + j] - old[(row0 + i) * side + column0 + j]));
  free(old);
  free(new);
  return largest;
}

int main(int argc, char** argv) {
  int ranks, dimensions[2] = {0, 0}, periods[2] = {0, 0}, at[2], rank;
  MPI_Comm plate;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dimensions);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 1, &plate);
  MPI_Comm_rank(plate, &rank);
  MPI_Cart_coords(plate, rank, 2, at);
  const int steps = argc > 2 ? atoi(argv[2]) : 50, wanted = argc > 1 ? atoi(argv[1]) : 64;
  const int points = wanted / (dimensions[0] * dimensions[1]) * dimensions[0] * dimensions[1];
  need(points > 0 && steps > 0, "divide the plate among the ranks");
  const int rows = points / dimensions[0] + 2, columns = points / dimensions[1] + 2; /* with a frame */
  const size_t bytes = sizeof(float) * rows * columns;

  cl_platform_id platform;
  cl_device_id device;
  need(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "find an OpenCL platform");
  need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "find an OpenCL device");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  need(clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS, "compile the kernel");
  cl_kernel kernel = clCreateKernel(program, "step_heat", NULL);

  float* block = malloc(bytes);
  set_plate(block, rows, columns, at[0] == 0);
  cl_mem memory[2];
  void* address[2];
  for (int i = 0; i < 2; ++i) {
    memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, block, NULL);
    need(plumb_mpi_wrap(memory[i], bytes, &address[i]) == 0, "give MPI the block"); /* (*) */
  }

  MPI_Datatype row, column;
  MPI_Type_contiguous(columns - 2, MPI_FLOAT, &row);
  MPI_Type_vector(rows - 2, 1, columns, MPI_FLOAT, &column);
  MPI_Type_commit(&row);
  MPI_Type_commit(&column);
  const size_t range[2] = {columns - 2, rows - 2};
  for (int s = 0; s < steps; ++s) {
    exchange_edges(address[s % 2], rows, columns, row, column, plate);
    clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory[s % 2]);
    clSetKernelArg(kernel, 1, sizeof(cl_mem), &memory[1 - s % 2]);
    clSetKernelArg(kernel, 2, sizeof(int), &columns);
    need(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, range, NULL, 0, NULL, NULL) == CL_SUCCESS, "start the kernel");
    clFinish(queue);
  }

  clEnqueueReadBuffer(queue, memory[steps % 2], CL_TRUE, 0, bytes, block, 0, NULL, NULL);
  double own = difference(block, rows, columns, points, steps, at[0] * (rows - 2), at[1] * (columns - 2)), worst;
  MPI_Allreduce(&own, &worst, 1, MPI_DOUBLE, MPI_MAX, plate);
  if (rank == 0)
    printf("%d x %d points, %d steps, %d ranks: largest difference from one host %g\n", points, points, steps, ranks,
           worst);

  for (int i = 0; i < 2; ++i) {
    plumb_mpi_free(address[i]); /* (*) */
    clReleaseMemObject(memory[i]);
  }
  MPI_Type_free(&row);
  MPI_Type_free(&column);
  free(block);
  MPI_Finalize();
  return worst < 1e-4 ? 0 : 1;
}
