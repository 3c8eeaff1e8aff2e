"""SSCA1 through the engine: one result for every variant and number of ranks, all ends beside parasail's, bad input."""

from __future__ import annotations

import json
import math
import os
import string
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.engine.program import shmem_engine
from tests.launching import PATIENCE_S, launch_command, program

parasail = pytest.importorskip("parasail")
ENGINE, SHMEM = program("plumb-mpi"), shmem_engine(os.environ)
pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")

MASK = (1 << 64) - 1
AMINO_ACIDS = "KKNNRRSSTTTTIMIIEEDDGGGGAAAAVVVVQQHHRRRRPPPPLLLL**YY*WCCSSSSLLFF"
PLANTED = [
    ("ACDEFG*IDENTICAL*HIKLMN", "MNLKIH*IDENTICAL*GFEDCA", 0),
    ("*MISQRMATCHES*", "*MISRQMATCHES*", 6),
    ("*STARTGAPMIDSTEND*", "*STARTMIDSTGAPEND*", 6),
]


def run(
    tmp_path: Path, ranks: int, *words: str, engine: Path = ENGINE
) -> tuple[int, dict[str, Any], str]:
    """One run; gives its exit status, its record (empty where there is none) and what it said."""
    path = tmp_path / "record.json"
    quiet = ["--record", str(path), "--progress", "none", "--format", "none"]
    command, environment = launch_command(ranks, engine, "ssca1", *words, *quiet)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    record = json.loads(path.read_text()) if path.exists() else {}
    return done.returncode, record, done.stdout + done.stderr


def mix(word: int) -> int:
    """SplitMix64's finaliser."""
    word = (word + 0x9E3779B97F4A7C15) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def key(seed: int, rank: int, lane: int) -> int:
    """The key of data of that origin, of no size and in no repetition."""
    word = mix(seed)
    for part in (rank, lane, 0, 0):
        word = mix(word ^ part)
    return word


def strings(seed: int, length: int) -> tuple[list[int], list[int]]:
    """Both strings, by the README's rules."""
    both = []
    firsts = []
    for which in range(2):
        base = key(seed, 0, which)
        codons = [mix((base + i) & MASK) >> 58 for i in range(length)]
        places = key(seed, 1, which)
        gaps = sorted(mix((places + i) & MASK) % (length - 78) for i in range(3))
        first, before = {}, 0
        for gap, plant in zip(gaps, (0, 1, 2) if which == 0 else (2, 1, 0), strict=True):
            outside = PLANTED[plant][2]
            first[plant] = gap + before + outside
            before += len(PLANTED[plant][which]) + 2 * outside
        for plant, at in first.items():
            text = PLANTED[plant][which]
            codons[at : at + len(text)] = [AMINO_ACIDS.rindex(letter) for letter in text]
        both.append(codons)
        firsts.append(first)
    main, match = both
    guards = key(seed, 0, 2)
    for plant in (1, 2):
        size = len(PLANTED[plant][0])
        for shift in (-6, size):
            begin = firsts[0][plant] + shift
            unlike = {AMINO_ACIDS[codon] for codon in main[begin : begin + 6]}
            for at in range(firsts[1][plant] + shift, firsts[1][plant] + shift + 6):
                trial = 0
                while AMINO_ACIDS[match[at]] in unlike:
                    match[at] = mix((mix(guards ^ at) + trial) & MASK) >> 58
                    trial += 1
    return main, match


def ends_of_parasail(
    main: list[int], match: list[int], minimum: int
) -> tuple[set[tuple[int, int, int]], int]:
    """All ends (score, main, match) from parasail's table of scores, and the best score."""
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    matrix = parasail.matrix_create(letters, 5, -3, case_sensitive=True)
    for a in range(64):
        for b in range(64):
            if a != b and AMINO_ACIDS[a] == AMINO_ACIDS[b]:
                matrix[a, b] = 4
    weights = numpy.array(matrix.matrix)[:64, :64]
    text = ["".join(letters[codon] for codon in one) for one in (main, match)]
    result = parasail.sw_table_striped_32(*text, 7, 2, matrix)  # a gap of k costs 7 + 2 (k - 1)
    table = numpy.pad(result.score_table, ((1, 0), (1, 0)))
    weight = weights[numpy.ix_(main, match)]
    following = numpy.pad(weight[1:, 1:], ((0, 1), (0, 1)), constant_values=-1)
    score = table[1:, 1:]
    is_end = (score > minimum) & (score == table[:-1, :-1] + weight) & (weight > 0)
    found = numpy.argwhere(is_end & (following <= 0))
    return {(int(score[m, n]), int(m), int(n)) for m, n in found}, result.score


def digest(ends: set[tuple[int, int, int]]) -> str:
    """The record's hash of ends."""
    return f"{sum(mix(mix(mix(s) ^ m) ^ n) for s, m, n in ends) & MASK:016x}"


@pytest.mark.parametrize(("scale", "seed", "minimum"), [(1, 1, 3), (13, 2, 20), (16, 3, 12)])
def test_all_ends_are_those_of_parasail(
    tmp_path: Path, scale: int, seed: int, minimum: int
) -> None:
    words = ["--scale", str(scale), "--seed", str(seed), "--minimum-score", str(minimum)]
    status, record, said = run(tmp_path, 2, *words, "--tile", "64", "--repetitions", "2")
    assert status == 0, said
    facts = record["cases"][0]["facts"]
    length = math.ceil(2 ** (scale / 2)) + 79
    ends, best = ends_of_parasail(*strings(seed, length), minimum)
    assert facts["length"] == length
    assert facts["ends"] == len(ends)
    assert facts["ends_hash"] == digest(ends)
    assert [one["score"] for one in facts["best"][:3]] == [55, 54, 53]
    assert best == 55
    for one in facts["best"]:
        assert (one["score"], one["main"][1], one["match"][1]) in ends


def test_one_result_for_every_variant_and_number_of_ranks(tmp_path: Path) -> None:
    words = ["--scale", "10", "--variant", "all", "--threads", "2", "--repetitions", "2"]
    words += ["--minimum-score", "9"]
    results = set()
    for ranks, engine, bits in [
        *((1, ENGINE, "32"), (3, ENGINE, "16"), (8, ENGINE, "32"), (2, SHMEM, "16"))
    ]:
        if engine is None:
            continue
        at = engine if isinstance(engine, Path) else engine.path
        status, record, said = run(tmp_path, ranks, *words, "--bits", bits, engine=at)
        assert status == 0, said
        assert [case["labels"]["variant"] for case in record["cases"]] == [
            *("put-get", "threaded", "blocked")
        ]
        results |= {case["facts"]["results_hash"] for case in record["cases"]}
        for case in record["cases"]:
            assert case["tallies"]["cells"] == case["repetitions"] * (32 + 79) ** 2
    if runtimes.is_installed("pocl", find_home()):
        for form in ("tiles", "strips"):
            device = [*words, "--variant", "device", "--tile", "64", "--form", form]
            status, record, said = run(tmp_path, 3, *device)
            assert status == 0, said
            results |= {case["facts"]["results_hash"] for case in record["cases"]}
    assert len(results) == 1


def test_blocked_proves_without_memory_of_other_ranks(tmp_path: Path) -> None:
    words = ["--scale", "10", "--repetitions", "2", "--proof", "blocked"]
    variants = ["blocked", *(["device"] if runtimes.is_installed("pocl", find_home()) else [])]
    for variant in variants:
        status, record, said = run(
            tmp_path, 1, *words, "--variant", variant, engine=program("plumb-serial")
        )
        assert status == 0, said
        assert record["world"]["kind"] == "serial"
        assert record["cases"][0]["outcome"]["status"] == "passed", record["cases"][0]["outcome"]


def test_a_better_alignment_than_the_planted_ones_is_accepted_when_proven(tmp_path: Path) -> None:
    words = ["--scale", "8", "--seed", "1035", "--repetitions", "2"]  # found among 20,000 seeds
    status, record, said = run(tmp_path, 1, *words)
    assert status == 0, said
    assert record["cases"][0]["facts"]["best"][0]["score"] == 58


def test_an_overflow_is_an_error(tmp_path: Path) -> None:
    words = ["--scale", "8", "--exact", "10000", "--minimum-score", "10000"]
    for variant in ("blocked", "device"):
        if variant == "device" and not runtimes.is_installed("pocl", find_home()):
            continue
        of_variant = [*words, "--variant", variant]
        status, _, said = run(tmp_path, 2, *of_variant, "--bits", "16")
        assert status == 3
        assert "a score does not fit 16 bits; use --bits 32" in said
        assert run(tmp_path, 1, *of_variant)[0] == 0


@pytest.mark.parametrize("bits", ["16", "32"])
def test_other_scores(tmp_path: Path, bits: str) -> None:
    words = ["--exact", "50", "--similar", "3", "--dissimilar", "-7", "--gap-start", "1"]
    words += ["--gap-extend", "4", "--scale", "10", "--minimum-score", "60", "--bits", bits]
    status, record, said = run(tmp_path, 2, *words, "--repetitions", "2")
    assert status == 0, said
    assert record["cases"][0]["facts"]["ends"] > 50


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scale", "0"], "--scale"),
        (["--scale", "62"], "memory"),
        (["--variant", "threaded", "--threads", "0"], "--threads"),
        (["--tile", "0"], "--tile"),
        (["--tile", "12"], "--tile must be a multiple of 8, not 12"),
        (["--dissimilar", "0"], "--dissimilar"),
        (["--similar", "6"], "--similar 6 must not be above --exact 5"),
        (["--reports", "0"], "--reports"),
        (["--variant", "device", "--runtime", "native"], "a device that compiles kernels"),
        (["--form", "strips", "--exact", "128"], "from -128 to 127: use --form tiles"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    status, _, said = run(tmp_path, 1, *words)
    assert status == 2, said
    assert sentence in said
