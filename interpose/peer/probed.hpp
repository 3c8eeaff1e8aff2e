// Messages that a probe has received from MPI (PLUMB_MPI_TRANSPORT=peer). The size of an offered message is in its
// envelope only, so a message of an envelope's size is received when probed, with those sent before it. It is kept here
// until the program receives it, before any other message of the same sender.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace plumb::interpose {

struct ProbedMessage {
  MPI_Comm comm = MPI_COMM_NULL;
  int source = MPI_PROC_NULL, tag = 0;
  std::vector<std::byte> content;  // as received from MPI

  // Fills source, tag and size.
  void describe(MPI_Status& status) const;
};

// Must precede the first probe; collective over this process only.
void begin_probing();

// MPI_Probe and, with a flag, MPI_Iprobe.
int probe_offered(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
// MPI_Mprobe and, with a flag, MPI_Improbe. A message kept here gets the handle of an empty message to this process.
int match_offered(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);

// Whether messages are kept here.
bool any_probed();

// The earliest message kept here that matches such a receive.
std::optional<ProbedMessage> take_probed(int from, int tag, MPI_Comm comm);
// The one with this handle of match_offered().
std::optional<ProbedMessage> take_probed(MPI_Message message);

// Whether a receive into such a room may get an envelope or a message kept here.
bool may_be_offered(std::size_t room);
bool may_be_offered(int count, MPI_Datatype type);

}  // namespace plumb::interpose
