"""A synthesis beside published ones, and into a system file (``--compare``, ``--learn``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ValidationError

from plumbline.base.columns import aligned
from plumbline.base.errors import UsageError
from plumbline.base.files import replace_file
from plumbline.base.validation import first_problem
from plumbline.engine.program import BenchmarkSpec, OptionSpec
from plumbline.synth.build import Build
from plumbline.synth.manifest import Manifest, file_sha256
from plumbline.synth.reports import Resources, read_report
from plumbline.system.device import Bitstream
from plumbline.system.files import load_system
from plumbline.system.system import System

AMOUNTS = ("luts", "registers", "brams", "urams", "dsps")
# Fields of a system file's bitstreams by HPCC FPGA's names of build parameters.
_FIELDS = {
    "NUM_REPLICATIONS": "replications",
    "DATA_TYPE": "type",
    "VECTOR_COUNT": "vector_count",
    "GLOBAL_MEM_UNROLL": "global_mem_unroll",
    "BLOCK_SIZE": "block_size",
    "GEMM_SIZE": "gemm_size",
    "LOG_FFT_SIZE": "log_fft_size",
    "HPCC_FPGA_RA_RNG_COUNT_LOG": "rng_count",
    "HPCC_FPGA_RA_RNG_DISTANCE": "rng_distance",
    "HPCC_FPGA_RA_DEVICE_BUFFER_SIZE_LOG": "buffer_elements",
    "DEVICE_BUFFER_SIZE": "buffer_elements",
}


def resources_of(manifest: Manifest, folder: Path) -> Resources:
    """The resources of a bitstream by the reports that its manifest names.

    Raises :class:`UsageError` if a report is another build's: its hash differs.
    """
    found = Resources()
    for name, digest in manifest.reports.items():
        path = folder / name
        if file_sha256(path) != digest:
            raise UsageError(f"the report {path} is another build's: its hash differs")
        one = read_report(path)
        if one.estimated:
            continue
        found.amounts = {**one.amounts, **found.amounts}
        found.percent = {**one.percent, **found.percent}
        found.clock_mhz = found.clock_mhz or one.clock_mhz
        found.fmax_mhz = found.fmax_mhz or one.fmax_mhz
    if not found.amounts:
        raise UsageError(f"{manifest.name} ({manifest.target}) has no report of place and route")
    clock = manifest.clock_mhz
    if clock is not None and found.clock_mhz not in (None, clock):
        raise UsageError(
            f"the clock {clock:g} MHz of {manifest.name} is another build's: its report has "
            f"{found.clock_mhz:g} MHz"
        )
    found.clock_mhz = found.clock_mhz or clock
    return found


def comparison(build: Build, system: System, found: Resources) -> str:
    """The resources beside those of published bitstreams with the same parameters or preset."""
    rows = [["", *AMOUNTS, "clock (MHz)"], ["this", *_cells(found.amounts, found.clock_mhz)]]
    own = _fields(build.benchmark, build)
    for entry in _published(build, system):
        amounts = {name: value for name in AMOUNTS if (value := getattr(entry, name)) is not None}
        same = all(getattr(entry, key) == value for key, value in own.items())
        title = f"{entry.source}{'' if same else ' (other parameters)'}"
        rows.append([title, *_cells(amounts, entry.frequency_mhz)])
        rows.append(["  this / that", *_ratios(found, amounts, entry.frequency_mhz)])
    if len(rows) == 2:
        rows.append(["nothing published", *[""] * (len(AMOUNTS) + 1)])
    return "\n".join(aligned(rows, 1))


def _published(build: Build, system: System) -> Iterable[Bitstream]:
    entries = system.device.bitstreams if system.device else []
    mine = [entry for entry in entries if entry.benchmark == build.benchmark.name]
    if build.preset is not None:
        return [entry for entry in mine if entry.preset == build.preset] or mine
    return [entry for entry in mine if entry.type == build.values.get("type", entry.type)]


def _cells(amounts: dict[str, int], clock: float | None) -> list[str]:
    cells = [f"{amounts[name]:,}" if name in amounts else "" for name in AMOUNTS]
    return [*cells, "" if clock is None else f"{clock:g}"]


def _ratios(found: Resources, amounts: dict[str, int], clock: float) -> list[str]:
    cells = [
        f"{found.amounts[name] / amounts[name]:.2f}"
        if name in found.amounts and amounts.get(name)
        else ""
        for name in AMOUNTS
    ]
    return [*cells, f"{found.clock_mhz / clock:.2f}" if found.clock_mhz else ""]


def _fields(benchmark: BenchmarkSpec, build: Build) -> dict[str, Any]:
    """The build parameters as fields of a system file's bitstream."""
    fields: dict[str, Any] = {}
    for option in benchmark.build_parameters:
        name = _hpcc_name(option)
        if name is not None:
            value = build.values[option.name]
            exponent = name.endswith("_LOG") and name != "LOG_FFT_SIZE"
            fields[_FIELDS[name]] = 1 << int(value) if exponent else value
    if build.kernels.channels:  # HPCC FPGA counts pairs of channels
        pairs = build.kernels.channels // 2
        fields |= {"replications": build.replications * pairs, "transport": "channel"}
    return fields


def _hpcc_name(option: OptionSpec) -> str | None:
    names = [alias.removeprefix("--") for alias in option.aliases]
    return next((name for name in names if name in _FIELDS), None)


def learned(build: Build, manifest: Manifest, found: Resources, path: Path) -> Bitstream:
    """Add the synthesis to the system file at ``path`` (made if missing); returns the entry.

    Raises :class:`UsageError` if the file has an entry of that name.
    """
    name = re.sub(r"[^\w-]", "_", manifest.name)
    hours = sum(step.seconds for step in manifest.steps) / 3600
    entry = {
        "benchmark": build.benchmark.name,
        "name": name,
        "frequency_mhz": found.clock_mhz,
        "replications": build.replications,
        **_fields(build.benchmark, build),
        **found.amounts,
        "percent": found.percent,
        "hours": hours,
        "tool": manifest.tool,
        "preset": manifest.preset,
        "source": f"plumb synth, {manifest.finished[:10]}, SHA-256 {manifest.bitstream_sha256}",
    }
    document = {key: value for key, value in entry.items() if value not in (None, {})}
    try:
        bitstream = Bitstream.model_validate(document)
    except ValidationError as error:
        raise UsageError(
            f"{manifest.name} does not fit a system file: {first_problem(error, Bitstream)}"
        ) from None
    text = path.read_text(encoding="utf-8") if path.exists() else _head(build, path)
    if path.exists() and any(one.name == name for one in _own_bitstreams(path)):
        raise UsageError(f"{path} has an entry {name}; remove it to learn it again")
    replace_file(
        path, text.rstrip("\n") + "\n\n" + tomli_w.dumps({"device": {"bitstreams": [document]}})
    )
    return bitstream


def _own_bitstreams(path: Path) -> list[Bitstream]:
    device = load_system(path).device
    return device.bitstreams if device else []


def _head(build: Build, path: Path) -> str:
    return (
        f'board = "{build.board_name}"\n\n[system]\nname = "{path.stem}"\n'
        f'description = "syntheses for {build.board_name}"\nsource = "plumb synth"\n'
    )
