// Messages of transport `channel` (Meyer 2024, section 4.1.1.2). The sending kernel cuts them into chunks of a channel's
// width and writes them alternately to two external channels; the receiving one reads two channels and reassembles the
// chunks. Between pair.cl and port.cl.
//
//   OUT0, OUT1   names of the external channels that the lane sends to, where it sends
//   IN0, IN1     and of those that it receives from
//   PORT_SPACE   address space of messages
#ifndef PORT_SPACE
#define PORT_SPACE __global
#endif
#ifndef CHANNEL_WIDTH  // board.cl includes this several times
typedef ulong4 chunk;
#define CHANNEL_WIDTH 32  // bytes per chunk
#define CHANNELS 2  // per direction
#endif

#ifdef OUT0
channel chunk out0 __attribute__((depth(0))) __attribute__((io(OUT0)));
channel chunk out1 __attribute__((depth(0))) __attribute__((io(OUT1)));

// The chunk at byte `at` of a message; bytes past the message's end are 0.
chunk load(PORT_SPACE const uchar* message, ulong at, ulong bytes) {
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

void send_message(PORT_SPACE const uchar* message, ulong bytes) {
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
void store(chunk value, PORT_SPACE uchar* message, ulong at, ulong bytes) {
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

void receive_message(PORT_SPACE uchar* message, ulong bytes) {
  for (ulong at = 0; at < bytes; at += CHANNELS * CHANNEL_WIDTH) {
    store(read_channel_intel(in0), message, at, bytes);
    store(read_channel_intel(in1), message, at + CHANNEL_WIDTH, bytes);
  }
}
#endif
