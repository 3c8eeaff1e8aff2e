// MPICH's Fortran goes through C's entry points, but for those calls of its mpi_f08 that have no buffer: they are led
// there from here. Its handles, statuses and flags are the same in both languages.
#include <mpi.h>

namespace {

MPI_Status* one(MPI_Status* status) {
  return static_cast<void*>(status) == MPI_F08_STATUS_IGNORE ? MPI_STATUS_IGNORE : status;
}

MPI_Status* all(MPI_Status* statuses) {
  return static_cast<void*>(statuses) == MPI_F08_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : statuses;
}

// error: null where the program leaves it out.
void give(int* error, int code) {
  if (error != nullptr) *error = code;
}

void count_from_one(int* index) {
  if (*index != MPI_UNDEFINED) ++*index;
}

void count_from_one(int* indices, int completed) {
  for (int i = 0; completed != MPI_UNDEFINED && i < completed; ++i) ++indices[i];
}

}  // namespace

extern "C" {

void mpi_init_f08_(int* error) {
  give(error, MPI_Init(nullptr, nullptr));
}

void mpi_finalize_f08_(int* error) {
  give(error, MPI_Finalize());
}

void mpi_init_thread_f08_(const int* required, int* provided, int* error) {
  give(error, MPI_Init_thread(nullptr, nullptr, *required, provided));
}

void mpi_start_f08_(MPI_Request* request, int* error) {
  give(error, MPI_Start(request));
}

void mpi_startall_f08_(const int* count, MPI_Request* requests, int* error) {
  give(error, MPI_Startall(*count, requests));
}

void mpi_wait_f08_(MPI_Request* request, MPI_Status* status, int* error) {
  give(error, MPI_Wait(request, one(status)));
}

void mpi_waitall_f08_(const int* count, MPI_Request* requests, MPI_Status* statuses, int* error) {
  give(error, MPI_Waitall(*count, requests, all(statuses)));
}

void mpi_waitany_f08_(const int* count, MPI_Request* requests, int* index, MPI_Status* status, int* error) {
  give(error, MPI_Waitany(*count, requests, index, one(status)));
  count_from_one(index);
}

void mpi_waitsome_f08_(const int* count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses,
                       int* error) {
  give(error, MPI_Waitsome(*count, requests, completed, indices, all(statuses)));
  count_from_one(indices, *completed);
}

void mpi_test_f08_(MPI_Request* request, int* flag, MPI_Status* status, int* error) {
  give(error, MPI_Test(request, flag, one(status)));
}

void mpi_testall_f08_(const int* count, MPI_Request* requests, int* flag, MPI_Status* statuses, int* error) {
  give(error, MPI_Testall(*count, requests, flag, all(statuses)));
}

void mpi_testany_f08_(const int* count, MPI_Request* requests, int* index, int* flag, MPI_Status* status, int* error) {
  give(error, MPI_Testany(*count, requests, index, flag, one(status)));
  if (*flag != 0) count_from_one(index);
}

void mpi_testsome_f08_(const int* count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses,
                       int* error) {
  give(error, MPI_Testsome(*count, requests, completed, indices, all(statuses)));
  count_from_one(indices, *completed);
}

void mpi_request_get_status_f08_(const MPI_Request* request, int* flag, MPI_Status* status, int* error) {
  give(error, MPI_Request_get_status(*request, flag, one(status)));
}

void mpi_request_free_f08_(MPI_Request* request, int* error) {
  give(error, MPI_Request_free(request));
}

void mpi_cancel_f08_(MPI_Request* request, int* error) {
  give(error, MPI_Cancel(request));
}

void mpi_probe_f08_(const int* from, const int* tag, const MPI_Comm* comm, MPI_Status* status, int* error) {
  give(error, MPI_Probe(*from, *tag, *comm, one(status)));
}

void mpi_iprobe_f08_(const int* from, const int* tag, const MPI_Comm* comm, int* flag, MPI_Status* status, int* error) {
  give(error, MPI_Iprobe(*from, *tag, *comm, flag, one(status)));
}

void mpi_mprobe_f08_(const int* from, const int* tag, const MPI_Comm* comm, MPI_Message* message, MPI_Status* status,
                     int* error) {
  give(error, MPI_Mprobe(*from, *tag, *comm, message, one(status)));
}

void mpi_improbe_f08_(const int* from, const int* tag, const MPI_Comm* comm, int* flag, MPI_Message* message,
                      MPI_Status* status, int* error) {
  give(error, MPI_Improbe(*from, *tag, *comm, flag, message, one(status)));
}

// Windows: what they are of is known to C's functions.
void mpi_win_free_f08_(MPI_Win* window, int* error) {
  give(error, MPI_Win_free(window));
}

void mpi_win_fence_f08_(const int* assertion, const MPI_Win* window, int* error) {
  give(error, MPI_Win_fence(*assertion, *window));
}

void mpi_win_post_f08_(const MPI_Group* group, const int* assertion, const MPI_Win* window, int* error) {
  give(error, MPI_Win_post(*group, *assertion, *window));
}

void mpi_win_start_f08_(const MPI_Group* group, const int* assertion, const MPI_Win* window, int* error) {
  give(error, MPI_Win_start(*group, *assertion, *window));
}

void mpi_win_complete_f08_(const MPI_Win* window, int* error) {
  give(error, MPI_Win_complete(*window));
}

void mpi_win_wait_f08_(const MPI_Win* window, int* error) {
  give(error, MPI_Win_wait(*window));
}

void mpi_win_test_f08_(const MPI_Win* window, int* flag, int* error) {
  give(error, MPI_Win_test(*window, flag));
}

void mpi_win_lock_f08_(const int* type, const int* rank, const int* assertion, const MPI_Win* window, int* error) {
  give(error, MPI_Win_lock(*type, *rank, *assertion, *window));
}

void mpi_win_lock_all_f08_(const int* assertion, const MPI_Win* window, int* error) {
  give(error, MPI_Win_lock_all(*assertion, *window));
}

void mpi_win_unlock_f08_(const int* rank, const MPI_Win* window, int* error) {
  give(error, MPI_Win_unlock(*rank, *window));
}

void mpi_win_unlock_all_f08_(const MPI_Win* window, int* error) {
  give(error, MPI_Win_unlock_all(*window));
}

void mpi_win_flush_f08_(const int* rank, const MPI_Win* window, int* error) {
  give(error, MPI_Win_flush(*rank, *window));
}

void mpi_win_flush_all_f08_(const MPI_Win* window, int* error) {
  give(error, MPI_Win_flush_all(*window));
}

void mpi_win_flush_local_f08_(const int* rank, const MPI_Win* window, int* error) {
  give(error, MPI_Win_flush_local(*rank, *window));
}

void mpi_win_flush_local_all_f08_(const MPI_Win* window, int* error) {
  give(error, MPI_Win_flush_local_all(*window));
}

void mpi_win_sync_f08_(const MPI_Win* window, int* error) {
  give(error, MPI_Win_sync(*window));
}

}  // extern "C"
