// Messages of transport `channel` in HLS C++: channel.cl's, with AXI streams in place of Intel's channels. Between
// pair_hls.cpp and port.cl.
#define CHANNEL_WIDTH 32  // bytes per chunk
#define CHANNELS 2        // per direction

typedef hls::vector<uchar, CHANNEL_WIDTH> chunk;
typedef hls::axis_data<chunk, AXIS_ENABLE_LAST> word;  // `last`: of a message on this channel

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
