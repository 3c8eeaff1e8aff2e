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
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from plumbline.base.errors import UsageError
from plumbline.record.record import IMPORTED, SCHEMA_VERSION, Record

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# Of mpirun --tag-output (with --timestamp-output) and of srun --label.
_PREFIX = re.compile(r"^(?:[^\[\]#]{0,40}\[\d+,\d+\]<std(?:out|err)>:\s?|\d+: )")


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
    moment: datetime | None = None


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
    """The record's document; ``moment``, ``host`` and ``ranks`` are used if the file has none.

    0 ranks: 1.
    """
    count = found.ranks or ranks or 1
    hosts = found.hosts or [host]
    reason = f"{IMPORTED} from {name}: measured by {found.suite}, not validated here"
    if found.validated:
        reason += f" ({found.validated})"
    stamp = f"{(found.moment or moment).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
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
        "emulated": _emulated(found),
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


def _emulated(found: Found) -> str | None:
    """HPCC FPGA's setting of HPL says so; otherwise the name of Intel's emulator does."""
    if "Emulation" in found.device:
        return f"{found.device} emulates a board"
    by_setting = found.parameters.get("Emulate") in ("Yes", "True")
    return f"{found.suite} emulated its kernels" if by_setting else None


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
    (re.compile(r"million ops/s", re.I), "Mop/s"),
    (re.compile(r"(messages/s|msg/sec|ops/s)", re.I), "1/s"),
    (re.compile(r"b/s", re.I), "B/s"),
    (re.compile(r"gflops", re.I), "GFLOP/s"),
    (re.compile(r"flops", re.I), "FLOP/s"),
    (re.compile(r"guops|gups", re.I), "GUP/s"),
    (re.compile(r"(time|best|mean|avg|\[s\]|transfer|calc|\bs$)", re.I), "s"),
    (re.compile(r"(overlap|%)", re.I), "%"),
)


# Names of columns that are nothing but a unit.
_RATES = {
    **dict.fromkeys(("b/s", "mb/s", "mbytes/sec"), "bandwidth"),
    **dict.fromkeys(("messages/s", "msg/sec"), "message_rate"),
    "million ops/s": "operation_rate",
}


def _unit(column: str) -> str:
    return next((unit for pattern, unit in _UNITS if pattern.search(column)), "")


def _word(column: str) -> str:
    known = _RATES.get(column.lower())
    if known:
        return known
    plain = re.sub(r"[(\[].*?[)\]]|MB/s|GB/s|\bs$|^Function ", "", column)
    named = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")
    return named or re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")


def _numbers(line: str) -> list[float]:
    words = line.split()
    if not words or not all(_NUMBER.fullmatch(word) for word in words):
        return []
    return [float(word) for word in words]


def _figures(
    names: Sequence[str], values: Sequence[float], of: str
) -> list[tuple[str, float, str, str]]:
    return [
        (_word(name), value, _unit(name), f"{name.strip()} as {of} prints it")
        for name, value in zip(names, values, strict=False)
        if _unit(name)
    ]


# --- OSU ------------------------------------------------------------------------------------------

_DEVICES = re.compile(r"-(CUDA|ROCM|SYCL|OPENACC|OPENCL)\b")
# From a title (lower case, words only) to the program's name, in this order.
_OSU_WORDS = (
    (r"^mpi ", ""), (r" test$", ""), (r"^openshmem ", "oshm "),
    (r"all to all([vw]?)( personalized exchange)?", r"alltoall\1"),
    ("broadcast", "bcast"), ("neighborhood", "neighbor"),
    ("bi directional bandwidth", "bibw"), ("multiple bandwidth message rate", "mbw mr"),
    ("multi threaded latency", "latency mt"), ("multi process latency", "latency mp"),
    ("multi latency", "multi lat"), ("hello world", "hello"),
    ("bandwidth congestion (in|out)", r"bw fan \1"), ("bandwidth", "bw"), ("message rate", "mr"),
    ("compare and swap", "cas"), ("fetch and op", "fop"), ("accumulate", "acc"),
    ("atomic operation rate", "atomics"), ("non blocking ", "i"),
    # Collectives' programs are named without "latency".
    (r"^(i?(?:neighbor )?(?:all|bcast|barrier|gather|scatter|reduce).*) latency", r"\1"),
    (r"^(oshm .*) latency$", r"\1"),
)  # fmt: skip
_OSU_SAID = (
    (re.compile(r"# Datatype: (?P<datatype>\w+)"), ("datatype",)),
    (re.compile(r"# Window creation: (?P<window_creation>\S+)"), ("window_creation",)),
    (re.compile(r"# Synchronization: (?P<synchronization>\S+)"), ("synchronization",)),
    (re.compile(r"# Send Buffer on (?P<buffers>.*)"), ("buffers",)),
    (
        re.compile(r"# \[ pairs: (?P<pairs>\d+) \] \[ window size: (?P<window>\w+) \]"),
        ("pairs", "window"),
    ),
)
_MARKS = ("Pass", "Fail", "N/A", "-")  # in columns of numbers


def _osu(_text: str, lines: Sequence[str]) -> Iterator[Found]:
    found: Found | None = None
    names: list[str] = []
    for line in map(str.lstrip, lines):
        head = re.match(r"# OSU (?P<title>.*?)(?: v(?P<version>[\d.]+))?$", line)
        if head:
            if found:
                yield found
            found, names = _osu_test(head["title"], head["version"] or ""), []
        elif found and (said := _osu_said(line)):
            if found.points and "datatype" in said:  # the same test in another type
                yield found
                found = replace(found, points=[], parameters=dict(found.parameters))
            found.parameters.update(said)
        elif found and (line.startswith("# ") or not names) and (columns := _columns(line)):
            names = columns
        elif found and names and (point := _osu_point(found, names, line.split())):
            found.points.append(point)
    if found:
        yield found


def _osu_test(title: str, version: str) -> Found:
    device = _DEVICES.search(title)
    plain = re.sub(r"[^a-z0-9]+", " ", _DEVICES.sub("", title).lower()).strip()
    for words, instead in _OSU_WORDS:
        plain = re.sub(words, instead, plain)
    own = re.search(r"\bosu_\w+", title)
    name = own[0] if own else "_".join(["osu", *plain.split()])
    found = Found(name, "OSU Micro-Benchmarks", version, title.removesuffix(" Test"))
    if device:
        found.parameters["accelerator"] = device[1]
    return found


def _osu_said(line: str) -> dict[str, str]:
    for pattern, names in _OSU_SAID:
        if matched := pattern.match(line):
            return {name: matched[name].rstrip(".") for name in names}
    return {}


def _columns(line: str) -> list[str]:
    """The headings of a table, the first that of the rows' labels; empty for any other comment."""
    spaced = re.sub(r"\s(P[\d.]+ Tail)", r"  \1", line.removeprefix("# ").strip())
    names = re.split(r"\s{2,}|\t", spaced)
    if not line.startswith("#"):  # that of osu_ibarrier
        return ["", *names] if all(re.fullmatch(r"\S.*\(\S+\)", one) for one in names) else []
    is_label = names[0] in ("Size", "Message Size", "Operation", "Message size")
    if not is_label and _unit(names[0]) and "=" not in line:
        return ["", *names]  # a single row without a label
    return names if is_label and len(names) > 1 else []


def _osu_point(found: Found, names: Sequence[str], words: Sequence[str]) -> Point | None:
    label = words[0] if names[0] and words else ""
    cells = words[1:] if label else words
    if len(cells) != len(names) - 1 or not all(_NUMBER.fullmatch(w) or w in _MARKS for w in cells):
        return None
    if "Pass" in cells and not found.validated:
        found.validated = "its own validation: Pass"
    if "Fail" in cells:
        found.validated = f"its own validation: Fail at {label or 'its row'}"
        return None
    values = {n: float(w) for n, w in zip(names[1:], cells, strict=True) if _NUMBER.fullmatch(w)}
    figures = _figures(list(values), list(values.values()), "OSU")
    if not label:
        return Point("result", {}, figures)
    if names[0] == "Operation":
        return Point(label, {"operation": label}, figures)
    return Point(label, {"message_bytes": int(label)}, figures) if label.isdigit() else None


# --- IMB ------------------------------------------------------------------------------------------


_IMB_SAID = (
    (re.compile(r"# #processes = (\d+)(?: \(threads: (\d+)\))?"), ("processes", "threads")),
    (
        re.compile(r"# \( (\d+) groups of (\d+) processes each running"),
        ("groups", "processes"),
    ),
    (re.compile(r"#\s+MODE: (\S+)"), ("mode",)),
    (re.compile(r"# window_size = (\d+)"), ("window",)),
)


def _imb(text: str, lines: Sequence[str]) -> Iterator[Found]:
    """A record for each test, number of processes and mode."""
    head = re.search(r"Intel ?\(R\) MPI Benchmarks ([^,\n]*)(?:, (\S+) part)?", text)
    if "Benchmarking" not in text or "#repetitions" not in text:
        return
    found: Found | None = None
    names: list[str] = []
    for line in lines:
        if told := re.match(r"# Benchmarking\s+(\S+)", line):
            if found:
                yield found
            found, names = _imb_test(told[1], head), []
        elif found and line.startswith("#"):
            _imb_said(found, line)
        elif found and "#repetitions" in line:
            names = line.split()
        elif found and names and len(values := _numbers(line)) == len(names):
            found.points.append(_imb_point(dict(zip(names, values, strict=True))))
    if found:
        yield found


def _imb_test(test: str, head: re.Match[str] | None) -> Found:
    found = Found(
        f"imb_{test.lower().replace('-', '_')}",
        "Intel MPI Benchmarks",
        head[1].strip() if head else "",
        f"Intel MPI Benchmarks, {test}",
    )
    if head and head[2]:
        found.parameters["component"] = head[2]
    return found


def _imb_said(found: Found, line: str) -> None:
    for pattern, names in _IMB_SAID:
        if told := pattern.match(line):
            said = {n: v for n, v in zip(names, told.groups(), strict=True) if v}
            found.ranks = found.ranks or int(said.get("processes", 0)) * int(said.get("groups", 1))
            found.parameters.update({n: v for n, v in said.items() if n != "processes"})


def _imb_point(row: dict[str, float]) -> Point:
    """A row; without sizes (barriers) its key is ``result``, of a group of ranks it is first."""
    size, group = row.pop("#bytes", None), row.pop("Group", None)
    row.pop("#repetitions")
    labels: dict[str, int | str] = {}
    if size is not None:
        labels["message_bytes"] = int(size)
    if group is not None:
        labels["group"] = int(group)
    words = [f"group {group:.0f}"] if group is not None else []
    words.append("result" if size is None else str(int(size)))
    return Point("/".join(words), labels, _figures(list(row), list(row.values()), "IMB"))


# --- nccl-tests -----------------------------------------------------------------------------------

_NCCL_COLUMNS = (
    *("time (us)", "algbw", "busbw", "", "i_min (us)", "i_max (us)", "i_p99 (us)", "i_cv%"),
)
_NCCL_FILES = (  # in this order
    ("all_?reduce", "all_reduce"), ("all_?gather", "all_gather"), ("all_?to_?all", "alltoall"),
    ("reduce_?scatter", "reduce_scatter"), ("broadcast", "broadcast"), ("send_?recv", "sendrecv"),
    ("hypercube", "hypercube"), ("gather", "gather"), ("scatter", "scatter"), ("reduce", "reduce"),
)  # fmt: skip
_NCCL_RANK = re.compile(r"Rank\s+(\d+)\b.*?\bon\s+(\S+)\s+device\s+\d+\s+\[\S+\]\s+(.*)")


def _nccl(text: str, lines: Sequence[str]) -> Iterator[Found]:
    """The tests of a log: one begins where another is named, or where the list of devices is."""
    if "busbw" not in text:
        return
    program = re.compile(r"\b(\w+)_perf\b")
    named, version = program.search(text), re.search(r"\bnccl-tests version (\S+)", text)
    name = named[1] if named else _nccl_name(text.rpartition("\n")[2])
    found = _nccl_test(name, version)
    for line in lines:
        told = program.search(line)
        if (told and told[1] != name) or ("# nThread" in line and found.points):
            name = told[1] if told else name
            if found.points:
                yield found
            found = _nccl_test(name, version)
        _nccl_line(found, line)
    yield found


def _nccl_name(file: str) -> str:
    """Old tests do not print their own name; then the file's may tell it (``allreduce.log``)."""
    return next((name for words, name in _NCCL_FILES if re.search(words, file.lower())), "unknown")


def _nccl_test(name: str, version: re.Match[str] | None) -> Found:
    title = f"nccl-tests, {name.replace('_', ' ')}"
    return Found(f"nccl_{name}", "nccl-tests", version[1] if version else "", title)


def _nccl_line(found: Found, line: str) -> None:
    if told := _NCCL_RANK.search(line):
        _nccl_rank(found, told)
    elif told := re.search(r"Out of bounds values\s*:\s*(.*)", line):
        found.validated = f"its own check: {told[1].strip()} values out of bounds"
    elif (point := _nccl_point(line.split())) is not None:
        found.points.append(point)


def _nccl_rank(found: Found, told: re.Match[str]) -> None:
    if told[2] not in found.hosts:
        found.hosts.append(told[2])
    found.ranks = max(found.ranks, int(told[1]) + 1, len(found.hosts))
    found.device = found.device or told[3].strip()


def _nccl_point(words: Sequence[str]) -> Point | None:
    """A row: size, count, type, redop and root (some tests have neither), then by placement four.

    Four are time, algbw, busbw and wrong values (older versions: an error); with ``-I`` four more,
    of single iterations. A time of day may follow.
    """
    if len(words) < 7 or not (words[0].isdigit() and words[1].isdigit() and words[2].isalnum()):
        return None
    type_, rest = words[2], [word for word in words[3:] if not re.search(r"\d[-:]\d", word)]
    op = "" if _NUMBER.fullmatch(rest[0]) else rest.pop(0)
    if len(rest) in (5, 9, 17):
        rest.pop(0)  # the root
    if len(rest) not in (4, 8, 16) or not all(_NUMBER.fullmatch(w) or w == "N/A" for w in rest):
        return None
    wide = 8 if len(rest) == 16 else 4
    places = [rest[at : at + wide] for at in range(0, len(rest), wide)]
    figures = [one for number, cells in enumerate(places) for one in _nccl_place(number, cells)]
    labels: dict[str, int | str] = {"message_bytes": int(words[0]), "type": type_, "op": op}
    return Point(f"{type_}/{words[0]}", labels, figures)


def _nccl_place(number: int, cells: Sequence[str]) -> Iterator[tuple[str, float, str, str]]:
    """Figures of one placement; none if values were wrong. An error (``1e-06``) is no count."""
    if cells[3].isdigit() and int(cells[3]) > 0:
        return
    for name, word in zip(_NCCL_COLUMNS, cells, strict=False):
        if name and _NUMBER.fullmatch(word):
            place = f"{'in' if number else 'out of'} place"
            key = f"{_word(name)}{'_in_place' if number else ''}"
            yield key, float(word), _unit(name), f"{name}, {place}, as nccl-tests prints it"


# --- HPC Challenge, HPCC FPGA ---------------------------------------------------------------------

_HPCC_UNITS = (
    ("_Tflops", "TFLOP/s"), ("_Gflops", "GFLOP/s"), ("DGEMM_Gflops", "GFLOP/s"),
    ("_GBs", "GB/s"), ("_GBytes", "GB/s"), ("_GUPs", "GUP/s"), ("_usec", "us"),
    ("STREAM_Copy", "GB/s"), ("STREAM_Scale", "GB/s"), ("STREAM_Add", "GB/s"),
    ("STREAM_Triad", "GB/s"), ("_time", "s"),
)  # fmt: skip


def _hpcc(_text: str, lines: Sequence[str]) -> Iterator[Found]:
    """A record for each run: hpcc appends to its file."""
    begins = [i for i, line in enumerate(lines) if line == "Begin of Summary section."]
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=False):
        yield _hpcc_run(lines[begin:end])


def _hpcc_run(lines: Sequence[str]) -> Found:
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
    return found


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
    with suppress(ValueError):  # Wed Dec 14 09:56:29 UTC 2022
        words = str(document.get("execution_time", "")).replace(" UTC ", " +0000 ")
        found.moment = datetime.strptime(words, "%a %b %d %H:%M:%S %z %Y")
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


_CELL = re.compile(r"(?<![\w.])([-+]?\d+\.\d+(?:e[-+]\d+)?|\d+)(?:\s([A-Za-z%]+(?:/s)?)(?=\s|$))?")


def _hpcc_fpga_text(text: str, lines: Sequence[str]) -> Iterator[Found]:
    named = re.search(r"Implementation of the (.*?) benchmark", text)
    version = re.search(r"^Version:\s+(\S+)", text, re.M)
    if version is None or not re.search(r"^Summary:", text, re.M):
        return
    name = named[1] if named else _line_before(lines, "Version:")
    found = _fpga(name, version[1].strip('"'))
    begin = next(i for i, line in enumerate(lines) if line.startswith("Summary:"))
    end = next((i for i in range(begin, len(lines)) if lines[i].startswith("---")), len(lines))
    pairs = [re.fullmatch(r"(\S.*?)\s{2,}(\S.*)", line) for line in lines[begin:end]]
    found.parameters = {pair[1].rstrip(":"): pair[2] for pair in pairs if pair}
    _fpga_results(found, lines[end:])
    found.ranks = int(found.parameters.get("MPI Ranks", "0"))
    found.device = found.parameters.get("Device", "")
    yield found


def _hpcc_fpga_first(text: str, lines: Sequence[str]) -> Iterator[Found]:
    """STREAM as it was before the suite had one form."""
    if not re.search(r"^STREAM FPGA (based|version)", text, re.M):
        return
    found = _fpga("STREAM", "")
    device = re.search(r"^Device Name:\s+(.*)", text, re.M)
    found.device = device[1] if device else ""
    _fpga_results(found, lines)
    yield found


def _fpga_results(found: Found, lines: Sequence[str]) -> None:
    names: list[str] = []
    for line in lines:
        if total := re.match(r"b_eff\s*[=:]\s*(\S+) (\S+)", line):
            found.aggregates.append(("b_eff", float(total[1]), total[2], "b_eff as printed"))
        elif line.startswith(("Validation: ", "ERROR: VALIDATION", "Solution Validates")):
            found.validated = f"its own validation: {line.partition(':')[2].strip()}"
            if found.points:
                return  # what follows are lines of other ranks
        elif (row := _fpga_row(line, names)) is not None:
            found.points.append(row)
        elif not re.search(r"\d", line):
            names = re.split(r"\s{2,}", line.strip())


def _line_before(lines: Sequence[str], start: str) -> str:
    place = next(i for i, line in enumerate(lines) if line.startswith(start))
    return lines[place - 1].strip() if place else ""


def _fpga_row(line: str, names: Sequence[str]) -> Point | None:
    """A row of numbers for the columns ``names``; None for any other line."""
    cells = _CELL.findall(line)
    first = _CELL.search(line)
    label = line[: first.start()].strip(" :\t") if first else ""
    if len(cells) < 2 or not any("." in value for value, _ in cells) or not names:
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
    if not figures:  # errors of the validation
        return None
    if columns[0] in ("MSize", "Message Size"):
        size = int(float(cells[0][0]))
        return Point(str(size), {"message_bytes": size}, figures)
    return Point(label or "result", {"operation": label} if label else {}, figures)


_Parser = Callable[[str, Sequence[str]], Iterator[Found]]
_PARSERS: tuple[_Parser, ...] = (
    *(_osu, _imb, _nccl, _hpcc),
    *(_hpcc_fpga_json, _hpcc_fpga_text, _hpcc_fpga_first),
)
