#!/usr/bin/env python3
"""Our transports between GPUs of one host beside programs written by hand: b_eff through `peer` and `nccl`, in turn with
bench/peers/exchange.cu (its own kernels, and NCCL called directly).

    bench/links.py PROGRAM [--rounds 3] [--ranks 2] [--largest 26] [--json FILE] [--build build/release]

PROGRAM is exchange.cu, built (its head says how). Prints the median time of an exchange by message size, the ratio of ours
to its peer (rates; above 1 is faster), and b_eff: the mean over 2^0..2^20 B of the best 2 L / t. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Times = dict[int, list[float]]  # seconds of an exchange, by message size
OURS = {
    "peer": ["--transport", "peer", "--approach", "device-streaming"],
    "nccl": ["--transport", "nccl"],
}
PEERS = {"peer": "bare", "nccl": "nccl"}


def launch(ranks: int, words: list[str]) -> str:
    command = ["mpirun", "-np", str(ranks), "--bind-to", "core", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def by_hand(program: Path, wish: argparse.Namespace) -> dict[str, Times]:
    found: dict[str, Times] = {}
    for line in launch(wish.ranks, [str(program), str(wish.largest)]).splitlines():
        if line.startswith("{"):
            one = json.loads(line)
            found.setdefault(one["peer"], {})[int(one["case"])] = one["samples_s"]
    return found


def ours(name: str, wish: argparse.Namespace) -> Times:
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        words = [
            str(wish.build / "bin" / "plumb-mpi"),
            "b_eff",
            "--runtime",
            "cuda",
            "--device",
            "gpu",
            "--share-devices",  # if there are fewer GPUs than ranks
            *OURS[name],
        ]
        words += [
            "--max-size",
            str(wish.largest),
            "--repetitions",
            "10",
            "--progress",
            "none",
            "--format",
            "none",
        ]
        launch(wish.ranks, [*words, "--record", str(record)])
        cases = json.loads(record.read_text())["cases"]
    times = {}
    for case in cases:
        slowest = [max(one) for one in zip(*case["samples"]["by_rank"], strict=True)]
        times[case["labels"]["message_bytes"]] = [one / case["count"] for one in slowest]
    return times


def b_eff(times: Times) -> float:
    """GB/s sent by a rank to both neighbours."""
    return statistics.mean(
        2 * size / min(samples) / 1e9 for size, samples in times.items() if size <= 2**20
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=lambda text: Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--largest", type=int, default=26, help="log2 B")
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--build", type=lambda text: Path(text).resolve(), default=ROOT / "build" / "release"
    )
    wish = parser.parse_args()
    rounds: list[dict[str, Times]] = []
    for _ in range(wish.rounds):
        hand = by_hand(wish.program, wish)
        rounds.append({f"hand {name}": times for name, times in hand.items()})
        rounds[-1] |= {f"ours {name}": ours(name, wish) for name in OURS if PEERS[name] in hand}
    if wish.json:
        wish.json.write_text(json.dumps(rounds))
    for name, peer in PEERS.items():
        if f"ours {name}" not in rounds[0]:
            continue
        print(
            f"{name:<10} {'ours, us':>10} {'by hand, us':>12} {'ratio':>7}  lowest..highest, rounds"
        )
        for size in rounds[0][f"ours {name}"]:
            mine = [statistics.median(one[f"ours {name}"][size]) for one in rounds]
            his = [statistics.median(one[f"hand {peer}"][size]) for one in rounds]
            ratios = [b / a for a, b in zip(mine, his, strict=True)]
            print(
                f"{size:<10} {statistics.median(mine) * 1e6:>10.3f} {statistics.median(his) * 1e6:>12.3f} "
                f"{statistics.median(ratios):>7.3f}  {min(ratios):.3f}..{max(ratios):.3f}"
            )
        mine = [b_eff(one[f"ours {name}"]) for one in rounds]
        his = [b_eff(one[f"hand {peer}"]) for one in rounds]
        ratios = [a / b for a, b in zip(mine, his, strict=True)]
        print(
            f"{'b_eff':<10} {statistics.median(mine):>10.3f} {statistics.median(his):>12.3f} {statistics.median(ratios):>7.3f}  "
            f"{min(ratios):.3f}..{max(ratios):.3f}  GB/s of a rank\n"
        )


if __name__ == "__main__":
    main()
