"""Shallow water's kernels made wrong: ``stage``, ``pack`` and ``unpack``; and those of the form for FPGAs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.mutants.kernel_mutants import KernelMutant, Sound

FILE = "benchmarks/apps/shallow_water/shallow_water.cl"
OPENCL = ("--transport", "staged", "--runtime", "opencl", "--partitioner", "rcb", "--size", "0")
CONSTANT = (*OPENCL, "--order", "0", "--steps", "12")
LINEAR = (*OPENCL, "--order", "1", "--steps", "8", "--type", "double")
APART, TOGETHER = ("--layout", "apart"), ("--layout", "together")

OF_ELEMENTS = [
    ("land-leaks", "choose(land, spread(0), mass)", "choose(land, through, mass)"),
    ("land-not-mirrored", "choose(land, U - turn_U * normal[0], its_U)", "its_U"),
    ("sea-without-tide", "choose(code == -2, spread(s->sea), its_level)", "its_level"),
    (
        "dissipation-on-mean-H",
        "fastest * (level - its_level);",
        "fastest * (level + c->bed[0] - its_level - n.bed[0]);",
    ),
    ("bed-term-missing", "source_u = push * bed_x + s", "source_u = s"),
    (
        "coriolis-of-the-other-sign",
        "push * bed_x + s->coriolis * V",
        "push * bed_x - s->coriolis * V",
    ),
    ("friction-missing", "source_v -= drag * V;", ""),
    (
        "normal-reversed",
        "left[2] = {-2 * to_r[0], -2 * to_r[1]}",
        "left[2] = {2 * to_r[0], 2 * to_r[1]}",
    ),
    ("half-skipped", "if (i >= count) return;", "if (2 * i >= count) return;"),
    ("last-element-left", "min((uint)LANES, count - i)", "min((uint)LANES, count - i - 1)"),
    ("outside-in-every-lane-or-none", "IS_ANY(which) (!all(~(which)))", "IS_ANY(which) all(which)"),
]
OF_LINEAR = [
    ("neighbour-not-turned", "choose(edge == 0, spread(back)", "choose(edge == 0, spread(t)"),
]
OF_APART = [
    ("one-lane-picked", "from[at[lane]]", "from[at[0]]"),
    ("base-left-out", "s->base_share * load(s->base, at) + moved[f][i]", "moved[f][i]"),
]
OF_MESSAGES = [
    (
        "other-element-sent",
        "(uint)elements[i / COMPONENTS]",
        "(uint)elements[i >= COMPONENTS ? i / COMPONENTS - 1 : 0]",
    ),
    (
        "field-not-sent",
        "message[i] = from[place_of(i % COMPONENTS",
        "message[i] = from[place_of(i % 2",
    ),
    (
        "last-not-unpacked",
        "count * COMPONENTS) unpack_one",
        "(count - 1) * COMPONENTS) unpack_one",
    ),
]

OF_TOGETHER = [
    (
        *("first-plane-again", 1),
        "pick_fours(s->from + (size_t)(4 * i) * s->stride",
        "pick_fours(s->from",
    ),
    ("halves-twice", 1, "x[3] = SHUFFLE(c, d, HIGH_HALVES)", "x[3] = SHUFFLE(c, d, LOW_HALVES)"),
    ("bed-of-a-field", 1, "c->bed[i] = values[COMPONENTS + i];", "c->bed[i] = values[i];"),
    ("bed-lost", 1, "? c->bed[(i - COMPONENTS) % 3]", "? spread(0)"),
    ("base-of-three", 1, "if (4 * i + k < COMPONENTS) values", "if (4 * i + k < BASIS) values"),
    ("slopes-swapped", 1, "to_s[0] = slopes[2];", "to_s[0] = slopes[3];"),
    ("next-value-sent", 2, "+ element) * 4 + i % 4", "+ element) * 4 + (i + 1) % 4"),
]

PERSISTENT = "benchmarks/apps/shallow_water/persistent.cl"
STAYS = ("--runtime", "opencl", "--schedule", "device", "--partitioner", "rcb", "--size", "0")
# A rank that is bound to a core has one compute unit, but needs one for each neighbour and one that computes.
UNITS = {"POCL_MAX_PTHREAD_COUNT": "4", "POCL_CPU_MAX_CU_COUNT": "4"}
STAYS_ALONE = (*STAYS, "--order", "1", "--steps", "30")
STAYS_TWO = (*STAYS, "--order", "0", "--steps", "12", "--transport", "peer")
OF_PERSISTENT = [
    ("halo-one-stage-old", 2, "i % PLACES * pitch", "(i + 1) % PLACES * pitch"),
    ("message-taken-twice", 2, "i % PLACES * pitch", "i / 2 % PLACES * pitch"),
    ("last-element-not-sent", 2, "sent * COMPONENTS)", "(sent - 1) * COMPONENTS)"),
    ("last-not-taken", 2, "received * COMPONENTS)", "(received - 1) * COMPONENTS)"),
    ("border-before-wait", 2, "item >= inner && !came", "item > all && !came"),
    ("sent-before-computed", 2, "AWAIT_COUNT(computed, begun + i * groups);", ""),
    ("delivered-of-the-stage-before", 2, "+ (i + 1) * ports", "+ i * ports"),
    ("barrier-left-out", 1, "AWAIT_ALL_OF(computed, begun + (i + 1) * groups);", ""),
    ("base-of-the-stage", 1, "ORDER == 0 ? state_of(first_step, i) : 0", "state_of(first_step, i)"),
    ("level-of-the-first-stage", 1, "levels[i]", "levels[0]"),
    ("shares-of-the-first-stage", 1, "shares[i % STAGES * 2 + 1]", "shares[1]"),
    ("last-group-left-out", 1, "item < all; item +=", "item + GROUP < all; item +="),
]

PIPELINE = "benchmarks/apps/shallow_water/single_work_item.cl"
PIECES = ("--partitioner", "rcb", "--mesh", "rectangle", "--across", "6", "--steps", "4")
ALONE = (*PIECES, "--order", "0")
# Over ACCL's engine, stream out and buffer in.
OUT_OF_STREAMS = (
    "--transport",
    "accl-tcp",
    "--approach",
    "device-buffered",
    "--accl-operands",
    "streams",
)
# The text is OpenCL C and HLS C++: (name, device, ranks, words, old, new).
OF_PIPELINE = [
    ("next-state", "fpga", 1, ALONE, "s.from = states[now]", "s.from = states[next]"),
    (
        *("halo-one-stage-old", "hls", 2, (*ALONE, "--transport", "staged")),
        "keep(&p, e, depths, states[now], velocities[now], heights[now]);",
        "keep(&p, e, depths, states[next], velocities[next], heights[next]);",
    ),
    (
        *("field-not-collected", "hls", 2, (*ALONE, "--transport", "staged")),
        "outgoing[at[link] * COMPONENTS + k] = p.value[k]",
        "outgoing[at[link] * COMPONENTS + k] = p.value[0]",
    ),
    (
        *("field-not-sent", "fpga", 2, (*ALONE, "--transport", "channel")),
        "message[i + k] = p.value[k]",
        "message[i + k] = p.value[0]",
    ),
    (
        *("stage-not-sent", "hls", 2, (*ALONE, *OUT_OF_STREAMS)),
        "const parcel p = READ(OWN_STREAM);",
        "const parcel p = READ(OWN_STREAM);\n      if (stage == 2) continue;",
    ),
    (
        *("velocities-one-stage-old", "hls", 1, ALONE),
        "s.velocities = velocities[now]",
        "s.velocities = velocities[next]",
    ),
    (
        *("inside-left-out", "hls", 1, ALONE),
        "add_volume(&s, &one.c, to_r, to_s, one.rate);",
        "",
    ),
    (
        *("begin-of-the-stage", "hls", 1, (*PIECES, "--order", "1")),
        "if (of_step == 0) begin",
        "begin",
    ),
    (
        *("source-left-out", "hls", 1, (*ALONE, "--case", "manufactured")),
        "one.rate[k / BASIS][k % BASIS] += given[stage * given_values + k * stride + e];",
        ";",
    ),
    (
        *("exact-edges-of-the-first-stage", "hls", 1, (*ALONE, "--case", "manufactured")),
        "exact[i] = given[stage * given_values + COMPONENTS * stride + i]",
        "exact[i] = given[COMPONENTS * stride + i]",
    ),
    (
        *("first-element-repeated", "hls", 2, (*ALONE, "--transport", "channel")),
        "p.value[k] = message[i + k]",
        "p.value[k] = message[k]",
    ),
]

MUTANTS = [
    *(
        KernelMutant(name, FILE, old, new, (CONSTANT, LINEAR)[number % 2])
        for number, (name, old, new) in enumerate(OF_ELEMENTS)
    ),
    *(KernelMutant(name, FILE, old, new, LINEAR) for name, old, new in OF_LINEAR),
    *(KernelMutant(name, FILE, old, new, (*LINEAR, *APART)) for name, old, new in OF_APART),
    *(KernelMutant(name, FILE, old, new, CONSTANT, ranks=2) for name, old, new in OF_MESSAGES),
]
MUTANTS += [
    KernelMutant(f"together-{name}", FILE, old, new, (*LINEAR, *TOGETHER), ranks=ranks)
    for name, ranks, old, new in OF_TOGETHER
]
MUTANTS += [
    KernelMutant(
        f"persistent-{name}",
        PERSISTENT,
        old,
        new,
        (STAYS_ALONE, STAYS_TWO)[ranks - 1],
        ranks=ranks,
        variables=UNITS,
    )
    for name, ranks, old, new in OF_PERSISTENT
]
MUTANTS += [
    KernelMutant(f"{name}-{device}", PIPELINE, old, new, words, device, ranks)
    for name, device, ranks, words, old, new in OF_PIPELINE
]
# On a GPU the same text has one element a work item: what is of vectors does not apply.
OF_VECTORS = (
    "last-element-left",
    "outside-in-every-lane-or-none",
    "one-lane-picked",
    "halves-twice",
)


def on_cuda(words: Sequence[str]) -> tuple[str, ...]:
    """The options of a run on PoCL, without its runtime."""
    return tuple(word for word in words if word not in ("--runtime", "opencl"))


MUTANTS += [
    replace(one, words=on_cuda(one.words), device="cuda", variables={})
    for one in MUTANTS
    if one.file != PIPELINE and one.name.removeprefix("together-") not in OF_VECTORS
]
SOUND = [Sound(LINEAR), Sound(CONSTANT, ranks=2), Sound((*OPENCL, "--order", "2", "--steps", "4"))]
SOUND += [Sound((*LINEAR, *layout), ranks=2) for layout in (APART, TOGETHER)]
SOUND += [
    Sound(STAYS_ALONE, variables=UNITS),
    *(Sound(STAYS_TWO, ranks=ranks, variables=UNITS) for ranks in (2, 3)),
]
SOUND += [replace(one, words=on_cuda(one.words), device="cuda", variables={}) for one in SOUND]
