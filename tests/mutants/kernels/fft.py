"""Fourier transforms made wrong: turned the wrong way, unsorted, left out, or done twice."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

_FOLDER = "benchmarks/hpcc/fft"
_GPU = f"{_FOLDER}/gpu.cl"
_CPU = f"{_FOLDER}/cpu.cl"
_PIPELINE = f"{_FOLDER}/single_work_item.cl"
_STREAMS = f"{_FOLDER}/single_work_item_hls.cpp"
_ON_GPU = ("--kernel", "gpu", "--batch", "67")
_IN_PIPELINE = ("--variant", "single_work_item", "--batch", "3")


def _hls(name: str, old: str, new: str, *words: str, error: str = "") -> KernelMutant:
    """A mutant of the pipeline in HLS C++; those with an error wait for two seconds."""
    size = ("--batch", "3", "--size", "8", "--timeout", "4")
    return KernelMutant(f"hls-{name}", _STREAMS, old, new, (*size, *words), "hls", error=error)


MUTANTS = [
    KernelMutant(
        "gpu-quarter-turn-the-other-way",
        _GPU,
        "a[3 * s] = add_i(even_difference, odd_difference);",
        "a[3 * s] = subtract_i(even_difference, odd_difference);",
        (*_ON_GPU, "--size", "10"),
    ),
    KernelMutant(
        "gpu-one-root-off",
        _GPU,
        "powers(w, radix, roots + (j - 1), done);",
        "powers(w, radix, roots + (j == 1 ? -1 : j - 1), done);",
        (*_ON_GPU, "--size", "10"),
    ),
    KernelMutant(
        "gpu-one-power-is-another",
        _GPU,
        "times(w[high], w[k - high]);",
        "times(w[high], w[k == 5 ? 2 : k - high]);",
        (*_ON_GPU, "--size", "10"),
    ),
    KernelMutant(
        "gpu-no-roots-between-passes",
        _GPU,
        "const complex_t value = times(a[q], both);",
        "const complex_t value = a[q];",
        ("--kernel", "gpu", "--batch", "2", "--size", "18", "--local", "64"),
    ),
    KernelMutant(
        "gpu-last-transform-unwritten",
        _GPU,
        "const bool there = first + transform < batch;",
        "const bool there = first + transform + 1 < batch;",
        (*_ON_GPU, "--size", "10"),
    ),
    KernelMutant(
        "gpu-inverse-is-forward",
        _GPU,
        "#define TURNED(a) PAIR((a).y, (a).x)",
        "#define TURNED(a) (a)",
        (*_ON_GPU, "--size", "10", "--inverse"),
    ),
    KernelMutant(
        "gpu-one-point-twice",
        _GPU,
        "a[q] = shared[PLACE(to_transform, to_t + q * ITEMS)];",
        "a[q] = shared[PLACE(to_transform, to_t + (q == 1 ? 0 : q) * ITEMS)];",
        (*_ON_GPU, "--size", "10"),
    ),
    KernelMutant(
        "gpu-half-of-the-last-stage-left-out",
        _GPU,
        "dft(a + i, radix, POINTS / radix);",
        "if (done * radix < LENGTH || i % 2 == 0) dft(a + i, radix, POINTS / radix);",
        (*_ON_GPU, "--size", "10"),
    ),
    KernelMutant(
        "cpu-one-point-twice",
        _CPU,
        "a[k] = x[(begin + k) * depth];",
        "a[k] = x[(begin + (k == 1 ? 0 : k)) * depth];",
        ("--batch", "5", "--size", "10"),
    ),
    KernelMutant(
        "cpu-half-of-the-last-stage-left-out",
        _CPU,
        "  dft(a, radix);",
        "  if (low % 2 == 0) dft(a, radix);",
        ("--batch", "5", "--size", "10"),
    ),
    KernelMutant(
        "cpu-half-of-the-results-unwritten",
        _CPU,
        "for (int low = 0; low < f.length / radix; ++low) {",
        "for (int low = 0; low < f.length / radix / 2; ++low) {",
        ("--batch", "5", "--size", "10"),
    ),
    KernelMutant(
        "cpu-inverse-half-turned-back",
        _CPU,
        "high = UNPACK_HIGH(a.im, a.re);",
        "high = UNPACK_HIGH(a.re, a.im);",
        ("--batch", "5", "--size", "10", "--inverse"),
    ),
    KernelMutant(
        "cpu-no-roots-between-steps",
        _CPU,
        "times_lanes(times(a[k], root[0], root[1]), lane_roots[column + i]);",
        "times_lanes(a[k], lane_roots[column + i]);",
        ("--batch", "2", "--size", "14"),
    ),
    KernelMutant(
        "cpu-row-of-a-neighbour",
        _CPU,
        "GLOBAL cvec* x = middle + row * middle_row(rows);",
        "GLOBAL cvec* x = middle + (row ^ 1) * middle_row(rows);",
        ("--batch", "20", "--size", "14"),
    ),
    KernelMutant(
        "cpu-root-of-a-neighbour",
        _CPU,
        "x[(begin + k * step) * depth + i] = times(a[k], root[2 * k - 2], root[2 * k - 1]);",
        "x[(begin + k * step) * depth + i] = times(a[k], root[0], root[1]);",
        ("--batch", "5", "--size", "10"),
    ),
    KernelMutant(
        "cpu-last-transform-stale",
        _CPU,
        "transform_at_once(from + 2 * points * i, ",
        "transform_at_once(from + 2 * points * (i > 0 ? i - 1 : 0), ",
        ("--batch", "5", "--size", "10"),
    ),
    # What is written already is not done again: a group looks at the first of its own points.
    KernelMutant(
        "cpu-written-already",
        _CPU,
        "  share_at_once(from, to, tables, OWN_WORK, batch, rows, CACHED, SHARE);",
        "  const ulong mine = batch * get_group_id(0) / get_num_groups(0) * 2 * V * rows.length;\n"
        "  if (to[mine] == to[mine]) return;\n"
        "  share_at_once(from, to, tables, OWN_WORK, batch, rows, CACHED, SHARE);",
        ("--batch", "20", "--size", "10"),
    ),
    KernelMutant(
        "cpu-lanes-written-already",
        _CPU,
        "  share_of_lanes(from, to, tables, OWN_WORK, batch, rows, SHARE);",
        "  if (to[0] == to[0] && get_group_id(0) == 0) return;\n"
        "  share_of_lanes(from, to, tables, OWN_WORK, batch, rows, SHARE);",
        ("--batch", "1000", "--size", "3"),
    ),
    KernelMutant(
        "gpu-written-already",
        _GPU,
        "  stage(a, RADIX_0, 1, from_t, roots);",
        "  if (to[0].x == to[0].x) return;\n  stage(a, RADIX_0, 1, from_t, roots);",
        (*_ON_GPU, "--size", "10"),
    ),
    KernelMutant(
        "pipeline-written-already",
        _PIPELINE,
        "  DECLARE_PIPELINE\n",
        "  if (to[0].x == to[0].x) return;\n  DECLARE_PIPELINE\n",
        (*_IN_PIPELINE, "--size", "8"),
    ),
    KernelMutant(
        "pipeline-differences-not-turned",
        _PIPELINE,
        "sent.lane[k] = times(old.lane[k], roots[i]);",
        "sent.lane[k] = old.lane[k];",
        (*_IN_PIPELINE, "--size", "8"),
    ),
    KernelMutant(
        "pipeline-bits-not-reversed",
        _PIPELINE,
        "const int stream = bits_reversed(i, LOG_CYCLES);",
        "const int stream = i;",
        (*_IN_PIPELINE, "--size", "8"),
    ),
    KernelMutant(
        "pipeline-one-point-twice",
        _PIPELINE,
        "row.lane[i] = turned(from[i], inverse);",
        "row.lane[i] = turned(from[i == 1 ? 0 : i], inverse);",
        (*_IN_PIPELINE, "--size", "8"),
    ),
    KernelMutant(
        "pipeline-half-of-the-last-stage-left-out",
        _PIPELINE,
        "if ((i & apart) == 0) {",
        "if ((i & apart) == 0 && (bit > 0 || i < UNROLL / 2)) {",
        (*_IN_PIPELINE, "--size", "8"),
    ),
    KernelMutant(
        "pipeline-inverse-is-forward",
        _PIPELINE,
        "return inverse ? MAKE(complex_t)(a.y, a.x) : a;",
        "return a;",
        (*_IN_PIPELINE, "--size", "8", "--inverse"),
    ),
    KernelMutant(
        "channel-row-twice",
        _PIPELINE,
        "read_row(from + i * UNROLL, inverse));",
        "read_row(from + (i & ~1UL) * UNROLL, inverse));",
        ("--batch", "3", "--size", "8"),
        "fpga",
    ),
    KernelMutant(
        "pipeline-last-transform-unwritten",
        _PIPELINE,
        "if (i >= 2 * CYCLES - 1) write_row(",
        "if (i >= 2 * CYCLES - 1 && out < (ulong)batch * CYCLES) write_row(",
        (*_IN_PIPELINE, "--size", "8"),
    ),
    _hls("differences-not-turned", "times(old.lane[k], roots[i])", "old.lane[k]"),
    _hls(
        "bits-not-reversed",
        "const int stream = bits_reversed(i, LOG_CYCLES);",
        "const int stream = i;",
    ),
    _hls(
        "half-of-the-last-stage-left-out",
        "if ((i & apart) == 0) {",
        "if ((i & apart) == 0 && (bit > 0 || i < UNROLL / 2)) {",
    ),
    _hls("inverse-is-forward", "if (inverse) row.lane[k]", "if (false) row.lane[k]", "--inverse"),
    _hls(
        "row-twice-and-row-lost",
        "points.write(turned(from[i], inverse));",
        "points.write(turned(from[i & ~1UL], inverse));",
    ),
    _hls(
        "rows-onto-the-first",
        "to[i] = turned(frequencies.read(), inverse);",
        "to[REPLICATION == 0 ? i : i & 7] = turned(frequencies.read(), inverse);",
        "--replications",
        "2",
    ),
    _hls(
        "row-not-sent",
        "points.write(turned(from[i], inverse));",
        "if (i != 40) points.write(turned(from[i], inverse));",
        error="stayed empty",  # of this stream or the next, whose reader may give up first
    ),
    _hls(
        "row-not-taken",
        "to[i] = turned(frequencies.read(), inverse);",
        "if (i != 40) to[i] = turned(frequencies.read(), inverse);",
        error="1 element was left in stream fft_0.frequencies to store_0.frequencies",
    ),
    _hls(
        "rows-not-taken",
        "if (i < rows) row = points.read();",
        "if (i < rows && frequencies.full()) row = points.read();",
        error=r"stayed full \(limit",
    ),
]

SOUND = [
    Sound(("--size", "3-6,10,13,17", "--data", "2")),
    Sound(("--size", "3,10,14", "--data", "2", "--type", "double", "--inverse"), ranks=2),
    Sound(("--size", "3-14", "--data", "1", "--kernel", "gpu")),
    Sound(("--size", "5,9,13", "--data", "1", "--kernel", "gpu", "--type", "double", "--inverse")),
    Sound(("--size", "3-8", "--batch", "3", "--variant", "single_work_item")),
    Sound(("--size", "8", "--batch", "3", "--type", "double", "--inverse"), device="fpga"),
    Sound(("--size", "3,8", "--batch", "5"), device="fpga"),
    Sound(("--size", "3-8", "--batch", "3"), device="hls"),
    Sound(
        ("--size", "10", "--batch", "5", "--type", "double", "--inverse", "-r", "3"), device="hls"
    ),
    Sound(("--size", "3-6,10,17", "--data", "2"), device="native"),
    Sound(("--size", "3,10,17", "--data", "2"), device="intel"),
    Sound(("--size", "10", "--data", "1", "--variant", "library")),
    Sound(("--size", "10", "--data", "1", "--variant", "library"), device="native"),
]
