// All steps of a sample in kernels that stay on the device. Two programs are made of this text: after shallow_water.cl, kernel
// `persist`, whose groups compute; after a transport's port (port.hpp), kernel `trade`, one for each neighbour, which sends border
// elements' states and receives its halo. They count in two words of global memory: `computed`, groups that completed a stage,
// and `delivered`, groups of `trade` that have written their slices of a stage's halo. All groups must be resident.
//
// PLACES: of a neighbour's messages, in turn; 2. The message of stage i + 2 needs no credit beyond the message of stage i + 1 to that
// neighbour, which leaves after the message of stage i was taken from its place.
#ifndef FENCE_DEVICE
#define FENCE_DEVICE() mem_fence(CLK_GLOBAL_MEM_FENCE)
inline uint acquire_device(__global const uint* counter) {
  const uint value = *(volatile __global const uint*)counter;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return value;
}
#endif
#define STAGES (ORDER + 1)

// Looks at a counter, which wraps, until it reaches a value. Returns 0 on failure.
inline uint counted(__global const uint* counter, uint value, ulong looks) {
  for (ulong look = 0; look < looks; ++look)
    if ((int)(acquire_device(counter) - value) >= 0) return 1;
  return 0;
}

// Of the three states: that which a stage derives, and that which it makes.
inline uint state_of(uint first_step, uint stage) {
  return ORDER == 0 ? (first_step + stage) % 2 : stage % STAGES;
}
inline uint next_state(uint first_step, uint stage) {
  return ORDER == 0 ? (first_step + stage + 1) % 2 : (stage + 1) % STAGES;
}

#ifdef PORT_KERNEL
#ifdef ALONE
#define AWAIT_COUNT(counter, value)          \
  if (!counted(counter, value, looks)) {     \
    *gave_up = value;                        \
    return;                                  \
  }
#else
#define AWAIT_COUNT(counter, value)                  \
  if (FIRST) {                                       \
    alive = counted(counter, value, looks);          \
    if (!alive) *gave_up = value;                    \
  }                                                  \
  TOGETHER();                                        \
  if (!alive) return
#endif

// Where a state has component i of an element: as in shallow_water.cl.
inline size_t place_of(uint i, uint element, uint stride) {
  return FOURS ? ((size_t)(i / 4) * stride + element) * 4 + i % 4 : (size_t)i * stride + element;
}

// Component k of all that is sent or received: of element k / COMPONENTS. Several loads are under way at a time.
#define AT_ONCE 4
inline void gather(__global const REAL* state, uint stride, __global const int* elements, __global REAL* message, uint begin,
                   uint end) {
  const uint width = (uint)get_local_size(0);
  for (uint first = begin + (uint)get_local_id(0); first < end; first += AT_ONCE * width) {
    REAL values[AT_ONCE];
    _Pragma("unroll") for (uint j = 0; j < AT_ONCE; ++j) {
      const uint k = min(first + j * width, end - 1);
      values[j] = state[place_of(k % COMPONENTS, (uint)elements[k / COMPONENTS], stride)];
    }
    _Pragma("unroll") for (uint j = 0; j < AT_ONCE; ++j) {
      if (first + j * width < end) message[first + j * width] = values[j];
    }
  }
}
inline void scatter(__global const REAL* message, __global REAL* state, uint first_element, uint stride, uint begin,
                    uint end) {
  const uint width = (uint)get_local_size(0);
  for (uint first = begin + (uint)get_local_id(0); first < end; first += AT_ONCE * width) {
    REAL values[AT_ONCE];
    _Pragma("unroll") for (uint j = 0; j < AT_ONCE; ++j) values[j] = message[min(first + j * width, end - 1)];
    _Pragma("unroll") for (uint j = 0; j < AT_ONCE; ++j) {
      const uint k = first + j * width;
      if (k < end) state[place_of(k % COMPONENTS, first_element + k / COMPONENTS, stride)] = values[j];
    }
  }
}

PORT_KERNEL(trade)(const uint stages, const uint first_step, __global REAL* first_state, __global REAL* second_state,
                   __global REAL* third_state, const uint stride, __global const int* elements, const uint first_sent,
                   const uint sent, const uint first_received, const uint received, __global uchar* outgoing,
                   const ulong outgoing_at, __global const uchar* incoming, const ulong incoming_at, const ulong pitch,
                   __global uint* computed, const uint begun, const uint groups, __global uint* delivered, PORT) {
  PORT_OPEN;
  __global REAL* states[3] = {first_state, second_state, third_state};
  __global REAL* message = (__global REAL*)(outgoing + outgoing_at);
  const uint begin = (uint)(port.begin / sizeof(REAL)), end = (uint)(port.end / sizeof(REAL));
  for (uint i = 0; i < stages; ++i) {
    __global REAL* state = states[state_of(first_step, i)];
    AWAIT_COUNT(computed, begun + i * groups);
    gather(state, stride, elements + first_sent, message, begin, min(end, sent * COMPONENTS));
    PORT_SEND(i);
    PORT_RECEIVE(i);
    __global const REAL* came = (__global const REAL*)(incoming + incoming_at + i % PLACES * pitch);
    scatter(came, state, first_received, stride, begin, min(end, received * COMPONENTS));
    TOGETHER();
    if (FIRST) {
      FENCE_DEVICE();
      atomic_add(delivered, 1u);
    }
  }
  PORT_CLOSE;
}

#else
#if GROUP == 1
#define JOIN_GROUP()
#define LEADS 1
#else
#define JOIN_GROUP() barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#define LEADS (get_local_id(0) == 0)
#endif
#define AWAIT_ALL_OF(counter, value)                    \
  if (LEADS) {                                          \
    alive = counted(counter, value, looks);             \
    if (!alive) *stuck = 1;                             \
  }                                                     \
  JOIN_GROUP();                                         \
  if (!alive) return

// Work items of whole groups that compute `elements`.
inline uint items_for(uint elements) { return ((elements + LANES - 1) / LANES + GROUP - 1) / GROUP * GROUP; }

// `levels`: of the sea in each stage. `shares`: base_share and share of each stage of a step. `ports`: groups of all kernels
// `trade`. Elements from `core` on need the halo; no group computes both.
__kernel GROUP_OF(GROUP) OF_VECTORS void persist(
    const uint stages, const uint first_step, __global real* first_state, __global real* second_state,
    __global real* third_state, __global const int* neighbours, __global const real* geometry, __global const real* bed,
    __global int* dry, __global const real* levels, __global const real* shares, const uint core, const uint own,
    const uint stride, const real time_step, const real gravity, const real coriolis, const real friction,
    const real minimum, __global uint* computed, const uint begun, __global const uint* delivered,
    const uint delivered_before, const uint ports, const ulong looks, __global ulong* stuck) {
#if GROUP == 1
  uint alive = 1;
#else
  __local uint alive;
#endif
  __global real* states[3] = {first_state, second_state, third_state};
  const uint groups = (uint)get_num_groups(0), inner = items_for(core), all = inner + items_for(own - core);
  stage_of s;
  s.neighbours = neighbours;
  s.geometry = geometry;
  s.bed = bed;
  s.given = bed;
  s.dry = dry;
  s.stride = stride;
  s.time_step = time_step;
  s.gravity = gravity;
  s.coriolis = coriolis;
  s.friction = friction;
  s.minimum = minimum;
  for (uint i = 0; i < stages; ++i) {
    s.from = states[state_of(first_step, i)];
    s.base = states[ORDER == 0 ? state_of(first_step, i) : 0];
    s.to = states[next_state(first_step, i)];
    s.step = (int)(first_step + i / STAGES + 1);
    s.sea = levels[i];
    s.base_share = shares[i % STAGES * 2];
    s.share = shares[i % STAGES * 2 + 1];
    uint came = ports == 0;
    for (uint item = (uint)get_group_id(0) * GROUP; item < all; item += groups * GROUP) {
      if (item >= inner && !came) {
        AWAIT_ALL_OF(delivered, delivered_before + (i + 1) * ports);
        came = 1;
      }
      const uint mine = item + (uint)get_local_id(0);
      const uint first = item < inner ? mine * LANES : core + (mine - inner) * LANES, end = item < inner ? core : own;
      if (first < end) update(&s, first, min((uint)LANES, end - first));
    }
    JOIN_GROUP();
    if (LEADS) {
      FENCE_DEVICE();
      atomic_add(computed, 1u);
    }
    if (i + 1 < stages) {
      AWAIT_ALL_OF(computed, begun + (i + 1) * groups);
    }
  }
}
#endif
