"""What waits for half of the time that it takes must come out ``slow``: in the transport, in the queue, in a kernel.

Times decide, so this is no test of `make test`. The parts that judge the cases must not wait: a part that ran the code
of what it judges would wait as long, and nothing would be seen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S
from tests.mutants.test_mutants import MUTANTS

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not MUTANTS.exists(), reason="the mutants are not built (make build)"),
]


def ratios(folder: Path, waits: str, *words: str) -> dict[str, dict[str, object]]:
    """The judged cases of ``plumb run WORDS`` where ``waits`` (place:percent) waits."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "plumb-mpi").unlink(missing_ok=True)
    (programs / "plumb-mpi").symlink_to(MUTANTS)
    environ = {
        **os.environ,
        "PLUMBLINE_ENGINE": str(programs),
        "PLUMBLINE_HOME": str(folder / "home"),
        "PLUMBLINE_MUTANT_WAITS": waits,
    }
    done = subprocess.run(
        [sys.executable, "-m", "plumbline", "run", *words],
        env=environ, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    records = re.findall(r"^record: (.*)\.json$", done.stderr, re.M)
    assert records, done.stderr
    judged = json.loads(Path(f"{records[-1]}.expected.json").read_text())  # by all launches
    cases: dict[str, dict[str, object]] = judged["cases"]
    return cases


@pytest.mark.parametrize("where", ["transport", "queue"])
def test_a_transport_that_waits_is_slow(tmp_path: Path, where: str) -> None:
    run = ("b_eff", "-n", "2", "--transport", "staged", "--min-size", "12", "--time-limit", "0.2")
    cases = ratios(tmp_path, f"{where}:50", *run)
    slow = [case for case in cases.values() if case["verdict"] == "slow"]
    assert len(slow) >= 0.8 * len(cases), cases


def test_a_kernel_that_waits_is_slow_once_its_usual_share_is_known(tmp_path: Path) -> None:
    run = ("gemm", "-n", "1", "--runtime", "native", "--size", "512", "--time-limit", "0.2")
    for _ in range(5):
        ratios(tmp_path, "kernel:0", *run)
    (case,) = ratios(tmp_path, "kernel:50", *run).values()
    assert case["verdict"] == "slow", case
