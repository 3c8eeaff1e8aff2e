// Device side of transport `channel`: the pair of kernels of one lane (Meyer 2024, section 4.1.1.2). `send_messages`
// cuts the messages of all rounds into chunks of a channel's width and writes them to two external channels in turn;
// `receive_messages` reads two and puts the chunks together again. Internal channels between the two keep the rounds in
// order: what a round passes on has been received, what it overwrites has been sent.
//
//   OUT0, OUT1   names of the external channels that the lane sends to, where it sends
//   IN0, IN1     and of those that it receives from
#pragma OPENCL EXTENSION cl_intel_channels : enable

typedef ulong4 chunk;
#define CHANNEL_WIDTH 32  // bytes of a chunk
#define CHANNELS 2        // of a direction

// Which of a lane's two goes first in a round, as in lane.hpp.
#define TOGETHER 0
#define RECEIVE_FIRST 1
#define SEND_FIRST 2

// Where messages lie, as in transport.hpp.
#define SLOTS __global uchar *view, ulong offset, ulong areas, ulong pitch, ulong stride, ulong first_turn
#define SLOT_OF(round) \
  (view + offset + ((round) + first_turn) % areas * pitch + ((round) + first_turn) / areas * stride)

#if defined(OUT0) && defined(IN0)
#define PAIR 1
// One token a window of rounds: all of its messages are in their slots; all have left theirs.
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

// The chunk at byte `at` of a message; what lies behind the message's end is 0.
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

// Rounds first .. first + windows * window - 1, of which `window` at a time are under way.
__kernel void send_messages(ulong bytes, ulong first, ulong windows, ulong window, uint order, SLOTS) {
  for (ulong w = 0; w < windows; ++w) {
    if (order == RECEIVE_FIRST || w > 0) AWAIT(received);
    for (ulong round = first + w * window; round < first + (w + 1) * window; ++round) {
      __global const uchar* const message = SLOT_OF(round);
      for (ulong at = 0; at < bytes; at += CHANNELS * CHANNEL_WIDTH) {
        write_channel_intel(out0, load(message, at, bytes));
        write_channel_intel(out1, load(message, at + CHANNEL_WIDTH, bytes));
      }
    }
    if (order == SEND_FIRST || w + 1 < windows) TELL(sent);
  }
}
#endif

#ifdef IN0
channel chunk in0 __attribute__((depth(0))) __attribute__((io(IN0)));
channel chunk in1 __attribute__((depth(0))) __attribute__((io(IN1)));

// Puts a chunk to byte `at` of a message, but for what lies behind the message's end.
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

__kernel void receive_messages(ulong bytes, ulong first, ulong windows, ulong window, uint order, SLOTS) {
  for (ulong w = 0; w < windows; ++w) {
    if (order == SEND_FIRST || w > 0) AWAIT(sent);
    for (ulong round = first + w * window; round < first + (w + 1) * window; ++round) {
      __global uchar* const message = SLOT_OF(round);
      for (ulong at = 0; at < bytes; at += CHANNELS * CHANNEL_WIDTH) {
        store(read_channel_intel(in0), message, at, bytes);
        store(read_channel_intel(in1), message, at + CHANNEL_WIDTH, bytes);
      }
    }
    if (order == RECEIVE_FIRST || w + 1 < windows) TELL(received);
  }
}
#endif
