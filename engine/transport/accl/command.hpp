// Commands and status of ACCL's engine, as its header files define them (Xilinx/ACCL: ccl_offload_control.h,
// accl_hls.h), and what an engine counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plumb::accl {

// ACCL's numbers.
enum class Call : std::uint32_t {
  config = 0,
  copy = 1,
  combine = 2,
  send = 3,
  recv = 4,
  bcast = 5,
  scatter = 6,
  gather = 7,
  reduce = 8,
  allgather = 9,
  allreduce = 10,
  reduce_scatter = 11,
  barrier = 12,
  alltoall = 13,
  nop = 255
};

// 15 words of 32 bits.
struct Command {
  Call call = Call::nop;
  std::uint32_t elements = 0;
  std::uint32_t communicator = 0;
  std::uint32_t peer = 0;      // or root
  std::uint32_t function = 0;  // of arithmetic; of a stream put and of a copy to a stream: the stream's number
  std::uint32_t tag = 0;
  std::uint32_t type = 1;         // bytes
  std::uint32_t compression = 0;  // none
  std::uint32_t streams = 0;      // which operands are streams
  std::uint32_t address[6] = {};  // three of 64 bits, low words first: operand, operand, result

  void set_address(std::size_t which, const void* pointer) {
    const auto value = reinterpret_cast<std::uintptr_t>(pointer);
    address[2 * which] = static_cast<std::uint32_t>(value);
    address[2 * which + 1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32);
  }
  std::byte* get_address(std::size_t which) const {
    return reinterpret_cast<std::byte*>(std::uintptr_t{address[2 * which]} |
                                        static_cast<std::uintptr_t>(std::uint64_t{address[2 * which + 1]} << 32));
  }
};
static_assert(sizeof(Command) == 15 * sizeof(std::uint32_t));

constexpr std::uint32_t operand_is_stream = 1, result_is_stream = 2;  // of `streams`

// Types of elements, and functions of two of them; ACCL's numbers.
enum class Type : std::uint32_t { int8 = 1, float16 = 2, float32 = 3, float64 = 4, int32 = 5, int64 = 6 };
enum class Function : std::uint32_t { sum = 0, max = 1 };

// What a config command sets to its number of elements; ACCL's numbers.
enum class Setting : std::uint32_t { reset = 0, enable_packets = 1, timeout = 2, eager_limit = 3, largest_message = 4 };

// One word; ACCL's numbers.
namespace status {
constexpr std::uint32_t done = 0;
constexpr std::uint32_t not_implemented = 1u << 14;
constexpr std::uint32_t invalid_eager_limit = 1u << 16;
constexpr std::uint32_t no_arithmetic = 1u << 19;
constexpr std::uint32_t no_compression = 1u << 22;
constexpr std::uint32_t packets_out_of_sequence = 1u << 21;
}  // namespace status

// Of all packets, what a case of a benchmark is charged with.
struct Counts {
  std::uint64_t commands = 0;
  std::uint64_t nops = 0;
  std::uint64_t messages = 0;        // sent
  std::uint64_t eager = 0;           // of these
  std::uint64_t rendezvous = 0;      // of these
  std::uint64_t copies = 0;          // of messages from receive buffers to their places, and from memory to memory
  std::uint64_t combinations = 0;    // of two operands
  std::uint64_t packets = 0;         // of messages, with addresses and ends of rendezvous
  std::uint64_t bytes = 0;           // of these packets, with their headers
  std::uint64_t credit_packets = 0;  // with nothing but the engine's own accounts
  std::uint64_t interleaved = 0;     // in a stream that senders share: packets that came within another's message
};

// Where a client waits for its commands.
struct Ticket {
  std::atomic<std::uint64_t> open{0};
  std::atomic<std::uint32_t> status{status::done};  // of all commands, combined
};

}  // namespace plumb::accl
