// Intercommunicators under device memory.
#pragma once

namespace plumb::doors {

// Messages and collectives between two halves of the ranks (an even number), on device memory as on the host's. Throws
// std::runtime_error naming what differs.
void try_groups();

}  // namespace plumb::doors
