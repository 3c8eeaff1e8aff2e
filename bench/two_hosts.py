#!/usr/bin/env python3
"""b_eff between two hosts (namespaces of this one, joined by a shaped cable) beside bare loops, in turn: MPI_Sendrecv one
after the other, and both messages of a round under way at once, as b_eff has them.

    bench/two_hosts.py [--mbit 1000] [--size 24] [--rounds 5] [--whole]

Needs root, Open MPI, and the programs plumb-mpi and peer_mpi_sendrecv of build/release. Printed: seconds of a round (each
rank sends a message to both neighbours) by all, and the ratios of rates, ours over a loop's: median, least, largest.

Open MPI writes a long message to its one connection as a whole; the reply to the other side's message, without which that one
does not start, waits behind it. So the directions take turns, unless both sides have replied before either sends: a matter of
microseconds at the start. Here all programs have messages in pieces of 128 KiB, between which replies pass; --whole leaves
Open MPI's own setting.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
import two_hosts  # noqa: E402

BIN = ROOT / "build/release/bin"
ENOUGH_S = 300
IN_PIECES = {"OMPI_MCA_btl_tcp_rdma_pipeline_frag_size": str(128 * 1024)}


def output_of(hosts: two_hosts.Hosts, words: list[str], settings: dict[str, str]) -> str:
    done = hosts.run(1, words, settings, ENOUGH_S)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def ours(
    hosts: two_hosts.Hosts, size: int, repetitions: int, record: Path, settings: dict[str, str]
) -> float:
    words = [str(BIN / "plumb-mpi"), "b_eff", "--runtime", "native", "--transport", "mpi"]
    words += ["--ring", "natural", "--min-size", str(size), "--max-size", str(size)]
    words += ["--repetitions", str(repetitions), "--progress", "none", "--format", "none"]
    output_of(hosts, [*words, "--record", str(record)], settings)
    (case,) = json.loads(record.read_text())["cases"]
    slowest = map(max, zip(*case["samples"]["by_rank"], strict=True))
    return statistics.median(slowest) / case["count"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mbit", type=int, default=1000)
    parser.add_argument("--size", type=int, default=24, help="log2 B")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--whole", action="store_true", help="messages as Open MPI sends them")
    wish = parser.parse_args()
    settings = {} if wish.whole else IN_PIECES
    seconds: list[list[float]] = []  # of a round: ours, one by one, at once
    with tempfile.TemporaryDirectory() as name, two_hosts.two_hosts(Path(name)) as hosts:
        for host in range(2):
            limit = (
                f"tc qdisc add dev cable{host} root tbf rate {wish.mbit}mbit burst 1mb latency 50ms"
            )
            subprocess.run(hosts.inside(host, limit.split()), check=True)
        bare = [str(BIN / "peer_mpi_sendrecv"), str(2**wish.size), str(wish.repetitions)]
        for _ in range(wish.rounds):
            loops = [float(word) for word in output_of(hosts, bare, settings).split()]
            by_us = ours(hosts, wish.size, wish.repetitions, Path(name) / "r.json", settings)
            seconds.append([by_us, *loops])
    print(f"ours {statistics.median(one[0] for one in seconds):.4f} s")
    for number, loop in enumerate(("one after the other", "both at once"), 1):
        ratios = sorted(one[number] / one[0] for one in seconds)
        print(f"{loop} {statistics.median(one[number] for one in seconds):.4f} s", end=", ")
        print(f"ratio {statistics.median(ratios):.3f} ({ratios[0]:.3f}..{ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
