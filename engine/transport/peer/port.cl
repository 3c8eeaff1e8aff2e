// The port of transport `peer` (port.hpp), appended to flags.cl: all groups of a lane's kernel are resident, each with
// its slice of every message. With sliding slots, a slice ends where later slices of the previous lap began: a group
// waits for those groups, too.
//
// Flags of a lane: `arrived` of each group, then `credit`, then `put` of each. Flags count from `serial` in a run:
// arrived = serial + i: i messages have arrived; credit = serial + i: this run has begun and i of its messages have
// left their slots; put = serial + i: this device's group has written i slices into the neighbour's slots.
// The names alive, looks, gave_up and those starting with port are reserved.

// bits of `roles`
#define SENDS 1
#define RECEIVES 2
#define RECEIVES_FIRST 4
#define PASSES_ON 8  // received messages are sent on later: the sender must wait for that

// Positions of successive turns (transport.hpp), without division, which costs a GPU half of a short message.
typedef struct {
  __global uchar* lap;  // its position in the first area
  __global uchar* slot;
  ulong area, areas, pitch, stride;
} cursor;

inline cursor turn_of(__global uchar* view, ulong areas, ulong pitch, ulong stride, ulong turn) {
  cursor at;
  at.area = turn % areas;
  at.lap = view + turn / areas * stride;
  at.slot = at.lap + at.area * pitch;
  at.areas = areas;
  at.pitch = pitch;
  at.stride = stride;
  return at;
}

inline void next_turn(cursor* at) {
  at->slot += at->pitch;
  if (++at->area == at->areas) {
    at->area = 0;
    at->lap += at->stride;
    at->slot = at->lap;
  }
}

// Number of groups whose slices, from this one's on, overlap a slice displaced by `stride` bytes.
inline ulong groups_touched(ulong bytes, ulong stride) {
  const ulong group = get_group_id(0), groups = get_num_groups(0);
  const ulong end = slice_of(bytes, group + 1) + (stride < bytes ? stride : 0);
  ulong touched = 1;
  while (group + touched < groups && slice_of(bytes, group + touched) < end) ++touched;
  return touched;
}

// Flags awaited by a group before its part of a round. A poll takes a GPU half a microsecond, so the group's work items
// poll all flags at once.
typedef struct {
  __global const ulong *arrived, *credit, *put;  // of this group; those of the following groups are adjacent
  ulong credits, puts;  // numbers of groups to await
} awaited;

inline uint all_reached(const awaited* flags, ulong arrived, ulong credit, ulong put, ulong looks,
                        __global ulong* gave_up) {
  const ulong count = 1 + flags->credits + flags->puts;
  for (ulong k = get_local_id(0); k < count; k += get_local_size(0)) {
    __global const ulong* flag = flags->arrived;
    ulong value = arrived;
    if (k > flags->credits) {
      flag = flags->put + (k - 1 - flags->credits) * FLAG_STRIDE;
      value = put;
    } else if (k > 0) {
      flag = flags->credit + (k - 1) * FLAG_STRIDE;
      value = credit;
    }
    if (!reached(flag, value, looks, gave_up)) return 0;
  }
  return 1;
}

#ifdef ALONE
#define AWAIT_ALL(flags, arrived, credit, put) \
  if (!all_reached(flags, arrived, credit, put, looks, gave_up)) return
#else
#define AWAIT_ALL(flags, arrived, credit, put)                                   \
  if (!all_reached(flags, arrived, credit, put, looks, gave_up)) alive = 0;      \
  TOGETHER();                                                                    \
  if (!alive) return
#endif

#define PORT_SLOTS(which)                                                                                  \
  __global uchar *port_##which, ulong port_##which##_at, ulong port_##which##_areas, ulong port_##which##_pitch, \
      ulong port_##which##_stride, ulong port_##which##_turn
#define PORT                                                                                             \
  ulong port_bytes, ulong port_serial, uint port_roles, ulong port_lag, ulong looks, __global ulong *port_mine, \
      __global ulong *port_right, __global ulong *port_left, __global ulong *gave_up, PORT_SLOTS(from), PORT_SLOTS(to)

typedef struct {
  awaited flags;
  __global ulong *at_right, *at_left, *own_put;  // `arrived` and `credit` of this group at the neighbours, and its own `put`
  ulong begin, end;  // of its slice
  ulong serial, lag, arrived;  // arrived: value of that flag before the next round
  uint sends, receives, passes_on, slides;
  cursor out, in;
} port_state;

inline port_state port_of(ulong bytes, ulong serial, uint roles, ulong lag, __global ulong* mine, __global ulong* right,
                          __global ulong* left, ulong to_stride) {
  port_state port;
  const ulong flag = get_group_id(0) * FLAG_STRIDE, credits = get_num_groups(0) * FLAG_STRIDE, puts = 2 * credits;
  const ulong touched = groups_touched(bytes, to_stride);
  port.sends = (roles & SENDS) != 0;
  port.receives = (roles & RECEIVES) != 0;
  port.passes_on = (roles & PASSES_ON) != 0;
  // Other groups' slices overlap this one's successors.
  port.slides = port.sends && get_num_groups(0) > 1 && to_stride > 0 && to_stride < bytes;
  port.flags.arrived = mine + flag;
  port.flags.credit = mine + credits + flag;
  port.flags.put = mine + puts + flag;
  port.flags.credits = port.sends ? touched : 0;
  port.flags.puts = port.slides ? touched : 0;
  port.at_right = right + flag;
  port.at_left = left + credits + flag;
  port.own_put = mine + puts + flag;
  port.begin = slice_of(bytes, get_group_id(0));
  port.end = slice_of(bytes, get_group_id(0) + 1);
  port.serial = serial;
  port.lag = lag;
  port.arrived = 0;
  return port;
}

#define PORT_KERNEL(name) __kernel void name
#define PORT_COMPUTES 1

#ifdef ALONE
#define PORT_ALIVE
#else
#define PORT_ALIVE \
  if (FIRST) alive = 1; \
  TOGETHER();
#endif

#define PORT_OPEN                                                                                          \
  GROUP_STATE                                                                                              \
  port_state port = port_of(port_bytes, port_serial, port_roles, port_lag, port_mine, port_right, port_left, \
                            port_to_stride);                                                               \
  PORT_ALIVE                                                                                               \
  if (port.receives) {                                                                                     \
    RAISE(port.at_left, port.serial);                                                                      \
  }                                                                                                        \
  port.out = turn_of(port_from + port_from_at, port_from_areas, port_from_pitch, port_from_stride, port_from_turn); \
  port.in = turn_of(port_to + port_to_at, port_to_areas, port_to_pitch, port_to_stride, port_to_turn)

#define PORT_RECEIVES_FIRST (port_roles & RECEIVES_FIRST)

// Required values of `credit` and `put` before round i.
#define PORT_CREDIT(i) (port.serial + ((i) >= port.lag ? (i) - port.lag + 1 : 0))
#define PORT_PUT(i) (port.slides && (i) >= port_to_areas ? port.serial + (i) - port_to_areas + 1 : 0)

#define PORT_SEND(i)                                                                                     \
  if (port.sends) {                                                                                      \
    AWAIT_ALL(&port.flags, port.arrived, PORT_CREDIT(i), PORT_PUT(i));                                   \
    copy_part(port.out.slot, port.in.slot, port.begin, port.end);                                        \
    RAISE_ALL(port.at_right, port.serial + (i) + 1, port.passes_on, port.at_left, port.slides, port.own_put); \
    next_turn(&port.out);                                                                                \
    next_turn(&port.in);                                                                                 \
  }
#define PORT_EXPECT(i) \
  if (port.receives) port.arrived = port.serial + (i) + 1
#define PORT_RECEIVE(i) \
  PORT_EXPECT(i);       \
  AWAIT(port.flags.arrived, port.arrived)
#define PORT_CLOSE AWAIT(port.flags.arrived, port.arrived)
