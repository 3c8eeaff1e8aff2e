#!/usr/bin/env python3
"""Runtime `sycl` beside runtime `opencl` on the same CPU device (Intel's, 2026.2.0), and beside bare SYCL calls, in turn.

    bench/sycl.py [PART...] [--rounds 5] [--best] [--max-size 24] [--build build/release] [--before BUILD] [--json FILE]

Parts, all by default:
  kernels   STREAM, RandomAccess, FFT and GEMM: rates of kernels in OpenCL C (a) and in SYCL (b) over OpenCL's
  staged    b_eff over transport staged on two ranks, 8 B to 16 MiB: the time of OpenCL's memory objects over that of
            SYCL's and of both kinds of addresses, and of addresses by OpenCL over SYCL's; up to 64 KiB also what SYCL's addresses
            add to OpenCL's objects, beside what they add to the four copies of 8 B that an exchange of two messages has
  copies    two reads of device memory and a wait, best sample (peers/sycl/copies.cpp): the time of OpenCL's memory
            objects over that of objects' starts and addresses by OpenCL, of queue::memcpy and of kernels by SYCL
  calls     a launch and copies of 8 B, best of 400 samples: the time of bare SYCL (peers/sycl/calls.cpp), whose copies
            go over as much memory, over ours, and over OpenCL's by the engine; also of bare copies of the same 8 bytes
  start     seconds that kernels in SYCL take to build, in two starts with one cache
  devices   `plumb-serial --devices` without SYCL: the time of an earlier build (--before) over this one's
  transport a message there and back: transport staged over MPI calls on SYCL's memory (build target mpi_device)
  naive     osu_latency, osu_bw and osu_bibw -d sycl D D, 1 B to 16 MiB: naive staging (PLUMB_MPI_STAGING) over pieces

Printed: the median time of the way named (of the rounds' medians, with --best of their best), the median ratio of all rounds, above 1 where it is faster than the first way, the
lowest and the highest. Ways take turns, in each round in the opposite order. Needs `plumb setup intel-cpu` and `plumb setup
intel-sycl`. Standard library and Plumbline's own packages.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from plumbline.base.paths import find_home  # noqa: E402
from plumbline.engine import runtimes  # noqa: E402

KERNELS = {  # default sizes
    "stream": "--operation triad --time-limit 0.5",
    "random_access": "--time-limit 0.5",
    "fft": "--time-limit 0.5",
    "gemm": "--time-limit 1",
}
WAYS = {
    "opencl": ("intel-cpu", "--runtime opencl"),
    "sycl (a)": ("intel-sycl", "--runtime sycl"),
    "sycl (b)": ("intel-sycl", "--runtime sycl --kernel-language sycl"),
}
# Addresses by OpenCL: what the driver's own copies of addresses take; those by SYCL are kernels' from 512 B on.
MEMORIES = {
    "objects, OpenCL": WAYS["opencl"],
    "objects, SYCL": ("intel-sycl", "--runtime sycl --sycl-memory buffer"),
    "addresses, OpenCL": ("intel-cpu", "--runtime opencl --memory svm"),
    "addresses, SYCL": WAYS["sycl (a)"],
}
OSU = ("osu_latency", "osu_bw", "osu_bibw")
COPIES = ("link/read/8", "link/write/8")
FOUR_COPIES = "four copies of 8 B"
SAMPLES = ("--repetitions", "400", "--time-limit", "5")


class Bench:
    """Where programs are, and how they are started."""

    def __init__(self, wish: argparse.Namespace, folder: Path) -> None:
        self.rounds = wish.rounds
        self.best = wish.best
        self.max_size: int = wish.max_size
        self.programs = wish.build / "bin"
        self.before: Path | None = wish.before
        self.folder = folder
        self.found: dict[str, dict[str, list[float]]] = {}

    def environment(self, name: str, **more: str) -> dict[str, str]:
        return os.environ | runtimes.environment(name, find_home(), 1) | more

    def output(self, words: list[str], environment: dict[str, str]) -> str:
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode != 0:
            raise SystemExit(
                f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-800:]}"
            )
        return done.stdout

    def cases(
        self,
        words: list[str],
        environment: dict[str, str],
        ranks: int = 1,
        preload: Path | None = None,
        best: bool = False,
    ) -> dict[str, float]:
        """Seconds of one operation by case: the median repetition, or the best."""
        record = self.folder / "record.json"
        program = [str(self.programs / "plumb-serial")]
        if ranks > 1:
            program = ["mpirun", "-np", str(ranks), "--bind-to", "core"]
            program += ["env", f"LD_PRELOAD={preload}"] if preload else []
            program.append(str(self.programs / "plumb-mpi"))
        quiet = ["--progress", "none", "--format", "none", "--record", str(record)]
        self.output([*program, *words, *quiet], environment)
        return {
            case["key"]: case["summary"]["min_s" if best or self.best else "median_s"]
            / case["count"]
            for case in json.loads(record.read_text())["cases"]
            if case["summary"]
        }

    def compare(
        self, part: str, ways: dict[str, Callable[[], dict[str, float]]]
    ) -> list[dict[str, dict[str, float]]]:
        """Each way in turn, `rounds` times; the first over each other one. Returns all seconds."""
        seconds: list[dict[str, dict[str, float]]] = []
        for turn in range(self.rounds):
            order = list(ways) if turn % 2 == 0 else list(reversed(ways))
            seconds.append({name: ways[name]() for name in order})
        base, *others = ways
        for other in others:
            for key in seconds[0][base]:
                if all(key in one[other] for one in seconds):
                    ratios = [one[base][key] / one[other][key] for one in seconds]
                    self.say(part, f"{key}, {other}", ratios, [one[other][key] for one in seconds])
        return seconds

    def say(self, part: str, name: str, ratios: list[float], seconds: list[float]) -> None:
        self.found.setdefault(part, {})[name] = ratios
        print(
            f"{part:<10} {name:<44} {statistics.median(seconds) * 1e6:>12.3f} us "
            f"{statistics.median(ratios):>7.3f}  {min(ratios):.3f}..{max(ratios):.3f}",
            flush=True,
        )


def kernels(bench: Bench) -> None:
    for name, options in KERNELS.items():

        def measure(way: str, words: str = f"{name} {options}") -> dict[str, float]:
            runtime, named = WAYS[way]
            return {
                f"{words.split()[0]} {key}": seconds
                for key, seconds in bench.cases(
                    [*words.split(), *named.split()], bench.environment(runtime)
                ).items()
            }

        bench.compare("kernels", {way: partial(measure, way) for way in WAYS})


def staged(bench: Bench) -> None:
    words = ["b_eff", "--transport", "staged", "--time-limit", "0.3"]
    words += ["--min-size", "3", "--max-size", str(bench.max_size)]
    copies = ["ceilings", "--only", ",".join(COPIES), "--time-limit", "0.3"]

    def measure(way: str) -> dict[str, float]:
        runtime, named = MEMORIES[way]
        found = bench.cases([*words, *named.split()], bench.environment(runtime), 2)
        one_each = bench.cases([*copies, *named.split()], bench.environment(runtime), 2)
        return found | {FOUR_COPIES: 2 * sum(one_each.values())}

    rounds = bench.compare("staged", {way: partial(measure, way) for way in MEMORIES})
    opencl, alike, sycl = "objects, OpenCL", "addresses, OpenCL", "addresses, SYCL"
    for key in rounds[0][sycl]:
        ratios = [one[alike][key] / one[sycl][key] for one in rounds]
        bench.say("alike", f"{key}, {sycl}", ratios, [one[sycl][key] for one in rounds])
    print(
        "staged     what SYCL adds, us: case, its median, that of four copies of 8 B in the same rounds"
    )
    added = {
        key: statistics.median(one[sycl][key] - one[opencl][key] for one in rounds) * 1e6
        for key in rounds[0][sycl]
    }
    for key, extra in added.items():
        if key == FOUR_COPIES or int(key.rpartition("/")[2]) <= 65536:
            print(f"staged     {key:<44} {extra:>9.3f} {added[FOUR_COPIES]:>9.3f}")


def compiled(bench: Bench, name: str) -> str:
    """A peer of bare SYCL calls, compiled as the plug-in is."""
    folder = find_home().runtimes / "intel-sycl"
    program = bench.folder / f"sycl_{name}"
    command = ["g++", "-std=c++17", "-O2", "-w", str(ROOT / f"bench/peers/sycl/{name}.cpp")]
    command += ["-o", str(program), f"-I{folder / 'venv' / 'include'}", f"-L{folder / 'lib'}"]
    command += ["-lsycl", "-lOpenCL", "-Wl,--allow-shlib-undefined"]
    bench.output(command, dict(os.environ))
    return str(program)


def copies(bench: Bench) -> None:
    program = compiled(bench, "copies")
    environment = bench.environment("intel-sycl")
    rounds = [json.loads(bench.output([program], environment)) for _ in range(bench.rounds)]
    for way in ("from-start", "addresses", "memcpy", "kernels", "kernel"):
        for size in rounds[0]:
            ratios = [one[size]["objects"] / one[size][way] for one in rounds]
            bench.say(
                "copies", f"{size} B, {way}", ratios, [one[size][way] * 1e-6 for one in rounds]
            )


def calls(bench: Bench) -> None:
    program = compiled(bench, "calls")
    environment = bench.environment("intel-sycl")
    names = {"launch/wait": "launch", "link/read/8": "read", "link/write/8": "write"}

    def ours(way: str) -> dict[str, float]:
        runtime, named = WAYS[way]
        words = ["ceilings", "--only", ",".join(names), *named.split()]
        return bench.cases([*words, *SAMPLES], bench.environment(runtime), best=True)

    still: list[float] = []

    def bare() -> dict[str, float]:
        said = json.loads(bench.output([program], environment))
        still.append(said["still"])
        return {key: said[name] * 1e-6 for key, name in names.items()}

    ways = {"ours": lambda: ours("sycl (a)"), "opencl": lambda: ours("opencl")}
    bench.compare("calls", {"bare": bare, **ways})
    print(f"calls      bare, the same 8 bytes: {statistics.median(still):.3f} us")


def start(bench: Bench) -> None:
    small = {"stream": "--elements 65536", "random_access": "--size 14"}
    small |= {"fft": "--size 8", "gemm": "--size 200"}
    for name, options in small.items():
        words = [name, *options.split(), *WAYS["sycl (b)"][1].split(), "--repetitions", "1"]
        cache = tempfile.mkdtemp(dir=bench.folder)
        for turn in ("first", "second"):
            environment = bench.environment("intel-sycl", SYCL_CACHE_DIR=cache)
            bench.cases(words, environment)
            cases = json.loads((bench.folder / "record.json").read_text())["cases"]
            built = [case["facts"].get("kernel_build_s", 0) for case in cases]
            print(f"start      {name}, {turn}: {sum(built):.3f} s to build kernels")
            bench.found.setdefault("start", {})[f"{name}, {turn}"] = [sum(built)]


def devices(bench: Bench) -> None:
    if bench.before is None:
        print("devices    left out: --before names the build of a commit without runtime sycl")
        return
    environment = {key: value for key, value in os.environ.items() if key != "PLUMBLINE_SYCL"}

    def measure(programs: Path) -> dict[str, float]:
        begin = time.monotonic()
        for _ in range(10):
            bench.output([str(programs / "plumb-serial"), "--devices"], environment)
        return {"--devices": (time.monotonic() - begin) / 10}

    before = bench.before / "bin"
    ways = {"before": lambda: measure(before), "now": lambda: measure(bench.programs)}
    bench.compare("devices", ways)


def transport(bench: Bench) -> None:
    """The program takes turns of its own and prints the least times: each round one ratio."""
    program = bench.programs / "mpi_device"
    if not program.exists():
        raise SystemExit(
            f"{program} is not built (cmake --build {bench.programs.parent} --target mpi_device)"
        )
    environment = bench.environment("intel-sycl", PLUMB_MPI_RUNTIME="sycl")
    words = ["mpirun", "-np", "2", "--bind-to", "core", str(program), str(bench.max_size)]
    rounds = [
        json.loads(bench.output(words, environment))["round_trip_us"] for _ in range(bench.rounds)
    ]
    for size in rounds[0]:
        calls, direct = ([one[size][i] * 1e-6 for one in rounds] for i in (0, 1))
        ratios = [of / by for by, of in zip(calls, direct, strict=True)]
        bench.say("transport", f"{size} B, calls", ratios, calls)


def naive(bench: Bench) -> None:
    library = bench.programs.parent / "lib" / "libplumb-mpi-device.so"

    def measure(test: str, staging: str) -> dict[str, float]:
        environment = bench.environment("intel-sycl", PLUMB_MPI_STAGING=staging)
        words = f"{test} -d sycl D D -m 1:{1 << bench.max_size} --time-limit 0.1".split()
        found = bench.cases(words, environment, 2, library)
        return {f"{test} {key}": seconds for key, seconds in found.items()}

    for test in OSU:
        bench.compare(
            "naive",
            {way: partial(measure, test, way) for way in ("naive", "pieces")},
        )
    least = min(bench.found["naive"].items(), key=lambda one: statistics.median(one[1]))
    print(f"naive      least: {least[0]} {statistics.median(least[1]):.3f} (0.97 wanted)")


PARTS: dict[str, Callable[[Bench], None]] = {
    "kernels": kernels,
    "staged": staged,
    "copies": copies,
    "calls": calls,
    "start": start,
    "devices": devices,
    "transport": transport,
    "naive": naive,
}


def wishes() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--best",
        action="store_true",
        help="the best repetition, not the median: on a loaded machine",
    )
    parser.add_argument("--max-size", type=int, default=24, help="longest messages, log2 B")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--before", type=lambda text: Path(text).resolve())
    parser.add_argument(
        "--build", type=lambda text: Path(text).resolve(), default=ROOT / "build" / "release"
    )
    wish = parser.parse_args()
    if unknown := [part for part in wish.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}: choose from {', '.join(PARTS)}")
    return wish


def main() -> None:
    wish = wishes()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(wish, Path(folder))
        for part in wish.parts:
            PARTS[part](bench)
    if wish.json:
        wish.json.write_text(json.dumps(bench.found))


if __name__ == "__main__":
    main()
