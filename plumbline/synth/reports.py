"""Reports of the vendors' tools: resources and clocks.

Readers take the files as the tools print them: ``acl_quartus_report.txt`` (aoc), ``csynth.xml``
(Vitis HLS, estimates of one kernel), ``kernel_util_routed.rpt`` (v++).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from plumbline.base.errors import UsageError

AOC_REPORT = "acl_quartus_report.txt"
HLS_REPORT = "csynth.xml"
ROUTED_REPORT = "kernel_util_routed.rpt"

# Quantities by their keys in the reports.
_AOC = {"ALUTs": "luts", "Registers": "registers", "RAM blocks": "brams", "DSP blocks": "dsps"}
_HLS = {"LUT": "luts", "FF": "registers", "BRAM_18K": "brams", "DSP": "dsps", "URAM": "urams"}
_ROUTED = {"LUT": "luts", "REG": "registers", "BRAM": "brams", "DSP": "dsps", "URAM": "urams"}
_AMOUNT = re.compile(r"(\d[\d,]*)(?:\s*/\s*\d[\d,]*)?(?:\s*[\[(]\s*(<?\s*[\d.]+)\s*%\s*[\])])?")


@dataclass
class Resources:
    """What a report tells: amounts, their percentages as printed, and clocks in MHz.

    ``clock_mhz`` is the kernels' actual clock, ``fmax_mhz`` the highest that timing allows;
    ``estimated``: before place and route.
    """

    amounts: dict[str, int] = field(default_factory=dict)
    percent: dict[str, str] = field(default_factory=dict)
    clock_mhz: float | None = None
    fmax_mhz: float | None = None
    kernel: str | None = None
    estimated: bool = False


def read_report(path: Path) -> Resources:
    """The resources of a report, by the name of its file. Raises :class:`UsageError`."""
    readers = {AOC_REPORT: _read_aoc, HLS_REPORT: _read_hls, ROUTED_REPORT: _read_routed}
    reader = readers.get(path.name)
    if reader is None and path.name.endswith(HLS_REPORT):
        reader = _read_hls
    if reader is None:
        raise UsageError(f"{path} is no report ({', '.join(readers)})")
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"the report {path} cannot be read: {error.strerror}") from None
    return reader(path, text)


def _read_aoc(path: Path, text: str) -> Resources:
    found = Resources()
    values = dict(re.findall(r"^\s*([^:\n]+?)\s*:\s*(.*?)\s*$", text, re.MULTILINE))
    for key, name in _AOC.items():
        _put(found, name, values.get(key, ""), path, f"{key}:")
    found.clock_mhz = _mhz(values, "Actual clock freq", path)
    found.fmax_mhz = _mhz(values, "Kernel fmax", path)
    return found


def _mhz(values: dict[str, str], key: str, path: Path) -> float:
    try:
        clock = float(values[key])
    except (KeyError, ValueError):
        raise UsageError(f"the report {path} is truncated: no '{key}:'") from None
    if not 0 < clock < 1e5:
        raise UsageError(f"the report {path}: '{key}:' must be a clock in MHz, not {clock}")
    return clock


def _put(found: Resources, name: str, text: str, path: Path, key: str) -> None:
    amount = _AMOUNT.fullmatch(text.strip())
    if amount is None:
        raise UsageError(f"the report {path} is truncated: no number of '{key}'")
    found.amounts[name] = int(amount[1].replace(",", ""))
    if amount[2]:
        found.percent[name] = amount[2].replace(" ", "")


def _read_hls(path: Path, text: str) -> Resources:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise UsageError(f"the report {path} is truncated or no XML: {error}") from None
    resources = root.find("AreaEstimates/Resources")
    period = root.findtext("PerformanceEstimates/SummaryOfTimingAnalysis/EstimatedClockPeriod")
    if resources is None or period is None:
        raise UsageError(f"the report {path} has no AreaEstimates or no EstimatedClockPeriod")
    found = Resources(estimated=True, kernel=root.findtext("UserAssignments/TopModelName"))
    for key, name in _HLS.items():
        amount = resources.findtext(key) or (resources.findtext("DSP48E") if key == "DSP" else None)
        if amount is not None:
            _put(found, name, amount, path, key)
    # BRAM_18K counts halves of the blocks that other reports count.
    if "brams" in found.amounts:
        found.amounts["brams"] = (found.amounts["brams"] + 1) // 2
    try:
        found.fmax_mhz = 1e3 / float(period)
    except (ValueError, ZeroDivisionError):
        raise UsageError(
            f"the report {path}: EstimatedClockPeriod must be ns, not {period}"
        ) from None
    return found


def _read_routed(path: Path, text: str) -> Resources:
    """The row ``Used Resources``: all kernels, without the platform."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.strip().startswith("|")
    ]
    head = next((row for row in rows if row[0] == "Name"), None)
    used = next((row for row in rows if row[0] == "Used Resources"), None)
    if head is None or used is None or len(used) != len(head):
        raise UsageError(f"the report {path} is truncated: no row 'Used Resources'")
    found = Resources()
    for key, name in _ROUTED.items():
        if key in head:
            _put(found, name, used[head.index(key)], path, key)
    return found
