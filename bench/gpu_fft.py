"""FFTs of every size on one NVIDIA GPU: our kernel beside cuFFT (`--variant library`), in turn, on the same data.

    bench/gpu_fft.py [--sizes 3-20] [--types float,double] [--data 1024] [--rounds 3] [--options "--chunk 16"]

All results are validated. Printed: median rates of all rounds in GFLOP/s, and the median, least and largest of the rounds' ratios.
Standard library only.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def rates(path: Path, words: list[str]) -> dict[str, float]:
    """FLOP/s of the median repetition, by case."""
    engine = ROOT / "build/release/bin/plumb-serial"
    command = [str(engine), "fft", "--runtime", "cuda", *words, "--record", str(path)]
    subprocess.run([*command, "--progress", "none", "--format", "none"], check=True)
    cases = json.loads(path.read_text())["cases"]
    return {
        case["key"]: case["work"]["flops"] * case["count"] / case["summary"]["median_s"]
        for case in cases
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", default="3-20", help="log2 of points: a list of numbers and ranges"
    )
    parser.add_argument("--types", default="float,double")
    parser.add_argument("--data", default="1024", help="MiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", default="", help="for our kernel")
    wish = parser.parse_args()
    print(f"{'what':<16} {'ours':>8} {'cuFFT':>8}  ratio (lowest..highest)")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "record.json"
        for kind in wish.types.split(","):
            words = [
                "--type",
                kind,
                "--size",
                wish.sizes,
                "--data",
                wish.data,
                "--repetitions",
                "10",
            ]
            rounds = []
            for _ in range(wish.rounds):
                ours = rates(path, [*words, *wish.options.split()])
                rounds.append((ours, rates(path, [*words, "--variant", "library"])))
            for key in rounds[0][0]:
                ratios = [ours[key] / peer[key] for ours, peer in rounds]
                both = [
                    statistics.median(one[side][key] for one in rounds) / 1e9 for side in (0, 1)
                ]
                middle = statistics.median(ratios)
                print(
                    f"{kind + ' ' + key:<16} {both[0]:>8.0f} {both[1]:>8.0f}  {middle:.3f} ({min(ratios):.3f}..{max(ratios):.3f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
