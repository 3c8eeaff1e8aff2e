// Exchanges as non-blocking MPI sends and receives, of any memory whose addresses the library accepts.
#pragma once

#include <functional>
#include <memory>

#include "transport/transport.hpp"
#include "world/mpi.hpp"

namespace plumb {

// The address of a view for MPI; throws Unsupported if it has none.
using MessageAddress = std::function<std::byte*(const BufferView&)>;

std::unique_ptr<CompiledExchange> compile_mpi(const Exchange& exchange, MPI_Comm communicator,
                                              const MessageAddress& address);

}  // namespace plumb
