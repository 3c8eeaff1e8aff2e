// A session of MPI 4, beside the world that MPI_Init began, and a communicator of all processes made in it.
#pragma once

#include <mpi.h>

#include <memory>

namespace plumb {

class MpiSession {
 public:
  MpiSession();  // collective; throws Error
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  // Why there are none, or null.
  static const char* missing();
  MPI_Comm communicator() const { return communicator_; }
  double seconds() const { return seconds_; }  // of MPI_Session_init

 private:
  std::shared_ptr<void> session_;  // an MPI_Session, where there are any
  MPI_Comm communicator_ = MPI_COMM_NULL;
  double seconds_ = 0;
};

}  // namespace plumb
