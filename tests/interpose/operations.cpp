#include "operations.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "parts.hpp"

namespace plumb::stress {

namespace {

using Operation = std::vector<int> (*)(Random&, MPI_Comm, const Memory&);

constexpr std::array<std::pair<const char*, Operation>, 12> operations{{{"blocking", blocking},
                                                                        {"nonblocking", nonblocking},
                                                                        {"persistent", persistent},
                                                                        {"sendrecv", exchanged},
                                                                        {"probe", probed},
                                                                        {"bcast", one_to_all},
                                                                        {"gather", gathered},
                                                                        {"scatter", scattered},
                                                                        {"allgather", all_gathered},
                                                                        {"alltoall", all_to_all},
                                                                        {"reduce", reduced},
                                                                        {"scan", scanned}}};

// Messages that are offered (transport peer) cannot be probed.
bool can_probe() {
  const char* transport = std::getenv("PLUMB_MPI_TRANSPORT");
  return transport == nullptr || std::string(transport) != "peer";
}

}  // namespace

std::vector<int> operate(Random random, MPI_Comm comm, const Memory& memory, std::string& name) {
  const auto& [its_name, operation] = operations[static_cast<std::size_t>(random.between(0, operations.size() - 1))];
  name = its_name;
  if (operation == probed && !can_probe()) return exchanged(random, comm, memory);
  return operation(random, comm, memory);
}

}  // namespace plumb::stress
