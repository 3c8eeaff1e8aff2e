"""MPIFFT's own kernels, which turn matrices, made wrong."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

FILE = "benchmarks/hpcc/mpi_fft/turn.cl"
STAGED = ("--transport", "staged", "--runtime", "opencl")
SMALL = (*STAGED, "--size", "9")
LARGE = (*STAGED, "--size", "16", "--type", "float")

WRONG = [
    ("twiddles-left-out", "if (points != 0) {", "if (points == 1) {"),
    ("twiddles-of-the-other-sign", "(REAL)-sinpi", "(REAL)sinpi"),
    ("twiddles-of-the-first-rank", "(first_row + top + i)", "(top + i)"),
    ("not-turned", "re[j * (SIDE + 1) + i] = x;", "re[i * (SIDE + 1) + j] = x;"),
    (
        "last-column-left",
        "left + j < columns) {\n      const ulong at = 2 * ((left",
        "left + j + 1 < columns) {\n      const ulong at = 2 * ((left",
    ),
    (
        "parts-in-another-order",
        "(column / columns * rows",
        "((parts - 1 - column / columns) * rows",
    ),
]

MUTANTS = [
    KernelMutant(f"{name}-{size}", FILE, old, new, words, ranks=2)
    for number, (name, old, new) in enumerate(WRONG)
    for size, words in ((("small", SMALL), ("large", LARGE))[number % 2],)
]
SOUND = [Sound(LARGE, ranks=2), Sound((*STAGED, "--size", "11"), ranks=4)]
