// Of MPI 4 what takes an address: counts of type MPI_Count, persistent collectives, partitioned messages. Compiled
// where the library has MPI 4. Calls with one count an operand are done, by those with counts of type int, and
// one-sided calls as they are.
#include "interpose/calls/packing.hpp"
#include "interpose/calls/pass.hpp"
#include "interpose/collectives/neighbourhood.hpp"
#include "interpose/collectives/vector_collectives.hpp"
#include "interpose/staging/freed_requests.hpp"
#include "interpose/windows/one_sided.hpp"
#include "interpose/windows/window_creation.hpp"

namespace plumb::interpose {

namespace {

// The half of MPI_Isendrecv that sends: a packed copy, so that its request is the receive's alone. (Of PMPI_Isendrecv
// MPICH's status does not tell how much came.)
int send_copy(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return or_abort(name, [&] {
    Request request;
    request.call = std::make_shared<Call>(name);
    request.under_way = true;
    int room = 0, size = 0;
    PMPI_Pack_size(count, type, comm, &room);
    std::byte* packed = request.call->own_memory(static_cast<std::size_t>(room));
    int code = MPI_Pack(from, count, type, packed, room, &size, comm);
    if (code == MPI_SUCCESS) code = PMPI_Isend(packed, size, MPI_PACKED, to, tag, comm, &request.inner);
    if (code == MPI_SUCCESS) keep_freed(std::move(request));
    return code;
  });
}

}  // namespace

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

int MPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Allgather_init>("MPI_Allgather_init", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                   comm, info, request);
}

int MPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                        const int* displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Allgatherv_init>("MPI_Allgatherv_init", sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                    recvtype, comm, info, request);
}

int MPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Allreduce_init>("MPI_Allreduce_init", sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Alltoall_init>("MPI_Alltoall_init", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                  info, request);
}

int MPI_Alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Alltoallv_init>("MPI_Alltoallv_init", sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                   rdispls, recvtype, comm, info, request);
}

int MPI_Alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Alltoallw_init>("MPI_Alltoallw_init", sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                   rdispls, recvtypes, comm, info, request);
}

int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                   MPI_Request* request) {
  return pass<PMPI_Bcast_init>("MPI_Bcast_init", buffer, count, datatype, root, comm, info, request);
}

int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Exscan_init>("MPI_Exscan_init", sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Gather_init>("MPI_Gather_init", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                comm, info, request);
}

int MPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                     const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request* request) {
  return pass<PMPI_Gatherv_init>("MPI_Gatherv_init", sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, root, comm, info, request);
}

int MPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Neighbor_allgather_init>("MPI_Neighbor_allgather_init", sendbuf, sendcount, sendtype, recvbuf,
                                            recvcount, recvtype, comm, info, request);
}

int MPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Neighbor_allgatherv_init>("MPI_Neighbor_allgatherv_init", sendbuf, sendcount, sendtype, recvbuf,
                                             recvcounts, displs, recvtype, comm, info, request);
}

int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Neighbor_alltoall_init>("MPI_Neighbor_alltoall_init", sendbuf, sendcount, sendtype, recvbuf,
                                           recvcount, recvtype, comm, info, request);
}

int MPI_Neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                                void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Neighbor_alltoallv_init>("MPI_Neighbor_alltoallv_init", sendbuf, sendcounts, sdispls, sendtype,
                                            recvbuf, recvcounts, rdispls, recvtype, comm, info, request);
}

int MPI_Neighbor_alltoallw_init(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                                const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  return pass<PMPI_Neighbor_alltoallw_init>("MPI_Neighbor_alltoallw_init", sendbuf, sendcounts, sdispls, sendtypes,
                                            recvbuf, recvcounts, rdispls, recvtypes, comm, info, request);
}

int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Reduce_init>("MPI_Reduce_init", sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}

int MPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Reduce_scatter_block_init>("MPI_Reduce_scatter_block_init", sendbuf, recvbuf, recvcount, datatype,
                                              op, comm, info, request);
}

int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Reduce_scatter_init>("MPI_Reduce_scatter_init", sendbuf, recvbuf, recvcounts, datatype, op, comm,
                                        info, request);
}

int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Scan_init>("MPI_Scan_init", sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Scatter_init>("MPI_Scatter_init", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                 comm, info, request);
}

int MPI_Scatterv_init(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
                      void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request) {
  return pass<PMPI_Scatterv_init>("MPI_Scatterv_init", sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                  recvtype, root, comm, info, request);
}

int MPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Precv_init>("MPI_Precv_init", buf, partitions, count, datatype, dest, tag, comm, info, request);
}

int MPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Psend_init>("MPI_Psend_init", buf, partitions, count, datatype, dest, tag, comm, info, request);
}

int MPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(sendbuf) && !is_device(recvbuf) && !offers_on) [[likely]]
    return PMPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                          comm, request);
  const int code = send_copy("MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm);
  return code == MPI_SUCCESS ? MPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request) : code;
}

int MPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request* request) {
  if (!is_device(buf) && !offers_on) [[likely]]
    return PMPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
  const int code = send_copy("MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, comm);
  return code == MPI_SUCCESS ? MPI_Irecv(buf, count, datatype, source, recvtag, comm, request) : code;
}

int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  return narrow_all<PMPI_Allgather_c, MPI_Allgather>("MPI_Allgather_c", sendbuf, sendcount, sendtype, recvbuf,
                                                     recvcount, recvtype, comm);
}

int MPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
  return pass<PMPI_Allgather_init_c>("MPI_Allgather_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                     comm, info, request);
}

int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgatherv_by<PMPI_Allgatherv_c>("MPI_Allgatherv_c", sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, comm);
}

int MPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Allgatherv_init_c>("MPI_Allgatherv_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                      displs, recvtype, comm, info, request);
}

int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm) {
  return narrow_all<PMPI_Allreduce_c, MPI_Allreduce>("MPI_Allreduce_c", sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Allreduce_init_c>("MPI_Allreduce_init_c", sendbuf, recvbuf, count, datatype, op, comm, info,
                                     request);
}

int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  return narrow_all<PMPI_Alltoall_c, MPI_Alltoall>("MPI_Alltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype, comm);
}

int MPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request) {
  return pass<PMPI_Alltoall_init_c>("MPI_Alltoall_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm, info, request);
}

int MPI_Alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                    void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                    MPI_Comm comm) {
  return alltoallv_by<PMPI_Alltoallv_c>("MPI_Alltoallv_c", sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                        rdispls, recvtype, comm);
}

int MPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Alltoallv_init_c>("MPI_Alltoallv_init_c", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                     recvcounts, rdispls, recvtype, comm, info, request);
}

int MPI_Alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                    const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                    const MPI_Datatype* recvtypes, MPI_Comm comm) {
  return alltoallw_by<PMPI_Alltoallw_c>("MPI_Alltoallw_c", sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                        rdispls, recvtypes, comm);
}

int MPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                         const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                         const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
  return pass<PMPI_Alltoallw_init_c>("MPI_Alltoallw_init_c", sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                     recvcounts, rdispls, recvtypes, comm, info, request);
}

int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return narrow_all<PMPI_Bcast_c, MPI_Bcast>("MPI_Bcast_c", buffer, count, datatype, root, comm);
}

int MPI_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request* request) {
  return pass<PMPI_Bcast_init_c>("MPI_Bcast_init_c", buffer, count, datatype, root, comm, info, request);
}

int MPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return narrow<PMPI_Exscan_c, MPI_Exscan>("MPI_Exscan_c", sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Exscan_init_c>("MPI_Exscan_init_c", sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return narrow_all<PMPI_Gather_c, MPI_Gather>("MPI_Gather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                               recvtype, root, comm);
}

int MPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request) {
  return pass<PMPI_Gather_init_c>("MPI_Gather_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                  comm, info, request);
}

int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gatherv_by<PMPI_Gatherv_c>("MPI_Gatherv_c", sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                    recvtype, root, comm);
}

int MPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Gatherv_init_c>("MPI_Gatherv_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, root, comm, info, request);
}

int MPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Iallgather_c, MPI_Iallgather>("MPI_Iallgather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype, comm, request);
}

int MPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request* request) {
  return allgatherv_by<PMPI_Iallgatherv_c>("MPI_Iallgatherv_c", sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                           displs, recvtype, comm, request);
}

int MPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Iallreduce_c, MPI_Iallreduce>("MPI_Iallreduce_c", sendbuf, recvbuf, count, datatype, op, comm,
                                                   request);
}

int MPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Ialltoall_c, MPI_Ialltoall>("MPI_Ialltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                 recvtype, comm, request);
}

int MPI_Ialltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                     void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request* request) {
  return alltoallv_by<PMPI_Ialltoallv_c>("MPI_Ialltoallv_c", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                         recvcounts, rdispls, recvtype, comm, request);
}

int MPI_Ialltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                     const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                     const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request) {
  return alltoallw_by<PMPI_Ialltoallw_c>("MPI_Ialltoallw_c", sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                         recvcounts, rdispls, recvtypes, comm, request);
}

int MPI_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Ibcast_c, MPI_Ibcast>("MPI_Ibcast_c", buffer, count, datatype, root, comm, request);
}

int MPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                  MPI_Request* request) {
  return narrow<PMPI_Iexscan_c, MPI_Iexscan>("MPI_Iexscan_c", sendbuf, recvbuf, count, datatype, op, comm, request);
}

int MPI_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Igather_c, MPI_Igather>("MPI_Igather_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                             recvtype, root, comm, request);
}

int MPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request* request) {
  return gatherv_by<PMPI_Igatherv_c>("MPI_Igatherv_c", sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                     recvtype, root, comm, request);
}

int MPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return neighbor_allgather_by<PMPI_Ineighbor_allgather_c>("MPI_Ineighbor_allgather_c", sendbuf, sendcount, sendtype,
                                                           recvbuf, recvcount, recvtype, comm, request);
}

int MPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request* request) {
  return neighbor_allgatherv_by<PMPI_Ineighbor_allgatherv_c>("MPI_Ineighbor_allgatherv_c", sendbuf, sendcount, sendtype,
                                                             recvbuf, recvcounts, displs, recvtype, comm, request);
}

int MPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return neighbor_alltoall_by<PMPI_Ineighbor_alltoall_c>("MPI_Ineighbor_alltoall_c", sendbuf, sendcount, sendtype,
                                                         recvbuf, recvcount, recvtype, comm, request);
}

int MPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                              MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                              const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return neighbor_alltoallv_by<PMPI_Ineighbor_alltoallv_c>("MPI_Ineighbor_alltoallv_c", sendbuf, sendcounts, sdispls,
                                                           sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                                                           request);
}

int MPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                              const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                              const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                              MPI_Request* request) {
  return neighbor_alltoallw_by<PMPI_Ineighbor_alltoallw_c>("MPI_Ineighbor_alltoallw_c", sendbuf, sendcounts, sdispls,
                                                           sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                                                           request);
}

int MPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Ireduce_c, MPI_Ireduce>("MPI_Ireduce_c", sendbuf, recvbuf, count, datatype, op, root, comm,
                                             request);
}

int MPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return reduce_scatter_by<PMPI_Ireduce_scatter_c>("MPI_Ireduce_scatter_c", sendbuf, recvbuf, recvcounts, datatype, op,
                                                   comm, request);
}

int MPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Ireduce_scatter_block_c, MPI_Ireduce_scatter_block>(
      "MPI_Ireduce_scatter_block_c", sendbuf, recvbuf, recvcount, datatype, op, comm, request);
}

int MPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  return narrow<PMPI_Iscan_c, MPI_Iscan>("MPI_Iscan_c", sendbuf, recvbuf, count, datatype, op, comm, request);
}

int MPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return narrow<PMPI_Iscatter_c, MPI_Iscatter>("MPI_Iscatter_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                               recvtype, root, comm, request);
}

int MPI_Iscatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, MPI_Datatype sendtype,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request* request) {
  return scatterv_by<PMPI_Iscatterv_c>("MPI_Iscatterv_c", sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                       recvtype, root, comm, request);
}

int MPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_allgather_by<PMPI_Neighbor_allgather_c>("MPI_Neighbor_allgather_c", sendbuf, sendcount, sendtype,
                                                          recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return pass<PMPI_Neighbor_allgather_init_c>("MPI_Neighbor_allgather_init_c", sendbuf, sendcount, sendtype, recvbuf,
                                              recvcount, recvtype, comm, info, request);
}

int MPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                              MPI_Comm comm) {
  return neighbor_allgatherv_by<PMPI_Neighbor_allgatherv_c>("MPI_Neighbor_allgatherv_c", sendbuf, sendcount, sendtype,
                                                            recvbuf, recvcounts, displs, recvtype, comm);
}

int MPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Neighbor_allgatherv_init_c>("MPI_Neighbor_allgatherv_init_c", sendbuf, sendcount, sendtype, recvbuf,
                                               recvcounts, displs, recvtype, comm, info, request);
}

int MPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_alltoall_by<PMPI_Neighbor_alltoall_c>("MPI_Neighbor_alltoall_c", sendbuf, sendcount, sendtype,
                                                        recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  return pass<PMPI_Neighbor_alltoall_init_c>("MPI_Neighbor_alltoall_init_c", sendbuf, sendcount, sendtype, recvbuf,
                                             recvcount, recvtype, comm, info, request);
}

int MPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                             MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                             MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_alltoallv_by<PMPI_Neighbor_alltoallv_c>("MPI_Neighbor_alltoallv_c", sendbuf, sendcounts, sdispls,
                                                          sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int MPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                  MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                  const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return pass<PMPI_Neighbor_alltoallv_init_c>("MPI_Neighbor_alltoallv_init_c", sendbuf, sendcounts, sdispls, sendtype,
                                              recvbuf, recvcounts, rdispls, recvtype, comm, info, request);
}

int MPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                             const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                             const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  return neighbor_alltoallw_by<PMPI_Neighbor_alltoallw_c>("MPI_Neighbor_alltoallw_c", sendbuf, sendcounts, sdispls,
                                                          sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int MPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                  const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                  const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return pass<PMPI_Neighbor_alltoallw_init_c>("MPI_Neighbor_alltoallw_init_c", sendbuf, sendcounts, sdispls, sendtypes,
                                              recvbuf, recvcounts, rdispls, recvtypes, comm, info, request);
}

int MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm) {
  return narrow_all<PMPI_Reduce_c, MPI_Reduce>("MPI_Reduce_c", sendbuf, recvbuf, count, datatype, op, root, comm);
}

int MPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Reduce_init_c>("MPI_Reduce_init_c", sendbuf, recvbuf, count, datatype, op, root, comm, info,
                                  request);
}

int MPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  return narrow<PMPI_Reduce_local_c, MPI_Reduce_local>("MPI_Reduce_local_c", inbuf, inoutbuf, count, datatype, op);
}

int MPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm) {
  return reduce_scatter_by<PMPI_Reduce_scatter_c>("MPI_Reduce_scatter_c", sendbuf, recvbuf, recvcounts, datatype, op,
                                                  comm);
}

int MPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm) {
  return narrow_all<PMPI_Reduce_scatter_block_c, MPI_Reduce_scatter_block>("MPI_Reduce_scatter_block_c", sendbuf,
                                                                           recvbuf, recvcount, datatype, op, comm);
}

int MPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Reduce_scatter_block_init_c>("MPI_Reduce_scatter_block_init_c", sendbuf, recvbuf, recvcount,
                                                datatype, op, comm, info, request);
}

int MPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Reduce_scatter_init_c>("MPI_Reduce_scatter_init_c", sendbuf, recvbuf, recvcounts, datatype, op, comm,
                                          info, request);
}

int MPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return narrow<PMPI_Scan_c, MPI_Scan>("MPI_Scan_c", sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Scan_init_c>("MPI_Scan_init_c", sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return narrow_all<PMPI_Scatter_c, MPI_Scatter>("MPI_Scatter_c", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                 recvtype, root, comm);
}

int MPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request) {
  return pass<PMPI_Scatter_init_c>("MPI_Scatter_init_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                   root, comm, info, request);
}

int MPI_Scatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatterv_by<PMPI_Scatterv_c>("MPI_Scatterv_c", sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                      recvtype, root, comm);
}

int MPI_Scatterv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
  return pass<PMPI_Scatterv_init_c>("MPI_Scatterv_init_c", sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                    recvtype, root, comm, info, request);
}

int MPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
               MPI_Count* position, MPI_Comm comm) {
  return pack_by<PMPI_Pack_c, PMPI_Pack_size_c>("MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize, position,
                                                comm);
}

int MPI_Pack_external_c(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
                        MPI_Count outsize, MPI_Count* position) {
  return pack_external_by<PMPI_Pack_external_c, PMPI_Pack_external_size_c>(
      "MPI_Pack_external_c", datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

int MPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
                 MPI_Datatype datatype, MPI_Comm comm) {
  return unpack_by<PMPI_Unpack_c, PMPI_Pack_size_c>("MPI_Unpack_c", inbuf, insize, position, outbuf, outcount, datatype,
                                                    comm);
}

int MPI_Unpack_external_c(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                          MPI_Count outcount, MPI_Datatype datatype) {
  return unpack_external_by<PMPI_Unpack_external_c, PMPI_Pack_external_size_c>(
      "MPI_Unpack_external_c", datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

int MPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return narrow<PMPI_Bsend_c, MPI_Bsend>("MPI_Bsend_c", buf, count, datatype, dest, tag, comm);
}

int MPI_Bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  return narrow<PMPI_Bsend_init_c, MPI_Bsend_init>("MPI_Bsend_init_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Buffer_attach_c(void* buffer, MPI_Count size) {
  return pass<PMPI_Buffer_attach_c>("MPI_Buffer_attach_c", buffer, size);
}

int MPI_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return narrow<PMPI_Ibsend_c, MPI_Ibsend>("MPI_Ibsend_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
  return narrow_all<PMPI_Imrecv_c, MPI_Imrecv>("MPI_Imrecv_c", buf, count, datatype, message, request);
}

int MPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return narrow_all<PMPI_Irecv_c, MPI_Irecv>("MPI_Irecv_c", buf, count, datatype, source, tag, comm, request);
}

int MPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return narrow<PMPI_Irsend_c, MPI_Irsend>("MPI_Irsend_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return narrow<PMPI_Isend_c, MPI_Isend>("MPI_Isend_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Request* request) {
  return narrow_all<PMPI_Isendrecv_c, MPI_Isendrecv>("MPI_Isendrecv_c", sendbuf, sendcount, sendtype, dest, sendtag,
                                                     recvbuf, recvcount, recvtype, source, recvtag, comm, request);
}

int MPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                            int recvtag, MPI_Comm comm, MPI_Request* request) {
  return narrow_all<PMPI_Isendrecv_replace_c, MPI_Isendrecv_replace>("MPI_Isendrecv_replace_c", buf, count, datatype,
                                                                     dest, sendtag, source, recvtag, comm, request);
}

int MPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return narrow<PMPI_Issend_c, MPI_Issend>("MPI_Issend_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  return narrow_all<PMPI_Mrecv_c, MPI_Mrecv>("MPI_Mrecv_c", buf, count, datatype, message, status);
}

int MPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Status* status) {
  return narrow_all<PMPI_Recv_c, MPI_Recv>("MPI_Recv_c", buf, count, datatype, source, tag, comm, status);
}

int MPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  return narrow_all<PMPI_Recv_init_c, MPI_Recv_init>("MPI_Recv_init_c", buf, count, datatype, source, tag, comm,
                                                     request);
}

int MPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return narrow<PMPI_Rsend_c, MPI_Rsend>("MPI_Rsend_c", buf, count, datatype, dest, tag, comm);
}

int MPI_Rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  return narrow<PMPI_Rsend_init_c, MPI_Rsend_init>("MPI_Rsend_init_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return narrow<PMPI_Send_c, MPI_Send>("MPI_Send_c", buf, count, datatype, dest, tag, comm);
}

int MPI_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  return narrow<PMPI_Send_init_c, MPI_Send_init>("MPI_Send_init_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                   MPI_Status* status) {
  return narrow_all<PMPI_Sendrecv_c, MPI_Sendrecv>("MPI_Sendrecv_c", sendbuf, sendcount, sendtype, dest, sendtag,
                                                   recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

int MPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                           int recvtag, MPI_Comm comm, MPI_Status* status) {
  return narrow_all<PMPI_Sendrecv_replace_c, MPI_Sendrecv_replace>("MPI_Sendrecv_replace_c", buf, count, datatype, dest,
                                                                   sendtag, source, recvtag, comm, status);
}

int MPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return narrow<PMPI_Ssend_c, MPI_Ssend>("MPI_Ssend_c", buf, count, datatype, dest, tag, comm);
}

int MPI_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  return narrow<PMPI_Ssend_init_c, MPI_Ssend_init>("MPI_Ssend_init_c", buf, count, datatype, dest, tag, comm, request);
}

int MPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                     MPI_Win win) {
  return accumulate_by<PMPI_Accumulate_c>("MPI_Accumulate_c", origin_addr, origin_count, origin_datatype, target_rank,
                                          target_disp, target_count, target_datatype, op, win);
}

int MPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return get_by<PMPI_Get_c>("MPI_Get_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, win);
}

int MPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win) {
  return get_accumulate_by<PMPI_Get_accumulate_c>("MPI_Get_accumulate_c", origin_addr, origin_count, origin_datatype,
                                                  result_addr, result_count, result_datatype, target_rank, target_disp,
                                                  target_count, target_datatype, op, win);
}

int MPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return put_by<PMPI_Put_c>("MPI_Put_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, win);
}

int MPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                      MPI_Win win, MPI_Request* request) {
  return request_accumulate_by<PMPI_Raccumulate_c>("MPI_Raccumulate_c", origin_addr, origin_count, origin_datatype,
                                                   target_rank, target_disp, target_count, target_datatype, op, win,
                                                   request);
}

int MPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request* request) {
  return request_get_by<PMPI_Rget_c>("MPI_Rget_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                     target_count, target_datatype, win, request);
}

int MPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request* request) {
  return request_get_accumulate_by<PMPI_Rget_accumulate_c>(
      "MPI_Rget_accumulate_c", origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
      target_rank, target_disp, target_count, target_datatype, op, win, request);
}

int MPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request* request) {
  return request_put_by<PMPI_Rput_c>("MPI_Rput_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                     target_count, target_datatype, win, request);
}

int MPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return create_by<PMPI_Win_create_c>("MPI_Win_create_c", base, size, disp_unit, info, comm, win);
}

}  // extern "C"
