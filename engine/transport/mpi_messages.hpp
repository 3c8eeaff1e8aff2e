// Exchanges as non-blocking MPI sends and receives, of whatever memory the library takes addresses of.
#pragma once

#include <functional>
#include <memory>

#include "transport/transport.hpp"
#include "world/mpi.hpp"

namespace plumb {

// The address that MPI is given for a view; throws Unsupported where there is none.
using MessageAddress = std::function<std::byte*(const BufferView&)>;

std::unique_ptr<CompiledExchange> compile_mpi(const Exchange& exchange, MPI_Comm communicator,
                                              const MessageAddress& address);

}  // namespace plumb
