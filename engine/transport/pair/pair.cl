// Common code of the two kernels of a lane, one for each direction (pair.hpp): the slots of messages as arguments, and
// the order of the rounds, by internal channels between the two: a message is received before it is passed on, and sent
// before it is overwritten. A transport's text follows, with send_message() and receive_message(); then port.cl makes a
// port of each kernel.
//
//   SENDS, RECEIVES   the lane's directions
//   PORT_MORE         the transport's own arguments, each with a comma after it
#pragma OPENCL EXTENSION cl_intel_channels : enable

#ifndef PORT_MORE
#define PORT_MORE
#endif

// Order of a lane's two directions in a round, as in port.hpp.
#define RECEIVE_FIRST 1

// Slots, as in transport.hpp.
#define PORT                                                                                                       \
  ulong port_bytes, uint port_order, PORT_MORE __global uchar *port_view, ulong port_offset, ulong port_areas,     \
      ulong port_pitch, ulong port_stride, ulong port_turn
#define SLOT_OF(round)                                                              \
  (port_view + port_offset + ((round) + port_turn) % port_areas * port_pitch +      \
   ((round) + port_turn) / port_areas * port_stride)
#define PORT_RECEIVES_FIRST (port_order == RECEIVE_FIRST)
#define PORT_RECEIVE(i) PORT_EXPECT(i)

#if defined(SENDS) && defined(RECEIVES)
#define PAIR 1
// One token: an expected message is in its slot, or a message has left its slot.
channel uint received __attribute__((depth(1)));
channel uint sent __attribute__((depth(1)));
#define TELL(what)                                               \
  do {                                                           \
    mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);     \
    write_channel_intel(what, 1u);                               \
  } while (0)
#define AWAIT(what)                                              \
  do {                                                           \
    read_channel_intel(what);                                    \
    mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);     \
  } while (0)
#else
#define TELL(what)
#define AWAIT(what)
#endif
