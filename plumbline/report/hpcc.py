"""Records in the form of HPC Challenge's ``hpccoutf.txt``: its summary section, key=value.

All keys of HPCC 1.5.0, in its order. Keys without a record have ``hpcc``'s values of tests not run:
-1, or - for a letter. Only records under HPCC's rules count (double, general matrix, all ranks
together or a single one); others are omitted, with the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plumbline.record.record import Case, Record

Number = int | float | str
_ABSENT = -1
_LETTERS = ("HPL_cpfact", "HPL_crfact", "HPL_ctop", "HPL_order")
LATENCY_BYTES = 8
BANDWIDTH_BYTES = 2**21  # HPCC's are of 2,000,000 bytes

_RANDOM_ACCESS = (
    *("N", "time", "CheckTime", "Errors", "ErrorsFraction", "ExeUpdates", "GUPs", "TimeBound"),
    "Algorithm",
)
_MACHINE = ("EPS", "SFMIN", "BASE", "PREC", "MLEN", "RND", "EMIN", "RMIN", "EMAX", "RMAX")
KEYS = (
    *("VersionMajor", "VersionMinor", "VersionMicro", "VersionRelease", "LANG", "Success"),
    *("sizeof_char", "sizeof_short", "sizeof_int", "sizeof_long", "sizeof_void_ptr"),
    *("sizeof_size_t", "sizeof_float", "sizeof_double", "sizeof_s64Int", "sizeof_u64Int"),
    *("sizeof_struct_double_double", "CommWorldProcs", "MPI_Wtick"),
    *(f"HPL_{one}" for one in ("Tflops", "time", "eps", "RnormI", "Anorm1", "AnormI", "Xnorm1")),
    *(f"HPL_{one}" for one in ("XnormI", "BnormI", "N", "NB", "nprow", "npcol", "depth", "nbdiv")),
    *(f"HPL_{one}" for one in ("nbmin", "cpfact", "crfact", "ctop", "order")),
    *(f"HPL_{kind}MACH_{one}" for kind in "ds" for one in _MACHINE),
    *("dweps", "sweps", "HPLMaxProcs", "HPLMinProcs"),
    *("DGEMM_N", "StarDGEMM_Gflops", "SingleDGEMM_Gflops"),
    *(f"PTRANS_{one}" for one in ("GBs", "time", "residual", "n", "nb", "nprow", "npcol")),
    *(f"MPIRandomAccess_LCG_{one}" for one in _RANDOM_ACCESS),
    *(f"MPIRandomAccess_{one}" for one in _RANDOM_ACCESS),
    *("RandomAccess_LCG_N", "StarRandomAccess_LCG_GUPs", "SingleRandomAccess_LCG_GUPs"),
    *("RandomAccess_N", "StarRandomAccess_GUPs", "SingleRandomAccess_GUPs"),
    *("STREAM_VectorSize", "STREAM_Threads"),
    *(f"{m}STREAM_{o}" for m in ("Star", "Single") for o in ("Copy", "Scale", "Add", "Triad")),
    *("FFT_N", "StarFFT_Gflops", "SingleFFT_Gflops"),
    *("MPIFFT_N", "MPIFFT_Gflops", "MPIFFT_maxErr", "MPIFFT_Procs"),
    *("MaxPingPongLatency_usec", "RandomlyOrderedRingLatency_usec", "MinPingPongBandwidth_GBytes"),
    *("NaturallyOrderedRingBandwidth_GBytes", "RandomlyOrderedRingBandwidth_GBytes"),
    *("MinPingPongLatency_usec", "AvgPingPongLatency_usec", "MaxPingPongBandwidth_GBytes"),
    *("AvgPingPongBandwidth_GBytes", "NaturallyOrderedRingLatency_usec"),
    *("FFTEnblk", "FFTEnp", "FFTEl2size", "M_OPENMP", "omp_get_num_threads"),
    *("omp_get_max_threads", "omp_get_num_procs", "MemProc", "MemSpec", "MemVal"),
    *(f"MPIFFT_time{step}" for step in range(7)),
    *("CPS_HPCC_FFT_235", "CPS_HPCC_FFTW_ESTIMATE", "CPS_HPCC_MEMALLCTR"),
    *("CPS_HPL_USE_GETPROCESSTIMES", "CPS_RA_SANDIA_NOPT", "CPS_RA_SANDIA_OPT2"),
    "CPS_USING_FFTW",
)


@dataclass
class Summary:
    """The values from the records, and the reasons for missing ones."""

    values: dict[str, Number] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The section, without a final newline."""
        lines = [f"{key}={_written(self.values.get(key, _absent(key)))}" for key in KEYS]
        return "\n".join(["Begin of Summary section.", *lines, "End of Summary section."])


def summary(records: Sequence[Record]) -> Summary:
    """All records in one summary; the later record of the same key counts."""
    found = Summary()
    for record in records:
        part = _PARTS.get(record.benchmark.name)
        name = f"{record.benchmark.name} of {record.started}"
        reason = _refusal(record) if part else "HPCC has no such benchmark"
        if part is None or reason:
            found.notes.append(f"{name}: left out: {reason}")
            continue
        notes = [f"emulated: {record.emulated}"] if record.emulated else []
        values = part(record, notes.append)
        found.notes += [f"{name}: {text}" for text in notes]
        found.values.update({key: value for key, value in values.items() if value is not None})
    if found.values:
        found.values = {**_frame(records), **found.values}
    return found


# --- what is said of all --------------------------------------------------------------------------


def _frame(records: Sequence[Record]) -> dict[str, Number]:
    ranks = max(record.world.ranks for record in records)
    right = all(record.outcome and record.outcome.status == "passed" for record in records)
    values: dict[str, Number] = {"Success": int(right), "CommWorldProcs": ranks}
    values |= dict.fromkeys(("LANG",), "C")
    values |= {f"sizeof_{name}": size for name, size in _SIZES.items()}
    for letter, (digits, least, most) in _REALS.items():
        values |= {f"HPL_{letter}MACH_{k}": v for k, v in _machine(digits, least, most).items()}
    values |= {"dweps": 2.0**-53, "sweps": 2.0**-24}
    return values


# Of double and float, by IEEE 754: bits of the significand, least and largest exponent.
_REALS = {"d": (53, -1021, 1024), "s": (24, -125, 128)}


def _machine(digits: int, least: int, most: int) -> dict[str, float]:
    """The values of LAPACK's dlamch for these numbers."""
    eps, smallest = 2.0**-digits, 2.0 ** (least - 1)
    largest = 2.0 ** (most - 1) * (2 - 2.0 ** (1 - digits))
    values = (eps, smallest, 2.0, 2 * eps, digits, 1.0, least, smallest, most, largest)
    return {name: float(value) for name, value in zip(_MACHINE, values, strict=True)}


_SIZES = {"char": 1, "short": 2, "int": 4, "long": 8, "void_ptr": 8, "size_t": 8, "float": 4}
_SIZES |= {"double": 8, "s64Int": 8, "u64Int": 8, "struct_double_double": 16}


def _absent(key: str) -> Number:
    return "-" if key in _LETTERS else _ABSENT


def _written(value: Number) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _refusal(record: Record) -> str:
    if record.outcome is None or record.outcome.status != "passed":
        return f"the run is {record.outcome.status if record.outcome else record.status}"
    given = record.parameters.get("type", "double")
    if given != "double":
        return f"it is in {given}, HPCC's in double"
    if record.parameters.get("matrix", "general") != "general":
        return "HPL's matrix is general"
    return ""


# --- a benchmark each -----------------------------------------------------------------------------

_Values = dict[str, Number | None]
_Note = Callable[[str], None]


def _case(record: Record, **labels: object) -> Case | None:
    """The first passed case with these labels."""
    return next(_cases(record, labels), None)


def _cases(record: Record, labels: Mapping[str, object]) -> Iterator[Case]:
    for case in record.cases:
        fits = all(case.labels.get(name) == value for name, value in labels.items())
        if fits and case.outcome.status == "passed":
            yield case


def _metric(case: Case | None, *names: str) -> float | None:
    """The case's first metric among ``names``."""
    for name in names:
        for metric in case.metrics if case else ():
            if metric.name == name and metric.value is not None:
                return metric.value
    return None


def _mode(record: Record) -> str:
    """Star: all ranks at once, independently. Single: a single rank."""
    return "Single" if active_ranks(record) == 1 else "Star"


def active_ranks(record: Record) -> int:
    """The number of working ranks; the rest are idle."""
    return record.measuring.active_ranks or record.world.ranks


def _of_one_rank(case: Case | None, name: str) -> float | None:
    """The mean of the ranks' values."""
    return _metric(case, f"{name}_per_rank", name)


def _grid(case: Case) -> tuple[int | None, int | None]:
    words = case.label("grid").replace(" ", "").split("x")
    return (int(words[0]), int(words[1])) if len(words) == 2 else (None, None)


def _label(case: Case, name: str) -> int | None:
    value = case.labels.get(name)
    return value if isinstance(value, int) else None


def _best_s(case: Case) -> float | None:
    return case.summary.min_s / case.count if case.summary and case.count else None


def _hpl(record: Record, note: _Note) -> _Values:
    if record.parameters.get("refine", "off") != "off":
        note("left out: a refined solution is HPL-MxP's, not HPL's")
        return {}
    case = _case(record)
    rate = _metric(case, "performance")
    if case is None or rate is None:
        return {}
    rows, columns = _grid(case)
    depth = record.parameters.get("depth")
    return {
        "HPL_Tflops": rate / 1e3,
        "HPL_time": _best_s(case),
        "HPL_eps": 2.0**-53,
        "HPL_N": _label(case, "n"),
        "HPL_NB": _label(case, "block"),
        "HPL_nprow": rows,
        "HPL_npcol": columns,
        "HPL_depth": depth if isinstance(depth, int) else None,
        "HPL_order": "R",
        "HPLMaxProcs": record.world.ranks,
        "HPLMinProcs": record.world.ranks,
    }


def _ptrans(record: Record, _: _Note) -> _Values:
    case = _case(record)
    rate = _metric(case, "bandwidth")
    if case is None or rate is None:
        return {}
    rows, columns = _grid(case)
    return {
        "PTRANS_GBs": rate,
        "PTRANS_time": _best_s(case),
        "PTRANS_residual": case.validation.error if case.validation else None,
        "PTRANS_n": _label(case, "size"),
        "PTRANS_nb": _label(case, "block"),
        "PTRANS_nprow": rows,
        "PTRANS_npcol": columns,
    }


def _gemm(record: Record, _: _Note) -> _Values:
    case = _case(record)
    rows = _label(case, "rows") if case else None
    return {
        "DGEMM_N": rows,
        f"{_mode(record)}DGEMM_Gflops": _of_one_rank(case, "performance"),
    }


def _stream(record: Record, _: _Note) -> _Values:
    elements = record.parameters.get("elements")
    values: _Values = {"STREAM_VectorSize": elements if isinstance(elements, int) else None}
    for name in ("Copy", "Scale", "Add", "Triad"):
        case = _case(record, operation=name.lower())
        values[f"{_mode(record)}STREAM_{name}"] = _of_one_rank(case, "bandwidth")
    return values


def _mpi_fft(record: Record, _: _Note) -> _Values:
    case = _case(record)
    return {
        "MPIFFT_N": _label(case, "points") if case else None,
        "MPIFFT_Gflops": _metric(case, "performance"),
        "MPIFFT_maxErr": case.validation.error if case and case.validation else None,
        "MPIFFT_Procs": record.world.ranks,
    }


def _fft(record: Record, _: _Note) -> _Values:
    cases = list(_cases(record, {"direction": "forward"}))
    case = max(cases, key=lambda one: _label(one, "points") or 0, default=None)
    return {
        "FFT_N": _label(case, "points") if case else None,
        f"{_mode(record)}FFT_Gflops": _of_one_rank(case, "performance"),
    }


def _random_access(record: Record, note: _Note) -> _Values:
    infix = "_LCG" if record.parameters.get("stream") == "lcg" else ""
    best = max(_cases(record, {}), key=lambda c: _of_one_rank(c, "updates") or 0, default=None)
    if best is None:
        return {}
    note(f"RandomAccess is of updates {best.label('updates')}")
    table = _label(best, "table_bytes")
    return {
        f"RandomAccess{infix}_N": table // 8 if table else None,
        f"{_mode(record)}RandomAccess{infix}_GUPs": _of_one_rank(best, "updates"),
    }


def _gups(record: Record, note: _Note) -> _Values:
    infix = "_LCG" if record.parameters.get("stream") == "lcg" else ""
    best = max(_cases(record, {}), key=lambda c: _metric(c, "updates") or 0, default=None)
    if best is None:
        return {}
    note(f"MPIRandomAccess is of variant {best.label('variant')}")
    table = _label(best, "table_bytes")
    words = table // 8 if table else None
    wrong = best.validation.wrong_items if best.validation else None
    rate, seconds = _metric(best, "updates"), _best_s(best)
    bound = record.parameters.get("time-bound")
    values: _Values = {
        "N": words,
        "time": seconds,
        "Errors": wrong,
        "ErrorsFraction": wrong / words if words and wrong is not None else None,
        "ExeUpdates": round(rate * 1e9 * seconds) if rate and seconds else None,
        "GUPs": rate,
        "TimeBound": float(bound) if isinstance(bound, int | float) else None,
    }
    return {f"MPIRandomAccess{infix}_{name}": value for name, value in values.items()}


def _b_eff(record: Record, note: _Note) -> _Values:
    if record.parameters.get("form") == "ping-pong":
        return _ping_pong(record, note)
    values: _Values = {}
    for ring, name in (("natural", "NaturallyOrdered"), ("random", "RandomlyOrdered")):
        short = _case(record, ring=ring, part="transfer", message_bytes=LATENCY_BYTES)
        long = _case(record, ring=ring, part="transfer", message_bytes=BANDWIDTH_BYTES)
        time = _metric(short, "time_per_message")
        values[f"{name}RingLatency_usec"] = time / 2 if time is not None else None
        values[f"{name}RingBandwidth_GBytes"] = _metric(long, "bandwidth_per_rank")
    _note_sizes(values, note)
    return values


def _ping_pong(record: Record, note: _Note) -> _Values:
    values: _Values = {}
    for size, what in ((LATENCY_BYTES, "Latency_usec"), (BANDWIDTH_BYTES, "Bandwidth_GBytes")):
        case = _case(record, part="transfer", message_bytes=size)
        times = _by_rank_us(case)
        figures = times if size == LATENCY_BYTES else [size / time / 1e3 for time in times]
        if figures:
            values[f"MinPingPong{what}"] = min(figures)
            values[f"AvgPingPong{what}"] = sum(figures) / len(figures)
            values[f"MaxPingPong{what}"] = max(figures)
    _note_sizes(values, note)
    return values


def _by_rank_us(case: Case | None) -> list[float]:
    """Time of a message on each rank, best repetition; the metric is the slowest's."""
    time = _metric(case, "time_per_message")
    if case is None or time is None or not case.summary:
        return []
    best = [min(seconds) for seconds in case.samples.by_rank if seconds]
    scale = time / case.summary.min_s if case.summary.min_s else 0
    return [seconds * scale for seconds in best]


def _note_sizes(values: _Values, note: _Note) -> None:
    if any("Bandwidth" in key and value is not None for key, value in values.items()):
        note(f"bandwidths are of {BANDWIDTH_BYTES} B, HPCC's of 2000000 B")
    else:
        note(f"no bandwidths: they need messages of {BANDWIDTH_BYTES} B (--max-size 21)")


_PARTS: dict[str, Callable[[Record, _Note], _Values]] = {
    "hpl": _hpl,
    "ptrans": _ptrans,
    "gemm": _gemm,
    "stream": _stream,
    "fft": _fft,
    "mpi_fft": _mpi_fft,
    "random_access": _random_access,
    "gups": _gups,
    "b_eff": _b_eff,
}


def write(records: Sequence[Record]) -> str:
    """Writes the section; notes go to stderr."""
    found = summary(records)
    for line in found.notes:
        print(f"plumb: {line}", file=sys.stderr)
    return found.text()
