#!/usr/bin/env python3
"""What `plumb submit` adds to a job: seconds from the command to the indexed record, less those of the job in Slurm.

    bench/submit.py [--rounds 5] [BENCHMARK OPTIONS...]

A cluster within this machine (tests/python/cluster.py: two nodes, Slurm without accounting; needs root) runs short jobs. The
job's own time, in the queue and running, is from its submission to its completion in slurmctld's log, which has milliseconds.
Printed in seconds: command until submission, the job (queue, run), its completion until the command's end, and what the command
adds, median, least and largest: the first and the third together. The command ends once the record is in the index and printed;
that it is there is checked.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from cluster import Cluster, cluster  # noqa: E402

BIN = ROOT / "build" / "release" / "bin"
USUAL = ["b_eff", "--nodes", "2", "--runtime", "native", "--preset", "smoke"]
PARTS = ("before", "queue", "run", "after", "added")


def moments(log: str, job: str) -> list[datetime]:
    """Of the job's submission, its start and its completion, by slurmctld's log."""
    patterns = (
        rf"_slurm_rpc_submit_batch_job: JobId={job} ",
        rf"(Allocate|Started) JobId={job} ",
        rf"_job_complete: JobId={job} done",
    )
    found = []
    for pattern in patterns:
        line = re.search(rf"^\[(?P<at>[\dT:.-]+)\] .*{pattern}", log, re.M)
        if line is None:
            raise SystemExit(f"slurmctld's log has no line of {pattern}:\n{log[-2000:]}")
        found.append(datetime.fromisoformat(line["at"]))
    return found


def turn(hosts: Cluster, home: Path, words: list[str]) -> dict[str, float]:
    environ = {"PLUMBLINE_HOME": str(home), "PLUMBLINE_ENGINE": str(BIN), "UCX_TLS": "tcp,self"}
    command = [sys.executable, "-m", "plumbline"]
    begin = datetime.now()
    done = subprocess.run(
        hosts.inside("login", [*command, "submit", *words]),
        env={**os.environ, **hosts.environment, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    end = datetime.now()
    if done.returncode != 0:
        raise SystemExit(f"plumb submit ended with {done.returncode}: {done.stderr[-1500:]}")
    job = re.search(r"^job (\d+): ", done.stderr, re.M)
    record = re.search(r"^record: (.+)$", done.stderr, re.M)
    assert job is not None, done.stderr
    assert record is not None, done.stderr
    listed = hosts.run(*command, "records", environ=environ).stdout
    if Path(record[1]).stem not in listed:
        raise SystemExit(f"{record[1]} is not in the index:\n{listed}")
    log = (hosts.folder / "slurmctld.log").read_text()
    submitted, started, completed = moments(log, job[1])
    spans = ((begin, submitted), (submitted, started), (started, completed), (completed, end))
    seconds = [(to - at).total_seconds() for at, to in spans]
    return dict(zip(PARTS, [*seconds, seconds[0] + seconds[3]], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    wish, words = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name) / "cluster", Path(name) / "home"
        folder.mkdir()
        home.mkdir()
        with cluster(folder, 2, [ROOT, Path(sys.prefix), Path(name)]) as hosts:
            turns = [turn(hosts, home, words or USUAL) for _ in range(wish.rounds)]
    for part in PARTS:
        values = sorted(one[part] for one in turns)
        print(f"{part:6} {statistics.median(values):.2f} ({values[0]:.2f}..{values[-1]:.2f}) s")


if __name__ == "__main__":
    main()
