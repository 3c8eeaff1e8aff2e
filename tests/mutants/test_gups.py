"""GUPS: what is wrong comes out `failed`; the right one passes, in every variant, with any number of ranks."""

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
    *(
        (name, variant, SMALL)
        for name in ("wrong-start", "last-update-lost")
        for variant in ("get-put", "atomic", "bucketed", "threaded")
    ),
]


@pytest.mark.parametrize(("name", "variant", "words"), WRONG)
def test_wrong_gups_fails(tmp_path: Path, name: str, variant: str, words: list[str]) -> None:
    chosen = [f"mutant-gups-{name}", "--variant", variant, *words]
    assert_all_failed(*run(tmp_path, 2, *chosen, "--repetitions", "2"))


@pytest.mark.parametrize("stream", ["polynomial", "lcg"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_gups_passes(tmp_path: Path, ranks: int, stream: str) -> None:
    # Where more ranks than cores race for few words, get-put may lose more than it is allowed.
    words = ["gups", *LARGE, "--threads", "2", "--stream", stream, "--repetitions", "2"]
    status, record = run(tmp_path, ranks, *words)
    assert status == 0, [case["validation"] for case in record["cases"]]
    assert len(record["cases"]) == 4


def test_memory_that_puts_late_passes(tmp_path: Path) -> None:
    words = ["passes-gups-lazy", *LARGE, "--repetitions", "2"]
    status, record = run(tmp_path, 2, *words)
    assert status == 0, [case["validation"] for case in record["cases"]]
