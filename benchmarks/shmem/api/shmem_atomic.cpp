// The table of atomics. SHOMS' rows have its names (int_fadd) and the functions of OpenSHMEM 1.4 that replaced those
// called by SHOMS (shmem_int_atomic_fetch_add).
#include "benchmarks/shmem/api/shmem_atomic.hpp"
#include "world/shmem_faults.hpp"

namespace plumb::shmem_api {

namespace {

// Each function gives a row, and its form with a context another one.
class AtomicRows {
 public:
  explicit AtomicRows(std::string set) : set_(std::move(set)) {}
  template <class T>
  void add(const std::string& name, const std::string& kind, const Actor<T>& actor) {
    rows_.push_back(marked<T>(atomic_row(name, kind, set_, actor), actor));
    in_context_.push_back(marked<T>(atomic_row("ctx_" + name, kind, "later", actor, true), actor));
  }
  void append_to(std::vector<Row>& all) {
    all.insert(all.end(), rows_.begin(), rows_.end());
    all.insert(all.end(), in_context_.begin(), in_context_.end());
  }

 private:
  template <class T>
  static Row marked(Row row, const Actor<T>& actor) {
    if (sizeof(T) == 4 && actor.does == Does::compare_swap) row.fault = fault_of_short_compare_swap();
    if (actor.returns && actor.does >= Does::bit_and) row.fault = fault_of_fetching_bits();
    return row;
  }

  std::string set_;
  std::vector<Row> rows_, in_context_;
};

void add_shoms(std::vector<Row>& all) {
  AtomicRows rows("shoms");
  const auto add = [&rows]<class T>(const char* name, const char* kind, const Actor<T>& actor) {
    rows.add(name, kind, actor);
  };
  add("int_swap", "swap", actor<int>(Does::swap, true, shmem_int_atomic_swap, shmem_ctx_int_atomic_swap, act_value));
  add("swap", "swap", actor<long>(Does::swap, true, shmem_long_atomic_swap, shmem_ctx_long_atomic_swap, act_value));
  add("long_swap", "swap",
      actor<long>(Does::swap, true, shmem_long_atomic_swap, shmem_ctx_long_atomic_swap, act_value));
  add("longlong_swap", "swap",
      actor<long long>(Does::swap, true, shmem_longlong_atomic_swap, shmem_ctx_longlong_atomic_swap, act_value));
  add("float_swap", "swap",
      actor<float>(Does::swap, true, shmem_float_atomic_swap, shmem_ctx_float_atomic_swap, act_value));
  add("double_swap", "swap",
      actor<double>(Does::swap, true, shmem_double_atomic_swap, shmem_ctx_double_atomic_swap, act_value));
  add("int_cswap", "cswap",
      actor<int>(Does::compare_swap, true, shmem_int_atomic_compare_swap, shmem_ctx_int_atomic_compare_swap,
                 act_condition));
  add("long_cswap", "cswap",
      actor<long>(Does::compare_swap, true, shmem_long_atomic_compare_swap, shmem_ctx_long_atomic_compare_swap,
                  act_condition));
  add("longlong_cswap", "cswap",
      actor<long long>(Does::compare_swap, true, shmem_longlong_atomic_compare_swap,
                       shmem_ctx_longlong_atomic_compare_swap, act_condition));
  add("int_fadd", "fadd",
      actor<int>(Does::add, true, shmem_int_atomic_fetch_add, shmem_ctx_int_atomic_fetch_add, act_value));
  add("long_fadd", "fadd",
      actor<long>(Does::add, true, shmem_long_atomic_fetch_add, shmem_ctx_long_atomic_fetch_add, act_value));
  add("longlong_fadd", "fadd",
      actor<long long>(Does::add, true, shmem_longlong_atomic_fetch_add, shmem_ctx_longlong_atomic_fetch_add,
                       act_value));
  add("int_finc", "finc",
      actor<int>(Does::inc, true, shmem_int_atomic_fetch_inc, shmem_ctx_int_atomic_fetch_inc, act_alone));
  add("long_finc", "finc",
      actor<long>(Does::inc, true, shmem_long_atomic_fetch_inc, shmem_ctx_long_atomic_fetch_inc, act_alone));
  add("longlong_finc", "finc",
      actor<long long>(Does::inc, true, shmem_longlong_atomic_fetch_inc, shmem_ctx_longlong_atomic_fetch_inc,
                       act_alone));
  add("int_add", "add", actor<int>(Does::add, false, shmem_int_atomic_add, shmem_ctx_int_atomic_add, act_value));
  add("long_add", "add", actor<long>(Does::add, false, shmem_long_atomic_add, shmem_ctx_long_atomic_add, act_value));
  add("longlong_add", "add",
      actor<long long>(Does::add, false, shmem_longlong_atomic_add, shmem_ctx_longlong_atomic_add, act_value));
  add("int_inc", "inc", actor<int>(Does::inc, false, shmem_int_atomic_inc, shmem_ctx_int_atomic_inc, act_alone));
  add("long_inc", "inc", actor<long>(Does::inc, false, shmem_long_atomic_inc, shmem_ctx_long_atomic_inc, act_alone));
  add("longlong_inc", "inc",
      actor<long long>(Does::inc, false, shmem_longlong_atomic_inc, shmem_ctx_longlong_atomic_inc, act_alone));
  rows.append_to(all);
}

// OpenSHMEM 1.4: fetch and set, bitwise operations, unsigned words.
void add_later(std::vector<Row>& all) {
  AtomicRows rows("later");
  const auto add = [&rows]<class T>(const char* name, const char* kind, const Actor<T>& actor) {
    rows.add(name, kind, actor);
  };
  add("int_atomic_fetch", "fetch",
      actor<int>(Does::fetch, true, shmem_int_atomic_fetch, shmem_ctx_int_atomic_fetch, act_alone));
  add("int_atomic_set", "set", actor<int>(Does::set, false, shmem_int_atomic_set, shmem_ctx_int_atomic_set, act_value));
  add("long_atomic_fetch", "fetch",
      actor<long>(Does::fetch, true, shmem_long_atomic_fetch, shmem_ctx_long_atomic_fetch, act_alone));
  add("long_atomic_set", "set",
      actor<long>(Does::set, false, shmem_long_atomic_set, shmem_ctx_long_atomic_set, act_value));
  add("longlong_atomic_fetch", "fetch",
      actor<long long>(Does::fetch, true, shmem_longlong_atomic_fetch, shmem_ctx_longlong_atomic_fetch, act_alone));
  add("longlong_atomic_set", "set",
      actor<long long>(Does::set, false, shmem_longlong_atomic_set, shmem_ctx_longlong_atomic_set, act_value));
  add("uint_atomic_fetch", "fetch",
      actor<unsigned int>(Does::fetch, true, shmem_uint_atomic_fetch, shmem_ctx_uint_atomic_fetch, act_alone));
  add("uint_atomic_set", "set",
      actor<unsigned int>(Does::set, false, shmem_uint_atomic_set, shmem_ctx_uint_atomic_set, act_value));
  add("ulong_atomic_fetch", "fetch",
      actor<unsigned long>(Does::fetch, true, shmem_ulong_atomic_fetch, shmem_ctx_ulong_atomic_fetch, act_alone));
  add("ulong_atomic_set", "set",
      actor<unsigned long>(Does::set, false, shmem_ulong_atomic_set, shmem_ctx_ulong_atomic_set, act_value));
  add("ulonglong_atomic_fetch", "fetch",
      actor<unsigned long long>(Does::fetch, true, shmem_ulonglong_atomic_fetch, shmem_ctx_ulonglong_atomic_fetch,
                                act_alone));
  add("ulonglong_atomic_set", "set",
      actor<unsigned long long>(Does::set, false, shmem_ulonglong_atomic_set, shmem_ctx_ulonglong_atomic_set,
                                act_value));
  add("float_atomic_fetch", "fetch",
      actor<float>(Does::fetch, true, shmem_float_atomic_fetch, shmem_ctx_float_atomic_fetch, act_alone));
  add("float_atomic_set", "set",
      actor<float>(Does::set, false, shmem_float_atomic_set, shmem_ctx_float_atomic_set, act_value));
  add("double_atomic_fetch", "fetch",
      actor<double>(Does::fetch, true, shmem_double_atomic_fetch, shmem_ctx_double_atomic_fetch, act_alone));
  add("double_atomic_set", "set",
      actor<double>(Does::set, false, shmem_double_atomic_set, shmem_ctx_double_atomic_set, act_value));
  add("uint_atomic_swap", "swap",
      actor<unsigned int>(Does::swap, true, shmem_uint_atomic_swap, shmem_ctx_uint_atomic_swap, act_value));
  add("uint_atomic_compare_swap", "cswap",
      actor<unsigned int>(Does::compare_swap, true, shmem_uint_atomic_compare_swap, shmem_ctx_uint_atomic_compare_swap,
                          act_condition));
  add("uint_atomic_fetch_add", "fadd",
      actor<unsigned int>(Does::add, true, shmem_uint_atomic_fetch_add, shmem_ctx_uint_atomic_fetch_add, act_value));
  add("uint_atomic_fetch_inc", "finc",
      actor<unsigned int>(Does::inc, true, shmem_uint_atomic_fetch_inc, shmem_ctx_uint_atomic_fetch_inc, act_alone));
  add("uint_atomic_add", "add",
      actor<unsigned int>(Does::add, false, shmem_uint_atomic_add, shmem_ctx_uint_atomic_add, act_value));
  add("uint_atomic_inc", "inc",
      actor<unsigned int>(Does::inc, false, shmem_uint_atomic_inc, shmem_ctx_uint_atomic_inc, act_alone));
  add("ulong_atomic_swap", "swap",
      actor<unsigned long>(Does::swap, true, shmem_ulong_atomic_swap, shmem_ctx_ulong_atomic_swap, act_value));
  add("ulong_atomic_compare_swap", "cswap",
      actor<unsigned long>(Does::compare_swap, true, shmem_ulong_atomic_compare_swap,
                           shmem_ctx_ulong_atomic_compare_swap, act_condition));
  add("ulong_atomic_fetch_add", "fadd",
      actor<unsigned long>(Does::add, true, shmem_ulong_atomic_fetch_add, shmem_ctx_ulong_atomic_fetch_add, act_value));
  add("ulong_atomic_fetch_inc", "finc",
      actor<unsigned long>(Does::inc, true, shmem_ulong_atomic_fetch_inc, shmem_ctx_ulong_atomic_fetch_inc, act_alone));
  add("ulong_atomic_add", "add",
      actor<unsigned long>(Does::add, false, shmem_ulong_atomic_add, shmem_ctx_ulong_atomic_add, act_value));
  add("ulong_atomic_inc", "inc",
      actor<unsigned long>(Does::inc, false, shmem_ulong_atomic_inc, shmem_ctx_ulong_atomic_inc, act_alone));
  add("ulonglong_atomic_swap", "swap",
      actor<unsigned long long>(Does::swap, true, shmem_ulonglong_atomic_swap, shmem_ctx_ulonglong_atomic_swap,
                                act_value));
  add("ulonglong_atomic_compare_swap", "cswap",
      actor<unsigned long long>(Does::compare_swap, true, shmem_ulonglong_atomic_compare_swap,
                                shmem_ctx_ulonglong_atomic_compare_swap, act_condition));
  add("ulonglong_atomic_fetch_add", "fadd",
      actor<unsigned long long>(Does::add, true, shmem_ulonglong_atomic_fetch_add, shmem_ctx_ulonglong_atomic_fetch_add,
                                act_value));
  add("ulonglong_atomic_fetch_inc", "finc",
      actor<unsigned long long>(Does::inc, true, shmem_ulonglong_atomic_fetch_inc, shmem_ctx_ulonglong_atomic_fetch_inc,
                                act_alone));
  add("ulonglong_atomic_add", "add",
      actor<unsigned long long>(Does::add, false, shmem_ulonglong_atomic_add, shmem_ctx_ulonglong_atomic_add,
                                act_value));
  add("ulonglong_atomic_inc", "inc",
      actor<unsigned long long>(Does::inc, false, shmem_ulonglong_atomic_inc, shmem_ctx_ulonglong_atomic_inc,
                                act_alone));
  add("uint_atomic_and", "and",
      actor<unsigned int>(Does::bit_and, false, shmem_uint_atomic_and, shmem_ctx_uint_atomic_and, act_value));
  add("uint_atomic_fetch_and", "fetch_and",
      actor<unsigned int>(Does::bit_and, true, shmem_uint_atomic_fetch_and, shmem_ctx_uint_atomic_fetch_and,
                          act_value));
  add("uint_atomic_or", "or",
      actor<unsigned int>(Does::bit_or, false, shmem_uint_atomic_or, shmem_ctx_uint_atomic_or, act_value));
  add("uint_atomic_fetch_or", "fetch_or",
      actor<unsigned int>(Does::bit_or, true, shmem_uint_atomic_fetch_or, shmem_ctx_uint_atomic_fetch_or, act_value));
  add("uint_atomic_xor", "xor",
      actor<unsigned int>(Does::bit_xor, false, shmem_uint_atomic_xor, shmem_ctx_uint_atomic_xor, act_value));
  add("uint_atomic_fetch_xor", "fetch_xor",
      actor<unsigned int>(Does::bit_xor, true, shmem_uint_atomic_fetch_xor, shmem_ctx_uint_atomic_fetch_xor,
                          act_value));
  add("ulong_atomic_and", "and",
      actor<unsigned long>(Does::bit_and, false, shmem_ulong_atomic_and, shmem_ctx_ulong_atomic_and, act_value));
  add("ulong_atomic_fetch_and", "fetch_and",
      actor<unsigned long>(Does::bit_and, true, shmem_ulong_atomic_fetch_and, shmem_ctx_ulong_atomic_fetch_and,
                           act_value));
  add("ulong_atomic_or", "or",
      actor<unsigned long>(Does::bit_or, false, shmem_ulong_atomic_or, shmem_ctx_ulong_atomic_or, act_value));
  add("ulong_atomic_fetch_or", "fetch_or",
      actor<unsigned long>(Does::bit_or, true, shmem_ulong_atomic_fetch_or, shmem_ctx_ulong_atomic_fetch_or,
                           act_value));
  add("ulong_atomic_xor", "xor",
      actor<unsigned long>(Does::bit_xor, false, shmem_ulong_atomic_xor, shmem_ctx_ulong_atomic_xor, act_value));
  add("ulong_atomic_fetch_xor", "fetch_xor",
      actor<unsigned long>(Does::bit_xor, true, shmem_ulong_atomic_fetch_xor, shmem_ctx_ulong_atomic_fetch_xor,
                           act_value));
  add("ulonglong_atomic_and", "and",
      actor<unsigned long long>(Does::bit_and, false, shmem_ulonglong_atomic_and, shmem_ctx_ulonglong_atomic_and,
                                act_value));
  add("ulonglong_atomic_fetch_and", "fetch_and",
      actor<unsigned long long>(Does::bit_and, true, shmem_ulonglong_atomic_fetch_and,
                                shmem_ctx_ulonglong_atomic_fetch_and, act_value));
  add("ulonglong_atomic_or", "or",
      actor<unsigned long long>(Does::bit_or, false, shmem_ulonglong_atomic_or, shmem_ctx_ulonglong_atomic_or,
                                act_value));
  add("ulonglong_atomic_fetch_or", "fetch_or",
      actor<unsigned long long>(Does::bit_or, true, shmem_ulonglong_atomic_fetch_or,
                                shmem_ctx_ulonglong_atomic_fetch_or, act_value));
  add("ulonglong_atomic_xor", "xor",
      actor<unsigned long long>(Does::bit_xor, false, shmem_ulonglong_atomic_xor, shmem_ctx_ulonglong_atomic_xor,
                                act_value));
  add("ulonglong_atomic_fetch_xor", "fetch_xor",
      actor<unsigned long long>(Does::bit_xor, true, shmem_ulonglong_atomic_fetch_xor,
                                shmem_ctx_ulonglong_atomic_fetch_xor, act_value));
  add("int32_atomic_and", "and",
      actor<std::int32_t>(Does::bit_and, false, shmem_int32_atomic_and, shmem_ctx_int32_atomic_and, act_value));
  add("int32_atomic_fetch_and", "fetch_and",
      actor<std::int32_t>(Does::bit_and, true, shmem_int32_atomic_fetch_and, shmem_ctx_int32_atomic_fetch_and,
                          act_value));
  add("int32_atomic_or", "or",
      actor<std::int32_t>(Does::bit_or, false, shmem_int32_atomic_or, shmem_ctx_int32_atomic_or, act_value));
  add("int32_atomic_fetch_or", "fetch_or",
      actor<std::int32_t>(Does::bit_or, true, shmem_int32_atomic_fetch_or, shmem_ctx_int32_atomic_fetch_or, act_value));
  add("int32_atomic_xor", "xor",
      actor<std::int32_t>(Does::bit_xor, false, shmem_int32_atomic_xor, shmem_ctx_int32_atomic_xor, act_value));
  add("int32_atomic_fetch_xor", "fetch_xor",
      actor<std::int32_t>(Does::bit_xor, true, shmem_int32_atomic_fetch_xor, shmem_ctx_int32_atomic_fetch_xor,
                          act_value));
  add("int64_atomic_and", "and",
      actor<std::int64_t>(Does::bit_and, false, shmem_int64_atomic_and, shmem_ctx_int64_atomic_and, act_value));
  add("int64_atomic_fetch_and", "fetch_and",
      actor<std::int64_t>(Does::bit_and, true, shmem_int64_atomic_fetch_and, shmem_ctx_int64_atomic_fetch_and,
                          act_value));
  add("int64_atomic_or", "or",
      actor<std::int64_t>(Does::bit_or, false, shmem_int64_atomic_or, shmem_ctx_int64_atomic_or, act_value));
  add("int64_atomic_fetch_or", "fetch_or",
      actor<std::int64_t>(Does::bit_or, true, shmem_int64_atomic_fetch_or, shmem_ctx_int64_atomic_fetch_or, act_value));
  add("int64_atomic_xor", "xor",
      actor<std::int64_t>(Does::bit_xor, false, shmem_int64_atomic_xor, shmem_ctx_int64_atomic_xor, act_value));
  add("int64_atomic_fetch_xor", "fetch_xor",
      actor<std::int64_t>(Does::bit_xor, true, shmem_int64_atomic_fetch_xor, shmem_ctx_int64_atomic_fetch_xor,
                          act_value));
  add("uint32_atomic_and", "and",
      actor<std::uint32_t>(Does::bit_and, false, shmem_uint32_atomic_and, shmem_ctx_uint32_atomic_and, act_value));
  add("uint32_atomic_fetch_and", "fetch_and",
      actor<std::uint32_t>(Does::bit_and, true, shmem_uint32_atomic_fetch_and, shmem_ctx_uint32_atomic_fetch_and,
                           act_value));
  add("uint32_atomic_or", "or",
      actor<std::uint32_t>(Does::bit_or, false, shmem_uint32_atomic_or, shmem_ctx_uint32_atomic_or, act_value));
  add("uint32_atomic_fetch_or", "fetch_or",
      actor<std::uint32_t>(Does::bit_or, true, shmem_uint32_atomic_fetch_or, shmem_ctx_uint32_atomic_fetch_or,
                           act_value));
  add("uint32_atomic_xor", "xor",
      actor<std::uint32_t>(Does::bit_xor, false, shmem_uint32_atomic_xor, shmem_ctx_uint32_atomic_xor, act_value));
  add("uint32_atomic_fetch_xor", "fetch_xor",
      actor<std::uint32_t>(Does::bit_xor, true, shmem_uint32_atomic_fetch_xor, shmem_ctx_uint32_atomic_fetch_xor,
                           act_value));
  add("uint64_atomic_and", "and",
      actor<std::uint64_t>(Does::bit_and, false, shmem_uint64_atomic_and, shmem_ctx_uint64_atomic_and, act_value));
  add("uint64_atomic_fetch_and", "fetch_and",
      actor<std::uint64_t>(Does::bit_and, true, shmem_uint64_atomic_fetch_and, shmem_ctx_uint64_atomic_fetch_and,
                           act_value));
  add("uint64_atomic_or", "or",
      actor<std::uint64_t>(Does::bit_or, false, shmem_uint64_atomic_or, shmem_ctx_uint64_atomic_or, act_value));
  add("uint64_atomic_fetch_or", "fetch_or",
      actor<std::uint64_t>(Does::bit_or, true, shmem_uint64_atomic_fetch_or, shmem_ctx_uint64_atomic_fetch_or,
                           act_value));
  add("uint64_atomic_xor", "xor",
      actor<std::uint64_t>(Does::bit_xor, false, shmem_uint64_atomic_xor, shmem_ctx_uint64_atomic_xor, act_value));
  add("uint64_atomic_fetch_xor", "fetch_xor",
      actor<std::uint64_t>(Does::bit_xor, true, shmem_uint64_atomic_fetch_xor, shmem_ctx_uint64_atomic_fetch_xor,
                           act_value));
  rows.append_to(all);
}

}  // namespace

std::vector<Row> atomic_rows() {
  std::vector<Row> all;
  add_shoms(all);
  add_later(all);
  return all;
}

}  // namespace plumb::shmem_api
