// Device side of transport `peer`: kernels of one device put messages into memory that another process's device shares,
// and raise flags there. A message is cut into slices, one for each group of work items; a group looks after its slice
// by flags of its own. Where slots slide, a slice's end lies where later slices of the lap before had their begin: then
// `stream` waits for those groups, too (all groups run at the same time).
//
//   ALONE   one work item does a group's work (CPUs)
//   WIDE    type of what is copied at a time
#ifndef FENCE_SYSTEM
// OpenCL has no order between processes before 2.0; on CPUs a fence orders what other processes see.
#define FENCE_SYSTEM() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define STORE_SYSTEM(flag, value) *(volatile __global ulong*)(flag) = (value)
inline ulong acquire_system(__global const ulong* flag) {
  const ulong value = *(volatile __global const ulong*)flag;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return value;
}
#endif

#ifdef ALONE
#define TOGETHER()
#define FIRST 1
#else
#define TOGETHER() barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#define FIRST (get_local_id(0) == 0)
#endif

// ulongs from one group's flag to the next: a line of any cache
#define FLAG_STRIDE 16

// First byte of a group's slice.
inline ulong slice_of(ulong bytes, ulong group) {
  const ulong groups = get_num_groups(0);
  const ulong each = ((bytes + groups - 1) / groups + 127) / 128 * 128;
  return group * each < bytes ? group * each : bytes;
}

// Bytes begin .. end - 1 of a message, by the work items of a group.
inline void copy_part(__global const uchar* from, __global uchar* to, ulong begin, ulong end) {
  const ulong lane = get_local_id(0), width = get_local_size(0);
  ulong at = begin;
  if ((((size_t)from | (size_t)to) & (sizeof(WIDE) - 1)) == 0) {
    __global const WIDE* source = (__global const WIDE*)(from + begin);
    __global WIDE* target = (__global WIDE*)(to + begin);
    const ulong wide = (end - begin) / sizeof(WIDE);
    ulong i = lane;
    for (; i + 3 * width < wide; i += 4 * width) {
      const WIDE a = source[i], b = source[i + width], c = source[i + 2 * width], d = source[i + 3 * width];
      target[i] = a;
      target[i + width] = b;
      target[i + 2 * width] = c;
      target[i + 3 * width] = d;
    }
    for (; i < wide; i += width) target[i] = source[i];
    at += wide * sizeof(WIDE);
  }
  for (at += lane; at < end; at += width) to[at] = from[at];
}

// The group's slice of a message.
inline void copy_slice(__global const uchar* from, __global uchar* to, ulong bytes) {
  copy_part(from, to, slice_of(bytes, get_group_id(0)), slice_of(bytes, get_group_id(0) + 1));
}

// Waits, for so many looks at most, until a flag has reached a value. 0 when it has not: then *gave_up says which.
inline uint reached(__global const ulong* flag, ulong value, ulong looks, __global ulong* gave_up) {
  for (ulong look = 0; look < looks; ++look)
    if (acquire_system(flag) >= value) return 1;
  *gave_up = value;
  return 0;
}

// Every work item of the group goes on when the first has seen the flag; all leave the kernel when it gave up.
#ifdef ALONE
#define AWAIT(flag, value) \
  if (!reached(flag, value, looks, gave_up)) return
#else
#define AWAIT(flag, value)                                      \
  if (FIRST) alive = reached(flag, value, looks, gave_up);      \
  TOGETHER();                                                   \
  if (!alive) return
#endif
// What all of the group have done so far is seen by who sees the flag.
#define RAISE(flag, value)       \
  TOGETHER();                    \
  if (FIRST) {                   \
    FENCE_SYSTEM();              \
    STORE_SYSTEM(flag, value);   \
  }
// Three flags for one fence, which takes as long as a message to the other device and back.
#define RAISE_ALL(flag, value, second_if, second_flag, third_if, third_flag) \
  TOGETHER();                                                                \
  if (FIRST) {                                                               \
    FENCE_SYSTEM();                                                          \
    STORE_SYSTEM(flag, value);                                               \
    if (second_if) STORE_SYSTEM(second_flag, value);                         \
    if (third_if) STORE_SYSTEM(third_flag, value);                           \
  }

#ifdef ALONE
#define GROUP_STATE
#else
#define GROUP_STATE __local uint alive;
#endif

// Puts a message into a landing place of another device when that place is free, and says that it is there.
__kernel void put(__global const uchar* from, ulong from_at, __global uchar* landing, ulong landing_at, ulong bytes,
                  __global const ulong* credit, ulong credit_at, ulong needed, __global ulong* arrived, ulong arrived_at,
                  ulong serial, ulong looks, __global ulong* gave_up) {
  GROUP_STATE
  const ulong flag = get_group_id(0) * FLAG_STRIDE;
  AWAIT(credit + credit_at + flag, needed);
  copy_slice(from + from_at, landing + landing_at, bytes);
  RAISE(arrived + arrived_at + flag, serial);
}

// Takes it from there to where it belongs, and gives the place back.
__kernel void take(__global const uchar* landing, ulong landing_at, __global uchar* to, ulong to_at, ulong bytes,
                   __global const ulong* arrived, ulong arrived_at, ulong serial, __global ulong* credit,
                   ulong credit_at, ulong looks, __global ulong* gave_up) {
  GROUP_STATE
  const ulong flag = get_group_id(0) * FLAG_STRIDE;
  AWAIT(arrived + arrived_at + flag, serial);
  copy_slice(landing + landing_at, to + to_at, bytes);
  RAISE(credit + credit_at + flag, serial);
}

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

// All rounds of a lane: to the right neighbour from its slots into his, from the left one into this device's. Flags of a
// lane: `arrived` of each group, then `credit`, then `put` of each. In a run, flags count from `serial`: arrived =
// serial + i says that i messages are there, credit = serial + i that this run has begun and i of its messages have left
// their slots, put = serial + i that this device's group has put i slices into the neighbour's slots.
__kernel void stream(ulong bytes, ulong first, ulong count, ulong window, ulong serial, uint roles, ulong lag, ulong looks,
                     __global ulong* mine, __global ulong* right, __global ulong* left, __global ulong* gave_up,
                     __global uchar* from, ulong from_at, ulong from_areas, ulong from_pitch, ulong from_stride,
                     ulong from_first, __global uchar* to, ulong to_at, ulong to_areas, ulong to_pitch, ulong to_stride,
                     ulong to_first) {
  GROUP_STATE
  const ulong flag = get_group_id(0) * FLAG_STRIDE, credits = get_num_groups(0) * FLAG_STRIDE, puts = 2 * credits;
  const ulong begin = slice_of(bytes, get_group_id(0)), end = slice_of(bytes, get_group_id(0) + 1);
  const ulong touched = groups_touched(bytes, to_stride);
  // Others touch this slice where one before it does.
  const bool slides = get_num_groups(0) > 1 && to_stride > 0 && to_stride < bytes;
  const bool sends = (roles & SENDS) != 0, early = (roles & RECEIVES_FIRST) != 0;
  const bool late = (roles & (RECEIVES | RECEIVES_FIRST)) == RECEIVES;
  const awaited flags = {mine + flag, mine + credits + flag, mine + puts + flag, sends ? touched : 0,
                         sends && slides ? touched : 0};
#ifndef ALONE
  if (FIRST) alive = 1;
  TOGETHER();
#endif
  if (roles & RECEIVES) {
    RAISE(left + credits + flag, serial);
  }
  cursor out = turn_of(from + from_at, from_areas, from_pitch, from_stride, from_first + first);
  cursor in = turn_of(to + to_at, to_areas, to_pitch, to_stride, to_first + first);
  ulong arrived = 0;  // what that flag must reach before round i
  ulong in_window = 0;
  for (ulong i = 0; i < count; ++i) {
    if (early) arrived = serial + i + 1;
    AWAIT_ALL(&flags, arrived, serial + (i >= lag ? i - lag + 1 : 0), slides && i >= to_areas ? serial + i - to_areas + 1 : 0);
    if (sends) {
      copy_part(out.slot, in.slot, begin, end);
      RAISE_ALL(right + flag, serial + i + 1, roles & PASSES_ON, left + credits + flag, slides, mine + puts + flag);
    }
    if (++in_window == window) {
      in_window = 0;
      if (late) arrived = serial + i + 1;
    }
    next_turn(&out);
    next_turn(&in);
  }
  AWAIT(mine + flag, arrived);
}
