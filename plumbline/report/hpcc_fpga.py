"""A record in the form of HPCC FPGA's standard output, for scripts that parse it.

Derived from the form ``hpcc-json``, which has the same figures. Columns are 20 wide, a value 11 and
its unit 8. Values are in scientific form, 11 characters each: some of HPCC FPGA's own are shorter,
and its script then fails on lines that must start with a digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plumbline.base.errors import UsageError

_ENTRY, _VALUE, _UNIT = 20, 11, 8
_LINE = "-" * 80
# Our settings in addition to those of HPCC FPGA's table; these are last.
_OURS = {"FFT": ("Data Type",), "GEMM": ("Data Type",)}
_PAIRS = ("PCI_write", "PCI_read", "Copy", "Scale", "Add", "Triad", "Dot")

Form = Mapping[str, Any]


def text_of(form: Form) -> str:
    """The tables, without a final newline. Raises :class:`UsageError` for an unknown form."""
    tables = _TABLES.get(str(form["name"]))
    if tables is None:
        raise UsageError(f"the form hpcc-fpga is not for {form['name']}")
    lines = [
        _LINE,
        str(form["name"]),
        f"Version:      {form['version']}",
        *_mpi(form),
        f"Git Commit:   {form['git_commit'] or ''}",
        _LINE,
        "Summary:",
        *_settings(form),
        _LINE,
        *tables(form),
        _LINE,
        "Validation: SUCCESS!" if form["validated"] else "ERROR: VALIDATION OF OUTPUT DATA FAILED!",
    ]
    return "\n".join(lines)


def _mpi(form: Form) -> Iterator[str]:
    if "mpi" in form:
        yield f"MPI Version:  {form['mpi']['version']}.{form['mpi']['subversion']}"


def _settings(form: Form) -> Iterator[str]:
    settings, last = dict(form["settings"]), _OURS.get(form["name"], ())
    for key in [*sorted(set(settings) - set(last)), *(key for key in last if key in settings)]:
        yield f"{key:<{2 * _ENTRY}}{_setting(form, key, settings[key])}"
    yield f"{'Device':<{2 * _ENTRY}}{form['device'] or '-'}"


_BYTES = {"half": 2, "float": 4, "double": 8}


def _setting(form: Form, key: str, value: Any) -> str:
    if key == "Array Size":
        if form["name"] == "STREAM":
            width = _BYTES.get(str(form["settings"]["Data Type"]), 8)
        else:  # random access: the words of all ranks
            width = 8 * form["settings"]["MPI Ranks"]
        return f"{value} ({float(value * width):.5e} Byte )"
    if key == "FPGA Torus" and value:
        return f"P={value['P']} ,Q={value['Q']}"
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return "-" if value is None else str(value)


def _number(value: float | None) -> str:
    return f"{'nan' if value is None else f'{value:.5e}':>{_VALUE}}"


def _quantity(form: Form, name: str) -> str:
    found = form["results"].get(name) or {"value": None, "unit": ""}
    return f"{_number(found['value'])} {found['unit']:<{_UNIT}}"


def _row(form: Form, head: str, names: Sequence[str]) -> str:
    return head + "".join(_quantity(form, name) for name in names)


def _head(*words: str) -> str:
    return "".join(f"{word:<{_ENTRY}}" for word in words)


def _errors(form: Form, titles: Sequence[str], keys: Sequence[str]) -> Iterator[str]:
    yield "".join(f"{title:>{_ENTRY}}" for title in titles)
    yield "".join(f"{_number(form['errors'][key]):>{_ENTRY}}" for key in keys)


_RESIDUALS = (
    (" norm. residual", " res. error", " mach. eps"),
    ("residual_norm", "residual", "epsilon"),
)


def _stream(form: Form) -> Iterator[str]:
    if form["validated"]:
        epsilon = form["errors"].get("epsilon")
        yield f"Solution Validates: avg error less than {_number(epsilon)} on all three arrays"
    yield _LINE
    yield _head("Function", "Best Rate", "Avg time", "Min time", "Max time")
    for name in _PAIRS:
        if f"{name}_best_rate" in form["results"]:
            names = [f"{name}_{what}" for what in ("best_rate", "avg_t", "min_t", "max_t")]
            yield _row(form, f"{name:<{_ENTRY}}", names)


def _random_access(form: Form) -> Iterator[str]:
    ratio = form["errors"].get("ratio")
    yield f"Error: {_number(None if ratio is None else 100 * ratio)} %"
    yield _LINE
    yield _head("best", "mean", "GUOPS")
    yield _row(form, "", ("t_min", "t_mean", "guops"))


def _fft(form: Form) -> Iterator[str]:
    yield from _errors(form, ("res. error", "mach. eps"), ("residual", "epsilon"))
    yield ""
    yield _LINE
    yield " " * _ENTRY + _head(" avg", " best")
    yield _row(form, f"{'Time in s: ':>{_ENTRY}}", ("t_avg", "t_min"))
    yield _row(form, f"{'GFLOPS: ':>{_ENTRY}}", ("gflops_avg", "gflops_min"))


def _gemm(form: Form) -> Iterator[str]:
    yield from _errors(form, *_RESIDUALS)
    yield _LINE
    yield _head(" best", " mean", " GFLOPS")
    yield _row(form, "", ("t_min", "t_mean", "gflops"))


def _ptrans(form: Form) -> Iterator[str]:
    errors = form["errors"]
    epsilon = errors["epsilon"]
    limit = _number(None if epsilon is None else 100 * epsilon)
    yield f"Maximum error: {_number(errors['max_error']).strip()} < {limit.strip()}"
    yield f"Mach. Epsilon: {_number(epsilon).strip()}"
    yield _LINE
    titles = ("total time", "transfer time", "calc time", "calc FLOPS", "Memory Bandwidth")
    yield " " * _ENTRY + _head(*titles, "PCIe Bandwidth")
    rates = ("calc_flops", "mem_bandwidth", "transfer_bandwidth")
    for head, time, rate in (("avg: ", "avg", "avg"), ("best: ", "min", "max")):
        names = [f"{time}_{t}" for t in ("t", "transfer_t", "calc_t")]
        yield _row(form, f"{head:>{_ENTRY}}", [*names, *(f"{rate}_{one}" for one in rates)])


def _linpack(form: Form) -> Iterator[str]:
    yield from _errors(form, *_RESIDUALS)
    yield _LINE
    yield _head(" Method", " best", " mean", " GFLOPS")
    for head, part in ((" total", ""), (" GEFA", "lu"), (" GESL", "sl")):
        rate = f"gflops_{part}" if part else "gflops"
        yield _row(form, f"{head:<{_ENTRY}}", (f"t{part}_min", f"t{part}_mean", rate))


def _b_eff(form: Form) -> Iterator[str]:
    yield "   ".join(f"{word:>{_ENTRY}}" for word in ("MSize", "looplength", "time [s]", "B/s"))
    for log2, timing in sorted(form["timings"].items(), key=lambda one: int(one[0])):
        loop = timing["timings"][0]["looplength"] if timing["timings"] else 0
        cells = (str(2 ** int(log2)), str(loop), _bare(timing, "maxMinCalculationTime"))
        yield "   ".join(f"{word:>{_ENTRY}}" for word in (*cells, _bare(timing, "maxCalcBW")))
    yield ""
    yield f"b_eff = {_quantity(form, 'b_eff')}"


def _bare(timing: Mapping[str, Any], key: str) -> str:
    value = timing[key]
    return _number(value["value"] if isinstance(value, Mapping) else value).strip()


_TABLES = {
    "STREAM": _stream,
    "random access": _random_access,
    "FFT": _fft,
    "GEMM": _gemm,
    "PTRANS": _ptrans,
    "LINPACK": _linpack,
    "effective bandwidth": _b_eff,
}
