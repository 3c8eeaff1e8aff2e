#include "operations.hpp"

#include <array>
#include <utility>

#include "parts.hpp"

namespace plumb::stress {

namespace {

using Operation = std::vector<int> (*)(Random&, MPI_Comm, const Memory&);

constexpr std::array<std::pair<const char*, Operation>, 18> operations{{{"blocking", blocking},
                                                                        {"nonblocking", nonblocking},
                                                                        {"persistent", persistent},
                                                                        {"sendrecv", exchanged},
                                                                        {"freed", freed},
                                                                        {"probe", probed},
                                                                        {"probe_order", probed_out_of_order},
                                                                        {"bcast", one_to_all},
                                                                        {"gather", gathered},
                                                                        {"scatter", scattered},
                                                                        {"allgather", all_gathered},
                                                                        {"alltoall", all_to_all},
                                                                        {"reduce", reduced},
                                                                        {"scan", scanned},
                                                                        {"neighbours", neighbourly},
                                                                        {"pack", packed},
                                                                        {"reduce_local", reduced_locally},
                                                                        {"window", one_sided}}};

}  // namespace

std::string operation_names() {
  std::string names;
  for (const auto& operation : operations) names += std::string(names.empty() ? "" : ", ") + operation.first;
  return names;
}

std::vector<int> operate(Random random, MPI_Comm comm, const Memory& memory, const std::string& only,
                         std::string& name) {
  std::size_t at = static_cast<std::size_t>(random.between(0, operations.size() - 1));
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (only == operations[i].first) at = i;
  name = operations[at].first;
  return operations[at].second(random, comm, memory);
}

}  // namespace plumb::stress
