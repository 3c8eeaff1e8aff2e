// Kernels that issue commands to ACCL's engine by themselves: a lane's two (between pair.cl and port.cl), or
// `engine_commands` alone. A command is a word of 64 bytes, of which the first 15 numbers count, and is answered by a
// status; data are words of 64 bytes, the last of a message filled with zeros.
//
//   SEND_COMMANDS, SEND_STATUSES, SEND_DATA            names of the sending kernel's io channels
//   RECEIVE_COMMANDS, RECEIVE_STATUSES, RECEIVE_DATA   and of the receiving one's
//   STREAMING                                          messages go from kernel to kernel, not from memory to memory
//   OPERANDS                                           they go through receive buffers, but from and to kernels
//   PORT_SPACE                                         address space of messages that are passed as words
#pragma OPENCL EXTENSION cl_intel_channels : enable
#ifndef PORT_SPACE
#define PORT_SPACE __global
#endif

typedef ulong8 word;
#define WORD 64  // bytes

// Numbers of ACCL: calls, and which operands are streams.
#define CALL_COPY 1
#define CALL_SEND 3
#define CALL_RECV 4
#define CALL_NOP 255
#define OPERAND_IS_STREAM 1
#define RESULT_IS_STREAM 2
#define BYTES 1  // type of elements

// call, elements, communicator, peer, function, tag, type, compression, streams, three addresses
uint16 command_of(const uint call, const ulong bytes, const uint peer, const uint stream, const uint tag,
                  const uint streams, const ulong operand, const ulong result) {
  return (uint16)(call, (uint)bytes, 0, peer, stream, tag, BYTES, 0, streams, (uint)operand, (uint)(operand >> 32), 0, 0,
                  (uint)result, (uint)(result >> 32), 0);
}

#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE)
#define ISSUE(commands, ...)                             \
  do {                                                   \
    FENCE;                                               \
    write_channel_intel(commands, command_of(__VA_ARGS__)); \
  } while (0)
#define AWAIT_STATUS(statuses)     \
  do {                             \
    read_channel_intel(statuses);  \
    FENCE;                         \
  } while (0)

#ifdef STREAMING
#define SENT_BY (OPERAND_IS_STREAM | RESULT_IS_STREAM)
#else
#define SENT_BY OPERAND_IS_STREAM
#endif

#ifdef SEND_COMMANDS
channel uint16 send_commands __attribute__((depth(0))) __attribute__((io(SEND_COMMANDS)));
channel uint send_statuses __attribute__((depth(0))) __attribute__((io(SEND_STATUSES)));

#ifdef SEND_DATA
channel word send_data __attribute__((depth(0))) __attribute__((io(SEND_DATA)));

void send_by_engine(PORT_SPACE const uchar* message, const ulong bytes, const uint peer, const uint number) {
  ISSUE(send_commands, CALL_SEND, bytes, peer, number, number, SENT_BY, 0, 0);
  for (ulong at = 0; at < bytes; at += WORD) {
    union {
      word whole;
      uchar bytes[WORD];
    } next;
    next.whole = (word)(0);
    for (uint i = 0; i < WORD; ++i)
      if (at + i < bytes) next.bytes[i] = message[at + i];
    write_channel_intel(send_data, next.whole);
  }
  AWAIT_STATUS(send_statuses);
}
#else
void send_by_engine(__global const uchar* message, const ulong bytes, const uint peer, const uint number) {
  ISSUE(send_commands, CALL_SEND, bytes, peer, 0, number, 0, (ulong)message, 0);
  AWAIT_STATUS(send_statuses);
}
#endif
#define send_message(message, bytes) send_by_engine(message, bytes, port_peer, port_number)
#endif

#ifdef RECEIVE_DATA
channel word receive_data __attribute__((depth(0))) __attribute__((io(RECEIVE_DATA)));

void read_words(PORT_SPACE uchar* message, const ulong bytes) {
  for (ulong at = 0; at < bytes; at += WORD) {
    union {
      word whole;
      uchar bytes[WORD];
    } next;
    next.whole = read_channel_intel(receive_data);
    for (uint i = 0; i < WORD; ++i)
      if (at + i < bytes) message[at + i] = next.bytes[i];
  }
}
#ifndef RECEIVE_COMMANDS
#define receive_message(message, bytes) read_words(message, bytes)
#endif
#endif

#ifdef RECEIVE_COMMANDS
channel uint16 receive_commands __attribute__((depth(0))) __attribute__((io(RECEIVE_COMMANDS)));
channel uint receive_statuses __attribute__((depth(0))) __attribute__((io(RECEIVE_STATUSES)));

#ifdef RECEIVE_DATA
void receive_by_engine(PORT_SPACE uchar* message, const ulong bytes, const uint peer, const uint number) {
  ISSUE(receive_commands, CALL_RECV, bytes, peer, number, number, RESULT_IS_STREAM, 0, 0);
  read_words(message, bytes);
  AWAIT_STATUS(receive_statuses);
}
#else
void receive_by_engine(__global uchar* message, const ulong bytes, const uint peer, const uint number) {
  ISSUE(receive_commands, CALL_RECV, bytes, peer, 0, number, 0, 0, (ulong)message);
  AWAIT_STATUS(receive_statuses);
}
#endif
#define receive_message(message, bytes) receive_by_engine(message, bytes, port_peer, port_number)
#endif

#ifdef COMMANDS_ALONE
// Commands without work, each awaited; or with `bytes` copies from memory to this kernel's stream `stream`.
__kernel void engine_commands(const ulong count, const ulong bytes, const uint stream, __global uchar* from,
                              const ulong from_step, __global uchar* to, const ulong to_step) {
  for (ulong i = 0; i < count; ++i) {
    if (bytes == 0) {
      ISSUE(send_commands, CALL_NOP, 0, 0, 0, 0, 0, 0, 0);
    } else {
      ISSUE(send_commands, CALL_COPY, bytes, 0, stream, 0, RESULT_IS_STREAM, (ulong)(from + i * from_step), 0);
      read_words(to + i * to_step, bytes);
    }
    AWAIT_STATUS(send_statuses);
  }
}
#endif
