// Common code of the two kernels of a lane of transport `channel` in HLS C++: channel.cl's, with AXI streams in place
// of Intel's channels. port.cl, which follows once per direction, makes a port of each kernel.
//
//   SENDS, RECEIVES   the lane's directions
#include "ap_axi_sdata.h"
#include "ap_utils.h"
#include "hls_stream.h"
#include "hls_vector.h"

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;  // 64 bits

#define CHANNEL_WIDTH 32  // bytes per chunk
#define CHANNELS 2        // per direction

typedef hls::vector<uchar, CHANNEL_WIDTH> chunk;
typedef hls::axis_data<chunk, AXIS_ENABLE_LAST> word;  // `last`: of a message on this channel

// Order of a lane's two directions in a round, as in port.hpp.
#define RECEIVE_FIRST 1

// Slots, as in transport.hpp, and the kernel's streams.
#define PORT                                                                                                  \
  ulong port_bytes, uint port_order, uchar *port_view, ulong port_offset, ulong port_areas, ulong port_pitch, \
      ulong port_stride, ulong port_turn, PORT_STREAMS
#define SLOT_OF(round)                                                         \
  (port_view + port_offset + ((round) + port_turn) % port_areas * port_pitch + \
   ((round) + port_turn) / port_areas * port_stride)
#define PORT_RECEIVES_FIRST (port_order == RECEIVE_FIRST)
#define PORT_RECEIVE(i) PORT_EXPECT(i)
#define __kernel extern "C"

#if defined(SENDS) && defined(RECEIVES)
#define PAIR 1
// One token: an expected message is in its slot, or a message has left its slot.
#define TELL(what)  \
  do {              \
    ap_wait();      \
    what.write(1u); \
  } while (0)
#define AWAIT(what) \
  do {              \
    what.read();    \
    ap_wait();      \
  } while (0)
#define TOKENS , hls::stream<uint>&sent, hls::stream<uint>&received
#else
#define TELL(what)
#define AWAIT(what)
#define TOKENS
#endif
#define SENDING_STREAMS hls::stream<word>&out0, hls::stream<word>&out1 TOKENS
#define RECEIVING_STREAMS hls::stream<word>&in0, hls::stream<word>&in1 TOKENS

// The chunk at byte `at` of a message; bytes past the message's end are 0.
static chunk load(const uchar* message, const ulong at, const ulong bytes) {
#pragma HLS inline
  chunk value;
  for (uint i = 0; i < CHANNEL_WIDTH; ++i) {
#pragma HLS unroll
    value[i] = at + i < bytes ? message[at + i] : 0;
  }
  return value;
}

// Writes a chunk to byte `at` of a message, except past its end.
static void store(const chunk value, uchar* message, const ulong at, const ulong bytes) {
#pragma HLS inline
  for (uint i = 0; i < CHANNEL_WIDTH; ++i) {
#pragma HLS unroll
    if (at + i < bytes) message[at + i] = value[i];
  }
}

static void send_words(const uchar* message, const ulong bytes, hls::stream<word>& out0, hls::stream<word>& out1) {
#pragma HLS inline
send_chunks:
  for (ulong at = 0; at < bytes; at += CHANNELS * CHANNEL_WIDTH) {
#pragma HLS pipeline II = 1
    const bool last = at + CHANNELS * CHANNEL_WIDTH >= bytes;
    out0.write({load(message, at, bytes), last});
    out1.write({load(message, at + CHANNEL_WIDTH, bytes), last});
  }
}

// A message ends with the word marked as its last.
static void receive_words(uchar* message, const ulong bytes, hls::stream<word>& in0, hls::stream<word>& in1) {
#pragma HLS inline
  bool ended = bytes == 0;
receive_chunks:
  for (ulong at = 0; !ended; at += CHANNELS * CHANNEL_WIDTH) {
#pragma HLS pipeline II = 1
    const word first = in0.read(), second = in1.read();
    store(first.data, message, at, bytes);
    store(second.data, message, at + CHANNEL_WIDTH, bytes);
    ended = first.last;
  }
}

#define send_message(message, bytes) send_words(message, bytes, out0, out1)
#define receive_message(message, bytes) receive_words(message, bytes, in0, in1)
