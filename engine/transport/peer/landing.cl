// Approach device-buffered of transport `peer`, appended to flags.cl.

// Writes a message into another device's landing place once that is free, and sets its flag.
__kernel void put(__global const uchar* from, ulong from_at, __global uchar* landing, ulong landing_at, ulong bytes,
                  __global const ulong* credit, ulong credit_at, ulong needed, __global ulong* arrived, ulong arrived_at,
                  ulong serial, ulong looks, __global ulong* gave_up) {
  GROUP_STATE
  const ulong flag = get_group_id(0) * FLAG_STRIDE;
  AWAIT(credit + credit_at + flag, needed);
  copy_slice(from + from_at, landing + landing_at, bytes);
  RAISE(arrived + arrived_at + flag, serial);
}

// Copies it from there to its destination, and frees the place.
__kernel void take(__global const uchar* landing, ulong landing_at, __global uchar* to, ulong to_at, ulong bytes,
                   __global const ulong* arrived, ulong arrived_at, ulong serial, __global ulong* credit,
                   ulong credit_at, ulong looks, __global ulong* gave_up) {
  GROUP_STATE
  const ulong flag = get_group_id(0) * FLAG_STRIDE;
  AWAIT(arrived + arrived_at + flag, serial);
  copy_slice(landing + landing_at, to + to_at, bytes);
  RAISE(credit + credit_at + flag, serial);
}
