#!/usr/bin/env python3
"""Published results of HPCC FPGA beside what our models expect of the board, and beside our runs.

Tables 3.6, 3.10 and 4.8 of M. Meyer, "An OpenCL- and HLS-based Benchmark Suite for Reconfigurable Hardware in HPC"
(dissertation, Paderborn University, 2024): the columns of the BittWare 520N, whose synthesised kernels systems/*.toml
describe, and that of the CPU. Figures are of one board or CPU; ours are of one rank, by its best repetition. Prints a table
in Markdown. Needs the packages of plumb (.venv).

    bench/published.py [--of NAME RECORD...]...
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from plumbline.device_table import Banks, Bitstream  # noqa: E402
from plumbline.models import fft, gemm, random_access, stream  # noqa: E402
from plumbline.record import Case, Record, load_record  # noqa: E402
from plumbline.systems import load_system  # noqa: E402

EARLIER, LATER = "bittware-520n", "noctua1-520n"  # systems: boards as chapter 3 and 4 used them


@dataclass(frozen=True)
class Published:
    """A figure of a table: of ``what`` (an operation of stream, or a benchmark) in ``type``."""

    table: str
    what: str
    value: float
    type: str = "float"
    system: str | None = None  # whose model says what to expect
    matrix: int = 4096  # rows of GEMM's

    @property
    def benchmark(self) -> str:
        return self.what if self.what in UNITS else "stream"

    @property
    def name(self) -> str:
        return f"{self.benchmark} {self.what}" if self.benchmark == "stream" else self.benchmark

    @property
    def unit(self) -> str:
        return UNITS[self.benchmark]


UNITS = {"stream": "GB/s", "random_access": "GUP/s", "fft": "GFLOP/s", "gemm": "GFLOP/s"}
METRICS = {
    "stream": "bandwidth",
    "random_access": "updates",
    "fft": "performance",
    "gemm": "performance",
}
OPERATIONS = ("copy", "scale", "add", "triad", "read", "write")


def _of_stream(table: str, values: tuple[float, ...], type: str) -> list[Published]:
    return [
        Published(table, operation, value, type, EARLIER)
        for operation, value in zip(OPERATIONS, values, strict=True)
    ]


PUBLISHED = [
    *_of_stream("3.6", (67.01, 67.24, 68.90, 68.90, 6.41, 6.32), "float"),
    Published("3.6", "random_access", 0.2450, system=EARLIER),
    Published("3.6", "fft", 349.45, system=EARLIER),
    Published("3.6", "gemm", 708.95, system=EARLIER),
    *_of_stream("3.10", (68.40, 68.40, 69.80, 69.80, 6.47, 6.30), "float"),
    *_of_stream("3.10", (68.10, 68.11, 69.58, 69.58, 6.47, 6.30), "double"),
    Published("3.10", "gemm", 51.19, "half", EARLIER),
    Published("3.10", "gemm", 708.95, "float", EARLIER),
    Published("3.10", "gemm", 52.07, "double", EARLIER),
    Published("4.8", "triad", 67.8, system=LATER),
    Published("4.8", "random_access", 0.18, system=LATER),
    Published("4.8", "fft", 239.99, system=LATER),
    Published("4.8", "gemm", 1231.2, system=LATER, matrix=23040),
    Published("4.8, CPU", "triad", 75.9, "double"),
    Published("4.8, CPU", "random_access", 0.06),
    Published("4.8, CPU", "fft", 24.62, "double"),
    Published("4.8, CPU", "gemm", 1158.9, "double"),
]


def expected(figure: Published) -> float | None:
    """What our model says of the board, in the figure's unit; None where there is no board."""
    if figure.system is None:
        return None
    device = load_system(ROOT / "systems" / f"{figure.system}.toml").device
    assert device is not None
    assert device.banks is not None
    kernel = device.bitstream(figure.benchmark, figure.type)
    if figure.what in ("read", "write"):
        size = 3 * 2**31
        seconds = device.link.time_s(figure.what, size) if device.link else None  # type: ignore[arg-type]
        return size / seconds * 1e-9 if seconds else None
    return _rate(figure, kernel, device.banks) if kernel else None


def _rate(figure: Published, kernel: Bitstream, banks: Banks) -> float:
    if figure.benchmark == "stream":
        bank_bound = stream.bank_bound_gb_s(banks, kernel.replications)
        return min(bank_bound, stream.frequency_bound_gb_s(kernel))
    if figure.benchmark == "random_access":
        generators = random_access.generator_bound_gup_s(kernel)
        return min(generators, random_access.bank_bound_gup_s(kernel, banks))
    if figure.benchmark == "fft":
        return fft.pipeline_gflop_s(kernel, banks)
    seconds = sum(gemm.block_parts_s(kernel, banks, figure.matrix).values())
    return kernel.replications * 2 * (kernel.block_size or 0) ** 3 / seconds * 1e-9


def measured(figure: Published, records: list[Record]) -> float | None:
    """Our figure of one rank, from the first record that has it. FFT: of 2^17 points if there."""
    for record in records:
        if record.benchmark.name != figure.benchmark:
            continue
        for case in sorted(record.cases, key=lambda case: case.labels.get("points") != 2**17):
            if _fits(figure, record, case):
                values = {metric.name: metric.value for metric in case.metrics}
                name = METRICS[figure.benchmark]  # alone where there is one rank
                return values.get(f"{name}_per_rank", values.get(name))
    return None


def _fits(figure: Published, record: Record, case: Case) -> bool:
    if case.outcome.status != "passed":
        return False
    if figure.benchmark == "random_access":
        return case.label("updates") == "buffered"
    type_ = case.label("type") or record.parameters.get("type")
    return type_ == figure.type and figure.what in (figure.benchmark, case.label("operation"))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of", action="append", nargs="+", default=[], metavar=("NAME", "RECORD"))
    groups = [
        (name, [load_record(Path(path)) for path in paths])
        for name, *paths in parser.parse_args().of
    ]
    head = ["table", "figure", "type", "published", "our model", "published / model"]
    head += [name for name, _ in groups]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for figure in PUBLISHED:
        model = expected(figure)
        number = "64-bit words" if figure.benchmark == "random_access" else figure.type
        row = [figure.table, f"{figure.name}, {figure.unit}", number, _cell(figure.value)]
        row += [_cell(model), f"{figure.value / model:.3f}" if model else ""]
        row += [_cell(measured(figure, records)) for _, records in groups]
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
