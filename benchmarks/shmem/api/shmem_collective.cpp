// The tables of reductions and of other collectives over active sets.
#include "benchmarks/shmem/api/shmem_collective.hpp"

namespace plumb::shmem_api {

namespace {

// function: shmem_TYPE_OP_to_all.
template <class T, class F>
Collector<T> reducer(Reduces reduces, F function) {
  Collector<T> collector{Gathers::reduction, reduces};
  collector.sync_size = SHMEM_REDUCE_SYNC_SIZE;
  collector.call = [function](const Round<T>& r) {
    function(r.target, r.source, static_cast<int>(r.elements), 0, 0, r.pes, r.work, r.sync);
  };
  return collector;
}

template <class T, class F>
Collector<T> broadcaster(F function) {
  Collector<T> collector{Gathers::broadcast};
  collector.sync_size = SHMEM_BCAST_SYNC_SIZE;
  collector.call = [function](const Round<T>& r) {
    function(r.target, r.source, r.elements, r.root, 0, 0, r.pes, r.sync);
  };
  return collector;
}

// function: shmem_collect…, shmem_fcollect… or shmem_alltoall….
template <class T, class F>
Collector<T> gatherer(Gathers gathers, std::size_t sync_size, F function) {
  Collector<T> collector{gathers};
  collector.sync_size = sync_size;
  collector.call = [function](const Round<T>& r) { function(r.target, r.source, r.elements, 0, 0, r.pes, r.sync); };
  return collector;
}

template <class T, class F>
Collector<T> strided_exchanger(F function) {
  Collector<T> collector{Gathers::alltoall};
  collector.stride = 2;
  collector.sync_size = SHMEM_ALLTOALLS_SYNC_SIZE;
  collector.call = [function](const Round<T>& r) {
    function(r.target, r.source, 2, 2, r.elements, 0, 0, r.pes, r.sync);
  };
  return collector;
}

}  // namespace

std::vector<Row> reduction_rows() {
  std::vector<Row> rows;
  const auto add = [&rows]<class T>(const char* name, const char* set, const Collector<T>& collector) {
    rows.push_back(collective_row(name, "reduction", set, collector));
  };
  add("short_and_to_all", "shoms", reducer<short>(Reduces::bit_and, shmem_short_and_to_all));
  add("short_or_to_all", "shoms", reducer<short>(Reduces::bit_or, shmem_short_or_to_all));
  add("short_xor_to_all", "shoms", reducer<short>(Reduces::bit_xor, shmem_short_xor_to_all));
  add("short_min_to_all", "shoms", reducer<short>(Reduces::minimum, shmem_short_min_to_all));
  add("short_max_to_all", "shoms", reducer<short>(Reduces::maximum, shmem_short_max_to_all));
  add("short_sum_to_all", "shoms", reducer<short>(Reduces::sum, shmem_short_sum_to_all));
  add("short_prod_to_all", "shoms", reducer<short>(Reduces::product, shmem_short_prod_to_all));
  add("int_and_to_all", "shoms", reducer<int>(Reduces::bit_and, shmem_int_and_to_all));
  add("int_or_to_all", "shoms", reducer<int>(Reduces::bit_or, shmem_int_or_to_all));
  add("int_xor_to_all", "shoms", reducer<int>(Reduces::bit_xor, shmem_int_xor_to_all));
  add("int_min_to_all", "shoms", reducer<int>(Reduces::minimum, shmem_int_min_to_all));
  add("int_max_to_all", "shoms", reducer<int>(Reduces::maximum, shmem_int_max_to_all));
  add("int_sum_to_all", "shoms", reducer<int>(Reduces::sum, shmem_int_sum_to_all));
  add("int_prod_to_all", "shoms", reducer<int>(Reduces::product, shmem_int_prod_to_all));
  add("long_and_to_all", "shoms", reducer<long>(Reduces::bit_and, shmem_long_and_to_all));
  add("long_or_to_all", "shoms", reducer<long>(Reduces::bit_or, shmem_long_or_to_all));
  add("long_xor_to_all", "shoms", reducer<long>(Reduces::bit_xor, shmem_long_xor_to_all));
  add("long_min_to_all", "shoms", reducer<long>(Reduces::minimum, shmem_long_min_to_all));
  add("long_max_to_all", "shoms", reducer<long>(Reduces::maximum, shmem_long_max_to_all));
  add("long_sum_to_all", "shoms", reducer<long>(Reduces::sum, shmem_long_sum_to_all));
  add("long_prod_to_all", "shoms", reducer<long>(Reduces::product, shmem_long_prod_to_all));
  add("longlong_and_to_all", "shoms", reducer<long long>(Reduces::bit_and, shmem_longlong_and_to_all));
  add("longlong_or_to_all", "shoms", reducer<long long>(Reduces::bit_or, shmem_longlong_or_to_all));
  add("longlong_xor_to_all", "shoms", reducer<long long>(Reduces::bit_xor, shmem_longlong_xor_to_all));
  add("longlong_min_to_all", "shoms", reducer<long long>(Reduces::minimum, shmem_longlong_min_to_all));
  add("longlong_max_to_all", "shoms", reducer<long long>(Reduces::maximum, shmem_longlong_max_to_all));
  add("longlong_sum_to_all", "shoms", reducer<long long>(Reduces::sum, shmem_longlong_sum_to_all));
  add("longlong_prod_to_all", "shoms", reducer<long long>(Reduces::product, shmem_longlong_prod_to_all));
  add("float_min_to_all", "later", reducer<float>(Reduces::minimum, shmem_float_min_to_all));
  add("float_max_to_all", "later", reducer<float>(Reduces::maximum, shmem_float_max_to_all));
  add("float_sum_to_all", "later", reducer<float>(Reduces::sum, shmem_float_sum_to_all));
  add("float_prod_to_all", "later", reducer<float>(Reduces::product, shmem_float_prod_to_all));
  add("double_min_to_all", "later", reducer<double>(Reduces::minimum, shmem_double_min_to_all));
  add("double_max_to_all", "later", reducer<double>(Reduces::maximum, shmem_double_max_to_all));
  add("double_sum_to_all", "later", reducer<double>(Reduces::sum, shmem_double_sum_to_all));
  add("double_prod_to_all", "later", reducer<double>(Reduces::product, shmem_double_prod_to_all));
  add("longdouble_min_to_all", "later", reducer<long double>(Reduces::minimum, shmem_longdouble_min_to_all));
  add("longdouble_max_to_all", "later", reducer<long double>(Reduces::maximum, shmem_longdouble_max_to_all));
  add("longdouble_sum_to_all", "later", reducer<long double>(Reduces::sum, shmem_longdouble_sum_to_all));
  add("longdouble_prod_to_all", "later", reducer<long double>(Reduces::product, shmem_longdouble_prod_to_all));
  return rows;
}

std::vector<Row> collective_rows() {
  std::vector<Row> rows;
  const auto add = [&rows]<class T>(const char* name, const char* set, const Collector<T>& collector) {
    const char* kind = collector.gathers == Gathers::broadcast ? "broadcast"
                       : collector.gathers == Gathers::collect ? "collect"
                                                               : "alltoall";
    rows.push_back(collective_row(name, kind, set, collector));
  };
  add("broadcast32", "shoms", broadcaster<std::uint32_t>(shmem_broadcast32));
  add("broadcast64", "shoms", broadcaster<std::uint64_t>(shmem_broadcast64));
  add("collect32", "shoms", gatherer<std::uint32_t>(Gathers::collect, SHMEM_COLLECT_SYNC_SIZE, shmem_collect32));
  add("collect64", "shoms", gatherer<std::uint64_t>(Gathers::collect, SHMEM_COLLECT_SYNC_SIZE, shmem_collect64));
  add("fcollect32", "shoms", gatherer<std::uint32_t>(Gathers::collect, SHMEM_COLLECT_SYNC_SIZE, shmem_fcollect32));
  add("fcollect64", "shoms", gatherer<std::uint64_t>(Gathers::collect, SHMEM_COLLECT_SYNC_SIZE, shmem_fcollect64));
  add("alltoall32", "later", gatherer<std::uint32_t>(Gathers::alltoall, SHMEM_ALLTOALL_SYNC_SIZE, shmem_alltoall32));
  add("alltoall64", "later", gatherer<std::uint64_t>(Gathers::alltoall, SHMEM_ALLTOALL_SYNC_SIZE, shmem_alltoall64));
  add("alltoalls32", "later", strided_exchanger<std::uint32_t>(shmem_alltoalls32));
  add("alltoalls64", "later", strided_exchanger<std::uint64_t>(shmem_alltoalls64));
  return rows;
}

}  // namespace plumb::shmem_api
