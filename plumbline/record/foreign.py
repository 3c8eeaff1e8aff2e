"""Results of other suites as records: OSU's, IMB's, nccl-tests', HPC Challenge's and HPCC FPGA's.

Each parser yields the results in a file's text, or nothing if the text is not its suite's. Their
records are marked: the warning ``imported`` names the file, and cases are ``skipped`` (measured but
not validated here), with a reason that begins with :data:`IMPORTED`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from plumbline.base.errors import UsageError
from plumbline.record.record import IMPORTED, SCHEMA_VERSION, Record

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_PREFIX = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err)>:\s?)")  # of mpirun --tag-output


@dataclass
class Point:
    """One measured point: labels, and figures with units and derivation."""

    key: str
    labels: dict[str, int | str] = field(default_factory=dict)
    figures: list[tuple[str, float, str, str]] = field(default_factory=list)


@dataclass
class Found:
    """A suite's benchmark in a file, with its machine as far as the file names it."""

    benchmark: str
    suite: str
    version: str
    title: str
    points: list[Point] = field(default_factory=list)
    aggregates: list[tuple[str, float, str, str]] = field(default_factory=list)
    ranks: int = 0
    hosts: list[str] = field(default_factory=list)
    device: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    validated: str = ""


def read(text: str, name: str) -> list[Found]:
    """The results in ``text``, a suite's file. Raises :class:`UsageError` for any other text."""
    lines = [_PREFIX.sub("", line).rstrip() for line in text.splitlines()]
    for parser in _PARSERS:
        found = [one for one in parser(f"{text}\n{name}", lines) if one.points or one.aggregates]
        if found:
            return found
    raise UsageError(
        f"{name} is no result of a known suite: OSU's, IMB's, nccl-tests', hpccoutf.txt, or HPCC "
        "FPGA's (text, JSON)"
    )


def record_of(found: Found, name: str, moment: datetime, host: str, ranks: int) -> dict[str, Any]:
    """The record's document; ``moment`` is the time of measurement, if known.

    ``host`` and ``ranks`` are used if the file has none (0 ranks: 1).
    """
    count = found.ranks or ranks or 1
    hosts = found.hosts or [host]
    reason = f"{IMPORTED} from {name}: measured by {found.suite}, not validated here"
    if found.validated:
        reason += f" ({found.validated})"
    stamp = f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "benchmark": {"name": found.benchmark, "title": found.title, "source": found.suite},
        "program": {
            "name": found.suite,
            "version": found.version,
            "commit": None,
            "dirty": False,
            "build_type": "unknown",
            "compiler": "unknown",
            "flags": "",
        },
        "command": ["plumb", "import", name],
        "started": stamp,
        "environment": {},
        "hosts": [_host(one) for one in hosts],
        "world": {
            "kind": "mpi",
            "library": None,
            "standard": None,
            "ranks": count,
            "nodes": len(hosts),
        },
        "ranks": [
            {
                "rank": rank,
                "host": rank * len(hosts) // count,
                "local_rank": 0,
                "cores": [],
                "device": _device(found.device) if found.device else None,
            }
            for rank in range(count)
        ],
        "memory": {"kind": "default", "bank": None},
        "transport": None,
        "parameters": dict(found.parameters),
        "measuring": {
            "policy": "fixed",
            "min_repetitions": 0,
            "max_repetitions": 0,
            "time_limit_s": 0.0,
            "confidence": 0.0,
            "sync": "barrier",
            "seed": 0,
            "preset": "imported",
            "validate": False,
            "timeout_s": 0.0,
        },
        "clock": {"resolution_s": 0.0, "overhead_s": 0.0},
        "planned_cases": len(found.points),
        "cases": [_case(point, reason) for point in found.points],
        "clock_sync": None,
        "metrics": [_metric(*one) for one in found.aggregates],
        "warnings": [{"code": IMPORTED, "text": reason}],
        "energy": None,
        "status": "complete",
        "reason": None,
        "finished": None,
        "outcome": {"status": "skipped", "reason": reason},
    }
    Record.model_validate_json(json.dumps(document))
    return document


def fingerprint(found: Found) -> str:
    """A hash of eight characters."""
    return hashlib.sha256(repr(found).encode()).hexdigest()[:8]


def _host(name: str) -> dict[str, object]:
    unknown = dict.fromkeys(("os", "kernel", "cpu"), "unknown")
    return {"name": name, **unknown, "cores": 0, "memory_bytes": 0, "governor": None}


def _device(name: str) -> dict[str, object]:
    unknown = dict.fromkeys(("runtime", "platform", "type", "vendor", "version", "driver"))
    return {
        **dict.fromkeys(unknown, "unknown"),
        "index": 0,
        "name": name,
        "compute_units": 0,
        "memory_bytes": 0,
        "memory_kinds": [],
    }


def _metric(name: str, value: float, unit: str, convention: str) -> dict[str, object]:
    return {
        "name": name,
        "value": value,
        "unit": unit,
        "convention": convention,
        "reason": None,
        "table": True,
    }


def _case(point: Point, reason: str) -> dict[str, object]:
    return {
        "key": point.key,
        "group": "imported",
        "labels": point.labels,
        "work": {},
        "count": 1,
        "policy": "fixed",
        "stop": None,
        "repetitions": 0,
        "late_starts": 0,
        "samples": {"unit": "s", "by_rank": [], "global": []},
        "device_samples": None,
        "phases": {},
        "tallies": {},
        "summary": None,
        "metrics": [_metric(*one) for one in point.figures],
        "validation": None,
        "outcome": {"status": "skipped", "reason": reason},
        "warnings": [],
    }


# --- words of tables ------------------------------------------------------------------------------

# Units of the columns of OSU, IMB and nccl-tests.
_UNITS = (
    (re.compile(r"(usec|\(us\)|\[us\]|latency)", re.I), "us"),
    (re.compile(r"(mbytes/sec|mb/s)", re.I), "MB/s"),
    (re.compile(r"(gb/s|algbw|busbw)", re.I), "GB/s"),
    (re.compile(r"(messages/s|msg/sec|ops/s)", re.I), "1/s"),
    (re.compile(r"b/s", re.I), "B/s"),
    (re.compile(r"gflops", re.I), "GFLOP/s"),
    (re.compile(r"flops", re.I), "FLOP/s"),
    (re.compile(r"guops|gups", re.I), "GUP/s"),
    (re.compile(r"(time|best|mean|avg|\[s\]|transfer|calc|\bs$)", re.I), "s"),
    (re.compile(r"(overlap|%)", re.I), "%"),
)


def _unit(column: str) -> str:
    return next((unit for pattern, unit in _UNITS if pattern.search(column)), "")


def _word(column: str) -> str:
    if column.lower() in ("b/s", "mb/s", "mbytes/sec"):
        return "bandwidth"
    plain = re.sub(r"[(\[].*?[)\]]|MB/s|GB/s|\bs$|^Function ", "", column)
    named = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")
    return named or re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")


def _numbers(line: str) -> list[float]:
    words = line.split()
    if not words or not all(_NUMBER.fullmatch(word) for word in words):
        return []
    return [float(word) for word in words]


def _size_point(size: int, names: Sequence[str], values: Sequence[float], of: str) -> Point:
    figures = [
        (_word(name), value, _unit(name), f"{name.strip()} as {of} prints it")
        for name, value in zip(names, values, strict=False)
        if _unit(name)
    ]
    return Point(str(size), {"message_bytes": size}, figures)


# --- OSU, IMB, nccl-tests -------------------------------------------------------------------------


def _osu(_text: str, lines: Sequence[str]) -> Iterator[Found]:
    found: Found | None = None
    names: list[str] = []
    for line in lines:
        head = re.match(r"# OSU (?P<title>.*?)(?: v(?P<version>[\d.]+))?$", line)
        if head:
            if found:
                yield found
            title = head["title"].removesuffix(" Test")
            plain = re.sub(r"\b(MPI|OpenSHMEM|Latency|Test)\b", "", title)
            suffix = "_latency" if plain.split() == [] else ""
            name = "osu_" + (_word(plain) or "") + suffix if plain.split() else "osu_latency"
            found = Found(name, "OSU Micro-Benchmarks", head["version"] or "", title)
        elif found and line.startswith(("# Size", "# Message")):
            names = re.split(r"\s{2,}|\t", line.removeprefix("# ").strip())[1:]
        elif found and names and len(values := _numbers(line)) > 1:
            found.points.append(_size_point(int(values[0]), names, values[1:], "OSU"))
    if found:
        yield found


def _imb(text: str, lines: Sequence[str]) -> Iterator[Found]:
    if "Benchmarking" not in text or "#processes" not in text:
        return
    version = re.search(r"Intel\(R\) MPI Benchmarks ([^,\n]*)", text)
    test, ranks = "", 0
    names: list[str] = []
    found: dict[tuple[str, int], Found] = {}
    for line in lines:
        if head := re.match(r"# Benchmarking\s+(\S+)", line):
            test, names = head[1], []
        elif head := re.match(r"# #processes = (\d+)", line):
            ranks = int(head[1])
        elif test and line.lstrip().startswith("#bytes"):
            names = line.split()[2:]
        elif test and names and len(values := _numbers(line)) > 2:
            key = (test, ranks)
            if key not in found:
                title = f"Intel MPI Benchmarks, {test}"
                found[key] = Found(
                    f"imb_{test.lower()}",
                    "Intel MPI Benchmarks",
                    version[1] if version else "",
                    title,
                    ranks=ranks,
                )
            found[key].points.append(_size_point(int(values[0]), names, values[2:], "IMB"))
    yield from found.values()


_NCCL_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(\w+)\s+(\w+)(?:\s+(-?\d+))?\s+([\d.].*)")


def _nccl(text: str, lines: Sequence[str]) -> Iterator[Found]:
    if "busbw" not in text:
        return
    named = re.search(r"\b(\w+)_perf\b", text)
    test = named[1] if named else "collective"
    found = Found(f"nccl_{test}", "nccl-tests", "", f"nccl-tests, {test.replace('_', ' ')}")
    devices = re.findall(r"Rank\s+(\d+).*?\bon\s+(\S+)\s+device\s+\d+\s+\[\S+\]\s+(.*)", text)
    if devices:
        found.ranks = max(int(rank) for rank, _, _ in devices) + 1
        found.hosts = list(dict.fromkeys(host for _, host, _ in devices))
        found.device = devices[0][2].strip()
    columns = ("time (us)", "algbw", "busbw")
    for line in lines:
        row = _NCCL_ROW.fullmatch(line)
        values = row[6].split() if row else []
        if row is None or len(values) not in (4, 8):
            continue
        figures = [
            (
                f"{_word(name)}{'_in_place' if place else ''}",
                float(word),
                _unit(name),
                f"{name}, {'in' if place else 'out of'} place, as nccl-tests prints it",
            )
            for place in range(len(values) // 4)
            for name, word in zip(columns, values[4 * place : 4 * place + 3], strict=True)
            if _NUMBER.fullmatch(word)
        ]
        labels: dict[str, int | str] = {"message_bytes": int(row[1]), "type": row[3], "op": row[4]}
        found.points.append(Point(f"{row[3]}/{row[1]}", labels, figures))
    yield found


# --- HPC Challenge, HPCC FPGA ---------------------------------------------------------------------

_HPCC_UNITS = (
    ("_Tflops", "TFLOP/s"), ("_Gflops", "GFLOP/s"), ("DGEMM_Gflops", "GFLOP/s"),
    ("_GBs", "GB/s"), ("_GBytes", "GB/s"), ("_GUPs", "GUP/s"), ("_usec", "us"),
    ("STREAM_Copy", "GB/s"), ("STREAM_Scale", "GB/s"), ("STREAM_Add", "GB/s"),
    ("STREAM_Triad", "GB/s"), ("_time", "s"),
)  # fmt: skip


def _hpcc(text: str, lines: Sequence[str]) -> Iterator[Found]:
    if "Begin of Summary section." not in text:
        return
    pairs = dict(line.split("=", 1) for line in lines if re.fullmatch(r"\w+=\S*", line))
    version = ".".join(pairs.get(f"Version{part}", "?") for part in ("Major", "Minor", "Micro"))
    found = Found("hpcc", "HPC Challenge", version, "HPC Challenge, hpccoutf.txt")
    found.ranks = int(float(pairs.get("CommWorldProcs", "0")))
    found.validated = f"its own checks: Success={pairs.get('Success', '?')}"
    for key, word in pairs.items():
        unit = next((unit for end, unit in _HPCC_UNITS if key.endswith(end)), None)
        if unit and _NUMBER.fullmatch(word) and float(word) >= 0:
            found.aggregates.append((key, float(word), unit, f"{key} of hpccoutf.txt"))
        elif key in ("HPL_N", "HPL_NB", "HPL_nprow", "HPL_npcol", "PTRANS_n", "PTRANS_nb"):
            found.parameters[key] = word
    yield found


def _hpcc_fpga_json(text: str, _lines: Sequence[str]) -> Iterator[Found]:
    try:
        document = json.loads(text[: text.rindex("}") + 1])  # a name follows
    except ValueError:
        return
    if not isinstance(document, dict) or not {"results", "settings", "name"} <= document.keys():
        return
    name = str(document["name"])
    found = _fpga(name, str(document.get("version", "")))
    found.device = str(document.get("device") or "")
    found.validated = f"its own validation: {document.get('validated')}"
    found.parameters = {key: str(value) for key, value in document["settings"].items()}
    found.ranks = int(document["settings"].get("MPI Ranks") or 0)
    for key, result in document["results"].items():
        if isinstance(result, dict) and isinstance(result.get("value"), (int, float)):
            unit = str(result.get("unit", ""))
            found.aggregates.append((key, float(result["value"]), unit, f"results.{key}"))
    for key, timed in (document.get("timings") or {}).items():
        if key.isdigit() and isinstance(timed, dict) and timed.get("maxCalcBW"):  # b_eff's sizes
            rate = ("bandwidth", float(timed["maxCalcBW"]), "B/s", "timings.maxCalcBW")
            size = 1 << int(key)
            found.points.append(Point(str(size), {"message_bytes": size}, [rate]))
    yield found


def _fpga(name: str, version: str) -> Found:
    plain = re.sub(r"\b(the|benchmark|effective)\b", "", name)
    known = {
        "matrix_transposition": "ptrans",
        "random_access": "random_access",
        "bandwidth": "b_eff",
    }
    word = known.get(_word(plain), _word(plain))
    return Found(f"hpcc_fpga_{word}", "HPCC FPGA", version, f"HPCC FPGA, {name}")


_SCI = re.compile(r"(?<![\w.])([-+]?\d\.\d+e[-+]\d+|\d+)(?:\s([A-Za-z%]+(?:/s)?)(?=\s|$))?")


def _hpcc_fpga_text(text: str, lines: Sequence[str]) -> Iterator[Found]:
    named = re.search(r"Implementation of the (.*?) benchmark", text)
    version = re.search(r"^Version:\s+(\S+)", text, re.M)
    if version is None or not re.search(r"^Summary:", text, re.M):
        return
    found = _fpga(named[1] if named else _line_before(lines, "Version:"), version[1])
    begin = next(i for i, line in enumerate(lines) if line.startswith("Summary:"))
    end = next((i for i in range(begin, len(lines)) if lines[i].startswith("---")), len(lines))
    pairs = [re.fullmatch(r"(\S.*?)\s{2,}(\S.*)", line) for line in lines[begin:end]]
    found.parameters = {pair[1]: pair[2] for pair in pairs if pair}
    _fpga_results(found, lines[end:])
    found.ranks = int(found.parameters.get("MPI Ranks", "0"))
    found.device = found.parameters.get("Device", "")
    yield found


def _fpga_results(found: Found, lines: Sequence[str]) -> None:
    names: list[str] = []
    for line in lines:
        if total := re.match(r"b_eff\s*[=:]\s*(\S+) (\S+)", line):
            found.aggregates.append(("b_eff", float(total[1]), total[2], "b_eff as printed"))
        elif line.startswith(("Validation: ", "ERROR: VALIDATION")):
            found.validated = f"its own validation: {line.partition(':')[2].strip()}"
        elif (row := _fpga_row(line, names)) is not None:
            found.points.append(row)
        elif not re.search(r"\d", line):
            names = re.split(r"\s{2,}", line.strip())


def _line_before(lines: Sequence[str], start: str) -> str:
    place = next(i for i, line in enumerate(lines) if line.startswith(start))
    return lines[place - 1].strip() if place else ""


def _fpga_row(line: str, names: Sequence[str]) -> Point | None:
    """A row of numbers for the columns ``names``; None for any other line."""
    cells = _SCI.findall(line)
    first = _SCI.search(line)
    label = line[: first.start()].strip(" :\t") if first else ""
    if len(cells) < 2 or not any("e" in value for value, _ in cells) or not names:
        return None
    columns = list(names)
    if label and len(columns) > len(cells):
        columns = columns[1:]
    if len(columns) != len(cells):
        return None
    figures = []
    for column, (value, unit) in zip(columns, cells, strict=True):
        given = unit or _unit(column)
        given = _unit(label) if label in ("GFLOPS", "Time in s") else given
        if given:
            figures.append((_word(column), float(value), given, f"{column} as HPCC FPGA prints it"))
    if columns[0] in ("MSize", "Message Size"):
        size = int(float(cells[0][0]))
        return Point(str(size), {"message_bytes": size}, figures[0:])
    if any(word in " ".join(columns).lower() for word in ("resid", "error", "eps")):
        return None
    return Point(label or "result", {"operation": label} if label else {}, figures)


_Parser = Callable[[str, Sequence[str]], Iterator[Found]]
_PARSERS: tuple[_Parser, ...] = (_osu, _imb, _nccl, _hpcc, _hpcc_fpga_json, _hpcc_fpga_text)
