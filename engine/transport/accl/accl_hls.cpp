// accl.cl in HLS C++: streams in place of io channels. A kernel knows memory by its address, as C simulation has it.
#ifndef PORT_MORE  // without pair_hls.cpp
#include "ap_utils.h"
#include "hls_stream.h"
#include "hls_vector.h"

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;  // 64 bits
#define TOKENS
#endif

#define WORD 64  // bytes

typedef hls::vector<uchar, WORD> word;
typedef hls::vector<uint, 16> command;  // 15 numbers count

// Numbers of ACCL: calls, and which operands are streams.
#define CALL_COPY 1
#define CALL_SEND 3
#define CALL_RECV 4
#define CALL_NOP 255
#define OPERAND_IS_STREAM 1
#define RESULT_IS_STREAM 2
#define BYTES 1  // type of elements

static void issue(hls::stream<command>& commands, const uint call, const ulong bytes, const uint peer,
                  const uint stream, const uint tag, const uint streams, const ulong operand, const ulong result) {
#pragma HLS inline
  command made(0u);
  made[0] = call;
  made[1] = (uint)bytes;
  made[3] = peer;
  made[4] = stream;
  made[5] = tag;
  made[6] = BYTES;
  made[8] = streams;
  made[9] = (uint)operand;
  made[10] = (uint)(operand >> 32);
  made[13] = (uint)result;
  made[14] = (uint)(result >> 32);
  ap_wait();
  commands.write(made);
}

static void await_status(hls::stream<uint>& statuses) {
#pragma HLS inline
  statuses.read();
  ap_wait();
}

static void read_words(uchar* message, const ulong bytes, hls::stream<word>& data) {
#pragma HLS inline
words_in:
  for (ulong at = 0; at < bytes; at += WORD) {
#pragma HLS pipeline II = 1
    const word next = data.read();
    for (uint i = 0; i < WORD; ++i) {
#pragma HLS unroll
      if (at + i < bytes) message[at + i] = next[i];
    }
  }
}

#if defined(STREAMING) || defined(OPERANDS)
#define SENDING_STREAMS hls::stream<command>&commands, hls::stream<uint>&statuses, hls::stream<word>&data TOKENS
#ifdef STREAMING
#define SENT_BY (OPERAND_IS_STREAM | RESULT_IS_STREAM)
#define RECEIVING_STREAMS hls::stream<word>& data TOKENS
#define receive_message(message, bytes) read_words(message, bytes, data)
#else
#define SENT_BY OPERAND_IS_STREAM
#define RECEIVING_STREAMS SENDING_STREAMS
#define receive_message(message, bytes) receive_words(message, bytes, port_peer, port_number, commands, statuses, data)

static void receive_words(uchar* message, const ulong bytes, const uint peer, const uint number,
                          hls::stream<command>& commands, hls::stream<uint>& statuses, hls::stream<word>& data) {
#pragma HLS inline
  issue(commands, CALL_RECV, bytes, peer, number, number, RESULT_IS_STREAM, 0, 0);
  read_words(message, bytes, data);
  await_status(statuses);
}
#endif

static void send_words(const uchar* message, const ulong bytes, const uint peer, const uint number,
                       hls::stream<command>& commands, hls::stream<uint>& statuses, hls::stream<word>& data) {
#pragma HLS inline
  issue(commands, CALL_SEND, bytes, peer, number, number, SENT_BY, 0, 0);
words_out:
  for (ulong at = 0; at < bytes; at += WORD) {
#pragma HLS pipeline II = 1
    word next((uchar)0);
    for (uint i = 0; i < WORD; ++i) {
#pragma HLS unroll
      if (at + i < bytes) next[i] = message[at + i];
    }
    data.write(next);
  }
  await_status(statuses);
}
#define send_message(message, bytes) send_words(message, bytes, port_peer, port_number, commands, statuses, data)
#else
#define SENDING_STREAMS hls::stream<command>&commands, hls::stream<uint>&statuses TOKENS
#define RECEIVING_STREAMS SENDING_STREAMS

static void send_by_engine(uchar* message, const ulong bytes, const uint peer, const uint number,
                           hls::stream<command>& commands, hls::stream<uint>& statuses) {
#pragma HLS inline
  issue(commands, CALL_SEND, bytes, peer, 0, number, 0, (ulong)message, 0);
  await_status(statuses);
}
static void receive_by_engine(uchar* message, const ulong bytes, const uint peer, const uint number,
                              hls::stream<command>& commands, hls::stream<uint>& statuses) {
#pragma HLS inline
  issue(commands, CALL_RECV, bytes, peer, 0, number, 0, 0, (ulong)message);
  await_status(statuses);
}
#define send_message(message, bytes) send_by_engine(message, bytes, port_peer, port_number, commands, statuses)
#define receive_message(message, bytes) receive_by_engine(message, bytes, port_peer, port_number, commands, statuses)
#endif

#ifdef COMMANDS_ALONE
// Commands without work, each awaited; or with `bytes` copies from memory to this kernel's stream `stream`.
extern "C" void engine_commands(ulong count, ulong bytes, uint stream, uchar* from, ulong from_step, uchar* to,
                                ulong to_step, hls::stream<command>& commands, hls::stream<uint>& statuses,
                                hls::stream<word>& data) {
  for (ulong i = 0; i < count; ++i) {
    if (bytes == 0) {
      issue(commands, CALL_NOP, 0, 0, 0, 0, 0, 0, 0);
    } else {
      issue(commands, CALL_COPY, bytes, 0, stream, 0, RESULT_IS_STREAM, (ulong)(from + i * from_step), 0);
      read_words(to + i * to_step, bytes, data);
    }
    await_status(statuses);
  }
}
#endif
