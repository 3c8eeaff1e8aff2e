"""PTRANS's kernels made wrong."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

FILE = "benchmarks/hpcc/ptrans/gpu.cl"
STAGED = ("--transport", "staged", "--runtime", "opencl")
SMALL = (*STAGED, "--size", "67", "--block-size", "5", "--type", "double")
LARGE = (*STAGED, "--size", "600", "--block-size", "100")
GPU = ("--kernel", "gpu")

WRONG = [
    ("image-not-mirrored", "image_at + row * rows + column)", "image_at + column * rows + row)"),
    ("rows-repeated", "image_at + row * rows + column)", "image_at + column)"),
    (
        "transposed-twice",
        "image[across * (TILE + 1) + down + i]",
        "image[(down + i) * (TILE + 1) + across]",
    ),
    ("sign", "LOAD(b, b_at + place) + image", "LOAD(b, b_at + place) - image"),
    ("b-left-out", "LOAD(b, b_at + place) + image", "image"),
    (
        "a-left-out",
        "LOAD(b, b_at + place) + image[across * (TILE + 1) + down + i]",
        "LOAD(b, b_at + place)",
    ),
    ("last-row-left-out", "row < rows && column < columns)", "row + 1 < rows && column < columns)"),
    (
        "last-column-left-out",
        "row < rows && column < columns)",
        "row < rows && column + 1 < columns)",
    ),
    ("first-block-repeated", "image_at = table[4 * block + 1]", "image_at = table[1]"),
    ("block-not-mirrored", "image_at = table[4 * block + 1]", "image_at = table[4 * block]"),
    (
        "last-block-left-out",
        "const ulong top =",
        "if (block + 1 == get_num_groups(0) / (tiles * tiles)) return;\n  const ulong top =",
    ),
    ("one-place-on", "STORE(c, c_at + place,", "STORE(c, c_at + place + 1,"),
]

HLS = "benchmarks/hpcc/ptrans/single_work_item_hls.cpp"
IN_HLS = ("--transport", "accl-tcp", *SMALL[4:])
WRONG_IN_HLS = [
    ("image-not-mirrored", "+ tile[j][i]", "+ tile[i][j]"),
    ("b-left-out", "(SUM)b[at] + tile", "tile"),
    (
        "last-row-left-out",
        "if (row + i < rows && column + j < columns) c",
        "if (row + i + 1 < rows) c",
    ),
    ("first-block-repeated", "image_at = table[4 * block + 1]", "image_at = table[1]"),
    ("last-block-left-out", "block < blocks;", "block + 1 < blocks;"),
    ("sign", "(SUM)b[at] + tile", "(SUM)b[at] - tile"),
]

CPU_FILE = "benchmarks/hpcc/ptrans/cpu.cl"
# Blocks of 5 are made number by number, of 64 line by line, of 100 by tiles that begin anywhere and numbers.
IN_LINES = (*STAGED, "--size", "192", "--block-size", "64")
IN_NUMBERS = "LOAD(b, place) + LOAD(image, column * rows + row)"
IN_TILES = "LINE_OF(b + i * columns) + LINE_OF((const NUMBER*)mirrored + i * TILE)"
WRONG_IN_TILES = [
    ("rows-exchanged", "(four)((a).s0, (b).s0,", "(four)((b).s0, (a).s0,"),
    ("not-mirrored", "to + (i + 1) * TILE + j)", "to + (j + 1) * TILE + i)"),
    ("tile-repeated", "make_tile(image + left * rows", "make_tile(image"),
    ("b-left-out", IN_TILES, "LINE_OF((const NUMBER*)mirrored + i * TILE)"),
    ("a-left-out", IN_TILES, "LINE_OF(b + i * columns)"),
    (
        "last-row-left-out",
        "for (uint i = 0; i < TILE; ++i) {",
        "for (uint i = 0; i + 1 < TILE; ++i) {",
    ),
    ("last-tile-left-out", "left < in_tiles;", "left + TILE < in_tiles;"),
    ("first-block-repeated", "image_at = table[4 * block + 1]", "image_at = table[1]"),
    ("last-strip-left-out", "if (top >= rows)", "if (top + TILE >= rows)"),
]
WRONG_IN_NUMBERS = [
    ("not-mirrored", "column * rows + row)", "row * columns + column)"),
    ("b-left-out", IN_NUMBERS, "LOAD(image, column * rows + row)"),
    ("sign", IN_NUMBERS, IN_NUMBERS.replace("+", "-", 1)),
    ("last-column-left-out", "column < columns;", "column + 1 < columns;"),
    ("last-row-left-out", "row < height;", "row + 1 < height;"),
    ("one-place-on", "c, place);", "c, place + 1);"),
]

MUTANTS = [
    KernelMutant(f"{name}-{size}", FILE, old, new, (*words, *GPU))
    for name, old, new in WRONG
    for size, words in (("small", SMALL), ("large", LARGE))
    # Blocks that another rank sends lie where their mirror images do: this shows within a rank.
]
MUTANTS += [
    KernelMutant(f"{name}-exchanged", FILE, old, new, (*SMALL, *GPU), ranks=2)
    for name, old, new in WRONG
]
MUTANTS += [
    KernelMutant(f"tiles-{name}-{size}", CPU_FILE, old, new, words, ranks=ranks)
    for name, old, new in WRONG_IN_TILES
    for size, words, ranks in (("large", LARGE, 1), ("lines", IN_LINES, 2))
]
MUTANTS += [
    KernelMutant(f"numbers-{name}-{size}", CPU_FILE, old, new, words, ranks=ranks)
    for name, old, new in WRONG_IN_NUMBERS
    for size, words, ranks in (("small", SMALL, 2), ("large", LARGE, 1))
]
MUTANTS += [
    KernelMutant(f"{name}-hls", HLS, old, new, IN_HLS, "hls") for name, old, new in WRONG_IN_HLS
]
SOUND = [
    Sound(IN_HLS, "hls", ranks=2),
    Sound((*IN_HLS[:2], "--size", "300", "--block-size", "50", "--type", "half"), "hls", ranks=2),
    Sound(SMALL),
    Sound(LARGE),
    Sound(SMALL, ranks=2),
    Sound((*LARGE, "--no-overlap"), ranks=2),
    Sound((*SMALL, "--distribution", "diagonal"), ranks=3),
    Sound((*SMALL, "--grid-rows", "2"), ranks=6),
    Sound((*LARGE, "--type", "half"), ranks=2),
    Sound((*IN_LINES, "--type", "double"), ranks=2),
    Sound(LARGE, "intel"),
    Sound((*SMALL, *GPU)),
    Sound((*LARGE, *GPU), ranks=2),
    Sound((*LARGE, "--type", "half", *GPU)),
]
