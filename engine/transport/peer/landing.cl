// Approach device-buffered of transport `peer`, appended to flags.cl.
//
// Messages are moved twice: put into another device's landing place once that is free, and taken from there once they
// have arrived. Both wait for a flag, copy, and raise a flag of the other side.
#define MOVE(n)                                                                                                \
  __global const uchar *from_##n, ulong from_at_##n, __global uchar *to_##n, ulong to_at_##n, ulong bytes_##n, \
      __global const ulong *awaited_##n, ulong wanted_##n, __global ulong *raised_##n, ulong value_##n,        \
      uint groups_##n

// Of the move that this group belongs to.
#define OF_MOVE(what) (move == 0 ? what##_0 : move == 1 ? what##_1 : move == 2 ? what##_2 : what##_3)

// Up to four moves at once, each by groups of its own; the first `puts` put, and others wait for them.
__kernel void move_all(MOVE(0), MOVE(1), MOVE(2), MOVE(3), uint puts, ulong looks, __global ulong* gave_up) {
  GROUP_STATE
  uint group = get_group_id(0), move = 0;
  while (move < 3 && group >= OF_MOVE(groups)) {
    group -= OF_MOVE(groups);
    ++move;
  }
  const uint groups = OF_MOVE(groups);
  const ulong bytes = OF_MOVE(bytes), flag = group * FLAG_STRIDE;
  __global const uchar* from = OF_MOVE(from) + OF_MOVE(from_at);
  __global uchar* to = OF_MOVE(to) + OF_MOVE(to_at);
  AWAIT(OF_MOVE(awaited) + flag, OF_MOVE(wanted));
  copy_part(from, to, slice_among(bytes, group, groups), slice_among(bytes, group + 1, groups));
  TOGETHER();
  if (FIRST) {
    if (move < puts) FENCE_SYSTEM();  // a take has read everything, as it wrote what it read
    STORE_SYSTEM(OF_MOVE(raised) + flag, OF_MOVE(value));
  }
}
