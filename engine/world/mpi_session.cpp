#include "world/mpi_session.hpp"

#include "core/error.hpp"
#include "world/mpi.hpp"
#include "world/mpi_later.hpp"

namespace plumb {

#if MPI_VERSION >= 4

const char* MpiSession::missing() {
  return MPI_Session_init == nullptr ? "this MPI library has no sessions (MPI 4)" : nullptr;
}

MpiSession::MpiSession() {
  session_ = std::make_shared<MPI_Session>(MPI_SESSION_NULL);
  auto* session = static_cast<MPI_Session*>(session_.get());
  MPI_Group all = MPI_GROUP_NULL;
  const double begin = MPI_Wtime();
  check_mpi(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session), "begin a session");
  seconds_ = MPI_Wtime() - begin;
  check_mpi(MPI_Group_from_session_pset(*session, "mpi://WORLD", &all), "find the processes of a session");
  check_mpi(MPI_Comm_create_from_group(all, "plumbline", MPI_INFO_NULL, MPI_ERRORS_RETURN, &communicator_),
            "make a communicator of a session");
  MPI_Group_free(&all);
}

MpiSession::~MpiSession() {
  MPI_Comm_free(&communicator_);
  MPI_Session_finalize(static_cast<MPI_Session*>(session_.get()));
}

#else

const char* MpiSession::missing() {
  return "this MPI library has no sessions (MPI 4)";
}
MpiSession::MpiSession() {
  throw Unsupported(missing());
}
MpiSession::~MpiSession() = default;

#endif

}  // namespace plumb
