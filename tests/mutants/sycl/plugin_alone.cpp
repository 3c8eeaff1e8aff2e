// The plug-in's own functions, where the engine does not see the difference: errors that SYCL reports asynchronously
// come out with their text, whether the host waits or polls; a command is queued before it starts.
// tests/mutants/test_sycl.py compiles and runs it.
#include "device/sycl/plugin/plumb_sycl.cpp"

namespace {

using namespace plumb::sycl_plugin;

void require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s; the error is \"%s\"\n", what, table.error());
  std::exit(1);
}

QueueHandle* with_failing_command(ContextHandle* context) {
  QueueHandle* const queue = table.make_queue(context, 0);
  enqueued(queue, queue->queue.submit([](::sycl::handler& handler) {
    handler.host_task([] { throw std::runtime_error("a command came to grief"); });
  }));
  return queue;
}

bool is_told() {
  return std::string(table.error()) == "a command came to grief";
}

void test_errors(ContextHandle* context) {
  QueueHandle* const awaited = with_failing_command(context);
  require(table.wait(awaited) == -1 && is_told(), "wait() does not tell");
  require(table.wait(awaited) == 0, "wait() tells twice");
  QueueHandle* const polled = with_failing_command(context);
  int found = 0;
  while (found == 0) found = table.finished(polled);
  require(found == -1 && is_told(), "finished() does not tell");
  require(table.finished(polled) == 1, "finished() tells twice");
  table.free_queue(awaited);
  table.free_queue(polled);
}

void test_times(ContextHandle* context) {
  std::vector<char> from(1 << 20, 'x'), to(from.size());
  QueueHandle* const queue = table.make_queue(context, 1);
  Times first{}, second{};
  for (Times* times : {&first, &second}) {
    table.mark_first(queue);
    table.copy(queue, to.data(), from.data(), from.size());
    require(table.wait(queue) == 0 && table.times(queue, times) == 1, "no times are told");
    require(times->queued > 0 && times->queued <= times->started, "a command started before it was queued");
    require(times->started < times->ended, "a command took no time");
  }
  require(second.queued >= first.queued && second.started >= first.ended, "times are of another command");
  table.free_queue(queue);
}

}  // namespace

int main() {
  ContextHandle* const context = table.open(0);
  require(context != nullptr, "there is no device");
  test_errors(context);
  test_times(context);
  table.close(context);
  std::puts("right");
}
