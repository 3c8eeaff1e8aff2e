"""SSCA1's kernels made wrong, on one rank and where values come from another, on two."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

KERNELS = "benchmarks/shmem/ssca1/ssca1.cl"
# Cheap gaps and mismatches make most scores depend on others: two rows of tiles, many columns of them.
SCORES = ("--dissimilar", "-1", "--gap-start", "1", "--gap-extend", "1", "--minimum-score", "20")
USUAL = ("--variant", "device", "--scale", "18", "--tile", "64", *SCORES)

WRONG = [
    ("similar_as_exact", "one >> 8 == other >> 8 ? SIMILAR", "one >> 8 == other >> 8 ? EXACT", 1),
    ("a_gap's_start_twice", "begun = pair - OPEN;", "begun = pair - OPEN - 5;", 1),
    (
        "e_and_f_swapped",
        "down = HIGHER(down - EXTEND, begun);",
        "down = HIGHER(sideways - EXTEND, begun);",
        1,
    ),
    (
        "corner_of_a_tile_missing",
        "corner_of_next = item == 0 ? corners[tile] : last[row - 1];",
        "corner_of_next = item == 0 ? 0 : last[row - 1];",
        1,
    ),
    (
        "corner_between_items_missing",
        "corner_of_next = item == 0 ? corners[tile] : last[row - 1];",
        "corner_of_next = item == 0 ? corners[tile] : 0;",
        1,
    ),
    ("gaps_end_at_tiles", "along[row + r] = AT(e, r);", "along[row + r] = 0;", 1),
    (
        "stale_column",
        "passed_v[to] = AT(v, ROWS - 1);",
        "passed_v[to] = step % 32 == 31 ? passed_v[to] : AT(v, ROWS - 1);",
        1,
    ),
    ("last_columns_skipped", "step - item < COLUMNS;", "step - item < COLUMNS - 1;", 1),
    ("last_items_left_out", "row < rows;", "row + 8 * ROWS < rows;", 1),
    ("no_edge_below", "edges[2 * at + 1] = (SCORE)down;", "edges[2 * at + 1] = 0;", 2),
    (
        "a_row's_ends_lost",
        "for (uint r = 0; r < ROWS; ++r) {\n        if (AT",
        "for (uint r = 1; r < ROWS; ++r) {\n        if (AT",
        1,
    ),
    ("ends_anywhere", "AT(pairs, r) != AT(v, r)", "AT(v, r) == 0", 1),
    (
        "row_off_by_one",
        "ends[3 * (ulong)place + 1] = row + r;",
        "ends[3 * (ulong)place + 1] = row + r + 1;",
        1,
    ),
]
ARRAY = [
    ("array-gaps_end_at_a_lane", "from_down = above_down;", "from_down = k == 7 ? 0 : above_down;"),
    ("array-columns_not_moved", "k > 0; --k) others[k]", "k > 1; --k) others[k]"),
    ("array-corner_missing", "k > 0 ? v[k - 1] : corners[first];", "k > 0 ? v[k - 1] : 0;"),
    ("array-last_lane_idle", "|| k >= lanes)", "|| k + 1 >= lanes)"),
    ("array-gap_start_charged_more", "pair - OPEN;", "pair - OPEN - 1;"),
    ("array-an_end_not_kept", "if (found < room)", "if (found < room && found != 5)"),
]
STRIPS = [
    ("similar_as_exact", "one >> 8 == other >> 8 ? SIMILAR", "one >> 8 == other >> 8 ? EXACT", 1),
    (
        "e_and_f_swapped",
        "down = HIGHER(down - EXTEND, pair);",
        "down = HIGHER(rows->e[r] - EXTEND, pair);",
        1,
    ),
    (
        "a_gap's_start_twice",
        "HIGHER(rows->e[r], down) - OPEN;",
        "HIGHER(rows->e[r], down) - OPEN - 1;",
        1,
    ),
    ("corner_of_a_strip_missing", "item == 0 ? corners[strip] : last", "item == 0 ? 0 : last", 1),
    ("corner_between_items_missing", "corners[strip] : last[row - 1];", "corners[strip] : 0;", 1),
    ("gaps_end_at_launches", "(is_mine ? along[row + r] : 0) + OPEN;", "OPEN;", 1),
    ("gaps_end_at_strips", "HIGHER(rows.down - OPEN, 0), number);", "0, number);", 1),
    ("a_codon_like_no_other", "c < CODES - 1 ?", "c < CODES - 2 ?", 1),
    ("low_ends_lost", "most_of_column > MINIMUM)", "most_of_column > MINIMUM + 1)", 1),
    ("ends_anywhere", "rows.pairs[r] == rows.v[r] ? rows.pairs[r] : 0", "rows.pairs[r]", 1),
    ("row_off_by_one", "place + 1] = row + r;", "place + 1] = row + r + 1;", 1),
    (
        "stale_column",
        "passed_above[((step) + 1) % 2 * GROUP + item] = rows.v[ROWS - 1];",
        "if (step % 32 != 31) passed_above[((step) + 1) % 2 * GROUP + item] = rows.v[ROWS - 1];",
        1,
    ),
    ("gaps_end_at_ranks", "HIGHER((int)arrived[2 * at + 1], 0) + OPEN;", "OPEN;", 2),
]
MUTANTS = [
    KernelMutant(name, KERNELS, old, new, USUAL, ranks=ranks) for name, old, new, ranks in WRONG
]
MUTANTS += [
    KernelMutant(name, "benchmarks/shmem/ssca1/systolic.cl", old, new, USUAL, device="fpga")
    for name, old, new in ARRAY
]
MUTANTS += [
    KernelMutant(
        f"strips-{name}",
        "benchmarks/shmem/ssca1/strips.cl",
        old,
        new,
        (*USUAL, "--form", "strips"),
        ranks=ranks,
    )
    for name, old, new, ranks in STRIPS
]
# What a rank takes for V is no score then: with the sign that numbers strips, or what memory held before.
MUTANTS += [
    KernelMutant(
        f"strips-{name}",
        "benchmarks/shmem/ssca1/strips.cl",
        old,
        new,
        (*USUAL, "--form", "strips"),
        ranks=2,
        error="a score does not fit",
    )
    for name, old, new in (
        ("number_sent_to_a_rank", "number = strips - 1 - strip;", "number = strips - strip;"),
        (
            "nothing_below_the_last_rows",
            "item == GROUP - 1 || row + ROWS >= rows_of_rank",
            "item == GROUP - 1",
        ),
    )
]
SOUND = [
    Sound((*USUAL, "--form", "strips")),
    Sound((*USUAL, "--form", "strips", "--bits", "16", "--transport", "peer"), ranks=3),
    Sound((*USUAL, "--form", "strips"), device="intel", soak=True),
    Sound((*USUAL, "--bits", "16"), ranks=3),
    Sound((*USUAL, "--transport", "peer"), ranks=2),
    Sound(USUAL, device="intel"),
    Sound((*USUAL, "--bits", "16", "--transport", "channel"), device="fpga", ranks=2),
    Sound(USUAL, device="cuda"),
]
