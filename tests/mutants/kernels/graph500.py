"""Graph500's kernels made wrong: the list, kernel 1, shortest paths, searches that go down only, up only, as they choose."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

KERNELS = "benchmarks/shmem/graph500/graph500.cl"

USUAL = ("--variant", "device", "--scale", "10", "--edgefactor", "4", "--roots", "2")
DOWN = (*USUAL, "--alpha", "0.001")
UP = (*USUAL, "--alpha", "1e9", "--beta", "1e9")
FPGA = ("--variant", "device", "--scale", "7", "--edgefactor", "2", "--roots", "2")
PATHS = (*USUAL, "--kernel", "sssp")
SHARED = (*UP, "--edgefactor", "16", "--lanes", "4")  # rows longer than 4 are left to look_on
PORT = (*DOWN, "--transport", "peer", "--discoveries", "kernels")
PACKETS = (*PORT, "--scale", "15")  # several of a group in a level
# A rank that is bound to a core has one compute unit, but needs one for each neighbour.
UNITS = {"POCL_MAX_PTHREAD_COUNT": "4", "POCL_CPU_MAX_CU_COUNT": "4"}
# Of kernels that send what they find: (name, ranks, words, old, new).
OF_PORT = [
    (
        *("last_packet_unsent", 2, PACKETS),
        "packet[0] = words;",
        "packet[0] = word < end ? words : 0;",
    ),
    ("packet_of_another_place", 2, PORT, "i % PLACES * pitch", "(i + 1) % PLACES * pitch"),
    ("last_word_not_sent", 2, PORT, "mine < own_at + end ?", "mine + 1 < own_at + end ?"),
    (
        *("words_of_another_rank", 2, PORT),
        "packet[2 + 2 * at] = mine;",
        "packet[2 + 2 * at] = mine - own_at;",
    ),
    (
        *("tasks_of_one_kernel_left_out", 3, PORT),
        "kernel_number * get_global_size(0) +",
        "0 * kernel_number +",
    ),
]

MUTANTS = [
    KernelMutant(
        "nothing_followed",
        KERNELS,
        "task < count; task += at_once) {\n    const uint vertex = tasks[2 * task];\n    const ulong begin",
        "task < 0; task += at_once) {\n    const uint vertex = tasks[2 * task];\n    const ulong begin",
        DOWN,
    ),
    KernelMutant(
        "last_neighbour_of_each_piece_lost",
        KERNELS,
        "i < end; i += LANES) {\n      const uint own = lists[i], word",
        "i + 1 < end; i += LANES) {\n      const uint own = lists[i], word",
        DOWN,
    ),
    KernelMutant(
        "first_piece_of_each_row_only",
        KERNELS,
        "ROW(list_begins, vertex) + PIECE - 1) / PIECE);",
        "ROW(list_begins, vertex) + PIECE - 1) / PIECE > 0);",
        (*DOWN, "--edgefactor", "16"),
    ),
    KernelMutant(
        "parent_is_another_vertex",
        KERNELS,
        "parents[own] = vertex;\n      ++vertices",
        "parents[own] = vertex ^ 1u;\n      ++vertices",
        DOWN,
    ),
    KernelMutant("root_is_found_again", KERNELS, "isolated[own] | bit;", "isolated[own];", DOWN),
    KernelMutant(
        "one_vertex_of_a_word_is_not_followed",
        KERNELS,
        "for (uint left = level[word]; left != 0; left &= left - 1) {",
        "for (uint left = level[word] & 0x7ffffffeu; left != 0; left &= left - 1) {",
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
        "for (uint left = level[word]; left != 0; left &= left - 1) {",
        "for (uint left = word - own_at < own_words ? level[word] : 0; left != 0; left &= left - 1) {",
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
        "edges[2 * item] = (uint)scrambled(from);",
        "edges[2 * item] = (uint)from;",
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
    KernelMutant(
        "edge_lost",
        KERNELS,
        "item < count; item += get_global_size(0)) {\n    const uint from",
        "item + 1 < count; item += get_global_size(0)) {\n    const uint from",
        USUAL,
    ),
    KernelMutant(
        "edges_doubled",
        KERNELS,
        "side < 2; ++side) {\n      const uint vertex = side == 0 ? from : to, other = side == 0 ? to : from;",
        "side < (item < 2 ? 4 : 2); ++side) {\n"
        "      const uint vertex = side % 2 == 0 ? from : to, other = side % 2 == 0 ? to : from;",
        USUAL,
    ),
    KernelMutant("one_end_of_each_edge", KERNELS, "side < 2; ++side)", "side < 1; ++side)", USUAL),
    KernelMutant(
        "neighbours_exchanged",
        KERNELS,
        "turned != 0 ? other - own_first : other;\n#if",
        "turned != 0 ? other - own_first : item == 3 ? other ^ 1u : other;\n#if",
        USUAL,
    ),
    KernelMutant(
        "lists_of_other_vertices",
        KERNELS,
        "turned != 0 ? other - own_first : other;\n#if",
        "turned != 0 ? (other - own_first) ^ 1u : other;\n#if",
        DOWN,
        ranks=2,
    ),
    KernelMutant(
        "loops_left_out",
        KERNELS,
        "atomic_add(&loops[from - own_first], 1u);",
        "atomic_add(&loops[from - own_first], 0u);",
        (*USUAL, "--edgefactor", "16"),
    ),
    KernelMutant(
        "rows_overlap",
        KERNELS,
        "bounds[bin] = before + of_items[item] - own;",
        "bounds[bin] = before + of_items[item] - own - (own > 0 && bin > 16 && item == 5 ? 1 : 0);",
        USUAL,
        error="ending before it begins",
    ),
    KernelMutant(
        "weights_of_one_edge_longer",
        KERNELS,
        "end_weights[bounds[bin] + place] = weights[item];",
        "end_weights[bounds[bin] + place] = as_float(as_uint(weights[item]) + (item == 3 ? 1u : 0u));",
        PATHS,
    ),
    KernelMutant(
        "share_of_another_rank_lost",
        KERNELS,
        "item < count; item += get_global_size(0)) {\n    const uint from",
        "item < (count > 2048 ? 0 : count); item += get_global_size(0)) {\n    const uint from",
        (*USUAL, "--edgefactor", "5"),
        ranks=2,
    ),
    KernelMutant(
        "heavy_edges_not_relaxed",
        KERNELS,
        "left = kind == HEAVY ? settled[word] : level[word];",
        "left = kind == HEAVY ? 0 : level[word];",
        PATHS,
    ),
    KernelMutant(
        "light_edges_not_relaxed",
        KERNELS,
        "((kind) == LIGHT ? 1 : BINS)]",
        "((kind) == LIGHT ? 0 : BINS)]",
        PATHS,
    ),
    KernelMutant(
        "first_heavy_edge_lost",
        KERNELS,
        "((kind) == HEAVY ? 1 : 0)]",
        "((kind) == HEAVY ? 1 : 0)] + ((kind) == HEAVY && END_OF(HEAVY, vertex) > bounds[2 * vertex + 1] ? 1 : 0)",
        PATHS,
    ),
    KernelMutant(
        "heavy_edges_of_the_last_round_only",
        KERNELS,
        "settled[word] |= left;",
        "settled[word] = left;",
        (*PATHS, "--delta", "0.4"),
    ),
    KernelMutant(
        "later_buckets_emptied_early",
        KERNELS,
        "waiting[word] = all ^ chosen;",
        "waiting[word] = 0;",
        PATHS,
    ),
    KernelMutant(
        "last_buckets_left",
        KERNELS,
        "else if (in < least)",
        "else if (in < least && in < 4)",
        PATHS,
    ),
    KernelMutant(
        "relaxed_once",
        KERNELS,
        "length) > length) atomic_or",
        "length) == UNREACHED) atomic_or",
        PATHS,
    ),
    KernelMutant(
        "shorter_paths_ignored",
        KERNELS,
        "if (length >= distances[32 * own_at + own]) continue;",
        "if (distances[32 * own_at + own] != UNREACHED) continue;",
        PATHS,
    ),
    KernelMutant(
        "last_edge_of_each_piece_not_relaxed",
        KERNELS,
        "i < end; i += LANES) {\n      const uint own = ends[i], length",
        "i + 1 < end; i += LANES) {\n      const uint own = ends[i], length",
        PATHS,
    ),
    KernelMutant(
        "sums_a_bit_longer",
        KERNELS,
        "as_uint(before + weights[i]);",
        "as_uint(before + weights[i]) + (before > 0 ? 1u : 0u);",
        PATHS,
    ),
    KernelMutant(
        "root_not_at_zero",
        KERNELS,
        "vertex == root ? 0 : UNREACHED;",
        "vertex == root ? 1u : UNREACHED;",
        PATHS,
    ),
    KernelMutant(
        "parents_of_paths_are_others",
        KERNELS,
        "before < after) parents[own] = vertex;",
        "before < after) parents[own] = vertex ^ 1u;",
        PATHS,
    ),
    KernelMutant(
        "parents_of_any_length",
        KERNELS,
        "if (as_uint(as_float(before) + weights[i]) != after) continue;",
        "if (as_uint(as_float(before) + weights[i]) < after) continue;",
        PATHS,
    ),
    KernelMutant(
        "no_parents_in_the_last_word",
        KERNELS,
        "for (uint bit = 0; bit < 32; ++bit) left |=",
        "for (uint bit = 0; bit < 32 && word > 0; ++bit) left |=",
        (*PATHS, "--scale", "6"),
    ),
    KernelMutant(
        "another_devices_vertices_not_settled",
        KERNELS,
        "if (kind == LIGHT) settled[word] |= left;",
        "if (kind == LIGHT && 2 * word < all_words) settled[word] |= left;",
        PATHS,
        ranks=2,
    ),
    *(
        KernelMutant(name, KERNELS, old, new, words, ranks=ranks, variables=UNITS)
        for name, ranks, words, old, new in OF_PORT
    ),
    KernelMutant(
        "flag_of_the_level_before",
        KERNELS,
        "STORE_SYSTEM(all_ended, level_number);",
        "STORE_SYSTEM(all_ended, level_number - 1);",
        (*PORT, "--timeout", "10"),
        ranks=2,
        error=r"a kernel timed out waiting|waited \d+ s for",  # on loaded cores the host gives up first
        variables=UNITS,
    ),
    *(
        KernelMutant(name, KERNELS, old, new, (*FPGA, "--roots", "1"), device="fpga")
        for name, old, new in (
            (
                "reader_leaves_out_the_last_word",
                "word < all_words; ++word)\n    for (uint left = level[word]",
                "word + 1 < all_words; ++word)\n    for (uint left = level[word]",
            ),
            (
                "reader_leaves_out_a_vertex_of_each_word",
                "++word)\n    for (uint left = level[word];",
                "++word)\n    for (uint left = level[word] & ~4u;",
            ),
            (
                "expander_leaves_out_the_last_neighbour",
                "i < end; ++i) write_channel_intel",
                "i + 1 < end; ++i) write_channel_intel",
            ),
            ("filter_takes_another_parent", "parents[own] = found.y;", "parents[own] = own;"),
            (
                "filter_counts_no_vertices",
                "totals[TASKS(turn) + 1] = vertices;",
                "totals[TASKS(turn) + 1] = 0;",
            ),
            (
                "filter_passes_nothing_on",
                "next[own_at + word] |= bit;\n    parents[own] = found",
                "parents[own] = found",
            ),
        )
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
    Sound((*USUAL, "--transport", "peer", "--discoveries", "kernels"), ranks=3, variables=UNITS),
    Sound(PACKETS, ranks=2),
    Sound((*PORT, "--lanes", "4"), ranks=2),
    Sound(("--variant", "device", "--scale", "7", "--roots", "4"), ranks=4),
    Sound((*USUAL, "--kernel", "both"), ranks=2),
    Sound((*PATHS, "--delta", "0.4")),
    Sound((*PATHS, "--edgefactor", "16", "--lanes", "4")),
    Sound((*PATHS, "--delta", "0.03", "--transport", "peer"), ranks=3),
    Sound((*USUAL, "--graph", "erdos-renyi")),
    Sound(USUAL, device="cuda"),
    Sound(FPGA, device="fpga", soak=True),
    Sound((*FPGA, "--kernel", "both"), device="fpga", ranks=2),
]
