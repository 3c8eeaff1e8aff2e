"""GUPS: every mutant comes out `failed`; the right one passes, in every variant, with any number of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, assert_all_failed, run

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

SMALL = ["--size", "8"]
LARGE = ["--size", "14"]
WRONG = [
    ("wrong-rank", "get-put", SMALL),
    ("wrong-rank", "atomic", SMALL),
    ("no-quiet", "get-put", SMALL),
    ("not-atomic", "atomic", SMALL),
    ("bucket-lost", "bucketed", LARGE),
    ("bucket-twice", "bucketed", LARGE),
    ("overrun", "bucketed", LARGE),
    ("wrong-start", "get-put", SMALL),
    ("wrong-start", "bucketed", SMALL),
    ("last-update-lost", "atomic", SMALL),
    ("last-update-lost", "threaded", SMALL),
    ("last-update-lost", "get-put", SMALL),
    ("last-update-lost", "bucketed", SMALL),
    ("some-left-out", "get-put", LARGE),
]


@pytest.mark.parametrize(("name", "variant", "words"), WRONG)
def test_wrong_gups_fails(tmp_path: Path, name: str, variant: str, words: list[str]) -> None:
    chosen = [f"mutant-gups-{name}", "--variant", variant, *words]
    assert_all_failed(*run(tmp_path, 2, *chosen, "--repetitions", "2"))


# By HPCC's rule ranks start a power of two apart in the polynomial stream, where they meet at the same words; over
# windows, whose gets take microseconds, get-put then loses more of a small table than it may.
@pytest.mark.parametrize(
    ("ranks", "stream", "variant"),
    [
        (1, "polynomial", "all"),
        (2, "lcg", "all"),
        (2, "polynomial", "bucketed"),
        (3, "polynomial", "bucketed"),
        (3, "lcg", "atomic"),
        (4, "polynomial", "threaded"),
    ],
)
def test_gups_passes(tmp_path: Path, ranks: int, stream: str, variant: str) -> None:
    words = ["gups", *LARGE, "--variant", variant, "--threads", "2", "--stream", stream]
    status, record = run(tmp_path, ranks, *words, "--repetitions", "2")
    assert status == 0, [case["validation"] for case in record["cases"]]
    assert len(record["cases"]) == (4 if variant == "all" else 1)


def test_memory_that_puts_late_passes(tmp_path: Path) -> None:
    words = ["passes-gups-lazy", *LARGE, "--repetitions", "2"]
    status, record = run(tmp_path, 2, *words)
    assert status == 0, [case["validation"] for case in record["cases"]]
