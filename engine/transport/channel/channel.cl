// Common code of the two kernels of a lane of transport `channel` (Meyer 2024, section 4.1.1.2). The sending kernel
// cuts messages into chunks of a channel's width and writes them alternately to two external channels; the receiving
// one reads two channels and reassembles the chunks. Internal channels between the two order the rounds: a message is
// received before it is passed on, and sent before it is overwritten. port.cl makes a port of each kernel.
//
//   OUT0, OUT1   names of the external channels that the lane sends to, where it sends
//   IN0, IN1     and of those that it receives from
#pragma OPENCL EXTENSION cl_intel_channels : enable

typedef ulong4 chunk;
#define CHANNEL_WIDTH 32  // bytes per chunk
#define CHANNELS 2  // per direction

// Order of a lane's two directions in a round, as in port.hpp.
#define RECEIVE_FIRST 1

// Slots, as in transport.hpp.
#define PORT                                                                                            \
  ulong port_bytes, uint port_order, __global uchar *port_view, ulong port_offset, ulong port_areas, ulong port_pitch, \
      ulong port_stride, ulong port_turn
#define SLOT_OF(round)                                                              \
  (port_view + port_offset + ((round) + port_turn) % port_areas * port_pitch +      \
   ((round) + port_turn) / port_areas * port_stride)
#define PORT_RECEIVES_FIRST (port_order == RECEIVE_FIRST)
#define PORT_RECEIVE(i) PORT_EXPECT(i)

#if defined(OUT0) && defined(IN0)
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

#ifdef OUT0
channel chunk out0 __attribute__((depth(0))) __attribute__((io(OUT0)));
channel chunk out1 __attribute__((depth(0))) __attribute__((io(OUT1)));

// The chunk at byte `at` of a message; bytes past the message's end are 0.
chunk load(__global const uchar* message, ulong at, ulong bytes) {
  if (at + CHANNEL_WIDTH <= bytes)
    return (chunk)(as_ulong2(vload16(0, message + at)), as_ulong2(vload16(1, message + at)));
  union {
    chunk whole;
    uchar bytes[CHANNEL_WIDTH];
  } tail;
  tail.whole = (chunk)(0);
  for (uint i = 0; at + i < bytes; ++i) tail.bytes[i] = message[at + i];
  return tail.whole;
}

void send_message(__global const uchar* message, ulong bytes) {
  for (ulong at = 0; at < bytes; at += CHANNELS * CHANNEL_WIDTH) {
    write_channel_intel(out0, load(message, at, bytes));
    write_channel_intel(out1, load(message, at + CHANNEL_WIDTH, bytes));
  }
}
#endif

#ifdef IN0
channel chunk in0 __attribute__((depth(0))) __attribute__((io(IN0)));
channel chunk in1 __attribute__((depth(0))) __attribute__((io(IN1)));

// Writes a chunk to byte `at` of a message, except past its end.
void store(chunk value, __global uchar* message, ulong at, ulong bytes) {
  if (at + CHANNEL_WIDTH <= bytes) {
    vstore16(as_uchar16(value.lo), 0, message + at);
    vstore16(as_uchar16(value.hi), 1, message + at);
    return;
  }
  union {
    chunk whole;
    uchar bytes[CHANNEL_WIDTH];
  } tail;
  tail.whole = value;
  for (uint i = 0; at + i < bytes; ++i) message[at + i] = tail.bytes[i];
}

void receive_message(__global uchar* message, ulong bytes) {
  for (ulong at = 0; at < bytes; at += CHANNELS * CHANNEL_WIDTH) {
    store(read_channel_intel(in0), message, at, bytes);
    store(read_channel_intel(in1), message, at + CHANNEL_WIDTH, bytes);
  }
}
#endif
