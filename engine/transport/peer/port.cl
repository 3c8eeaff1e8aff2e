// The port of transport `peer` (port.hpp), behind flags.cl: all groups of a lane's kernel run at the same time, each with
// its slice of every message. Where slots slide, a slice's end lies where later slices of the lap before had their
// begin: a group waits for those groups, too.
//
// Flags of a lane: `arrived` of each group, then `credit`, then `put` of each. In a run, flags count from `serial`:
// arrived = serial + i says that i messages are there, credit = serial + i that this run has begun and i of its messages
// have left their slots, put = serial + i that this device's group has put i slices into the neighbour's slots.
// The names alive, looks, gave_up and what begins with port are the port's.

// bits of `roles`
#define SENDS 1
#define RECEIVES 2
#define RECEIVES_FIRST 4
#define PASSES_ON 8  // what is received is sent later: the sender must know when

// The place of a turn and of those after it (transport.hpp): a division takes a GPU as long as half of a short message.
typedef struct {
  __global uchar* lap;    // its place in the first area
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

// How many groups' slices, from this one's on, a slice touches that lies by `stride` bytes further on than they do.
inline ulong groups_touched(ulong bytes, ulong stride) {
  const ulong group = get_group_id(0), groups = get_num_groups(0);
  const ulong end = slice_of(bytes, group + 1) + (stride < bytes ? stride : 0);
  ulong touched = 1;
  while (group + touched < groups && slice_of(bytes, group + touched) < end) ++touched;
  return touched;
}

// What a group waits for before its part of a round. Each look takes a GPU half a microsecond, so the group's work items
// look at all of these flags at once.
typedef struct {
  __global const ulong *arrived, *credit, *put;  // of this group; those of the groups after it follow
  ulong credits, puts;                           // how many groups' flags
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
  __global ulong *at_right, *at_left, *own_put;  // this group's `arrived` and `credit` at the neighbours, and its own `put`
  ulong begin, end;                              // of its slice
  ulong serial, lag, arrived;                    // arrived: what that flag must reach before the next round
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
  // Others touch this slice where one before it does.
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

// What credit and `put` must reach before round i.
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
