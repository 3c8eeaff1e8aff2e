"""RandomAccess made wrong, in both forms of its kernels."""

from __future__ import annotations

from tests.mutants.kernel_mutants import KernelMutant, Sound

FOLDER = "benchmarks/hpcc/random_access/"
ITEMS = FOLDER + "nd_range.cl"
PIPELINE = FOLDER + "single_work_item.cl"

# So large that the last look-ahead of every share is less than 1 % of the updates.
LARGE = ("--size", "21", "--updates", "buffered")
SMALL = ("--size", "14")
PIPED = ("--variant", "single_work_item", "--size", "12")


def hls(name: str, old: str, new: str, *words: str) -> KernelMutant:
    """A mutant of the pipelines in HLS C++."""
    file = FOLDER + "single_work_item_hls.cpp"
    return KernelMutant(f"hls_{name}", file, old, new, ("--size", "12", *words), device="hls")


MUTANTS = [
    KernelMutant("nothing", ITEMS, "if (begin >= updates) return;", "return;", SMALL),
    KernelMutant(
        "half_of_the_updates",
        ITEMS,
        "updates - begin : share;",
        "updates - begin : share / 2;",
        SMALL,
    ),
    KernelMutant(
        "last_look_ahead_lost",
        ITEMS,
        "done < length; done += LOOK_AHEAD, now",
        "done + LOOK_AHEAD < length; done += LOOK_AHEAD, now",
        LARGE,
    ),
    KernelMutant(
        "last_of_each_look_ahead_lost",
        ITEMS,
        "for (int i = 0; i < LOOK_AHEAD; ++i) {\n      const ulong next",
        "for (int i = 0; i < LOOK_AHEAD - 1; ++i) {\n      const ulong next",
        SMALL,
    ),
    KernelMutant(
        "stream_one_step_behind",
        ITEMS,
        "lane[0] = NEXT(starts[get_global_id(0)]);",
        "lane[0] = starts[get_global_id(0)];",
        (*SMALL, "--updates", "atomic"),
    ),
    KernelMutant(
        "every_update_twice",
        ITEMS,
        "UPDATE(word[now][i]);",
        "{ UPDATE(word[now][i]); UPDATE(word[now][i]); }",
        SMALL,
    ),
    KernelMutant(
        "another_polynomial",
        ITEMS,
        "((top) ^ ((top) << 1) ^ ((top) << 2))",
        "((top) ^ ((top) << 1))",
        SMALL,
    ),
    KernelMutant(
        "leap_without_its_summand",
        ITEMS,
        "LEAP_FACTOR + LEAP_SUMMAND",
        "LEAP_FACTOR",
        (*SMALL, "--stream", "lcg"),
    ),
    KernelMutant(
        "lower_half_of_a_word_only",
        ITEMS,
        ", ATOMIC_XOR32(HALF(x) + 1, (uint)((x) >> 32))",
        "",
        (*SMALL, "--updates", "atomic32"),
    ),
    KernelMutant(
        "another_ranks_updates_too",
        ITEMS,
        "#define IS_HERE(x) (AT(x) < words)",
        "#define IS_HERE(x) (AT(x) < words || (AT(x) & 1))\n#undef AT\n#define AT(x) (PLACE(x) % words)",
        (*SMALL, "--table", "shared"),
        ranks=2,
    ),
    KernelMutant("pipeline_nothing", PIPELINE, "idle < PLACES;", "idle < 0;", PIPED),
    KernelMutant("pipeline_never_waits", PIPELINE, "(puts || !here)", "true", PIPED),
    KernelMutant(
        "pipeline_overwrites_who_is_there", PIPELINE, "here && !taken[at];", "here;", PIPED
    ),
    KernelMutant(
        "pipeline_leaves_what_is_under_way", PIPELINE, "idle < PLACES;", "idle < 2;", PIPED
    ),
    KernelMutant(
        "pipeline_skips_the_last_word",
        PIPELINE,
        "- first < words;",
        "- first < words - 1;",
        ("--variant", "single_work_item", "--size", "16", "--updates", "buffered"),
        device="fpga",
    ),
    KernelMutant(
        "pipeline_writes_what_it_never_read",
        PIPELINE,
        "if (valid[i]) table[PLACE(word[i]) - first] = old[i] ^ word[i];",
        "table[valid[i] ? PLACE(word[i]) - first : 0] = valid[i] ? old[i] ^ word[i] : old[i];",
        PIPED,
    ),
    hls("nothing", "idle < PLACES;", "idle < 0;"),
    hls("never_waits", "(puts || !here)", "true"),
    hls("overwrites_who_is_there", "here && !taken[at];", "here;"),
    hls("leaves_what_is_under_way", "idle < PLACES;", "idle < 2;"),
    hls("stream_one_step_behind", "next[g] = next_word(starts[g]);", "next[g] = starts[g];"),
    hls("writes_the_word_alone", "old[i] ^ word[i]", "word[i]"),
    hls(
        "offset_of_the_replication_lost",
        "update_part(table, starts, share, updates, first, words, log2_table);",
        "update_part(table, starts, share, updates, 0 * first, words, log2_table);",
        "--replications",
        "4",
    ),
]

SOUND = [
    Sound(("--size", "4")),
    Sound(("--size", "14", "--stream", "lcg")),
    Sound(("--size", "14", "--updates", "atomic32", "--replications", "3")),
    Sound(("--size", "21")),
    Sound(("--size", "18", "--stream", "lcg"), device="intel"),
    Sound(
        ("--variant", "single_work_item", "--size", "12", "--stream", "lcg", "-g", "2"),
        device="intel",
    ),
    Sound(("--size", "16"), device="fpga", soak=True),
    Sound(
        (
            "--size",
            "12",
            "--replications",
            "4",
            "-g",
            "3",
            "--rng-distance",
            "1",
            "--table",
            "shared",
        ),
        device="fpga",
        ranks=2,
    ),
    Sound(("--size", "14", "--variant", "nd_range", "--updates", "atomic32"), device="fpga"),
    Sound(("--size", "14"), device="hls"),
    Sound(("--size", "12", "--stream", "lcg", "-r", "4", "-g", "3"), device="hls"),
    Sound(("--size", "12", "--table", "shared", "--ivdep"), device="hls", ranks=2),
    Sound(("--size", "18", "--stream", "lcg"), device="native"),
    Sound(("--size", "14"), device="native", ranks=4),
    Sound(("--size", "14", "--table", "shared", "--replications", "2"), device="native", ranks=3),
]
