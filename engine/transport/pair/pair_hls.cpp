// pair.cl in HLS C++: streams in place of internal channels. A transport's text defines the kernels' own streams,
// SENDING_STREAMS and RECEIVING_STREAMS, each with TOKENS at its end.
#include "ap_axi_sdata.h"
#include "ap_utils.h"
#include "hls_stream.h"
#include "hls_vector.h"

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;  // 64 bits

#ifndef PORT_MORE
#define PORT_MORE
#endif

// Order of a lane's two directions in a round, as in port.hpp.
#define RECEIVE_FIRST 1

// Slots, as in transport.hpp, and the kernel's streams.
#define PORT                                                                                          \
  ulong port_bytes, uint port_order, PORT_MORE uchar *port_view, ulong port_offset, ulong port_areas, \
      ulong port_pitch, ulong port_stride, ulong port_turn, PORT_STREAMS
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
