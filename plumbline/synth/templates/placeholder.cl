// OMB-FPGA's placeholder (section 3.1.2): a kernel with a device's buffer as its argument. A runtime must have a bitstream
// before it can place buffers, and transfers a buffer again only after a kernel had it. `launches` counts the launches.
#ifndef BANK
#define BANK(argument)
#endif
#ifdef REPLICATION
#define PASTE(name, number) name##_##number
#define NUMBER(name, number) PASTE(name, number)
#define NUMBERED(name) NUMBER(name, REPLICATION)
#else
#define NUMBERED(name) name
#endif

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void NUMBERED(placeholder)(
    __global BANK(buffer) uchar* restrict buffer, __global BANK(launches) uint* restrict launches) {
  ++launches[0];
}
