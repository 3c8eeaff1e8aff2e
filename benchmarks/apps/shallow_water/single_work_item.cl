// Shallow water in the form for FPGAs: kernels joined by channels, one element a turn of their loops, in OpenCL C (Intel's channels)
// and HLS C++ (streams), after shallow_water.cl with PIPELINE. `edge` keeps the states, and gives `element` each element with the
// fluxes through its edges; `element` adds what is inside, and gives the new state back, and to the communication kernels if
// other ranks need it. Both run for all stages of a run, with the mesh in local memory: global memory has what they begin
// with, the tide's levels, and the result.
//
//   MAX_ELEMENTS  own elements and halo, at most     LINKS      neighbouring ranks; of a bitstream, at most
//   MOST_SENT     elements in a message, at most     GIVEN, EXACT  as in shallow_water.cl, for all stages in global memory; exact edges
//   STREAMED      messages go through a transport's port, by a kernel `communicate` of each link (its LANE) and direction for
//                 all stages, at most 8 links; otherwise the host sends them, and starts `collect` and `deliver` each stage
#ifndef AHEAD
#define STAGES (ORDER + 1)  // of a step
#define AHEAD 64  // elements between `edge` and `element`; not less than the depth of their pipelines
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#ifdef __cplusplus
#include "hls_stream.h"
#define __kernel extern "C"
#define __global
#define restrict __restrict__
#define STREAM(type, name) , hls::stream<type>& name
#define READ(name) (name).read()
#define WRITE(name, value) (name).write(value)
#define PIPELINED _Pragma("HLS pipeline II = 1")
#else
#pragma OPENCL EXTENSION cl_intel_channels : enable
#define STREAM(type, name)
#define READ(name) read_channel_intel(name)
#define WRITE(name, value) write_channel_intel(name, value)
#define PIPELINED
#endif

typedef struct {
  cell c;
  real rate[FIELDS][BASIS];
  real lowest;  // H
} crossing;

typedef struct {
  real value[COMPONENTS];
  uint links;  // mask of those that need it
} parcel;

// The links, each with two channels; the host's messages go through one pair.
#if LINKS == 0
#define EACH_LINK(X)
#elif !defined(STREAMED)
#define EACH_LINK(X) X(0)
#else
#define LINKS_1(X) X(0)
#define LINKS_2(X) LINKS_1(X) X(1)
#define LINKS_3(X) LINKS_2(X) X(2)
#define LINKS_4(X) LINKS_3(X) X(3)
#define LINKS_5(X) LINKS_4(X) X(4)
#define LINKS_6(X) LINKS_5(X) X(5)
#define LINKS_7(X) LINKS_6(X) X(6)
#define LINKS_8(X) LINKS_7(X) X(7)
#define EACH_LINK PASTE(LINKS_, LINKS)
#endif
#define LEAVING(link) STREAM(parcel, leaving_##link)
#define ARRIVING(link) STREAM(parcel, arriving_##link)
#ifdef STREAMED
#define LEAVE(link) \
  if (p.links >> link & 1) WRITE(leaving_##link, p);
#define ARRIVE(link) \
  if (origins[e] == link) p = READ(arriving_##link);
#else
#define LEAVE(link) \
  if (p.links != 0) WRITE(leaving_##link, p);
#define ARRIVE(link) p = READ(arriving_##link);
#endif
#ifndef __cplusplus
channel crossing crossed __attribute__((depth(AHEAD)));
channel parcel renewed __attribute__((depth(AHEAD)));
#define CHANNELS_OF(link)                                    \
  channel parcel leaving_##link __attribute__((depth(AHEAD))); \
  channel parcel arriving_##link __attribute__((depth(AHEAD)));
EACH_LINK(CHANNELS_OF)
#endif

// A state and its velocities into the arrays of a stage.
static void keep(const parcel* p, const uint e, __local const real* depths, __local real* states, __local real* velocities,
                 __local real* heights) {
  cell c;
  UNROLL
  for (int k = 0; k < COMPONENTS; ++k) c.state[k / BASIS][k % BASIS] = states[k * MAX_ELEMENTS + e] = p->value[k];
  UNROLL
  for (int k = 0; k < 3; ++k) c.bed[k] = depths[k * MAX_ELEMENTS + e];
  heights[e] = project(&c);
  UNROLL
  for (int k = 0; k < BASIS; ++k) {
    velocities[k * MAX_ELEMENTS + e] = c.u[k];
    velocities[(BASIS + k) * MAX_ELEMENTS + e] = c.v[k];
  }
}

// An element as `keep` left it, and the fluxes out of it.
static crossing cross_edges(const stage_of* s, const uint e, __local const real* gradients, __local const real* heights) {
  crossing one;
  UNROLL
  for (int k = 0; k < COMPONENTS; ++k) {
    one.c.state[k / BASIS][k % BASIS] = s->from[k * MAX_ELEMENTS + e];
    one.rate[k / BASIS][k % BASIS] = 0;
  }
  UNROLL
  for (int k = 0; k < 3; ++k) one.c.bed[k] = s->bed[k * MAX_ELEMENTS + e];
  UNROLL
  for (int k = 0; k < BASIS; ++k) {
    one.c.u[k] = s->velocities[k * MAX_ELEMENTS + e];
    one.c.v[k] = s->velocities[(BASIS + k) * MAX_ELEMENTS + e];
  }
  one.lowest = heights[e];
  const real to_r[2] = {gradients[e], gradients[MAX_ELEMENTS + e]};
  const real to_s[2] = {gradients[2 * MAX_ELEMENTS + e], gradients[3 * MAX_ELEMENTS + e]};
  add_edges(s, &one.c, e, to_r, to_s, one.rate, &one.lowest);
  return one;
}

// Sources and exact edges: those of a stage are given_values apart.
#if GIVEN
#define GIVEN_VALUES , __global const real *restrict given, const uint given_values
#else
#define GIVEN_VALUES
#endif

// The first `early` elements are computed before the halo is awaited. roles: of own elements the mask of the links that need
// them, of the halo the link it comes by. seas: level at sea edges by stage.
__kernel void edge(__global const int* restrict neighbours, __global const real* restrict geometry,
                          __global const real* restrict bed, __global const int* restrict roles,
                          __global const real* restrict seas, const uint early, const uint own, const uint halo,
                          const uint stride, const uint stages, const real gravity GIVEN_VALUES STREAM(crossing, crossed)
                       STREAM(parcel, renewed) EACH_LINK(ARRIVING)) {
  __local real states[2][COMPONENTS * MAX_ELEMENTS], velocities[2][2 * BASIS * MAX_ELEMENTS], heights[2][MAX_ELEMENTS];
  __local real gradients[4 * MAX_ELEMENTS], depths[3 * MAX_ELEMENTS];
  __local int places[3 * MAX_ELEMENTS], origins[MAX_ELEMENTS];
#if GIVEN
  __local real exact[(EXACT + 1) * EDGE_POINTS * EDGE_VALUES];
#endif
  for (uint e = 0; e < own + halo; ++e) {
    for (int k = 0; k < 4; ++k) gradients[k * MAX_ELEMENTS + e] = geometry[k * stride + e];
    for (int k = 0; k < 3; ++k) depths[k * MAX_ELEMENTS + e] = bed[k * stride + e];
    for (int k = 0; k < 3; ++k) places[k * MAX_ELEMENTS + e] = neighbours[k * stride + e];
    origins[e] = roles[e];
  }
  for (uint e = 0; e < own; ++e) {
    const parcel p = READ(renewed);
    keep(&p, e, depths, states[0], velocities[0], heights[0]);
  }
  stage_of s;
  s.neighbours = places;
  s.bed = depths;
  s.stride = MAX_ELEMENTS;
  s.gravity = gravity;
  for (uint stage = 0; stage < stages; ++stage) {
    const uint now = stage & 1, next = 1 - now;
    s.from = states[now];
    s.velocities = velocities[now];
    s.sea = seas[stage];
#if GIVEN
    s.given = exact;
    for (uint i = 0; i < EXACT * EDGE_POINTS * EDGE_VALUES; ++i) exact[i] = given[stage * given_values + COMPONENTS * stride + i];
#endif
    // A turn is an own element's or one of the halo; new states come AHEAD turns after their fluxes left.
    for (uint turn = 0; turn < own + halo + AHEAD; ++turn) {
      PIPELINED
      if (turn >= early && turn < early + halo) {
        const uint e = own + turn - early;
        parcel p;
        EACH_LINK(ARRIVE)
        keep(&p, e, depths, states[now], velocities[now], heights[now]);
      } else if (turn < own + halo) {
        WRITE(crossed, cross_edges(&s, turn < early ? turn : turn - halo, gradients, heights[now]));
      }
      const uint before = turn - AHEAD;
      if (turn >= AHEAD && (before < early || before >= early + halo)) {
        const parcel p = READ(renewed);
        keep(&p, before < early ? before : before - halo, depths, states[next], velocities[next], heights[next]);
      }
    }
  }
}

// shares: of each stage of a step those of its begin and of the derived state. Steps are counted from 1.
__kernel void element(__global real* restrict state, __global const real* restrict geometry,
                             __global const int* restrict roles, __global int* restrict dry,
                             __global const real* restrict shares, const uint own, const uint stride, const uint stages,
                             const int first_step, const real time_step, const real gravity, const real coriolis,
                             const real friction, const real minimum GIVEN_VALUES STREAM(crossing, crossed)
                             STREAM(parcel, renewed) EACH_LINK(LEAVING)) {
  __local real gradients[4 * MAX_ELEMENTS];
#if ORDER > 0
  __local real begin[COMPONENTS * MAX_ELEMENTS];  // of the step
#endif
  __local int links[MAX_ELEMENTS], fell[MAX_ELEMENTS];
  for (uint e = 0; e < own; ++e) {
    for (int k = 0; k < 4; ++k) gradients[k * MAX_ELEMENTS + e] = geometry[k * stride + e];
    links[e] = roles[e];
    fell[e] = dry[e];
    parcel p;
    for (int k = 0; k < COMPONENTS; ++k) p.value[k] = state[k * stride + e];
    p.links = links[e];
    WRITE(renewed, p);
    EACH_LINK(LEAVE)
  }
  stage_of s;
  s.gravity = gravity;
  s.coriolis = coriolis;
  s.friction = friction;
  for (uint stage = 0; stage < stages; ++stage) {
    const uint of_step = stage % STAGES;
    const real base_share = shares[2 * of_step], share = shares[2 * of_step + 1];
    for (uint e = 0; e < own; ++e) {
      PIPELINED
      crossing one = READ(crossed);
      const real to_r[2] = {gradients[e], gradients[MAX_ELEMENTS + e]};
      const real to_s[2] = {gradients[2 * MAX_ELEMENTS + e], gradients[3 * MAX_ELEMENTS + e]};
#if GIVEN
      UNROLL
      for (int k = 0; k < COMPONENTS; ++k) one.rate[k / BASIS][k % BASIS] += given[stage * given_values + k * stride + e];
#endif
      add_volume(&s, &one.c, to_r, to_s, one.rate);
      parcel p;
      p.links = links[e];
      UNROLL
      for (int k = 0; k < COMPONENTS; ++k) {
        const real old = one.c.state[k / BASIS][k % BASIS];
        p.value[k] = share * (old + time_step * one.rate[k / BASIS][k % BASIS]);
#if ORDER > 0
        if (of_step == 0) begin[k * MAX_ELEMENTS + e] = old;
        p.value[k] += base_share * begin[k * MAX_ELEMENTS + e];
#endif
      }
      note(one.lowest, minimum, first_step + (int)(stage / STAGES), fell, e, 1);
      WRITE(renewed, p);
      if (stage + 1 < stages) {
        EACH_LINK(LEAVE)
      } else {
        UNROLL
        for (int k = 0; k < COMPONENTS; ++k) state[k * stride + e] = p.value[k];
      }
    }
  }
  for (uint e = 0; e < own; ++e) dry[e] = fell[e];
}

#if LINKS > 0 && !defined(STREAMED)
// A stage's messages, of `border` elements; `firsts`: place of the first element of each.
__kernel void collect(__global real* restrict outgoing, __global const int* restrict firsts, const uint border STREAM(parcel, leaving_0)) {
  int at[LINKS];
  for (int link = 0; link < LINKS; ++link) at[link] = firsts[link];
  for (uint i = 0; i < border; ++i) {
    const parcel p = READ(leaving_0);
    for (int link = 0; link < LINKS; ++link)
      if (p.links >> link & 1) {
        for (int k = 0; k < COMPONENTS; ++k) outgoing[at[link] * COMPONENTS + k] = p.value[k];
        ++at[link];
      }
  }
}

__kernel void deliver(__global const real* restrict incoming, const uint halo STREAM(parcel, arriving_0)) {
  for (uint i = 0; i < halo; ++i) {
    parcel p;
    for (int k = 0; k < COMPONENTS; ++k) p.value[k] = incoming[i * COMPONENTS + k];
    WRITE(arriving_0, p);
  }
}
#endif
#endif

#ifdef PORT_KERNEL
// The messages of all stages on one link in one direction, each put together in local memory.
#undef OWN_STREAM
#ifdef PORT_SENDING
#define OWN_STREAM PASTE(leaving_, LANE)
#else
#define OWN_STREAM PASTE(arriving_, LANE)
#endif
PORT_KERNEL(communicate)(const uint stages, PORT STREAM(parcel, OWN_STREAM)) {
  __local real message[MOST_SENT * COMPONENTS];
  const uint numbers = port_bytes / sizeof(real);
  for (uint stage = 0; stage < stages; ++stage) {
#ifndef PORT_SENDING
    receive_message((__local uchar*)message, port_bytes);
#endif
    for (uint i = 0; i < numbers; i += COMPONENTS) {
#ifdef PORT_SENDING
      const parcel p = READ(OWN_STREAM);
      for (int k = 0; k < COMPONENTS; ++k) message[i + k] = p.value[k];
#else
      parcel p;
      for (int k = 0; k < COMPONENTS; ++k) p.value[k] = message[i + k];
      WRITE(OWN_STREAM, p);
#endif
    }
#ifdef PORT_SENDING
    send_message((__local const uchar*)message, port_bytes);
#endif
  }
}
#endif
