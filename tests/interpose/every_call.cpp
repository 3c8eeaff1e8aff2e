// every_call: calls each function in interpose/calls/mpi.toml once on device memory, on one rank. A function that works
// there must bring the right bytes; one that does not must end with its sentence, for each of its buffers. Here
// abort_call() throws instead of ending the program.
#include "every_call.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

#include "interpose/memory/failure.hpp"
#include "plumb_mpi.h"

namespace plumb::interpose {

// Not an std::exception, which the library itself would catch.
struct Refused {
  std::string sentence;
};

void abort_call(const char* call, const std::string& sentence) {
  throw Refused{std::string(call) + ": " + sentence};  // NOLINT(bugprone-std-exception-baseclass): see above
}

}  // namespace plumb::interpose

namespace plumb::every_call {

namespace {

using Bytes = std::array<unsigned char, elements>;

void check(int code) {
  if (code != 0) throw std::runtime_error(fmt::format("error {} ({})", code, plumb_mpi_error()));
}

void* allocate() {
  void* address = nullptr;
  check(plumb_mpi_alloc(elements, &address));
  return address;
}

// Memory of a device, and bytes that no other piece has.
struct Piece {
  void* address = allocate();
  Bytes initial{};

  explicit Piece(int number) {
    for (std::size_t i = 0; i < initial.size(); ++i) initial[i] = static_cast<unsigned char>(number + 3 * i);
  }
  void fill(const Bytes& bytes) const { check(plumb_mpi_copy(address, bytes.data(), elements)); }
  Bytes content() const {
    Bytes bytes{};
    check(plumb_mpi_copy(bytes.data(), address, elements));
    return bytes;
  }
};

void expect(const Bytes& bytes, const Bytes& right, const char* where) {
  if (bytes != right) throw std::runtime_error(fmt::format("wrong bytes {}", where));
}

class Test {
 public:
  Test() {
    const int self = 0;
    MPI_Comm_group(MPI_COMM_SELF, &all_.group);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &all_.graph);
    attached_.resize(1 << 16);
    MPI_Buffer_attach(attached_.data(), static_cast<int>(attached_.size()));
  }

  // Throws where a call does other than it should.
  void run(const Entry& entry) {
    a_ = all_;
    from_.fill(from_.initial);
    to_.fill(to_.initial);
    a_.from = from_.address;
    a_.to = to_.address;
    if (entry.how == "pass") return refuse(entry);
    using Run = void (Test::*)(const Entry&);
    static const std::map<std::string, Run> runs{
        {"collectives", &Test::copy},    {"other_collectives", &Test::copy},    {"local", &Test::copy},
        {"sends", &Test::send},          {"receives", &Test::receive},          {"probes", &Test::probe},
        {"requests", &Test::complete},   {"one_sided", &Test::access},          {"atomic", &Test::access},
        {"windows", &Test::synchronise}, {"window_handles", &Test::synchronise}};
    (this->*runs.at(entry.group))(entry);
  }

  // Functions that are in no group of the table.
  void run_others() {
    a_ = all_;
    void* base = nullptr;
    int found = 0;
    make_window();
    MPI_Win_get_attr(a_.win, MPI_WIN_BASE, static_cast<void*>(&base), &found);
    MPI_Win_free(&a_.win);
    if (base != window_.address) throw std::runtime_error("MPI_Win_get_attr: wrong base");
    MPI_Irecv(to_.address, elements, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_SELF, &a_.request);
    if (MPI_Request_f2c(MPI_Request_c2f(a_.request)) != a_.request) throw std::runtime_error("MPI_Request_f2c: wrong");
    finish();
  }

 private:
  void call(const Entry& entry) { check(entry.call(a_)); }

  void finish() {
    if (a_.request != MPI_REQUEST_NULL) check(MPI_Wait(&a_.request, &a_.status));
  }

  // The call ends with a sentence that begins so.
  template <class Call>
  void expect_refusal(const std::string& begin, Call call) {
    try {
      call();
    } catch (const interpose::Refused& refused) {
      if (refused.sentence.starts_with(begin)) return;
      throw std::runtime_error("it is refused by: " + refused.sentence);
    }
    throw std::runtime_error("it is not refused");
  }

  // On a device in one buffer at a time.
  void refuse(const Entry& entry) {
    for (const bool reads : {true, false}) {
      if (!(reads ? entry.reads : entry.writes)) continue;
      a_.from = reads ? from_.address : here_.data();
      a_.to = reads ? here_.data() : to_.address;
      const std::string begin = fmt::format("{}: invalid device address {}: this function takes host memory only",
                                            entry.name, reads ? from_.address : to_.address);
      expect_refusal(begin, [&] { entry.call(a_); });
    }
  }

  // On one rank, a collective's result is its input.
  void copy(const Entry& entry) {
    if (entry.name.find("educe") != std::string::npos) to_.fill({});
    call(entry);
    finish();
    if (entry.name.find("xscan") == std::string::npos)  // rank 0 gets nothing
      expect(to_.content(), entry.reads ? from_.initial : to_.initial, "received");
  }

  void send(const Entry& entry) {
    MPI_Request received = MPI_REQUEST_NULL;
    MPI_Irecv(here_.data(), elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &received);
    call(entry);
    const bool is_persistent = entry.name.find("_init") != std::string::npos;
    if (is_persistent) MPI_Start(&a_.request);
    finish();
    if (is_persistent) MPI_Request_free(&a_.request);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    expect(here_, from_.initial, "sent");
  }

  void receive(const Entry& entry) {
    MPI_Request sent = MPI_REQUEST_NULL;
    if (entry.name.find("endrecv") == std::string::npos)
      MPI_Isend(from_.initial.data(), elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &sent);
    if (entry.of_int == "Mrecv" || entry.of_int == "Imrecv")
      MPI_Mprobe(0, tag, MPI_COMM_SELF, &a_.message, MPI_STATUS_IGNORE);
    call(entry);
    const bool is_persistent = entry.name.find("_init") != std::string::npos;
    if (is_persistent) MPI_Start(&a_.request);
    finish();
    if (is_persistent) MPI_Request_free(&a_.request);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    expect(to_.content(), entry.name.find("replace") == std::string::npos ? from_.initial : to_.initial, "received");
  }

  void probe(const Entry& entry) {
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(a_.from, elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &sent);
    a_.flag = entry.of_int == "Iprobe" || entry.of_int == "Improbe" ? 0 : 1;
    do call(entry);
    while (a_.flag == 0);
    MPI_Status status = a_.status;
    if (a_.message != MPI_MESSAGE_NULL)
      MPI_Mrecv(a_.to, elements, MPI_BYTE, &a_.message, MPI_STATUS_IGNORE);
    else
      MPI_Recv(a_.to, elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (status.MPI_TAG != tag) throw std::runtime_error("wrong tag");
    expect(to_.content(), from_.initial, "received");
  }

  void complete(const Entry& entry) {
    MPI_Request other = MPI_REQUEST_NULL;
    const bool frees = entry.name == "MPI_Request_free", starts = entry.name.find("Start") != std::string::npos;
    if (frees || starts) {
      MPI_Irecv(here_.data(), elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &other);
      (starts ? MPI_Send_init : MPI_Isend)(a_.from, elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &a_.request);
    } else {
      MPI_Irecv(a_.to, elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &a_.request);
      if (entry.name == "MPI_Cancel") expect_refusal("MPI_Cancel: ", [&] { call(entry); });
      MPI_Isend(from_.initial.data(), elements, MPI_BYTE, 0, tag, MPI_COMM_SELF, &other);
    }
    if (entry.name != "MPI_Cancel") call(entry);
    finish();
    if (starts) MPI_Request_free(&a_.request);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    expect(frees || starts ? here_ : to_.content(), from_.initial, "received");
  }

  void make_window() { check(MPI_Win_create(window_.address, elements, 1, MPI_INFO_NULL, MPI_COMM_SELF, &a_.win)); }

  // Opens this rank's own window for reading, so that others' bytes are on the device.
  void bring() const {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a_.win);
    MPI_Win_unlock(0, a_.win);
  }

  void access(const Entry& entry) {
    window_.fill(window_.initial);
    make_window();
    MPI_Win_lock_all(0, a_.win);
    call(entry);
    finish();
    MPI_Win_unlock_all(a_.win);
    bring();
    const Bytes to = to_.content(), window = window_.content();
    MPI_Win_free(&a_.win);
    const bool is_one = entry.group == "atomic";
    const std::size_t count = is_one ? 1 : elements;
    if (entry.writes && std::memcmp(to.data(), window_.initial.data(), count) != 0)
      throw std::runtime_error("wrong bytes got");
    if (!entry.reads || entry.name == "MPI_Compare_and_swap") return;
    for (std::size_t i = 0; i < count; ++i) {
      const bool puts = entry.name.find("ut") != std::string::npos;
      const int right = from_.initial[i] | (puts ? 0 : window_.initial[i]);
      if (window[i] != right) throw std::runtime_error("wrong bytes in the window");
    }
  }

  // What the entry names is called by the table, the rest around it directly.
  template <class Otherwise>
  void step(const Entry& entry, const char* name, Otherwise otherwise) {
    if (entry.of_int == name)
      call(entry);
    else
      otherwise();
  }

  void synchronise(const Entry& entry) {
    window_.fill(window_.initial);
    const auto put = [&] { MPI_Put(a_.from, elements, MPI_BYTE, 0, 0, elements, MPI_BYTE, a_.win); };
    const std::string& name = entry.of_int;
    if (name == "Win_create") {
      a_.to = window_.address;
      call(entry);
    } else {
      make_window();
    }
    if (name == "Win_post" || name == "Win_complete" || name == "Win_wait" || name == "Win_test") {
      step(entry, "Win_post", [&] { MPI_Win_post(a_.group, 0, a_.win); });
      MPI_Win_start(a_.group, 0, a_.win);
      put();
      step(entry, "Win_complete", [&] { MPI_Win_complete(a_.win); });
      if (name == "Win_test") do
          call(entry);
        while (a_.flag == 0);
      else
        step(entry, "Win_wait", [&] { MPI_Win_wait(a_.win); });
    } else if (name == "Win_fence") {
      call(entry);
      put();
      call(entry);
    } else if (name.ends_with("lock_all") || name.ends_with("flush_all")) {
      step(entry, "Win_lock_all", [&] { MPI_Win_lock_all(0, a_.win); });
      put();
      step(entry, "Win_flush_all", [] {});
      step(entry, "Win_unlock_all", [&] { MPI_Win_unlock_all(a_.win); });
      bring();
    } else {
      step(entry, "Win_lock", [&] { MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, a_.win); });
      put();
      for (const char* inner : {"Win_flush", "Win_flush_local", "Win_flush_local_all", "Win_sync"})
        step(entry, inner, [] {});
      step(entry, "Win_unlock", [&] { MPI_Win_unlock(0, a_.win); });
      if (name != "Win_free") bring();
    }
    step(entry, "Win_free", [&] { MPI_Win_free(&a_.win); });
    expect(window_.content(), from_.initial, "in the window");
  }

  Arguments all_, a_;
  Piece from_{1}, to_{100}, window_{200};
  Bytes here_{};
  std::vector<std::byte> attached_;
};

// Whether a call has the expected effect.
bool is_right(Test& test, const Entry& entry, const char* language) {
  try {
    test.run(entry);
    return true;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{} in {}: {}\n", entry.name, language, error.what());
  } catch (const interpose::Refused& refused) {
    fmt::print(stderr, "{} in {}: ended with: {}\n", entry.name, language, refused.sentence);
  }
  return false;
}

int run() {
  Test test;
  int called = 0, right = 0;
  for (Entry entry : entries()) {
    ++called;
    right += is_right(test, entry, "C") ? 1 : 0;
    if (!entry.fortran) continue;
    ++called;
    entry.call = entry.fortran;
    right += is_right(test, entry, "Fortran") ? 1 : 0;
  }
  test.run_others();
  fmt::print("{} functions were called, {} did right\n", called, right);
  return right == called ? 0 : 1;
}

}  // namespace

}  // namespace plumb::every_call

// With an argument, MPI_Init_thread begins.
int main(int argc, char** argv) {
  setenv("UCX_TLS", "sm,self", 0);  // as stress.cpp says
  setenv("OMPI_MCA_osc", "pt2pt", 1);
  int provided = 0;
  if (argc > 1)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  else
    MPI_Init(&argc, &argv);
  const int code = plumb::every_call::run();
  MPI_Finalize();
  return code;
}
