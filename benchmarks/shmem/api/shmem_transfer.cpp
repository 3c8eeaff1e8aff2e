// The table of one-sided transfers.
#include "benchmarks/shmem/api/shmem_transfer.hpp"

namespace plumb::shmem_api {

namespace {

// Each function gives a row, and its form with a context another one.
class TransferRows {
 public:
  template <class T>
  void add(const std::string& name, const std::string& kind, const std::string& set, const Mover<T>& mover) {
    rows_.push_back(transfer_row(name, kind, set, mover));
    in_context_.push_back(transfer_row("ctx_" + name, kind, "later", mover, true));
  }
  std::vector<Row> all() && {
    rows_.insert(rows_.end(), in_context_.begin(), in_context_.end());
    return std::move(rows_);
  }

 private:
  std::vector<Row> rows_, in_context_;
};

// SHOMS' functions of typed values.
void add_typed(TransferRows& rows) {
  const auto add = [&rows]<class T>(const char* name, const char* kind, const Mover<T>& mover) {
    rows.add(name, kind, "shoms", mover);
  };
  add("short_p", "p", putter<short>(shmem_short_p, shmem_ctx_short_p, move_p, 1, 1));
  add("short_put", "put", putter<short>(shmem_short_put, shmem_ctx_short_put, move_put));
  add("short_iput", "iput", putter<short>(shmem_short_iput, shmem_ctx_short_iput, move_iput, strided_step));
  add("short_g", "g", getter<short>(shmem_short_g, shmem_ctx_short_g, move_g, 1, 1));
  add("short_get", "get", getter<short>(shmem_short_get, shmem_ctx_short_get, move_get));
  add("short_iget", "iget", getter<short>(shmem_short_iget, shmem_ctx_short_iget, move_iget, strided_step));
  add("int_p", "p", putter<int>(shmem_int_p, shmem_ctx_int_p, move_p, 1, 1));
  add("int_put", "put", putter<int>(shmem_int_put, shmem_ctx_int_put, move_put));
  add("int_iput", "iput", putter<int>(shmem_int_iput, shmem_ctx_int_iput, move_iput, strided_step));
  add("int_g", "g", getter<int>(shmem_int_g, shmem_ctx_int_g, move_g, 1, 1));
  add("int_get", "get", getter<int>(shmem_int_get, shmem_ctx_int_get, move_get));
  add("int_iget", "iget", getter<int>(shmem_int_iget, shmem_ctx_int_iget, move_iget, strided_step));
  add("long_p", "p", putter<long>(shmem_long_p, shmem_ctx_long_p, move_p, 1, 1));
  add("long_put", "put", putter<long>(shmem_long_put, shmem_ctx_long_put, move_put));
  add("long_iput", "iput", putter<long>(shmem_long_iput, shmem_ctx_long_iput, move_iput, strided_step));
  add("long_g", "g", getter<long>(shmem_long_g, shmem_ctx_long_g, move_g, 1, 1));
  add("long_get", "get", getter<long>(shmem_long_get, shmem_ctx_long_get, move_get));
  add("long_iget", "iget", getter<long>(shmem_long_iget, shmem_ctx_long_iget, move_iget, strided_step));
  add("longlong_p", "p", putter<long long>(shmem_longlong_p, shmem_ctx_longlong_p, move_p, 1, 1));
  add("longlong_put", "put", putter<long long>(shmem_longlong_put, shmem_ctx_longlong_put, move_put));
  add("longlong_iput", "iput",
      putter<long long>(shmem_longlong_iput, shmem_ctx_longlong_iput, move_iput, strided_step));
  add("longlong_g", "g", getter<long long>(shmem_longlong_g, shmem_ctx_longlong_g, move_g, 1, 1));
  add("longlong_get", "get", getter<long long>(shmem_longlong_get, shmem_ctx_longlong_get, move_get));
  add("longlong_iget", "iget",
      getter<long long>(shmem_longlong_iget, shmem_ctx_longlong_iget, move_iget, strided_step));
  add("float_p", "p", putter<float>(shmem_float_p, shmem_ctx_float_p, move_p, 1, 1));
  add("float_put", "put", putter<float>(shmem_float_put, shmem_ctx_float_put, move_put));
  add("float_iput", "iput", putter<float>(shmem_float_iput, shmem_ctx_float_iput, move_iput, strided_step));
  add("float_g", "g", getter<float>(shmem_float_g, shmem_ctx_float_g, move_g, 1, 1));
  add("float_get", "get", getter<float>(shmem_float_get, shmem_ctx_float_get, move_get));
  add("float_iget", "iget", getter<float>(shmem_float_iget, shmem_ctx_float_iget, move_iget, strided_step));
  add("double_p", "p", putter<double>(shmem_double_p, shmem_ctx_double_p, move_p, 1, 1));
  add("double_put", "put", putter<double>(shmem_double_put, shmem_ctx_double_put, move_put));
  add("double_iput", "iput", putter<double>(shmem_double_iput, shmem_ctx_double_iput, move_iput, strided_step));
  add("double_g", "g", getter<double>(shmem_double_g, shmem_ctx_double_g, move_g, 1, 1));
  add("double_get", "get", getter<double>(shmem_double_get, shmem_ctx_double_get, move_get));
  add("double_iget", "iget", getter<double>(shmem_double_iget, shmem_ctx_double_iget, move_iget, strided_step));
  add("longdouble_p", "p", putter<long double>(shmem_longdouble_p, shmem_ctx_longdouble_p, move_p, 1, 1));
  add("longdouble_put", "put", putter<long double>(shmem_longdouble_put, shmem_ctx_longdouble_put, move_put));
  add("longdouble_iput", "iput",
      putter<long double>(shmem_longdouble_iput, shmem_ctx_longdouble_iput, move_iput, strided_step));
  add("longdouble_g", "g", getter<long double>(shmem_longdouble_g, shmem_ctx_longdouble_g, move_g, 1, 1));
  add("longdouble_get", "get", getter<long double>(shmem_longdouble_get, shmem_ctx_longdouble_get, move_get));
  add("longdouble_iget", "iget",
      getter<long double>(shmem_longdouble_iget, shmem_ctx_longdouble_iget, move_iget, strided_step));
}

// SHOMS' functions of sized values.
void add_sized(TransferRows& rows) {
  const auto add = [&rows]<class T>(const char* name, const char* kind, const Mover<T>& mover) {
    rows.add(name, kind, "shoms", mover);
  };
  add("put32", "put", putter<std::uint32_t>(shmem_put32, shmem_ctx_put32, move_put));
  add("put64", "put", putter<std::uint64_t>(shmem_put64, shmem_ctx_put64, move_put));
  add("put128", "put", putter<Wide>(shmem_put128, shmem_ctx_put128, move_put));
  add("iput32", "iput", putter<std::uint32_t>(shmem_iput32, shmem_ctx_iput32, move_iput, strided_step));
  add("iput64", "iput", putter<std::uint64_t>(shmem_iput64, shmem_ctx_iput64, move_iput, strided_step));
  add("iput128", "iput", putter<Wide>(shmem_iput128, shmem_ctx_iput128, move_iput, strided_step));
  add("get32", "get", getter<std::uint32_t>(shmem_get32, shmem_ctx_get32, move_get));
  add("get64", "get", getter<std::uint64_t>(shmem_get64, shmem_ctx_get64, move_get));
  add("get128", "get", getter<Wide>(shmem_get128, shmem_ctx_get128, move_get));
  add("iget32", "iget", getter<std::uint32_t>(shmem_iget32, shmem_ctx_iget32, move_iget, strided_step));
  add("iget64", "iget", getter<std::uint64_t>(shmem_iget64, shmem_ctx_iget64, move_iget, strided_step));
  add("iget128", "iget", getter<Wide>(shmem_iget128, shmem_ctx_iget128, move_iget, strided_step));
}

// Non-blocking functions, and sizes missing in SHOMS.
void add_later(TransferRows& rows) {
  const auto add = [&rows]<class T>(const char* name, const char* kind, const Mover<T>& mover) {
    rows.add(name, kind, "later", mover);
  };
  add("short_put_nbi", "put_nbi", putter<short>(shmem_short_put_nbi, shmem_ctx_short_put_nbi, move_put));
  add("short_get_nbi", "get_nbi", later_getter<short>(shmem_short_get_nbi, shmem_ctx_short_get_nbi, move_get));
  add("int_put_nbi", "put_nbi", putter<int>(shmem_int_put_nbi, shmem_ctx_int_put_nbi, move_put));
  add("int_get_nbi", "get_nbi", later_getter<int>(shmem_int_get_nbi, shmem_ctx_int_get_nbi, move_get));
  add("long_put_nbi", "put_nbi", putter<long>(shmem_long_put_nbi, shmem_ctx_long_put_nbi, move_put));
  add("long_get_nbi", "get_nbi", later_getter<long>(shmem_long_get_nbi, shmem_ctx_long_get_nbi, move_get));
  add("longlong_put_nbi", "put_nbi", putter<long long>(shmem_longlong_put_nbi, shmem_ctx_longlong_put_nbi, move_put));
  add("longlong_get_nbi", "get_nbi",
      later_getter<long long>(shmem_longlong_get_nbi, shmem_ctx_longlong_get_nbi, move_get));
  add("float_put_nbi", "put_nbi", putter<float>(shmem_float_put_nbi, shmem_ctx_float_put_nbi, move_put));
  add("float_get_nbi", "get_nbi", later_getter<float>(shmem_float_get_nbi, shmem_ctx_float_get_nbi, move_get));
  add("double_put_nbi", "put_nbi", putter<double>(shmem_double_put_nbi, shmem_ctx_double_put_nbi, move_put));
  add("double_get_nbi", "get_nbi", later_getter<double>(shmem_double_get_nbi, shmem_ctx_double_get_nbi, move_get));
  add("longdouble_put_nbi", "put_nbi",
      putter<long double>(shmem_longdouble_put_nbi, shmem_ctx_longdouble_put_nbi, move_put));
  add("longdouble_get_nbi", "get_nbi",
      later_getter<long double>(shmem_longdouble_get_nbi, shmem_ctx_longdouble_get_nbi, move_get));
  add("put8", "put", putter<std::uint8_t>(shmem_put8, shmem_ctx_put8, move_put));
  add("put16", "put", putter<std::uint16_t>(shmem_put16, shmem_ctx_put16, move_put));
  add("putmem", "put", putter<std::byte>(shmem_putmem, shmem_ctx_putmem, move_put));
  add("iput8", "iput", putter<std::uint8_t>(shmem_iput8, shmem_ctx_iput8, move_iput, strided_step));
  add("iput16", "iput", putter<std::uint16_t>(shmem_iput16, shmem_ctx_iput16, move_iput, strided_step));
  add("get8", "get", getter<std::uint8_t>(shmem_get8, shmem_ctx_get8, move_get));
  add("get16", "get", getter<std::uint16_t>(shmem_get16, shmem_ctx_get16, move_get));
  add("getmem", "get", getter<std::byte>(shmem_getmem, shmem_ctx_getmem, move_get));
  add("iget8", "iget", getter<std::uint8_t>(shmem_iget8, shmem_ctx_iget8, move_iget, strided_step));
  add("iget16", "iget", getter<std::uint16_t>(shmem_iget16, shmem_ctx_iget16, move_iget, strided_step));
  add("put8_nbi", "put_nbi", putter<std::uint8_t>(shmem_put8_nbi, shmem_ctx_put8_nbi, move_put));
  add("put16_nbi", "put_nbi", putter<std::uint16_t>(shmem_put16_nbi, shmem_ctx_put16_nbi, move_put));
  add("put32_nbi", "put_nbi", putter<std::uint32_t>(shmem_put32_nbi, shmem_ctx_put32_nbi, move_put));
  add("put64_nbi", "put_nbi", putter<std::uint64_t>(shmem_put64_nbi, shmem_ctx_put64_nbi, move_put));
  add("put128_nbi", "put_nbi", putter<Wide>(shmem_put128_nbi, shmem_ctx_put128_nbi, move_put));
  add("putmem_nbi", "put_nbi", putter<std::byte>(shmem_putmem_nbi, shmem_ctx_putmem_nbi, move_put));
  add("get8_nbi", "get_nbi", later_getter<std::uint8_t>(shmem_get8_nbi, shmem_ctx_get8_nbi, move_get));
  add("get16_nbi", "get_nbi", later_getter<std::uint16_t>(shmem_get16_nbi, shmem_ctx_get16_nbi, move_get));
  add("get32_nbi", "get_nbi", later_getter<std::uint32_t>(shmem_get32_nbi, shmem_ctx_get32_nbi, move_get));
  add("get64_nbi", "get_nbi", later_getter<std::uint64_t>(shmem_get64_nbi, shmem_ctx_get64_nbi, move_get));
  add("get128_nbi", "get_nbi", later_getter<Wide>(shmem_get128_nbi, shmem_ctx_get128_nbi, move_get));
  add("getmem_nbi", "get_nbi", later_getter<std::byte>(shmem_getmem_nbi, shmem_ctx_getmem_nbi, move_get));
}

}  // namespace

std::vector<Row> transfer_rows() {
  TransferRows rows;
  add_typed(rows);
  add_sized(rows);
  add_later(rows);
  return std::move(rows).all();
}

}  // namespace plumb::shmem_api
