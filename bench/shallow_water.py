#!/usr/bin/env python3
"""Shallow water beside the same numerics by hand, in turn: OpenMP on this process's cores, or CUDA.

    bench/shallow_water.py [--size 9] [--orders 0,1,2] [--rounds 7] [--build build/release] [--gpu] [--runtime NAME] [--json FILE]
    bench/shallow_water.py --anuga V/bin/python [--size 9] [--rounds 7] [--json FILE]
    bench/shallow_water.py --pair [--gpu] [--only NAME] [--rounds 7] [--samples 5] [--build build/release] [--json FILE]

1,696 * 2^SIZE elements of mesh bay, float. In each round ours and the peer run one after the other; the ratio of their element
updates a second (median samples) is taken round by round. Printed: medians, the median ratio, the lowest and highest, and the
share of the byte bound, which is STREAM Triad of the same runtime and run: state read and written, the step's first state (from
the second stage on), neighbours, geometry and bed once. The peer is `peer_shallow_water` (cmake --build build/release --target
peers), with --gpu `gpu_shallow_water` (nvcc -O3 -std=c++17 -arch=native -prec-div=false -prec-sqrt=false
bench/peers/shallow_water.cu -o build/release/bin/gpu_shallow_water: divisions and roots as OpenCL C allows), its fastest form.
First the states of both are compared element by element on a small mesh, and in each round the levels' mean square. Standard
library only, but for the OpenCL runtimes' names.

--anuga: p = 1 beside ANUGA 4.1.0 (PyPI; Apache-2.0; its wheel for CPython 3.11 needs no compiler), bench/peers/anuga_water.py run by
the given Python: finite volumes of second order with two stages, in double, its faster solver.

--pair: the two schedules on two ranks through mpirun, p = 0: time of a step (best of the samples, median of the rounds), communication share, and
the share of the host-scheduled form's step that the device-scheduled form takes, round by round. With --gpu on two GPUs of this host
(over `peer` and `nccl`; also on one GPU), otherwise on OpenCL's CPU device (over `peer` and `staged`), where each rank needs two cores.
At last, for meshes whose parts are measured alone as well: the part's step is the core's, what a step with `--overlap off` takes longer is
the exchange, and what it takes longer than the overlapped step is hidden, as a share of the smaller of both. --only: meshes whose name has this text.
"""

from __future__ import annotations

import argparse
import array
import json
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from peers import BOUND, ROOT, output_of, runtimes

MESHES = ROOT / "benchmarks/apps/shallow_water"
WANTED = {0: 0.95, 1: 0.9, 2: 0.9}
BASIS = {0: 1, 1: 3, 2: 6}
SMALL = 4
Runtime = tuple[str, list[str], dict[str, str]]


def ours(wish: argparse.Namespace, of: Runtime, folder: Path, *words: object) -> dict[str, Any]:
    """The case of one of our runs."""
    command = [wish.build / "bin/plumb-serial", *words, *of[1], "--progress", "none"]
    command += ["--format", "none", "--record", "ours.json"]
    output_of([str(word) for word in command], of[2], folder)
    case: dict[str, Any] = json.loads((folder / "ours.json").read_text())["cases"][0]
    if case["outcome"]["status"] != "passed":
        raise RuntimeError(f"{of[0]}, {case['key']}: {case['outcome']}")
    return case


def simulated(
    wish: argparse.Namespace, of: Runtime, folder: Path, size: int, order: int, *words: object
) -> dict[str, Any]:
    usual = ["--size", size, "--order", order, "--reference-steps", 1, "--steps", wish.steps]
    return ours(wish, of, folder, "shallow_water", *usual, *words)


def peers(
    wish: argparse.Namespace, folder: Path, size: int, order: int, *words: object
) -> list[dict[str, Any]]:
    """All forms of the peer."""
    program = wish.build / "bin" / ("gpu_shallow_water" if wish.gpu else "peer_shallow_water")
    mesh = MESHES / f"bay-{(1696, 3392)[size % 2]}.14"
    command = [program, mesh, size // 2, order, wish.steps, *(words or [wish.samples])]
    lines = output_of([str(word) for word in command], BOUND, folder).splitlines()
    return [json.loads(line) for line in lines]


def compare(wish: argparse.Namespace, of: Runtime, folder: Path, order: int) -> None:
    """Ends with an error unless both have the same state, within roundings."""
    case = simulated(wish, of, folder, SMALL, order, "--snapshots", 1, "--repetitions", 1)
    peers(wish, folder, SMALL, order, 1, folder / "peer.states")
    state, right = array.array("f"), array.array("f")
    right.frombytes((folder / "peer.states").read_bytes())
    state.frombytes((folder / case["facts"]["files"]["states.npy"]).read_bytes()[-4 * len(right) :])
    off = max(abs(one - other) for one, other in zip(state, right, strict=True))
    print(
        f"p = {order}, {of[0]}: {len(right) // 3} elements' levels and velocities differ by {off:.2g} m, m/s"
    )
    if not off < 2e-5:
        raise RuntimeError(f"{of[0]} and the peer have different states")


def bound(wish: argparse.Namespace, of: Runtime, folder: Path, order: int) -> float:
    """Element updates a second that Triad's bytes would allow."""
    elements = 1 << 28 if wish.gpu else 1 << 25
    words = ["--operation", "triad", "--type", "float", "--elements", elements]
    case = ours(wish, of, folder, "stream", *words, "--repetitions", 10)
    moved = (case["work"]["bytes_read"] + case["work"]["bytes_written"]) * case["count"]
    state, stages = 12 * BASIS[order], order + 1
    bytes_each = 2 * state + state * order / stages + 12 + 16 + 12
    return float(moved / case["summary"]["median_s"] / bytes_each)


@dataclass(frozen=True)
class Shape:
    """A mesh of 1,696 * 2^size elements on so many ranks.

    ``most_us``: a step of the device-scheduled form must be shorter. ``part``: the mesh that is a rank's part alone.
    """

    name: str
    size: int
    ranks: int
    steps: int
    most_us: float = 0.0
    part: str = ""


@dataclass(frozen=True)
class Form:
    """A schedule over a transport; ``share``: at most that share of its step may the device-scheduled form take on two ranks."""

    schedule: str
    transport: str
    share: float = 0.0
    overlap: str = "on"

    def words(self, ranks: int) -> list[str]:
        way = ["--transport", self.transport] if ranks > 1 else []
        return ["--schedule", self.schedule, *way, "--overlap", self.overlap]

    def __str__(self) -> str:
        apart = "" if self.overlap == "on" else ", overlap off"
        return f"{self.schedule}-scheduled over {self.transport}{apart}"


GPU_SHAPES = (
    Shape("6,784 each", 3, 2, 2000, most_us=10, part="6,784 alone"),
    Shape("6,784 alone", 2, 1, 2000),
    Shape("868,352 on one", 9, 1, 200),
    Shape("868,352 on two", 9, 2, 200),
    Shape("3,473,408 alone", 11, 1, 50),
    Shape("3,473,408 each", 12, 2, 50, part="3,473,408 alone"),
)
CPU_SHAPES = (
    Shape("848 each", 0, 2, 200),
    Shape("6,784 each", 3, 2, 100, part="6,784 alone"),
    Shape("6,784 alone", 2, 1, 100),
)
GPU_FORMS = (Form("device", "peer"), Form("host", "peer"), Form("host", "nccl", share=0.5))
CPU_FORMS = (Form("device", "peer"), Form("host", "peer"), Form("host", "staged"))
HIDDEN = 0.8  # wanted over nccl, of the smaller of core and exchange
Steps = dict[Form, list[dict[str, float | None]]]


def forms_of(shape: Shape, gpu: bool) -> list[Form]:
    """Those measured on a mesh; without overlap where that shows what it hides."""
    forms = list(GPU_FORMS if gpu else CPU_FORMS)
    if shape.ranks == 1:
        return forms[:2]
    apart = [Form("host", one.transport, overlap="off") for one in forms[1:]] if shape.part else []
    return [*forms, *apart]


def stepped(
    wish: argparse.Namespace, folder: Path, shape: Shape, form: Form
) -> dict[str, float | None]:
    """The metrics of one run. Raises RuntimeError where it did not pass."""
    device = ["--runtime", "cuda"]
    environment: dict[str, str] = {}
    if not wish.gpu:
        of = next(one for one in runtimes(wish.gpu) if one[0] == (wish.runtime or "pocl"))
        # The form of the device needs a unit for its neighbour, and one that computes.
        device, units = of[1], ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT")
        environment = of[2] | dict.fromkeys(units, "2")
    command = ["mpirun", "-np", shape.ranks, *(["--bind-to", "core"] if wish.gpu else [])]
    command += [wish.build / "bin/plumb-mpi", "shallow_water", *device, "--order", 0]
    command += ["--size", shape.size, "--steps", shape.steps, "--reference-steps", 1]
    command += [*form.words(shape.ranks), "--repetitions", wish.samples, "--progress", "none"]
    command += ["--format", "none", "--record", "pair.json"]
    output_of([str(word) for word in command], environment, folder)
    case = json.loads((folder / "pair.json").read_text())["cases"][0]
    if case["outcome"]["status"] != "passed":
        raise RuntimeError(f"{case['outcome']['status']}: {case['outcome']['reason']}")
    return {one["name"]: one["value"] for one in case["metrics"]}


def pair(wish: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Each form on each mesh, in turn in each round."""
    kept = []
    measured: dict[str, Steps] = {}
    shapes = [one for one in (GPU_SHAPES if wish.gpu else CPU_SHAPES) if wish.only in one.name]
    for shape in shapes:
        forms = forms_of(shape, wish.gpu)
        found = measured[shape.name] = {form: [] for form in forms}
        for _ in range(wish.rounds):
            for form, runs in list(found.items()):
                try:
                    runs.append(stepped(wish, folder, shape, form))
                except RuntimeError as problem:
                    print(f"{shape.name:<17} {form}: {str(problem)[-600:]}", flush=True)
                    del found[form]
        for form, runs in found.items():
            print(row(shape, form, runs, found.get(forms[0])), flush=True)
            kept.append({**asdict(shape), **asdict(form), "runs": runs})
    for shape in shapes:
        for line in hidden(shape, measured[shape.name], measured.get(shape.part, {})):
            print(line, flush=True)
    return kept


def middle_of(runs: list[dict[str, Any]]) -> float:
    """A form's step in us, the median of the rounds."""
    return float(statistics.median(one["time_step"] for one in runs))


def hidden(shape: Shape, found: Steps, alone: Steps) -> list[str]:
    """What the overlap hides over each transport."""
    cores = [middle_of(runs) for form, runs in alone.items() if form.schedule == "host"]
    steps = {
        (form.transport, form.overlap): middle_of(runs)
        for form, runs in found.items()
        if form.schedule == "host"
    }
    lines = []
    for (transport, overlap), apart in steps.items():
        if overlap == "on" or not cores or (transport, "on") not in steps:
            continue
        core, beside = cores[0], steps[transport, "on"]
        if apart <= core:
            lines.append(
                f"{shape.name:<17} over {transport}: the exchange takes no time that shows"
            )
            continue
        share = (apart - beside) / min(core, apart - core)
        wanted = f", wanted {HIDDEN}" if transport == "nccl" else ""
        lines.append(
            f"{shape.name:<17} over {transport}: core {core:.2f} us, exchange {apart - core:.2f} us, "
            f"overlap hides {apart - beside:.2f} us, {share:.2f} of the smaller{wanted}"
            f"{', short' if wanted and share < HIDDEN else ''}"
        )
    return lines


def row(
    shape: Shape, form: Form, runs: list[dict[str, Any]], by_device: list[dict[str, Any]] | None
) -> str:
    """A form's step and, of one that the host schedules, the share of it that the other form takes."""
    steps = [one["time_step"] for one in runs]
    waits = statistics.median(one.get("communication") or 0 for one in runs)
    middle = statistics.median(steps)
    told = f"{shape.name:<17} {form!s:<40} {middle:>9.2f} us a step, {waits:>5.1f} % communication"
    if form.schedule == "device":
        wanted = f", wanted under {shape.most_us:g} us" if shape.most_us else ""
        return told + wanted + (", short" if wanted and middle >= shape.most_us else "")
    if not by_device:
        return told
    shares = [one["time_step"] / other for one, other in zip(by_device, steps, strict=True)]
    share = statistics.median(shares)
    wanted = f", wanted at most {form.share}" if form.share and shape.most_us else ""
    told += f"; device-scheduled takes {share:.3f} ({min(shares):.3f}..{max(shares):.3f}) of it"
    return told + wanted + (", short" if wanted and share > form.share else "")


def duel(wish: argparse.Namespace, order: int, folder: Path) -> list[dict[str, Any]]:
    known = [one for one in runtimes(wish.gpu) if one[0] == (wish.runtime or one[0])]
    for of in known:
        compare(wish, of, folder, order)
    rates: dict[str, tuple[list[float], list[float], list[float]]] = {
        one[0]: ([], [], []) for one in known
    }
    for _ in range(wish.rounds):
        for of in known:
            mine, theirs, bounds = rates[of[0]]
            case = simulated(wish, of, folder, wish.size, order, "--repetitions", wish.samples)
            updates = case["labels"]["elements"] * (order + 1) * case["count"]
            mine.append(updates / case["summary"]["median_s"])
            found = peers(wish, folder, wish.size, order)
            theirs.append(max(one["work"] / statistics.median(one["samples_s"]) for one in found))
            for one in found:
                if abs(one["level_rms"] / case["facts"]["level_rms_m"] - 1) > 1e-5:
                    raise RuntimeError(f"{of[0]}: {case['facts']['level_rms_m']} m, but {one}")
            bounds.append(bound(wish, of, folder, order))
    kept = []
    for name, (mine, theirs, bounds) in rates.items():
        ratios = [one / other for one, other in zip(mine, theirs, strict=True)]
        shares = [one / other for one, other in zip(mine, bounds, strict=True)]
        middle = statistics.median(ratios)
        print(
            f"p = {order} {name:<10} {statistics.median(mine) / 1e6:>9.1f} {statistics.median(theirs) / 1e6:>9.1f}  "
            f"{middle:.3f} ({min(ratios):.3f}..{max(ratios):.3f}), wanted {WANTED[order]}"
            f"{'' if middle >= WANTED[order] else ', short'}; {statistics.median(shares):.3f} of the bytes' "
            f"{statistics.median(bounds) / 1e6:.1f}",
            flush=True,
        )
        kept.append(
            {"order": order, "runtime": name, "ours": mine, "peer": theirs, "bytes": bounds}
        )
    return kept


def beside_anuga(wish: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """p = 1, in both types, and ANUGA's second order, which it computes in double: updates a second."""
    known = [one for one in runtimes(wish.gpu) if one[0] == (wish.runtime or one[0])]
    words = ["--size", wish.size, "--order", 0, "--steps", 1, "--reference-steps", 1]
    words += ["--repetitions", 1, "--write-mesh"]
    case = ours(wish, known[-1], folder, "shallow_water", *words)
    mesh = folder / case["facts"]["files"]["mesh.14"]
    command = [wish.anuga, ROOT / "bench/peers/anuga_water.py", mesh, wish.steps, wish.samples]
    pairs = [(of, kind) for of in known for kind in ("float", "double")]
    rates: dict[str, tuple[list[float], list[float]]] = {}
    for _ in range(wish.rounds):
        said = output_of([str(word) for word in command], BOUND, folder).splitlines()
        found = [json.loads(line) for line in said if line.startswith("{")]
        other = max(one["work"] / statistics.median(one["samples_s"]) for one in found)
        for of, kind in pairs:
            mine, theirs = rates.setdefault(f"{of[0]}, {kind}", ([], []))
            more = ("--repetitions", wish.samples, "--type", kind)
            case = simulated(wish, of, folder, wish.size, 1, *more)
            mine.append(
                case["labels"]["elements"] * 2 * case["count"] / case["summary"]["median_s"]
            )
            theirs.append(other)
    kept = []
    for name, (mine, theirs) in rates.items():
        ratios = [one / other for one, other in zip(mine, theirs, strict=True)]
        middle = statistics.median(ratios)
        print(
            f"p = 1 {name:<18} {statistics.median(mine) / 1e6:>9.1f}, anuga {statistics.median(theirs) / 1e6:>9.1f}  "
            f"{middle:.3f} ({min(ratios):.3f}..{max(ratios):.3f}), wanted above 1{'' if middle > 1 else ', short'}",
            flush=True,
        )
        kept.append({"name": name, "ours": mine, "anuga": theirs})
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--orders", default="0,1,2")
    parser.add_argument("--steps", type=int, default=20, help="time steps of a sample")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--build", type=lambda text: Path(text).resolve(), default=ROOT / "build/release"
    )
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--pair", action="store_true", help="both schedules on two ranks")
    parser.add_argument("--only", default="", help="with --pair: meshes whose name has this text")
    parser.add_argument(
        "--runtime", help="on this one alone: pocl, intel-cpu, native; opencl, cuda"
    )
    parser.add_argument(
        "--anuga",
        metavar="PYTHON",
        help="p = 1 beside ANUGA, installed there: python3 -m venv V; V/bin/pip install anuga==4.1.0",
    )
    parser.add_argument("--json", type=Path, help="all rates by round, as JSON")
    wish = parser.parse_args()
    kept = []
    with tempfile.TemporaryDirectory() as name:
        if wish.pair:
            kept = pair(wish, Path(name))
        else:
            print("M updates/s: ours, the peer's; ratio")
        if wish.anuga:
            kept = beside_anuga(wish, Path(name))
        for order in map(int, [] if wish.pair or wish.anuga else wish.orders.split(",")):
            try:
                kept += duel(wish, order, Path(name))
            except RuntimeError as problem:
                sys.exit(f"p = {order}: {problem}")
    if wish.json:
        wish.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
