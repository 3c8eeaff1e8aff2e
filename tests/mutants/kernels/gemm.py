"""GEMM's kernels made wrong: mistakes that people make, and half of the work at every size."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutants.kernel_mutants import KernelMutant, Sound

FOLDER = "benchmarks/hpcc/gemm"
CPU, GPU, FPGA = (f"{FOLDER}/{name}.cl" for name in ("cpu", "gpu", "single_work_item"))
HOPPER = f"{FOLDER}/hopper.cu"

ON_GPU_KERNEL = ("--kernel", "gpu")
ON_HOPPER = ("--kernel", "hopper")
AS_FPGA = ("--variant", "single_work_item", "--block-size", "32")


def mutant(name: str, file: str, old: str, new: str, *words: str) -> KernelMutant:
    form = {CPU: (), GPU: ON_GPU_KERNEL, FPGA: AS_FPGA}[file]
    return KernelMutant(name, file, old, new, (*form, *words))


def hls(name: str, old: str, new: str, *words: str) -> KernelMutant:
    """A mutant of the form for FPGAs in HLS C++."""
    file = f"{FOLDER}/single_work_item_hls.cpp"
    return KernelMutant(f"hls-{name}", file, old, new, ("--block-size", "32", *words), "hls")


def on_hopper(
    name: str, old: str, new: str, element: str, sizes: Sequence[int] = (256, 4096, 8191)
) -> list[KernelMutant]:
    """For a GPU of compute capability 9.0 alone."""
    return [
        KernelMutant(
            f"hopper-{name}-{element}-{size}",
            HOPPER,
            old,
            new,
            (*ON_HOPPER, *sized(size, element)),
            device="cuda",
        )
        for size in sizes
    ]


def sized(size: int, element: str = "float") -> tuple[str, ...]:
    return ("--size", str(size), "--type", element)


HALF_OF_A_TILE = ("k < DEPTH; k += UNROLL", "k < DEPTH / 2; k += UNROLL")
HALF_OF_A_STRIP = ("for (int k = 0; k < DEPTH; ++k) {", "for (int k = 0; k < DEPTH / 2; ++k) {")
HALF_OF_THE_BLOCKS = ("inner_block < inner_blocks", "inner_block < (inner_blocks + 1) / 2")

HALF_OF_THE_STRIPS = ("((inner + DEPTH - 1) / DEPTH)", "((inner + DEPTH - 1) / DEPTH / 2)")
HALF_OF_THE_STRIPS_TF32 = ("/ (2 * DEPTH) * 2)", "/ (2 * DEPTH))")
LAST_STRIP_LEFT_OUT = ("((inner + DEPTH - 1) / DEPTH)", "((inner - 1) / DEPTH)")
STAGE_OF_ANOTHER_STRIP = (
    "tile_descriptor(place + consumer * (NARROW_BYTES / 2), 16, 1024)",
    "tile_descriptor(ring + (at.stage ^ 1) * STAGE_BYTES + consumer * (NARROW_BYTES / 2), 16, 1024)",
)
LAST_TILE_UNWRITTEN = (
    "tiles = narrow_tiles * wide_tiles,",
    "tiles = narrow_tiles * wide_tiles - 1,",
)
LAST_COLUMN_UNWRITTEN = (
    "if (row < rows && column < columns) out[(size_t)row * C_PITCH + column] = result;",
    "if (row < rows && column + 1 < columns) out[(size_t)row * C_PITCH + column] = result;",
)
SAME_HALF_OF_A = ("tile.wide + group * (WIDE / CLUSTER)", "tile.wide")
SAME_HALF_OF_B = ("k + group * (DEPTH / CLUSTER), full);", "k, full);")
ONE_TILE_NEGATIVE = (
    "combine(low.x, low.y, from_c[h].x, alpha, beta)",
    "combine(low.x, low.y, from_c[h].x, index == 0 ? -alpha : alpha, beta)",
)
ONE_TILE_NEGATIVE_TF32 = ("x = alpha * sum[4 *", "x = (index == 0 ? -alpha : alpha) * sum[4 *")
NOT_TURNED = ("to[0] = turned ? y0 : x0;", "to[0] = x0;")
FIRST_HALF_TWICE = ("from_b[step % 2], from_a[h][j])", "from_b[step % 2], from_a[0][j])")
STRIP_TAKEN_AGAIN = ("TAKE_B(from_b[0], next_place, 0, 0);", "TAKE_B(from_b[0], place, 0, 0);")
BETA_FORGOTTEN = ("out[here] = x + beta * c[here];", "out[here] = x;")
# Of the form for Hopper in float.
STRIP_BEFORE = ("next = ring + at.stage * STAGE_BYTES;\n", "")
FIRST_CHUNK_TWICE = ("TAKE_A(i, place, 2 * pair + 1)", "TAKE_A(i, place, 2 * pair)")
ODD_ROWS_LIKE_EVEN = ("(4 + g) * 16", "g * 16")
SUM_NEGATIVE = ("make_float4(alpha * sum", "make_float4((index == 0 ? -alpha : alpha) * sum")
ROWS_UNWRITTEN = (
    "make_float4(alpha * sum",
    "i == 1 ? *(float4*)(out + here) : make_float4(alpha * sum",
)
BETA_FORGOTTEN_FLOAT = (" + beta * c[here + e];", ";")
REPACKED_WRONGLY = ("__funnelshift_r(w3, w4, shift)", "w3")

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
        "from = b + PLACE(b, row, 0, columns);",
        "from = b + PLACE(b, row == 77 ? 76 : row, 0, columns);",
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
        "  // Positions of this work item in the strips that it copies",
        "  const ulong mine = (ulong)tile_row * columns + tile_column;\n"
        "  if (out[mine] == out[mine]) return;\n"
        "  // Positions of this work item in the strips that it copies",
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
    hls(
        "block-transposed",
        "b_block[k][j][z][x];",
        "b_block[k][j][j == 1 ? x : z][j == 1 ? z : x];",
        *sized(64),
    ),
    hls("sums-begin-anew", "inner_block == 0);", "true);", *sized(64)),
    hls(
        "last-inner-index-left-out",
        "z < GEMM_BLOCK; ++z",
        "z < GEMM_BLOCK - 1; ++z",
        *sized(70, "half"),
    ),
    hls(
        "last-block-row-unwritten",
        "(row_end - row_begin + BLOCK - 1) / BLOCK",
        "(row_end - row_begin) / BLOCK",
        *sized(70),
        *("--replications", "2"),
    ),
    hls("beta-forgotten", " + beta * (REAL)c[at]", "", *sized(64)),
    hls(
        "offset-of-the-replication-lost",
        "load(a, tile_row, row_end,",
        "load(a, tile_row - row_begin, row_end,",
        *sized(70),
        *("--replications", "2"),
    ),
    # The form for Hopper.
    *(
        one
        for element in ("half", "bfloat16")
        for one in (
            *on_hopper("half-of-the-strips", *HALF_OF_THE_STRIPS, element),
            *on_hopper("one-tile-alpha-negative", *ONE_TILE_NEGATIVE, element, (256, 4096)),
        )
    ),
    *on_hopper("half-of-the-strips", *HALF_OF_THE_STRIPS_TF32, "tf32"),
    *on_hopper("half-of-the-strips", *HALF_OF_THE_STRIPS, "double"),
    *on_hopper("last-strip-left-out", *LAST_STRIP_LEFT_OUT, "half"),
    *on_hopper("stage-of-another-strip", *STAGE_OF_ANOTHER_STRIP, "half"),
    *on_hopper("edge-tile-unwritten", *LAST_TILE_UNWRITTEN, "half"),
    *on_hopper("edge-tile-unwritten", *LAST_TILE_UNWRITTEN, "tf32"),
    *on_hopper("last-column-unwritten", *LAST_COLUMN_UNWRITTEN, "half", (8191,)),
    *on_hopper("same-half-sent-by-both", *SAME_HALF_OF_B, "half"),
    *on_hopper("same-half-sent-by-both", *SAME_HALF_OF_A, "tf32"),
    *on_hopper("one-tile-alpha-negative", *ONE_TILE_NEGATIVE_TF32, "tf32"),
    *on_hopper("inner-indices-not-turned", *NOT_TURNED, "tf32"),
    *on_hopper("first-half-twice", *FIRST_HALF_TWICE, "double"),
    *on_hopper("strip-taken-again", *STRIP_TAKEN_AGAIN, "double"),
    *on_hopper("beta-forgotten", *BETA_FORGOTTEN, "double", (8191,)),
    *on_hopper("half-of-the-strips", *HALF_OF_THE_STRIPS, "float"),
    *on_hopper("last-strip-left-out", *LAST_STRIP_LEFT_OUT, "float"),
    *on_hopper("strip-before", *STRIP_BEFORE, "float"),
    *on_hopper("first-chunk-twice", *FIRST_CHUNK_TWICE, "float"),
    *on_hopper("odd-rows-like-even", *ODD_ROWS_LIKE_EVEN, "float"),
    *on_hopper("one-tile-alpha-negative", *SUM_NEGATIVE, "float", (256, 4096)),
    *on_hopper("rows-unwritten", *ROWS_UNWRITTEN, "float", (256, 4096)),
    *on_hopper("beta-forgotten", *BETA_FORGOTTEN_FLOAT, "float", (8191,)),
    *on_hopper("repacked-wrongly", *REPACKED_WRONGLY, "half", (8191,)),
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
    *(
        Sound(("--block-size", "32", *sized(70, element), "-r", "3"), device="hls")
        for element in TYPES
    ),
    Sound(sized(99), device="intel"),
    *(
        Sound((*ON_HOPPER, *sized(size, element)), device="cuda")
        for element in ("half", "bfloat16", "tf32", "double")
        for size in (1, 99, 256, 1000)
    ),
    Sound(
        (*ON_HOPPER, "--type", "half", "--rows", "300", "--columns", "77", "--inner", "1030"),
        device="cuda",
    ),
]
