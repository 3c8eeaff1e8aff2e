"""Parts in situ: the parts of a run's cases, measured in the same launch, as models' figures.

Before a launch :func:`wanted` lists the parts required by the cases, in the engine's words
(``--parts``); after it :func:`in_situ` derives the figures of one case from the visits next to it.
The models are the same as for other figures. There are three sets: from the parts' levels
(:mod:`plumbline.judge.levels`), and from both ends of their intervals. Benchmarks with a yardstick
(:mod:`plumbline.model.yardsticks`) have the parts' mean instead, :func:`mean_of_parts`.

Cores have slow moments of tenths of seconds, so what is likely to bound a kernel on a CPU is
measured within its case, a repetition of either in turn; both levels are mean rates then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, log2
from statistics import geometric_mean, median
from typing import Any

from plumbline.judge.levels import Level, level_of, mean_level
from plumbline.model.benchmarks import Model
from plumbline.model.limits import LIMITS
from plumbline.model.roofline import CACHES
from plumbline.model.yardsticks import BARE, Yardstick, is_copied
from plumbline.record.record import Case, PartCase, PartVisit, Record
from plumbline.system.device import DeviceTable
from plumbline.system.segments import Segment
from plumbline.system.system import Figures, Legs, MeasuredTransfer

LINKS, CEILINGS = "links", "ceilings"
RELAYED = frozenset({"staged", "pipelined"})  # transports that read, exchange and write
_SMALLEST_LOG, _LARGEST_LOG = 12, 36  # of an array of ceilings
_LONGEST_LINK_LOG = 24
_LONGEST_MESSAGE = 2**22  # of links; times of longer ones are in proportion
_MOST_SIZES = 4  # of arrays in one run
# Seconds, at least, of one case and of all, by what judges them.
_BY_LIMITS, _BY_CALLS = (1.5, 3.6), (0.05, 1.0)
_COMPUTES, _ONLY_COMPUTES = 0.5, 16.0  # flops a byte, from which arithmetic, or it alone, may bound
_LONG_BYTES, _LONG_FLOPS = 2**22, 2**26  # of an operation
_MOST_PASSES = 4  # launches of a limit's repetition of random updates
_HALF = {"half": ("flops/half", "flops/float", "flops/matrix_half")}


# --- which parts a run needs ----------------------------------------------------------------------


@dataclass(frozen=True)
class Planned:
    """A run as the engine plans it: its cases (key, labels, work) and the first rank's device.

    ``sends``: whether its world has several ranks and bare messages between them.
    """

    transport: str
    cases: Sequence[Mapping[str, Any]]
    device: Mapping[str, Any] | None
    sends: bool = True


def wanted(
    model: Model | None,
    planned: Planned,
    options: Mapping[str, str],
    yardstick: Yardstick | None = None,
) -> str:
    """The parts in the engine's words; empty if the model has figures from elsewhere."""
    if not planned.cases:
        return ""
    if yardstick is not None:
        return "; ".join(_of_yardstick(yardstick, planned))
    if model is None:
        return ""
    if planned.transport in ("none", None):
        lines = list(_ceilings(planned, options)) if model.NEEDS in ("device", "updates") else []
    elif model.NEEDS == "legs" and not any("message_bytes" in c["labels"] for c in planned.cases):
        lines = list(_moved_and_computed(planned))
        if _on_cores(planned):
            lines = [line + _within(planned.cases) for line in lines]
    elif model.NEEDS == "legs" and _part(planned, options):
        lines = list(_links(planned, options))
    else:
        lines = []
    return "; ".join(lines)


def steadying(parts: str, planned: Planned) -> str:
    """Those of ``parts`` that tell what state the machine was in, for a comparison of launches.

    A device with cores of its own has no moments like its host's: its limits would cost time only.
    """
    lines = parts.split("; ") if parts else []
    return "; ".join(one for one in lines if _on_cores(planned) or one.startswith(LINKS))


def _part(planned: Planned, options: Mapping[str, str]) -> str:
    """The part of ``links`` with a transport's bare calls; empty if there is none."""
    if planned.transport in RELAYED:
        return "relay"
    if planned.transport == "mpi":
        return "exchange"
    return "copy" if is_copied(planned.transport, options.get("approach")) else ""


def _links(planned: Planned, options: Mapping[str, str]) -> Iterator[str]:
    if options.get("form", "exchange") != "exchange":
        return
    part = _part(planned, options)
    more = f" replications={options['replications']}" if "replications" in options else ""
    sizes: dict[str, set[int]] = {}
    for labels in (case["labels"] for case in planned.cases):
        if labels.get("message_bytes") and labels.get("ring"):
            sizes.setdefault(labels["ring"], set()).add(labels["message_bytes"])
    for ring, found in sizes.items():
        text = ",".join(map(str, sorted(found)))
        yield f"{LINKS} part={part} ring={ring} sizes={text}{more}"


def _moved_and_computed(planned: Planned) -> Iterator[str]:
    """Parts of cases with long messages and memory traffic; shared by all cases."""
    if planned.transport not in RELAYED | {"mpi", "local"}:
        return
    works = [case["work"] for case in planned.cases]
    sent = [w["bytes_sent"] / w["messages"] for w in works if w.get("bytes_sent")]
    if sent and planned.transport != "local":
        part = "relay" if planned.transport in RELAYED else "exchange"
        size = min(2 ** _log(median(sent)), _LONGEST_MESSAGE)
        yield f"{LINKS} part={part} beside=all sizes={size}"
    moved = [w.get("bytes_read", 0) + w.get("bytes_written", 0) for w in works]
    for size in _few({_log(m / 2) for m in moved if m}, planned.device or {}):
        yield f"{CEILINGS} only={_accesses(works)} size={size}"


def _of_yardstick(yardstick: Yardstick, planned: Planned) -> Iterator[str]:
    device = planned.device or {}
    # GPUs that exchange by themselves do not slow down with their hosts' messages.
    alone = device.get("type") == "gpu" and planned.transport not in BARE
    flops = yardstick.flops or ("float" if alone and yardstick.messages else "")
    if flops:
        yield f"{CEILINGS} only=flops/{flops} accumulators={_accumulators(device)}"
    if yardstick.memory:
        yield f"{CEILINGS} only=memory/copy size={yardstick.memory}"
    if yardstick.updates:
        updates = yardstick.updates - 4
        yield f"{CEILINGS} only=random/update size={yardstick.updates} updates={updates}"
    if yardstick.messages and planned.sends and not alone:
        sizes = ",".join(map(str, yardstick.messages))
        yield f"{LINKS} part=exchange beside=all sizes={sizes}"


def least_time(parts: str, cases: int) -> float | None:
    """Seconds for which each case is measured at least, if parts judge it.

    Limits of a device may not meet the same moments of the machine as the case, so it must meet
    several. Calls like a transport's are measured within the case, and take little of its time.
    """
    if not parts or not cases:
        return None
    of_one, of_all = _BY_LIMITS if CEILINGS in parts else _BY_CALLS
    return min(of_one, of_all / cases)


def _accumulators(device: Mapping[str, Any]) -> int:
    each = 1024 * 8 if device.get("type") == "gpu" else 1024
    return max(4, ceil(int(device.get("compute_units", 1)) * each / 4096)) * 4096


def _on_cores(planned: Planned) -> bool:
    """Whether kernels run on the cores of the host, which have moments."""
    return (planned.device or {}).get("type") in ("cpu", "native")


def _within(cases: Sequence[Mapping[str, Any]]) -> str:
    keys = [case["key"] for case in cases]
    return f" within={','.join(keys)}" if keys else ""


def _ceilings(planned: Planned, options: Mapping[str, str]) -> Iterator[str]:
    device, within = planned.device or {}, _within if _on_cores(planned) else lambda _: ""
    gpu = device.get("type") == "gpu"
    accumulators = _accumulators(device)
    flops, arrays, links, tables = _asked(planned, options)
    if (flops or arrays) and not (_on_cores(planned) and all(map(_is_long, planned.cases))):
        yield f"{CEILINGS} only=launch/row,launch/wait"
    if flops:
        own = [case for case in planned.cases if _intensity(case) >= _COMPUTES]
        only = ",".join(sorted(flops))
        yield f"{CEILINGS} only={only} accumulators={accumulators}{within(own)}"
    for size, own in _nearest(_few(set(arrays.values()), device), arrays, planned.cases):
        for access in _accesses([case["work"] for case in own]).split(","):
            alike = [case for case in own if _accesses([case["work"]]) == access]
            bound = [case for case in alike if _intensity(case) < _ONLY_COMPUTES]
            yield f"{CEILINGS} only={access} size={size}{within(bound)}"
    for direction in ("write", "read"):
        own = [
            case
            for case in planned.cases
            if case["key"] in links and case["labels"]["operation"] == direction
        ]
        if own:  # a line through a short and a long copy; longer ones add cost only
            size = min(max(links[case["key"]] for case in own), _LONGEST_LINK_LOG)
            yield f"{CEILINGS} only=link/{direction} size={size}{within(own)}"
    for kind, size in sorted(set(tables.values())):
        updates = min(24 if gpu else 20, size - 3)
        own = [case for case in planned.cases if tables.get(case["key"]) == (kind, size)]
        passes = _passes(own, updates) if within(own) else ""
        yield f"{CEILINGS} only=random/{kind} size={size} updates={updates}{passes}{within(own)}"


def _passes(cases: Sequence[Mapping[str, Any]], updates: int) -> str:
    """As many updates in a repetition as the cases make, up to ``_MOST_PASSES`` launches.

    The case's table displaces the limit's from a shared cache. Where the case passes several times
    over its table, only the first pass has to fetch it again; so it must be for the limit.
    """
    least = min(case["work"].get("updates", 0) for case in cases)
    return f" passes={min(_MOST_PASSES, max(1, int(least) >> updates))}"


def _nearest(
    sizes: Sequence[int], arrays: Mapping[str, int], cases: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[int, list[Mapping[str, Any]]]]:
    """Each of ``sizes`` with the cases whose arrays are nearest to it."""
    near = {key: min(sizes, key=lambda size: abs(size - own)) for key, own in arrays.items()}
    for size in sizes:
        yield size, [case for case in cases if near.get(case["key"]) == size]


def _is_long(case: Mapping[str, Any]) -> bool:
    """Whether its kernels take far longer than a launch on the host's cores, tens of us."""
    work = case["work"]
    moved = work.get("bytes_read", 0) + work.get("bytes_written", 0)
    return bool(moved >= _LONG_BYTES or work.get("flops", 0) >= _LONG_FLOPS)


def _intensity(case: Mapping[str, Any]) -> float:
    """Flops for each byte of memory."""
    work = case["work"]
    moved = work.get("bytes_read", 0) + work.get("bytes_written", 0)
    return float(work.get("flops", 0)) / moved if moved else inf


def _asked(
    planned: Planned, options: Mapping[str, str]
) -> tuple[set[str], dict[str, int], dict[str, int], dict[str, tuple[str, int]]]:
    """Prefixes of arithmetic; by case log2 B of arrays and of copies, and tables by their kind."""
    flops: set[str] = set()
    arrays: dict[str, int] = {}
    links: dict[str, int] = {}
    tables: dict[str, tuple[str, int]] = {}
    for case in planned.cases:
        key, labels, work = case["key"], case["labels"], case["work"]
        moved = work.get("bytes_read", 0) + work.get("bytes_written", 0)
        if "table_bytes" in labels:
            kind = "atomic" if str(labels.get("updates", "")).startswith("atomic") else "update"
            tables[key] = (kind, _log(labels["table_bytes"]))
        elif labels.get("operation") in ("write", "read"):
            links[key] = _log(moved)
        elif moved:
            arrays[key] = _log(moved / 2)
        if work.get("flops"):
            type_ = str(labels.get("type") or options.get("type", "float"))
            flops |= set(_HALF.get(type_, (f"flops/{type_}", f"flops/matrix_{type_}")))
    return flops, arrays, links, tables


def _accesses(works: Sequence[Mapping[str, Any]]) -> str:
    """Prefixes of the kinds of memory traffic in ``works``: reading or writing only, and both."""
    kinds = {(bool(w.get("bytes_read")), bool(w.get("bytes_written"))) for w in works}
    names = {
        (True, True): "memory/copy",
        (True, False): "memory/read",
        (False, True): "memory/write",
    }
    return ",".join(sorted(names[kind] for kind in kinds if kind in names))


def _log(size: float) -> int:
    return min(max(round(log2(max(size, 1))), _SMALLEST_LOG), _LARGEST_LOG)


def _few(sizes: set[int], device: Mapping[str, Any]) -> list[int]:
    """At most a few sizes, none longer than required to exceed all caches."""
    caches = device.get("cache_bytes") or 2**25
    longest = ceil(log2(CACHES * caches))
    near = {min(size, longest) for size in sizes}
    found = sorted(size for size in near if size + 1 not in near)
    if len(found) <= _MOST_SIZES:
        return found
    step = (len(found) - 1) / (_MOST_SIZES - 1)
    return [found[round(step * index)] for index in range(_MOST_SIZES)]


# --- figures from them ----------------------------------------------------------------------------


@dataclass(frozen=True)
class InSitu:
    """The figures for one case: at the parts' levels, and at both ends of their intervals."""

    middle: Figures
    fast: Figures
    slow: Figures


@dataclass(frozen=True)
class _Times:
    """Seconds of one count of a part next to a case: its level, and its legs' times."""

    level: Level
    legs: Mapping[str, float]

    def at(self, level: str) -> float:
        return float(getattr(self.level, level))


Identity = tuple[str, str, str]  # benchmark, key, size and work


def identity_of(part: PartCase) -> Identity:
    """What was measured: times of parts compare between launches if this is the same."""
    size = part.parameters.get("size", part.parameters.get("replications", ""))
    return part.benchmark, part.key, f"{size} {part.work}"


def in_situ(record: Record, case: Case) -> InSitu | None:
    """The figures for ``case`` from the visits next to it, or None if it has no parts."""
    if record.parts is None:
        return None
    times = _times(record, case)
    if not times:
        return None
    device = record.ranks[0].device
    name = device.name if device else None
    levels = {
        level: _figures(record, case, [(part, one) for part, one in times], level, name)
        for level in ("middle", "low", "high")
    }
    return InSitu(levels["middle"], levels["low"], levels["high"])


@dataclass(frozen=True)
class MeanOfParts:
    """Seconds of one count of each part beside a case, and their geometric mean as a level."""

    mean: Level
    parts: Mapping[str, float]


def mean_of_parts(record: Record, case: Case) -> MeanOfParts | None:
    """The parts beside ``case`` by a yardstick, or None if it has none.

    Of messages of several sizes, the nearest to the case's counts, if it has one size.
    """
    if record.parts is None:
        return None
    times = _times(record, case)
    size = case.labels.get("bytes", case.labels.get("message_bytes"))
    links = [part for part, _ in times if part.label("bytes") and part.benchmark == LINKS]
    if isinstance(size, int) and size > 0 and links:
        nearest = min(links, key=lambda part: abs(log2(float(part.label("bytes")) / size)))
        times = [one for one in times if one[0] is nearest or one[0].benchmark != LINKS]
    if not times:
        return None
    mean = mean_of([one.level for _, one in times])
    return MeanOfParts(mean, {part.key: one.at("middle") for part, one in times})


def _times(record: Record, case: Case) -> list[tuple[PartCase, _Times]]:
    """The parts next to ``case``, with their times."""
    assert record.parts is not None
    number = next(index for index, one in enumerate(record.cases) if one.key == case.key)
    return [
        (part, _beside(part, number, case.key))
        for part in record.parts.cases
        if _is_sound(part) and part.visits and _fits(part, case)
    ]


def _is_sound(part: PartCase) -> bool:
    return part.outcome.status in ("passed", "skipped")


def _fits(part: PartCase, case: Case) -> bool:
    """Whether a link's message is the case's; ceilings apply to all cases."""
    names = ("message_bytes", "ring")
    return all(part.labels[name] == case.labels.get(name) for name in names if name in part.labels)


def _near(part: PartCase, number: int) -> Sequence[PartVisit]:
    """The last visit before case ``number`` (from 0) and the first ones after it.

    Limits of a device have all: they do not meet the same moments as the case.
    """
    if part.benchmark == CEILINGS:
        return part.visits
    before = [one for one in part.visits if one.after_cases <= number]
    after = [one for one in part.visits if one.after_cases > number]
    return [*before[-1:], *(one for one in after if one.after_cases == after[0].after_cases)]


def limits_within(record: Record, key: str) -> dict[str, Level]:
    """The parts between the repetitions of the case ``key``, if any: the mean of each one's times.

    They follow the moments that the case met.
    """
    found: dict[str, list[float]] = {}
    for part in record.parts.cases if record.parts else []:
        for visit in part.visits if _is_sound(part) else []:
            if visit.within == key and visit.seconds:
                found.setdefault(part.key, []).extend(visit.seconds)
    return {name: mean_level(seconds) for name, seconds in found.items()}


def mean_of(times: Sequence[Level]) -> Level:
    """The geometric mean of levels, and of the ends of their intervals."""
    middle, low, high = (
        geometric_mean([float(getattr(one, end)) for one in times])
        for end in ("middle", "low", "high")
    )
    return Level(middle, low, high)


def _beside(part: PartCase, number: int, key: str) -> _Times:
    """The level over all samples of its visits; the interval includes each visit's own level.

    Parts of one message size have the kind of level of their cases, of the same calls; so have
    those within the case ``key``, which alone count then.
    """
    within = [one for one in part.visits if one.within == key]
    near = within or _near(part, number)
    by = mean_level if within or "message_bytes" in part.labels else level_of
    level = by([second for one in near for second in one.seconds])
    each = [by(one.seconds).middle for one in near]
    legs = {
        name: median(one.shares.get(name, 0.0) for one in near) * level.middle
        for name in near[0].shares
    }
    return _Times(Level(level.middle, min(level.low, *each), max(level.high, *each)), legs)


def _figures(
    record: Record,
    case: Case,
    times: Sequence[tuple[PartCase, _Times]],
    level: str,
    name: str | None,
) -> Figures:
    links = [(part, one) for part, one in times if part.benchmark == LINKS]
    ceilings = [(part, one) for part, one in times if part.benchmark == CEILINGS]
    legs, ways = _of_links(record, case, links, level)
    table = _device(case, ceilings, level, name) if ceilings else None
    return Figures(legs, table, by_all_ranks=True, transfers=ways)


def _of_links(
    record: Record, case: Case, links: Sequence[tuple[PartCase, _Times]], level: str
) -> tuple[Legs | None, list[MeasuredTransfer]]:
    """Legs and the whole, for the case's own messages; independent of the size.

    Times of a part of another size are scaled by the bytes sent.
    """
    if not links:
        return None, []
    part, one = links[0]
    times = 1.0 if "message_bytes" in part.labels else case.work.bytes_sent / part.work.bytes_sent
    if part.label("part") == "exchange":
        return Legs(exchange=[_flat(times * one.at(level))]), []
    scale = times * one.at(level) / one.level.middle
    legs = Legs.model_validate({leg: [_flat(s * scale)] for leg, s in one.legs.items()})
    way = MeasuredTransfer(
        transport=record.transport_name,
        approach=record.approach,
        segments=[_flat(times * one.at(level))],
    )
    return legs, [way]


def _flat(seconds: float) -> Segment:
    return Segment(latency_us=seconds * 1e6, source="measured")


def _device(
    case: Case, times: Sequence[tuple[PartCase, _Times]], level: str, name: str | None
) -> DeviceTable:
    """The device's limits, by the arrays of the length nearest to the case's data."""
    moved = case.work.bytes_read + case.work.bytes_written
    found: dict[str, Any] = {}
    for limit in LIMITS:
        own = [(part, one.at(level)) for part, one in times if part.label("limit") == limit.cases]
        if limit.cases in ("memory", "link") and own and moved:
            near = moved / (2 if limit.cases == "memory" else 1)
            sizes = {part.parameters.get("size") for part, _ in own}
            best = min(
                (size for size in sizes if isinstance(size, int)),
                key=lambda size: abs(size - log2(near)),
                default=None,
            )
            own = [entry for entry in own if entry[0].parameters.get("size") == best]
        value = limit.learn(own) if own else None
        if value:
            if isinstance(value, list):
                value = [*found.get(limit.field, []), *value]
            found[limit.field] = value
    # Arrays are as long as the case's, so their figures hold in caches as well.
    return DeviceTable(name=name, cache_bytes=0, **found)
