"""links, by which transports are judged, must itself fail where messages or copies are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, run

pytestmark = pytest.mark.skipif(
    not MUTANTS.exists(), reason="the mutants are not built (make build)"
)

WRONG = (
    *("nothing", "first-only", "last-only", "every-second", "all-but-one", "count-mod-6"),
    "last-byte",
)


def outcomes(tmp_path: Path, name: str, part: str) -> set[str]:
    words = ("--part", part, "--sizes", "1,4096,1048576", "--repetitions", "2")
    _, record = run(tmp_path, 2, name, *words)
    assert len(record["cases"]) == 3
    return {case["outcome"]["status"] for case in record["cases"]}


@pytest.mark.parametrize("part", ["relay", "exchange", "copy"])
def test_wrong_links_fail(tmp_path: Path, part: str) -> None:
    for way in WRONG:
        assert outcomes(tmp_path, f"mutant-links-{way}", part) == {"failed"}, way
    assert outcomes(tmp_path, "links", part) == {"passed"}
