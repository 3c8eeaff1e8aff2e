"""GEMM's kernels made wrong: mistakes that people make, and half of the work at every size."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

FOLDER = "benchmarks/hpcc/gemm"
CPU, GPU, FPGA = (f"{FOLDER}/{name}.cl" for name in ("cpu", "gpu", "single_work_item"))

ON_GPU_KERNEL = ("--kernel", "gpu")
AS_FPGA = ("--variant", "single_work_item", "--block-size", "32")


def mutant(name: str, file: str, old: str, new: str, *words: str) -> KernelMutant:
    form = {CPU: (), GPU: ON_GPU_KERNEL, FPGA: AS_FPGA}[file]
    return KernelMutant(name, file, old, new, (*form, *words))


def sized(size: int, element: str = "float") -> tuple[str, ...]:
    return ("--size", str(size), "--type", element)


HALF_OF_A_TILE = ("k < DEPTH; k += UNROLL", "k < DEPTH / 2; k += UNROLL")
HALF_OF_A_STRIP = ("for (int k = 0; k < DEPTH; ++k) {", "for (int k = 0; k < DEPTH / 2; ++k) {")
HALF_OF_THE_BLOCKS = ("inner_block < inner_blocks", "inner_block < (inner_blocks + 1) / 2")

MUTANTS = [
    # Half of the work. 256 and 1024 in every type; 4096, where the predecessor's bound lets it pass.
    *(
        mutant(f"half-of-a-tile-{size}-{element}", CPU, *HALF_OF_A_TILE, *sized(size, element))
        for size in (256, 1024)
        for element in ("half", "float", "double")
    ),
    mutant("half-of-a-tile-4096", CPU, *HALF_OF_A_TILE, *sized(4096)),
    mutant("half-of-a-strip-256", GPU, *HALF_OF_A_STRIP, *sized(256)),
    mutant("half-of-a-strip-1024", GPU, *HALF_OF_A_STRIP, *sized(1024)),
    mutant("half-of-a-strip-256-tf32", GPU, *HALF_OF_A_STRIP, *sized(256, "tf32")),
    mutant("half-of-the-blocks-256", FPGA, *HALF_OF_THE_BLOCKS, *sized(256)),
    mutant("half-of-the-blocks-1024", FPGA, *HALF_OF_THE_BLOCKS, *sized(1024)),
    mutant("half-of-the-blocks-double", FPGA, *HALF_OF_THE_BLOCKS, *sized(128, "double")),
    # The form for CPUs.
    mutant(
        "last-column-unwritten",
        CPU,
        "min((uint)TILE_COLUMNS, columns - column)",
        "min((uint)TILE_COLUMNS, columns - column - 1)",
        *sized(101),
    ),
    mutant(
        "row-of-b-repeated",
        CPU,
        "from = b + (ulong)row * columns;",
        "from = b + (ulong)(row == 77 ? 76 : row) * columns;",
        *sized(128),
    ),
    mutant("padding-left", CPU, "for (; k < DEPTH; ++k) to[k] = 0;", "", *sized(99)),
    mutant(
        "earlier-sums-lost",
        CPU,
        "first ? sum[i][v] : sum[i][v] + LOAD_SUMS(sums + at)",
        "sum[i][v]",
        *sized(128),
        *("--inner", "600"),
    ),
    mutant(
        "earlier-sums-lost-at-edges",
        CPU,
        "first ? edge[i * TILE_COLUMNS + j] : edge[i * TILE_COLUMNS + j] + sums[at]",
        "edge[i * TILE_COLUMNS + j]",
        *sized(129),
        *("--inner", "600"),
    ),
    mutant("beta-forgotten", CPU, " + beta * LOAD_VECTOR(c + at)", "", *sized(128)),
    mutant(
        "one-product-left-out",
        CPU,
        "from_a = (Vector)(x[i * DEPTH + u]);",
        "from_a = (Vector)(k + u == 100 && row_tile == 1 ? 0 : x[i * DEPTH + u]);",
        *sized(256),
    ),
    # What is written already is not done again: a group looks at the first element of its tiles.
    mutant(
        "written-already",
        CPU,
        "  const uint column_tile_end = min(column_tiles, column_tile_begin + STRIP);\n",
        "  const uint column_tile_end = min(column_tiles, column_tile_begin + STRIP);\n"
        "  const ulong mine = (ulong)row_tile_begin * TILE_ROWS * columns + column_tile_begin * TILE_COLUMNS;\n"
        "  if (out[mine] == out[mine]) return;\n",
        *sized(128, "double"),
    ),
    mutant(
        "strips-written-already",
        GPU,
        "  // Places of this work item in the strips that it copies",
        "  const ulong mine = (ulong)tile_row * columns + tile_column;\n"
        "  if (out[mine] == out[mine]) return;\n"
        "  // Places of this work item in the strips that it copies",
        *sized(200),
    ),
    mutant(
        "blocks-written-already",
        FPGA,
        "    const uint tile_column = tile % column_blocks * BLOCK;\n",
        "    const uint tile_column = tile % column_blocks * BLOCK;\n"
        "    const ulong mine = (ulong)(tile_row - row_begin) * columns + tile_column;\n"
        "    if (out[mine] == out[mine]) continue;\n",
        *sized(70),
    ),
    # The form for GPUs.
    mutant("last-strip-left-out", GPU, "strip <= strips", "strip < strips", *sized(192)),
    mutant("padding-repeats", GPU, ": (ELEMENT)0;", ": from[0];", *sized(100)),
    mutant(
        "wrong-buffer",
        GPU,
        "(strip - 1) % 2 * (DEPTH * COLUMNS / PART)",
        "strip % 2 * (DEPTH * COLUMNS / PART)",
        *sized(128),
    ),
    mutant("alpha-forgotten", GPU, "out[at] = alpha * (value)", "out[at] = (value)", *sized(100)),
    # The form for FPGAs.
    mutant(
        "block-transposed",
        FPGA,
        "b_register[y][x] = b_block[k][j][y][x];",
        "b_register[y][x] = j == 1 ? b_block[k][j][x][y] : b_block[k][j][y][x];",
        *sized(64),
    ),
    mutant(
        "sums-begin-anew",
        FPGA,
        "first = inner_block == 0 && k == 0",
        "first = k == 0",
        *sized(64),
    ),
    mutant(
        "last-inner-index-left-out",
        FPGA,
        "tile_inner + j < inner ?",
        "tile_inner + j + 1 < inner ?",
        *sized(70, "half"),
    ),
    mutant(
        "last-block-row-unwritten",
        FPGA,
        "(row_end - row_begin + BLOCK - 1) / BLOCK",
        "(row_end - row_begin) / BLOCK",
        *sized(70),
        *("--replications", "2"),
    ),
]

TYPES = ("half", "float", "double")

SOUND = [
    *(Sound(sized(size, element)) for size in (1, 99, 600) for element in TYPES),
    *(Sound((*ON_GPU_KERNEL, *sized(200, element))) for element in (*TYPES, "tf32")),
    *(Sound((*AS_FPGA, *sized(70, element), "--replications", "3")) for element in TYPES),
    *(Sound(sized(130, element), device="native") for element in TYPES),
    Sound(("--rows", "65", "--columns", "300", "--inner", "700"), ranks=2),
    Sound((*AS_FPGA, "--size-in-blocks", "3", "--replicate-inputs", "-r", "2")),
    Sound(("--variant", "library", *sized(100)), device="native"),
    Sound(("--variant", "library", *sized(100, "double"))),
    Sound(("--block-size", "32", *sized(70)), device="fpga"),
    Sound(sized(99), device="intel"),
]
