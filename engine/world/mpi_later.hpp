// MPI 4's additions, under their later names; null if the library lacks them: the one that is built with, or, as they
// are weak, the one that is run with. Open MPI has the persistent collectives before that as an extension.
#pragma once

#include <mpi.h>

#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 4
#pragma weak MPI_Allgather_init
#pragma weak MPI_Allgatherv_init
#pragma weak MPI_Allreduce_init
#pragma weak MPI_Alltoall_init
#pragma weak MPI_Alltoallv_init
#pragma weak MPI_Alltoallw_init
#pragma weak MPI_Barrier_init
#pragma weak MPI_Bcast_init
#pragma weak MPI_Gather_init
#pragma weak MPI_Gatherv_init
#pragma weak MPI_Reduce_init
#pragma weak MPI_Reduce_scatter_init
#pragma weak MPI_Scatter_init
#pragma weak MPI_Scatterv_init
#pragma weak MPI_Psend_init
#pragma weak MPI_Precv_init
#pragma weak MPI_Pready
#pragma weak MPI_Session_init
#pragma weak MPI_Session_finalize
#pragma weak MPI_Group_from_session_pset
#pragma weak MPI_Comm_create_from_group
#define PLUMB_LATER(name) MPI_##name
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PLUMB_LATER(name) MPIX_##name
#else
#define PLUMB_LATER(name) nullptr
#endif

namespace plumb::mpi_later {

inline const auto allgather_init = PLUMB_LATER(Allgather_init);
inline const auto allgatherv_init = PLUMB_LATER(Allgatherv_init);
inline const auto allreduce_init = PLUMB_LATER(Allreduce_init);
inline const auto alltoall_init = PLUMB_LATER(Alltoall_init);
inline const auto alltoallv_init = PLUMB_LATER(Alltoallv_init);
inline const auto alltoallw_init = PLUMB_LATER(Alltoallw_init);
inline const auto barrier_init = PLUMB_LATER(Barrier_init);
inline const auto bcast_init = PLUMB_LATER(Bcast_init);
inline const auto gather_init = PLUMB_LATER(Gather_init);
inline const auto gatherv_init = PLUMB_LATER(Gatherv_init);
inline const auto reduce_init = PLUMB_LATER(Reduce_init);
inline const auto reduce_scatter_init = PLUMB_LATER(Reduce_scatter_init);
inline const auto scatter_init = PLUMB_LATER(Scatter_init);
inline const auto scatterv_init = PLUMB_LATER(Scatterv_init);

// MPI 4 only.
#if MPI_VERSION >= 4
inline const auto psend_init = MPI_Psend_init;
inline const auto precv_init = MPI_Precv_init;
inline const auto pready = MPI_Pready;
#else
inline constexpr decltype(nullptr) psend_init = nullptr, precv_init = nullptr, pready = nullptr;
#endif

}  // namespace plumb::mpi_later

#undef PLUMB_LATER
