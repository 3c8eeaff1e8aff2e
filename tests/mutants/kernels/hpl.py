"""HPL's kernels on a device, made wrong; the products are gemm's."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

FILE = "benchmarks/hpcc/hpl/device.cl"
COMMON = ("--runtime", "opencl", "--block", "24")
GENERAL = (*COMMON, "--size", "150")
GPU = (*GENERAL, "--kernel", "gpu")
WIDE = ("--runtime", "opencl", "--block", "160", "--size", "330")
DOMINANT = (*COMMON, "--size", "131", "--type", "float", "--matrix", "dominant")
STAGED = ("--transport", "staged")
COLUMN = (*GENERAL, *STAGED, "--grid", "2x1")  # ranks that agree on pivots
SQUARE = (*COMMON, *STAGED, "--size", "131", "--type", "float", "--grid", "2x2")
RANKS = {COLUMN: 2, SQUARE: 4}

WRONG = [
    ("another-matrix", "0.5 - (double)WORD(i, j)", "0.25 - (double)WORD(i, j)", GENERAL),
    ("residual-of-half", "product += value * x[j];", "product += 0;", DOMINANT),
    ("rows-not-swapped", "to[target + j] = from[source + j];", "to[target + j] = from[target + j];", GENERAL),
    ("factor-not-applied", "? v[r][0] * factor :", "? v[r][0] :", GPU),
    ("factor-not-applied-alone", "vload8(0, at) * factor", "vload8(0, at)", GENERAL),
    ("last-rows-not-updated-alone", "column[(c + 1) * pitch + i] -= l * u[c];", "column[(c + 1) * pitch + i] -= 0;", GENERAL),
    ("not-the-largest-alone", "sizes = size > sizes ? size : sizes;", "sizes = size;", GENERAL),
    ("last-column-not-swapped-alone", "c < end && row != j; ++c)", "c + 1 < end && row != j; ++c)", GENERAL),
    ("columns-updated-twice", "value -= l[k] * u[k * STRIP + c];", "value -= 2 * l[k] * u[k * STRIP + c];", GENERAL),
    ("subpanel-solved-apart", "x[i] -= w[k * pitch + at + i] * u;", "x[i] -= 0;", WIDE),
    ("right-of-subpanel-left-out", "left + c < last; ++c) {", "left + c < last && first == end; ++c) {", WIDE),
    ("inverse-without-its-sum", "value -= l[i * l_pitch + k] * inverse[k * pitch + column];", "value -= 0;", GENERAL),
    ("diagonal-not-divided", "values[k + j] /= block[j * (SOLVED + 1) + j];", "values[k + j] /= 1;", DOMINANT),
    ("product-added", "s[i] -= parts[item];", "s[i] += parts[item];", DOMINANT),
    ("pivot-of-another-rank-ignored", "for (uint rank = 1; rank < ranks; ++rank)", "for (uint rank = ranks; rank < ranks; ++rank)", COLUMN),
    ("pivots-not-looked-at", "if (size > found) found = size;", "if (size > 2) found = size;", GENERAL),
    ("pivots-global-row-wrong", "(local_row / block * ranks + own) * block", "(local_row / block * ranks) * block", SQUARE),
    ("row-that-leaves-the-block-lost", "other = (uint)chosen[2];", "other = NONE;", COLUMN),
    ("row-within-the-block-lost", "other = (uint)(row - begin);", "other = NONE;", COLUMN),
    ("candidate-of-another-row", "[CANDIDATE_HEAD + c] = w[c * pitch + row];", "[CANDIDATE_HEAD + c] = w[c * pitch + (row ^ 1)];", SQUARE),
    ("row-exchanged-in-half", "    w[c * pitch + j] = (NUMBER)chosen", "    if (c < width / 2) w[c * pitch + j] = (NUMBER)chosen", COLUMN),
]  # fmt: skip

HLS = "benchmarks/hpcc/hpl/single_work_item_hls.cpp"
IN_HLS = ("--block", "24", "--size", "131", "--matrix", "dominant", "--type")
SINGLE, DOUBLE = (*IN_HLS, "float"), (*IN_HLS, "double")
WRONG_IN_HLS = [
    ("block-not-eliminated", "block[i][j] -= l * block[k][j];", "block[i][j] -= 0;", SINGLE),
    ("last-row-below-left-out", "i < rows; ++i) {\n    for (unsigned j = 0; j < width; ++j) row", "i + 1 < rows; ++i) {\n    for (unsigned j = 0; j < width; ++j) row", DOUBLE),
    ("last-strip-left-out", "left_of < columns;", "left_of + TILE < columns;", SINGLE),
    ("half-of-the-products", "for (unsigned k = 0; k < width; ++k) {\n#pragma HLS pipeline II = 1\n          for", "for (unsigned k = 0; k < width; k += 2) {\n#pragma HLS pipeline II = 1\n          for", DOUBLE),
    ("product-added", "column + j] -= sums[j];", "column + j] += sums[j];", SINGLE),
    ("solve-not-divided", "value / block[i][i]", "value", DOUBLE),
    ("part-not-subtracted", "values[i] -= sum;", "values[i] -= 0;", SINGLE),
]  # fmt: skip

MUTANTS = [
    KernelMutant(name, FILE, old, new, words, ranks=RANKS.get(words, 1))
    for name, old, new, words in WRONG
]
MUTANTS += [
    KernelMutant(f"{name}-hls", HLS, old, new, words, "hls")
    for name, old, new, words in WRONG_IN_HLS
]
SOUND = [
    Sound(GENERAL),
    Sound(GPU),
    Sound(WIDE),
    Sound(DOMINANT),
    Sound((*WIDE, *STAGED, "--grid", "2x1"), ranks=2),
    Sound((*SQUARE, "--depth", "0"), ranks=4),
    Sound((*DOUBLE, "--transport", "staged"), "hls", ranks=4),
]
