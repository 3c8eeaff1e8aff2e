#include <algorithm>

#include "benchmarks/shmem/api/row.hpp"

namespace plumb::shmem_api {

const std::vector<Row>& api_table() {
  static const std::vector<Row> table = [] {
    std::vector<Row> all;
    for (const auto& rows : {heap_rows(), transfer_rows(), reduction_rows(), collective_rows(), atomic_rows(),
                             order_rows(), later_rows(), startup_rows()})
      all.insert(all.end(), rows.begin(), rows.end());
    std::ranges::stable_partition(all, [](const Row& row) { return row.set == "shoms"; });
    return all;
  }();
  return table;
}

}  // namespace plumb::shmem_api
