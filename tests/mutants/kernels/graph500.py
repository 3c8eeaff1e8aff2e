"""Graph500's kernels made wrong: searches that go down only, up only, and as they choose."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

KERNELS = "benchmarks/shmem/graph500/graph500.cl"

USUAL = ("--variant", "device", "--scale", "10", "--edgefactor", "4", "--roots", "2")
DOWN = (*USUAL, "--alpha", "0.001")
UP = (*USUAL, "--alpha", "1e9", "--beta", "1e9")
SHARED = (*UP, "--edgefactor", "16", "--lanes", "4")  # rows longer than 4 are left to look_on

MUTANTS = [
    KernelMutant(
        "nothing_followed",
        KERNELS,
        "task < count; task += at_once) {\n    const uint vertex = tasks[2 * task];",
        "task < 0; task += at_once) {\n    const uint vertex = tasks[2 * task];",
        DOWN,
    ),
    KernelMutant(
        "last_neighbour_of_each_piece_lost",
        KERNELS,
        "i < end; i += LANES) {\n      const uint own",
        "i + 1 < end; i += LANES) {\n      const uint own",
        DOWN,
    ),
    KernelMutant(
        "first_piece_of_each_row_only",
        KERNELS,
        "+ PIECE - 1) / PIECE);",
        "+ PIECE - 1) / PIECE > 0);",
        (*DOWN, "--edgefactor", "16"),
    ),
    KernelMutant(
        "parent_is_another_vertex",
        KERNELS,
        "parents[own] = vertex;",
        "parents[own] = vertex ^ 1u;",
        DOWN,
    ),
    KernelMutant("root_is_found_again", KERNELS, "isolated[own] | bit;", "isolated[own];", DOWN),
    KernelMutant(
        "one_vertex_of_a_word_is_not_followed",
        KERNELS,
        "for (uint left = level[word]; left",
        "for (uint left = level[word] & 0x7ffffffeu; left",
        (*DOWN, "--edgefactor", "1"),
    ),
    KernelMutant(
        "levels_end_early",
        KERNELS,
        "atomic_add(&totals[TASKS(turn) + 1], of_group[0]);",
        "",
        USUAL,
    ),
    KernelMutant(
        "parents_of_any_level",
        KERNELS,
        "if ((level[other / 32] >> other % 32 & 1u) == 0) continue;\n        parents",
        "if ((known[other / 32] >> other % 32 & 1u) == 0) continue;\n        parents",
        UP,
    ),
    KernelMutant(
        "first_neighbour_not_looked_at",
        KERNELS,
        "ulong i = begin;\n",
        "ulong i = begin + 1;\n",
        UP,
    ),
    KernelMutant(
        "last_word_not_looked_at",
        KERNELS,
        "const uint before = word < own_words ? known[word]",
        "const uint before = word + 1 < own_words ? known[word]",
        UP,
    ),
    KernelMutant(
        "long_rows_left_out",
        KERNELS,
        "const uint pieces = (uint)((row_end",
        "const uint pieces = 0 * (uint)((row_end",
        SHARED,
    ),
    KernelMutant(
        "last_of_each_long_row_lost",
        KERNELS,
        "> LONG ? begin + LONG : row_end;",
        "> LONG ? begin + LONG : row_end - 1;",
        SHARED,
    ),
    KernelMutant(
        "long_rows_of_any_level",
        KERNELS,
        "if ((level[other / 32] >> other % 32 & 1u) == 0) continue;\n      if ((atomic_or(&next",
        "if ((known[other / 32] >> other % 32 & 1u) == 0) continue;\n      if ((atomic_or(&next",
        SHARED,
    ),
    KernelMutant(
        "found_in_a_long_row_not_known", KERNELS, "atomic_or(&known[word], bit);", "", SHARED
    ),
    KernelMutant(
        "sizes_of_long_rows_only",
        KERNELS,
        "++vertices;\n        ends += row_end - begin;",
        "ends += row_end - begin;",
        SHARED,
    ),
    KernelMutant(
        "one_lane_of_a_word",
        KERNELS,
        "if (reached != 0) atomic_or(&reached_of",
        "if (lane == 0) atomic_or(&reached_of",
        SHARED,
    ),
    KernelMutant(
        "lists_of_own_vertices_only",
        KERNELS,
        "for (uint left = level[word]; left",
        "for (uint left = word - own_at < own_words ? level[word] : 0; left",
        DOWN,
        ranks=2,
    ),
    KernelMutant(
        "edges_of_another_generator",
        KERNELS,
        "bit >= 0 && draw < LEAST_DRAW",
        "bit >= 0 && draw < 7295000UL",
        USUAL,
    ),
    KernelMutant(
        "lower_triangle_not_folded",
        KERNELS,
        "from == to && chosen == 2;",
        "from == to && chosen == 3 && bit > SCALE;",
        USUAL,
    ),
    KernelMutant(
        "weights_of_the_next_edge",
        KERNELS,
        "weights[item] = (float)draw",
        "weights[item > 0 ? item - 1 : 0] = (float)draw",
        (*USUAL, "--kernel", "both"),
    ),
    KernelMutant(
        "ends_not_scrambled",
        KERNELS,
        "edges[2 * item] = scrambled(from);",
        "edges[2 * item] = from;",
        USUAL,
    ),
    KernelMutant(
        "level_before_the_last_is_kept",
        KERNELS,
        "if (word - own_at < own_words) next[word] = 0;",
        "if (word - own_at + 1 < own_words) next[word] = 0;",
        DOWN,
        ranks=3,
    ),
]

SOUND = [
    Sound(("--variant", "device", "--scale", "1", "--roots", "1")),
    Sound(USUAL),
    Sound(DOWN),
    Sound(UP),
    Sound(SHARED),
    Sound((*SHARED, "--lanes", "32"), ranks=3),
    Sound(("--variant", "device", "--scale", "14", "--roots", "4")),
    Sound(DOWN, ranks=3),
    Sound((*USUAL, "--transport", "peer"), ranks=2),
    Sound((*USUAL, "--transport", "peer"), ranks=3),
    Sound(("--variant", "device", "--scale", "7", "--roots", "4"), ranks=4),
    Sound((*USUAL, "--kernel", "both"), ranks=2),
    Sound((*USUAL, "--graph", "erdos-renyi")),
    Sound(USUAL, device="cuda"),
]
