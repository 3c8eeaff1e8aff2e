// Common code of the kernels of transport `peer`: they write messages into memory shared by another process's device,
// and set flags there. A message is cut into slices, one for each group of work items; each group has its own flags.
//
//   ALONE   one work item does a group's work (CPUs)
//   WIDE    type of what is copied at a time
#ifndef FENCE_SYSTEM
// OpenCL before 2.0 has no memory order between processes; on CPUs a fence provides it.
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

// ulongs between the flags of two groups: at least a cache line
#define FLAG_STRIDE 16

// First byte of the slice of a group of so many.
inline ulong slice_among(ulong bytes, ulong group, ulong groups) {
  const ulong each = ((bytes + groups - 1) / groups + 127) / 128 * 128;
  return group * each < bytes ? group * each : bytes;
}
inline ulong slice_of(ulong bytes, ulong group) {
  return slice_among(bytes, group, get_num_groups(0));
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

// Polls a flag until it reaches a value, up to a number of looks. Returns 0 on failure, with the value in *gave_up.
inline uint reached(__global const ulong* flag, ulong value, ulong looks, __global ulong* gave_up) {
  for (ulong look = 0; look < looks; ++look)
    if (acquire_system(flag) >= value) return 1;
  *gave_up = value;
  return 0;
}

// All work items of the group continue when the first has seen the flag; on failure all leave the kernel.
#ifdef ALONE
#define AWAIT(flag, value) \
  if (!reached(flag, value, looks, gave_up)) return
#else
#define AWAIT(flag, value)                                 \
  if (FIRST) alive = reached(flag, value, looks, gave_up); \
  TOGETHER();                                              \
  if (!alive) return
#endif
// Publishes the group's writes together with a flag.
#define RAISE(flag, value)     \
  TOGETHER();                  \
  if (FIRST) {                 \
    FENCE_SYSTEM();            \
    STORE_SYSTEM(flag, value); \
  }
// Sets three flags after one fence, which takes as long as a round trip to the other device.
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
