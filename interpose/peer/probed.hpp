// Messages that a probe took from MPI (PLUMB_MPI_TRANSPORT=peer). Only its envelope's bytes tell the size of a message
// that is offered, so one of an envelope's size is received when it is probed, and what came before it, and lies here
// until the program receives it: before all that MPI has of the same sender.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace plumb::interpose {

struct ProbedMessage {
  MPI_Comm comm = MPI_COMM_NULL;
  int source = MPI_PROC_NULL, tag = 0;
  std::vector<std::byte> content;  // as it came by MPI

  // Source, tag and size of the message.
  void describe(MPI_Status& status) const;
};

// Before the first probe; collective over the own process only.
void begin_probing();

// MPI_Probe and, with a flag, MPI_Iprobe.
int probe_offered(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
// MPI_Mprobe and, with a flag, MPI_Improbe. What is here gets the handle of an empty message to the own process.
int match_offered(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);

// The earliest message here that such a receive matches.
std::optional<ProbedMessage> take_probed(int from, int tag, MPI_Comm comm);
// The one that match_offered() gave this handle.
std::optional<ProbedMessage> take_probed(MPI_Message message);

}  // namespace plumb::interpose
