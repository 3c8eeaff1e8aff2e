// ap_wait() for C simulation: a clock edge, which no access to memory crosses.
#pragma once

inline void ap_wait() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
