#!/usr/bin/env python3
"""What `--energy` changes: medians of runs with and without it, in turn; joules of played sensors beside the exact integral.

    bench/energy.py [--rounds 10]
    bench/energy.py --gpu            # a GPU: counter, integrated power, and a witness beside each other

A counter in a tree like sysfs is advanced in real time by each curve of power (steps, ramps, bursts, a wave) and wraps
within the region. The run is bound to one core, the player has another. Printed by curve: the ratios of the medians and of the
best samples of `--of`, with over without, each of the same round (median, least, largest); joules over the exact integral of the
curve (median, least, largest); the part of the stated errors that the largest difference is.

--gpu runs GEMM and STREAM triad (or `--of`) for 10 s each with `--energy nvml`, and reads the GPUs in this process (PyPI's
nvidia-ml-py): joules of the engine's counter, of its integral of the instantaneous power, and of this witness's, by straight lines.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from fake_sensors import Counter, Curve, Playing, integral, rapl_zone  # noqa: E402

SERIAL = ROOT / "build/release/bin/plumb-serial"
# Bound by a core: the memory's speed on a host that others share differs by half between launches.
MEASURED = "gemm --runtime native --type double --size 768"
# Of some 10 s each: a sample of STREAM has at most 1,024 operations.
ON_A_GPU = (
    "gemm --runtime cuda --type double --size 16384 --repetitions 6",
    "stream --runtime cuda --type double --operation triad --elements 1900000000 --repetitions 1",
)
RAPL_UPDATES_S = 0.001
WRAPS_AT_UJ = 150_000_000
CURVES: dict[str, Curve] = {
    "steps": lambda t: 60.0 if t % 0.6 < 0.3 else 140.0,
    "ramps": lambda t: 40 + 60 * (t % 1.5),
    "bursts": lambda t: 300.0 if t % 0.37 < 0.1 else 35.0,
    "waves": lambda t: 80 + 10 * (t % 1) + (60.0 if t % 0.5 < 0.2 else 0.0),
}


@dataclass
class Turn:
    """Median and best with over without, and joules of the case beside those played."""

    medians: float
    best: float
    joules: float
    exact: float
    error: float


def case_of(words: list[str], folder: Path, core: int) -> dict:
    record = folder / "record.json"
    command = ["taskset", "-c", str(core), str(SERIAL), *words]
    command += ["--progress", "none", "--format", "none", "--record", str(record)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    (case,) = json.loads(record.read_text())["cases"]
    return case


def seconds_of(case: dict) -> list[float]:
    return [sample / case["count"] for sample in case["samples"]["by_rank"][0]]


def turn(curve: Curve, words: list[str], swapped: bool, core: int) -> Turn:
    """One run of each kind, with the sensor played beside both."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "sys"
        path = rapl_zone(root, "intel-rapl:0", "package-0", range_uj=WRAPS_AT_UJ)
        sensor = Counter(path, curve, limit=WRAPS_AT_UJ, start=WRAPS_AT_UJ - 5_000_000)
        usual = words
        energy = [*usual, "--energy", "rapl", "--energy-root", str(root)]
        found = {}
        with Playing([sensor], RAPL_UPDATES_S):
            for kind in (energy, usual) if swapped else (usual, energy):
                found[kind is energy] = case_of(kind, Path(name), core)
    region = found[True]["energy"]["region"]
    (domain,) = found[True]["energy"]["domains"]
    if domain["joules"] is None:
        raise SystemExit(f"no joules: {domain['reason']}")
    begin, end = region["begin"], region["begin"] + region["seconds"]
    exact = integral(curve, begin, end, steps=200_000)
    ours, usual_s = seconds_of(found[True]), seconds_of(found[False])
    medians = statistics.median(ours) / statistics.median(usual_s)
    return Turn(medians, min(ours) / min(usual_s), domain["joules"], exact, domain["error_j"])


class Witness:
    """Reads each GPU's instantaneous power (field 186) every 10 ms within its scope."""

    def __init__(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        self._nvml = pynvml
        self._gpus = [
            pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())
        ]
        self._readings: list[list[tuple[float, float]]] = [[] for _ in self._gpus]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._stop.wait(0.01):
            for gpu, readings in zip(self._gpus, self._readings, strict=True):
                (field,) = self._nvml.nvmlDeviceGetFieldValues(gpu, [186])
                readings.append((time.time(), field.value.uiVal * 1e-3))

    def _address(self, number: int) -> str:
        pci = self._nvml.nvmlDeviceGetPciInfo(self._gpus[number])
        return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"

    def joules(self, address: str, begin: float, end: float) -> float:
        (number,) = [i for i in range(len(self._gpus)) if self._address(i) == address]
        inside = [one for one in self._readings[number] if begin <= one[0] <= end]
        middle = sum((b - a) * (p + q) / 2 for (a, p), (b, q) in pairwise(inside))
        return (
            middle + inside[0][1] * (inside[0][0] - begin) + inside[-1][1] * (end - inside[-1][0])
        )


def beside_a_witness(words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name, Witness() as witness:
        record = Path(name) / "record.json"
        command = [str(SERIAL), *words, "--energy", "nvml", "--energy-time", "10"]
        command += ["--progress", "none", "--format", "none", "--record", str(record)]
        subprocess.run(command, check=True)
        (case,) = json.loads(record.read_text())["cases"]
    region = case["energy"]["region"]
    domains = {one["kind"]: one for one in case["energy"]["domains"]}
    for one in domains.values():
        if one["joules"] is None:
            raise SystemExit(f"no joules: {one['reason']}")
    counter, power = domains["counter"]["joules"], domains["power"]["joules"]
    end = region["begin"] + region["seconds"]
    seen = witness.joules(domains["counter"]["of"], region["begin"], end)
    print(
        f"{words[0]}: {region['seconds']:.2f} s, counter {counter:.0f} J, "
        f"power {power:.0f} J ({power / counter:.3f}), "
        f"witness {seen:.0f} J ({seen / counter:.3f})"
    )


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.4f} ({min(values):.4f}..{max(values):.4f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10, help="of each curve")
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--of", help="benchmark of one case, and its options")
    parser.add_argument("--gpu", action="store_true", help="beside a witness, on a GPU")
    wish = parser.parse_args()
    if wish.gpu:
        for one in [wish.of] if wish.of else ON_A_GPU:
            beside_a_witness(shlex.split(one))
        return
    words = [*shlex.split(wish.of or MEASURED), "--repetitions", str(wish.repetitions)]
    player, *_, core = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {player})
    for name, curve in CURVES.items():
        turns = [turn(curve, words, bool(i % 2), core) for i in range(wish.rounds)]
        medians = spread([one.medians for one in turns])
        best = spread([one.best for one in turns])
        joules = spread([one.joules / one.exact for one in turns])
        used = max(abs(one.joules - one.exact) / one.error for one in turns)
        print(
            f"{name}: medians {medians}, best {best}, joules {joules}, {used:.2f} of the stated error"
        )


if __name__ == "__main__":
    main()
