"""STREAM's kernels made wrong: work left out, done twice, done to the wrong element, or in too little precision."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutants.kernel_mutants import KernelMutant, Sound

FOLDER = "benchmarks/hpcc/stream"


def many(name: str, operation: str, old: str, new: str, words: Sequence[str] = ()) -> KernelMutant:
    """A mutant of the form for CPUs and GPUs."""
    size = ("--elements", "10007", "--operation", operation)
    return KernelMutant(name, f"{FOLDER}/nd_range.cl", old, new, (*size, *words))


def one(name: str, operation: str, old: str, new: str) -> KernelMutant:
    """A mutant of HPCC FPGA's form; 10007 numbers are 19 blocks of 32 vectors of 16, and a part of one."""
    size = ("--elements", "10007", "--operation", operation)
    form = ("--variant", "single_work_item", "--local-buffer", "32")
    return KernelMutant(name, f"{FOLDER}/single_work_item.cl", old, new, (*size, *form))


def hls(name: str, operation: str, old: str, new: str) -> KernelMutant:
    """A mutant of HPCC FPGA's form in HLS C++."""
    size = ("--elements", "10007", "--operation", operation, "--local-buffer", "32")
    return KernelMutant(
        f"hls-{name}", f"{FOLDER}/single_work_item_hls.cpp", old, new, size, device="hls"
    )


COPY = "STORE(&c[i], a[i])"
SCALE = "STORE(&b[i], (DATA_TYPE)j * c[i])"
ADD = "FOR_EACH(i, vectors) STORE(&c[i], a[i] + b[i])"
TRIAD = "STORE(&a[i], b[i] + (DATA_TYPE)j * c[i])"
DOT = "FOR_EACH(i, vectors) sum = sum + WIDEN(a[i]) * WIDEN(b[i])"
IN_FLOAT = "convert_double4(convert_float4(b[i]) + (float)j * convert_float4(c[i]))"
# What a work item finds written at the begin of its own run, it does not do again.
OWN_RUN = "vectors * get_global_id(0) / get_global_size(0)"
IS_WRITTEN = "((const __global DATA_TYPE*)&{0})[0] == ((const __global DATA_TYPE*)&{0})[0]"
SEEN = f"if ({IS_WRITTEN}) return;\n  "
SCALED = "buffer[k] = (DATA_TYPE)scalar * in1[begin + k]"

MUTANTS = [
    many("nothing-copied", "copy", COPY, "(void)0"),
    many("every-other-vector", "copy", COPY, f"if (i % 2 == 0) {COPY}"),
    many("the-neighbours-vector", "copy", COPY, "STORE(&c[i], a[i ^ 1])"),
    many("a-scalar-nearly-right", "scale", SCALE, "STORE(&b[i], (DATA_TYPE)(j + 1e-6f) * c[i])"),
    many("half-of-a-run", "scale", "part < end; part += length", "part < end; part = end"),
    many("halves-that-overlap", "dot", "/ BLOCK * BLOCK,     \\\n", "/ BLOCK * BLOCK - 1, \\\n"),
    many("zeros", "scale", SCALE, "STORE(&b[i], (Vector)(0))"),
    many("one-operand-twice", "add", ADD, ADD.replace("b[i]", "a[i]")),
    many("last-vector-left-out", "add", ADD, ADD.replace("vectors", "vectors - 1")),
    many("one-vector-too-many", "add", ADD, ADD.replace("vectors", "vectors + 1")),
    many("operands-swapped", "triad", TRIAD, "STORE(&a[i], c[i] + (DATA_TYPE)j * b[i])"),
    many("no-product", "triad", TRIAD, "STORE(&a[i], b[i] + c[i])"),
    many(
        "double-in-float", "triad", TRIAD, f"STORE(&a[i], {IN_FLOAT})", words=("--type", "double")
    ),
    many("dot-of-all-but-one", "dot", DOT, DOT.replace("vectors)", "vectors - 1)")),
    many("dot-of-itself", "dot", DOT, DOT.replace("WIDEN(b[i])", "WIDEN(a[i])")),
    many("one-group-forgotten", "dot", "i < groups", "i + 1 < groups"),
    many(
        "one-group-twice",
        "dot",
        "WIDE_TYPE total = 0;\n  for (ulong",
        "WIDE_TYPE total = sums[1];\n  for (ulong",
    ),
    many(
        "half-of-a-group",
        "dot",
        "width = GROUP_SIZE / 2",
        "width = GROUP_SIZE / 4",
        words=("--group-size", "64"),
    ),
    many(
        "copied-already",
        "copy",
        f"FOR_EACH(i, vectors) {COPY}",
        f"{SEEN.format(f'c[{OWN_RUN}]')}FOR_EACH(i, vectors) {COPY}",
    ),
    many(
        "each-vector-written-already",
        "scale",
        SCALE,
        f"if (!({IS_WRITTEN.format('b[i]')})) {SCALE}",
    ),
    many("added-already", "add", ADD, SEEN.format(f"c[{OWN_RUN}]") + ADD),
    many(
        "triad-written-already",
        "triad",
        f"FOR_EACH(i, vectors) {TRIAD}",
        f"{SEEN.format(f'a[{OWN_RUN}]')}FOR_EACH(i, vectors) {TRIAD}",
    ),
    many(
        "triad-written-already-large",
        "triad",
        f"FOR_EACH(i, vectors) {TRIAD}",
        f"{SEEN.format(f'a[{OWN_RUN}]')}FOR_EACH(i, vectors) {TRIAD}",
        words=("--elements", "500000"),
    ),
    many(
        "dot-written-already",
        "dot",
        "WIDE_TYPE total = 0;\n  for (ulong",
        "if (sums[0] == sums[0]) return;\n  WIDE_TYPE total = 0;\n  for (ulong",
    ),
    one(
        "out-written-already",
        "triad",
        "const uint vectors =",
        f"{SEEN.format('out[0]')}const uint vectors =",
    ),
    one(
        "every-other-block",
        "copy",
        "begin += DEVICE_BUFFER_SIZE",
        "begin += 2 * DEVICE_BUFFER_SIZE",
    ),
    one(
        "last-block-left-out",
        "copy",
        "begin < vectors",
        "begin + DEVICE_BUFFER_SIZE <= vectors",
    ),
    one("blocks-onto-each-other", "copy", "out[begin + k]", "out[k]"),
    one("no-scalar", "scale", SCALED, "buffer[k] = in1[begin + k]"),
    one("no-second-input", "add", "operation_type >= 2", "operation_type > 2"),
    one("blocks-of-the-first", "triad", "in2[begin + k]", "in2[k]"),
    one("one-turn-forgotten", "dot", "i < SUMS; ++i) total", "i < SUMS - 1; ++i) total"),
    hls(
        "every-other-block",
        "copy",
        "begin += DEVICE_BUFFER_SIZE",
        "begin += 2 * DEVICE_BUFFER_SIZE",
    ),
    hls(
        "last-block-left-out",
        "copy",
        "begin < vectors",
        "begin + DEVICE_BUFFER_SIZE <= vectors",
    ),
    hls("blocks-onto-each-other", "scale", "out[begin + k]", "out[k]"),
    hls("no-scalar", "scale", "factor * in1[begin + k]", "in1[begin + k]"),
    hls("no-second-input", "add", "operation_type >= 2", "operation_type > 2"),
    hls("blocks-of-the-first", "triad", "in2[begin + k]", "in2[k]"),
    hls("one-turn-forgotten", "dot", "total += turns[i];", "total += i > 0 ? turns[i] : 0;"),
]

SMALL = ("--elements", "10007")
ODD = ("--elements", "7", "--replications", "3")
NEEDS_KERNELS = ("copy", "scale", "add", "triad", "dot")

SOUND = [
    Sound(SMALL),
    Sound((*SMALL, "--type", "double"), ranks=3),
    Sound((*SMALL, "--type", "half"), unsupported=NEEDS_KERNELS),
    Sound(ODD),
    Sound(("--elements", "1", "--vector", "1", "--type", "double")),
    Sound((*SMALL, "--group-size", "64", "--groups", "3")),
    Sound((*SMALL, "--memory", "svm", "--replications", "2")),
    Sound((*SMALL, "--variant", "library"), unsupported=("scale", "add", "triad", "dot")),
    Sound((*SMALL, "--variant", "single_work_item", "--unroll", "2", "--replications", "4")),
    Sound((*ODD, "--variant", "single_work_item", "--vector", "2", "--local-buffer", "2")),
    *(Sound((*SMALL, "--type", type_), device="native") for type_ in ("half", "float", "double")),
    Sound((*SMALL, "--type", "half"), device="intel"),
    Sound((*SMALL, "--type", "double", "--memory", "svm"), device="intel"),
    *(Sound((*SMALL, "--type", type_), device="fpga") for type_ in ("half", "float", "double")),
    *(Sound((*SMALL, "--memory", kind, "-r", "4"), device="fpga") for kind in ("ddr", "hbm")),
    *(Sound((*SMALL, "--type", type_), device="hls") for type_ in ("half", "float", "double")),
    Sound((*ODD, "--vector", "2", "--local-buffer", "2"), device="hls"),
]
