#include "world/mpi_one_sided.hpp"

#include <algorithm>
#include <cstring>

namespace plumb {

MpiOneSided::MpiOneSided(World& world, std::size_t bytes, int contexts)
    : world_(world), size_(bytes), values_(static_cast<std::size_t>(contexts)) {
  check_mpi(MPI_Win_allocate(allocated_window(std::max<std::size_t>(bytes, 8)), 1, MPI_INFO_NULL,
                             transport_communicator(world), &memory_, &window_),
            "allocate a window");
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  std::memset(memory_, 0, bytes);
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "lock a window for all");
  synchronise();
}

MpiOneSided::~MpiOneSided() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void MpiOneSided::synchronise() {
  checked(MPI_Win_flush_all(window_), "complete all operations");
  checked(MPI_Win_sync(window_), "synchronise a window");
  world_.barrier();
  checked(MPI_Win_sync(window_), "synchronise a window");
}

void MpiOneSided::move_on() {
  int arrived = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, transport_communicator(world_), &arrived, MPI_STATUS_IGNORE);
}

namespace {

const RegisteredOneSided registered_mpi_one_sided("mpi", [](World& world, std::size_t bytes, int contexts) {
  return std::make_unique<MpiOneSided>(world, bytes, contexts);
});

}  // namespace

}  // namespace plumb
