"""IS's and MG's kernels made wrong, on one rank and where messages are, on two."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

DEVICE = ("--variant", "device", "--class", "S")

IS = [
    (
        "last-key-not-counted",
        "const uint end = first_key(n, group + 1, groups);\n  for (uint i = first_key(n, group, groups) + item; i < end; i += GROUP) atomic",
        "const uint end = first_key(n, group + 1, groups) - (group == 0);\n  for (uint i = first_key(n, group, groups) + item; i < end; i += GROUP) atomic",
        1,
    ),
    (
        "a-group's-counts-left-out",
        "for (uint g = 0; g < groups; ++g) sum",
        "for (uint g = 1; g < groups; ++g) sum",
        1,
    ),
    ("two-groups-on-one-place", "at += count;", "at += g == 0 ? 0 : count;", 1),
    (
        "neighbour-moved-twice",
        "const uint key = keys[i];\n",
        "const uint key = keys[i] ^ (i == 777 ? 1u : 0u);\n",
        1,
    ),
    (
        "received-keys-from-the-second-on",
        "at = keys[first + i] - low;",
        "at = keys[first + (i > 0 || low == 0 ? i : 1)] - low;",
        2,
    ),
    (
        "last-message's-key-not-counted",
        "for (uint i = (uint)get_global_id(0); i < n; i += (uint)get_global_size(0)) {\n    const uint at",
        "for (uint i = (uint)get_global_id(0); i + 1 < n; i += (uint)get_global_size(0)) {\n    const uint at",
        2,
    ),
    (
        "ranks-count-the-key-itself",
        "counts[first + i] = rank;",
        "counts[first + i] = rank + count;",
        1,
    ),
    (
        "sums-of-other-ranks",
        "total += weight(low + first + i) * rank;",
        "total += weight(low + first) * rank;",
        1,
    ),
]
MG = [
    ("corners-left-out", "w2 * near + w3 * far", "w2 * near + (k > low ? w3 * far : 0)", 1),
    ("plane-before-twice", "bases[r] + (sums[r] + to_next)", "bases[r] + (sums[r] + aside[r])", 1),
    (
        "row-behind-its-own",
        "before = own, own = behind, beside_before = beside, beside",
        "before = own, own = behind, beside_before = beside_behind, beside",
        1,
    ),
    (
        "halo-of-edges-kept",
        "for (int corner = 1; corner < 8; ++corner)",
        "for (int corner = 1; corner < 8; corner *= 2)",
        1,
    ),
    (
        "a-tile's-last-column",
        "const bool is_inside = i <= nx && j + r <= ny;",
        "const bool is_inside = i < nx && j + r <= ny;",
        1,
    ),
    (
        "pieces-end-early",
        "const int high = low + depth - 1 < last ? low + depth - 1 : last;\n  const int i = left",
        "const int high = low + depth - 1 < last ? low + depth - 1 : last - 1;\n  const int i = left",
        1,
    ),
    (
        "restricts-even",
        "uint at = (uint)(2 * (low - 1) + dz) * plane",
        "uint at = (uint)(2 * (low - 1) + dz - 1) * plane",
        1,
    ),
    (
        "restriction's-corners",
        "before = nine(fine, at - plane, row, 0.25, 0.125, 0.0625)",
        "before = nine(fine, at - plane, row, 0.25, 0.125, 0.125)",
        1,
    ),
    ("restriction's-plane-before", "before = behind;", "before = own;", 1),
    ("interpolates-between-others", "x % 2 == 0 ? 1 : 0", "x % 2 == 0 ? 0 : 0", 1),
    ("interpolates-a-plane-below", "own = above, behind = behind_above;", "own = above;", 1),
    (
        "last-halo-not-interpolated",
        "k < last && j >= 0, k < last && j <= ny",
        "k < last && j >= 0, k + 1 < last && j <= ny",
        1,
    ),
    ("not-added", "if (adds != 0 && has[p])", "if (adds > 1 && has[p])", 1),
    (
        "faces-of-the-wrong-side",
        "packs != 0 ? (side == 0 ? 1 : n)",
        "packs != 0 ? (side == 0 ? n : 1)",
        2,
    ),
    (
        "gathered-part-moved",
        "put(grid, i, j, k, n, n, n, 7, messages[at + (uint)point]);",
        "put(grid, i, j, k, n, n, n, 7, messages[at + (uint)(point > 0 ? point - 1 : 0)]);",
        2,
    ),
    ("norm-without-last-row", "of < ny * nz; of +=", "of + 1 < ny * nz; of +=", 1),
]
MUTANTS = [
    KernelMutant(
        f"{name}-{what}",
        f"benchmarks/shmem/npb/{name}.cl",
        old,
        new,
        DEVICE,
        ranks=ranks,
        benchmark=f"npb_{name}",
    )
    for name, wrong in (("is", IS), ("mg", MG))
    for what, old, new, ranks in wrong
]
SOUND = [
    *(
        Sound(DEVICE, ranks=ranks, benchmark=f"npb_{name}")
        for name in ("is", "mg")
        for ranks in (1, 3)
    ),
    *(
        Sound(DEVICE, device, benchmark=f"npb_{name}")
        for name in ("is", "mg")
        for device in ("intel", "fpga", "cuda")
    ),
    Sound((*DEVICE, "--transport", "peer"), ranks=2, benchmark="npb_mg"),
]
