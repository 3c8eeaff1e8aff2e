// MPI 4's additions, under their later names; null if the library lacks them. Open MPI has the
// persistent collectives before that as an extension.
#pragma once

#include <mpi.h>

#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 4
#define PLUMB_LATER(name) MPI_##name
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PLUMB_LATER(name) MPIX_##name
#else
#define PLUMB_LATER(name) nullptr
#endif

namespace plumb::mpi_later {

inline constexpr auto allgather_init = PLUMB_LATER(Allgather_init);
inline constexpr auto allgatherv_init = PLUMB_LATER(Allgatherv_init);
inline constexpr auto allreduce_init = PLUMB_LATER(Allreduce_init);
inline constexpr auto alltoall_init = PLUMB_LATER(Alltoall_init);
inline constexpr auto alltoallv_init = PLUMB_LATER(Alltoallv_init);
inline constexpr auto alltoallw_init = PLUMB_LATER(Alltoallw_init);
inline constexpr auto barrier_init = PLUMB_LATER(Barrier_init);
inline constexpr auto bcast_init = PLUMB_LATER(Bcast_init);
inline constexpr auto gather_init = PLUMB_LATER(Gather_init);
inline constexpr auto gatherv_init = PLUMB_LATER(Gatherv_init);
inline constexpr auto reduce_init = PLUMB_LATER(Reduce_init);
inline constexpr auto reduce_scatter_init = PLUMB_LATER(Reduce_scatter_init);
inline constexpr auto scatter_init = PLUMB_LATER(Scatter_init);
inline constexpr auto scatterv_init = PLUMB_LATER(Scatterv_init);

// MPI 4 only.
#if MPI_VERSION >= 4
inline constexpr auto psend_init = MPI_Psend_init;
inline constexpr auto precv_init = MPI_Precv_init;
inline constexpr auto pready = MPI_Pready;
#else
inline constexpr decltype(nullptr) psend_init = nullptr, precv_init = nullptr, pready = nullptr;
#endif

}  // namespace plumb::mpi_later

#undef PLUMB_LATER
