// A port (port.hpp) for one kernel of a pair, appended to pair.cl and the transport's text; PORT_SENDING or
// PORT_RECEIVING selects it. Calls for the other direction wait for the other kernel.
#undef PORT_KERNEL
#undef PORT_OPEN
#undef PORT_SEND
#undef PORT_EXPECT
#undef PORT_CLOSE
#undef PORT_COMPUTES
#ifdef PORT_SENDING
#define PORT_KERNEL(name) __kernel void name##_send
#define PORT_COMPUTES 1
#define PORT_OPEN
#define PORT_SEND(i)                        \
  do {                                      \
    send_message(SLOT_OF(i), port_bytes);   \
    TELL(sent);                             \
  } while (0)
#define PORT_EXPECT(i) AWAIT(received)
#define PORT_CLOSE
#else
// Waits for the previous message, as a message may arrive while another leaves; for the latest one if the lane receives
// first.
#define PORT_KERNEL(name) __kernel void name##_receive
#ifdef PAIR
#define PORT_COMPUTES 0
#else
#define PORT_COMPUTES 1
#endif
#define PORT_OPEN   \
  ulong port_came = 0; \
  uint port_leaves = 0
// Messages that nobody expected yet are received as well, since a whole window of them may exceed the channels.
#define PORT_SEND(i)                                                                          \
  do {                                                                                        \
    if (port_leaves) {                                                                        \
      for (; port_came < (i); ++port_came) receive_message(SLOT_OF(port_came), port_bytes);   \
      AWAIT(sent);                                                                            \
    }                                                                                         \
    port_leaves = 1;                                                                          \
  } while (0)
#define PORT_EXPECT(i)                                                                        \
  do {                                                                                        \
    if (PORT_RECEIVES_FIRST && port_leaves) {                                                 \
      AWAIT(sent);                                                                            \
      port_leaves = 0;                                                                        \
    }                                                                                         \
    for (; port_came <= (i); ++port_came) receive_message(SLOT_OF(port_came), port_bytes);    \
    TELL(received);                                                                           \
  } while (0)
#define PORT_CLOSE \
  if (port_leaves) AWAIT(sent)
#endif
