// Kernels for boards with io channels: channel.cl's port with the kernels of rounds.cl, for the two lanes of a replication
// (b_eff). Lane a goes to the right neighbour in the ring, lane b to the left: what a board sends by its ports 0 and 1
// arrives at its right neighbour's ports 2 and 3, and the other way round.
//
//   CHANNEL_OUT_0..3, CHANNEL_IN_0..3   names of the replication's io channels, by port
#define JOINED_(name, replication, lane) name##_##replication##_##lane
#define JOINED(name, replication, lane) JOINED_(name, replication, lane)
#define OWN(name) JOINED(name, REPLICATION, LANE)

#undef SENDS
#undef RECEIVES
#define SENDS
#define RECEIVES
#define load OWN(load)
#define store OWN(store)
#define send_message OWN(send_message)
#define receive_message OWN(receive_message)
#define out0 OWN(out0)
#define out1 OWN(out1)
#define in0 OWN(in0)
#define in1 OWN(in1)
#define sent OWN(sent)
#define received OWN(received)
#define rounds_send OWN(rounds_send)
#define rounds_receive OWN(rounds_receive)

#undef LANE
#undef OUT0
#undef OUT1
#undef IN0
#undef IN1
#define LANE a
#define OUT0 CHANNEL_OUT_0
#define OUT1 CHANNEL_OUT_1
#define IN0 CHANNEL_IN_2
#define IN1 CHANNEL_IN_3
#include "pair.cl"
#include "channel.cl"
#define PORT_SENDING
#include "port.cl"
#include "rounds.cl"
#undef PORT_SENDING
#include "port.cl"
#include "rounds.cl"

#undef LANE
#undef OUT0
#undef OUT1
#undef IN0
#undef IN1
#define LANE b
#define OUT0 CHANNEL_OUT_2
#define OUT1 CHANNEL_OUT_3
#define IN0 CHANNEL_IN_0
#define IN1 CHANNEL_IN_1
#include "pair.cl"
#include "channel.cl"
#define PORT_SENDING
#include "port.cl"
#include "rounds.cl"
#undef PORT_SENDING
#include "port.cl"
#include "rounds.cl"
