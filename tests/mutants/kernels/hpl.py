"""HPL's kernels on a device, made wrong; the products are gemm's."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

FILE = "benchmarks/hpcc/hpl/device.cl"
COMMON = ("--runtime", "opencl", "--block", "24")
GENERAL = (*COMMON, "--size", "150")
DOMINANT = (*COMMON, "--size", "131", "--type", "float", "--matrix", "dominant")

WRONG = [
    ("another-matrix", "0.5 - (double)WORD(i, j)", "0.25 - (double)WORD(i, j)", GENERAL),
    ("residual-of-half", "product += value * x[j];", "product += 0;", DOMINANT),
    ("rows-not-swapped", "to[target + j] = from[source + j];", "to[target + j] = from[target + j];", GENERAL),
    ("factor-not-applied", "? v[r][0] * factor :", "? v[r][0] :", GENERAL),
    ("columns-updated-twice", "value -= l[k] * u[k * STRIP + c];", "value -= 2 * l[k] * u[k * STRIP + c];", GENERAL),
    ("inverse-without-its-sum", "value -= l[i * l_pitch + k] * inverse[k * pitch + column];", "value -= 0;", GENERAL),
    ("diagonal-not-divided", "values[k + j] /= block[j * (SOLVED + 1) + j];", "values[k + j] /= 1;", DOMINANT),
    ("product-added", "s[i] -= parts[item];", "s[i] += parts[item];", DOMINANT),
]  # fmt: skip

MUTANTS = [KernelMutant(name, FILE, old, new, words) for name, old, new, words in WRONG]
SOUND = [Sound(GENERAL), Sound(DOMINANT)]
