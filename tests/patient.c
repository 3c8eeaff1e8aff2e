// libplumb-patient: preloaded into the programs of `make test` (scripts/test.sh), whose ranks share cores with other tests
// and with compilers. Libraries of MPI and OpenSHMEM wait by looking, and yield the core between looks; Linux makes a
// task that yields wait for a whole time slice of each busy one, milliseconds for each message. Here the waiting one sleeps
// instead: it leaves the core, and is first to get it again.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <time.h>

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// In place of the C library's.
int sched_yield(void) {
  const int64_t work = 100000, most_looks = 20000;  // nanoseconds: between two waits, and before the first sleep
  const struct timespec little = {0, 20000};
  static _Thread_local int64_t began, last;
  const int64_t at = now();
  if (at - last > work) began = at;
  if (at - began > most_looks) nanosleep(&little, NULL);
  last = now();
  return 0;
}
