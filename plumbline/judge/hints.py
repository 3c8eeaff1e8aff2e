"""Hints for higher rates of a group of cases.

Each hint is a sentence with a condition on the record (samples, cores, parameters, facts of the
kernels, parts of the expectation), and is given only if the condition holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from plumbline.base.units import duration, rate_text, size_text
from plumbline.model.legs import HANDOVER
from plumbline.model.prediction import Bound, Prediction
from plumbline.model.roofline import is_on_host
from plumbline.record.expectations import JudgedCase
from plumbline.record.record import Case, Record

_NEAR = 1.1  # of the expected time; an undisturbed repetition takes at most this
_UNEVEN = 1.25  # ratio of two ranks' medians
_LATENCY = 0.8  # share of the smallest size's time, from which latency dominates
_UNEXPLAINED = 3.0  # times the expected; beyond, no bound of the device explains it
_SHORT_BYTES = 2**12  # if the shortest message is longer, latency is not considered
_DOUBTS = ("debug_build", "sanitized_build", "oversubscribed", "unbound", "frequency_scaling")
_WITH_LIBRARY = ("cuda", "native")
_MUCH_HANDOVER = 0.2  # share of a transfer


@dataclass(frozen=True)
class Member:
    """A case, its expectation, and their comparison."""

    case: Case
    expectation: Prediction
    judged: JudgedCase

    @property
    def measured_s(self) -> float:
        """Seconds of one count."""
        return self.case.median_s() or 0.0

    @property
    def best_s(self) -> float:
        """Seconds of one count, best repetition."""
        summary = self.case.summary
        return summary.min_s / self.case.count if summary and self.case.count else self.measured_s


Members = Sequence[Member]
Hint = Callable[[Record, Members], str | list[str] | None]


def advice(record: Record, members: Members) -> list[str]:
    """Sentences on ``members``, which share bound and verdict; the worst is first."""
    verdict = members[0].judged.verdict
    beaten = verdict == "fast" or (verdict == "ambiguous" and members[0].judged.ratio < 1)
    hints: list[Hint] = []
    if verdict in ("slow", "ambiguous") and not beaten:
        hints += [_disturbed, _uneven_ranks, _host_time, _doubts]
    if verdict == "ambiguous":
        hints.append(_wide)
    hints.append(_beaten if beaten else _bound_hint(members[0].expectation.properties()))
    found = [hint(record, members) for hint in hints]
    sentences = [[one] if isinstance(one, str) else one for one in found if one]
    return [sentence for several in sentences for sentence in several]


def _disturbed(_record: Record, members: Members) -> str | None:
    """Best repetitions reach the expected time, medians do not."""
    reached = [one for one in members if one.best_s <= _NEAR * one.judged.expected_s]
    off = [one for one in reached if one.judged.ratio > 1.25 * one.best_s / one.judged.expected_s]
    if len(off) * 2 < len(members):
        return None
    best = median(one.best_s / one.judged.expected_s for one in off)
    return (
        f"The best repetitions take {best:.2f} times the expected time ({len(off)} of "
        f"{len(members)} cases): what slows the others comes and goes, as other work on the node "
        "does. Repeat on an idle node, or with a longer --time-limit."
    )


def _uneven_ranks(record: Record, members: Members) -> str | None:
    slowest = [_slowest_rank(one.case) for one in members]
    found = [one for one in slowest if one is not None and one[1] > _UNEVEN]
    if len(found) * 2 <= len(members):
        return None
    ranks = {rank for rank, _ in found}
    if len(ranks) != 1:
        return None
    rank = record.ranks[ranks.pop()]
    device = f", device {rank.device.index} ({rank.device.name})" if rank.device else ""
    ratio = median(ratio for _, ratio in found)
    return (
        f"Rank {rank.rank} takes {ratio:.2f} times as long as the fastest rank: look at its place "
        f"(host {record.hosts[rank.host].name}, cores {_cores(rank.cores)}{device})."
    )


def _slowest_rank(case: Case) -> tuple[int, float] | None:
    medians = [median(times) for times in case.samples.by_rank if times]
    if len(medians) < 2 or min(medians) <= 0:
        return None
    return max(range(len(medians)), key=medians.__getitem__), max(medians) / min(medians)


def _cores(cores: Sequence[int]) -> str:
    return ", ".join(map(str, cores)) if 0 < len(cores) <= 4 else f"{len(cores)} of them"


def _host_time(_record: Record, members: Members) -> str | None:
    """Devices busy for a part of the time only."""
    shares = [share for one in members if (share := _device_share(one.case)) is not None]
    if not shares or median(shares) > 0.8:
        return None
    return (
        f"The device works {median(shares):.0%} of the time; the rest is the host's: launches, the "
        "driver, waiting. More work in a launch, or fewer launches, would raise it."
    )


def _device_share(case: Case) -> float | None:
    if case.device_samples is None:
        return None
    on_device = [time for times in case.device_samples.by_rank for time in times]
    on_host = [time for times in case.samples.by_rank for time in times]
    if not on_device or not on_host or median(on_host) <= 0:
        return None
    return median(on_device) / median(on_host)


def _doubts(record: Record, _members: Members) -> str | None:
    texts = [warning.text for warning in record.warnings if warning.code in _DOUBTS]
    return f"The run was warned: {'; '.join(texts)}." if texts else None


def _wide(_record: Record, members: Members) -> str | None:
    widths = [
        (interval[1] - interval[0]) / 2 / one.measured_s
        for one in members
        if (interval := one.case.interval_s()) and one.measured_s
    ]
    if not widths:
        return None
    return (
        f"The medians are known to ±{max(widths):.0%} at worst, which straddles the limit of a "
        "verdict: a longer --time-limit narrows them."
    )


def _beaten(_record: Record, members: Members) -> str:
    worst = min(one.judged.ratio for one in members)
    return (
        f"The figure for {members[0].judged.bound} was beaten by up to {1 / worst:.2f}: it is too "
        "low for these cases. plumb calibrate measures it again."
    )


def _bound_hint(bound: Bound) -> Hint:
    """The bound's own sentence, else the one by its function."""
    if bound.advice:
        return _own_advice
    return _HINTS.get(bound.hint, _other)


def _own_advice(_record: Record, members: Members) -> str:
    first = members[0]
    bound = first.expectation.properties()
    return f"{first.case.key} is bound by {bound}. {bound.advice} {_next_bound(first)}"


def _memory(record: Record, members: Members) -> str:
    first = members[0]
    moved = first.case.work.bytes_read + first.case.work.bytes_written
    reached = rate_text(moved / first.measured_s)
    limit = rate_text(moved / first.judged.expected_s)
    if first.judged.verdict != "slow":
        return f"{first.case.key} moves {reached}, memory allows {limit}. {_next_bound(first)}"
    said = f"{first.case.key} moves {reached} of {limit} that long arrays stream at."
    facts = first.case.facts
    if facts.get("variant") == "single_work_item" and not _is_board(record):
        return f"{said} Its kernel is a board's form (single_work_item): --variant nd_range."
    if record.memory.bank is not None:
        return f"{said} All buffers lie in bank {record.memory.bank}: more banks, more bandwidth."
    if is_on_host(record):
        cores = min(len(rank.cores) for rank in record.ranks)
        return f"{said} A rank has {cores} core{'s' * (cores != 1)}: more of them ask for more."
    shape = ", ".join(
        f"{name} {facts[name]}" for name in ("vector", "unroll", "group_size") if name in facts
    )
    return f"{said} The kernel asks with {shape}: try other values." if shape else said


def _arithmetic(record: Record, members: Members) -> str:
    first = members[0]
    reached = first.case.work.flops / first.measured_s * 1e-9
    said = (
        f"{first.case.key} reaches {reached:.4g} GFLOP/s, {1 / first.judged.ratio:.0%} of its peak."
    )
    facts = first.case.facts
    if first.judged.verdict != "slow":
        return f"{said} {_next_bound(first)}"
    if len(members) > 1:
        best = min(members, key=lambda one: one.judged.ratio)
        said += f" {best.case.key} does best, {_share(best)}."
    own = record.ranks[0].device
    if own and own.runtime in _WITH_LIBRARY and facts.get("variant") not in (None, "library"):
        said += f" Its kernel is {facts['variant']}: --variant library shows the vendor's own."
    if min(one.judged.ratio for one in members) > _UNEXPLAINED:
        said += " No bound of the device explains so much: the kernel's own steps count."
    if facts.get("matrix_units") == "none" and "matrix-units" in record.parameters:
        said += " It used no matrix units."
    return said


def _share(member: Member) -> str:
    return f"{100 / member.judged.ratio:.3g}%"


def _updates(record: Record, members: Members) -> str:
    first = members[0]
    rate = first.case.work.updates / first.measured_s * 1e-9
    words = record.parameters.get("size")
    table = f" of 2^{words} words" if isinstance(words, int) and words < 64 else ""
    return (
        f"{first.case.key} makes {rate:.3g} GUP/s in a table{table}: each update waits for memory. "
        "A table within the caches, larger pages, or more updates in flight (threads, ranks) "
        "would raise it."
    )


def _message_latency(_record: Record, members: Members) -> str:
    first = members[0]
    return (
        f"{first.case.key}: each update waits until its word has come and gone, "
        f"{_of_an_update(first)}. --variant atomic waits for none, "
        "--variant bucketed sends many in one message."
    )


def _message_gap(_record: Record, members: Members) -> str:
    first = members[0]
    return (
        f"{first.case.key}: each update is a message of its own, "
        f"{_of_an_update(first)}: --variant bucketed sends many in one."
    )


def _scattered(_record: Record, members: Members) -> str:
    first = members[0]
    table = first.case.labels.get("table_bytes")
    of_table = f" of a table of {size_text(table)}" if isinstance(table, int) else ""
    each = _of_an_update(first)
    return (
        f"{first.case.key}: each update waits for its word{of_table}, {each}: a table within the "
        "caches, a symmetric heap on larger pages, or --variant bucketed, which asks for many "
        "words at once, would raise it."
    )


def _own_updates(_record: Record, members: Members) -> str:
    first = members[0]
    return (
        f"{first.case.key}: collecting and applying updates counts, not messages: "
        f"{_of_an_update(first)}. A part of the table within the "
        f"caches, or more ranks, would raise it. {_next_bound(first)}"
    )


def _buckets(record: Record, members: Members) -> str:
    first = members[0]
    return (
        f"{first.case.key}: the messages of buckets count, {_of_an_update(first)}: "
        f"{record.world.ranks} ranks share a look-ahead of 1,024 updates, so the more there are, "
        "the shorter the buckets. Fewer ranks with more memory each would raise it."
    )


def _look_ahead(_record: Record, members: Members) -> str:
    return (
        f"{members[0].case.key}: ranks wait until others have taken their buckets, because no more "
        "than 1,024 updates may be under way (HPC Challenge's rule): only a shorter way raises it."
    )


def _of_an_update(member: Member) -> str:
    """Share of an update's expected time taken by its bound."""
    seconds = _bound_s(member)
    share = seconds / member.judged.expected_s
    done = member.case.facts.get("updates_done")  # share done within the time limit
    updates = member.case.work.updates * (done if isinstance(done, float) else 1.0)
    each = f"{duration(seconds / updates)} of an update, " if updates else ""
    return f"{each}{share:.0%} of the expected time"


def _bound_s(member: Member) -> float:
    """Seconds of the bounding part."""
    return member.expectation.parts.get(member.judged.bound or "", member.judged.expected_s)


def _launch(_record: Record, members: Members) -> str:
    first = members[0]
    return (
        f"A count is {duration(first.measured_s)}, of which a launch in a row takes "
        f"{duration(_bound_s(first))}: the work "
        "of one launch is too small to fill it. Larger sizes or batches would raise it."
    )


def _link(record: Record, members: Members) -> str:
    first = members[0]
    moved = first.case.work.bytes_read + first.case.work.bytes_written
    rate = rate_text(moved / first.measured_s)
    kind = record.memory.kind
    said = f"{first.case.key} carries {rate} between host and device, memory of kind {kind}."
    if first.judged.verdict != "slow":
        return f"{said} Only a wider link, or memory that both share (--memory svm), raises it."
    return f"{said} The link was measured with pinned host memory; pageable memory is slower."


def _legs(record: Record, members: Members) -> list[str]:
    """The longest leg, the gain by overlap, and the sizes dominated by latency."""
    first = members[0]
    parts = first.expectation.parts
    said = []
    if len(parts) > 1:
        total = first.expectation.seconds or sum(parts.values())
        shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in parts.items())
        longest = max(share for name, share in parts.items() if name != HANDOVER) / total
        said.append(
            f"{first.case.key} is {shares} of its expected time: overlapped (--transport "
            f"pipelined) it would take {longest:.0%} of it at best."
        )
        said.append("A transport between devices (peer, channel) leaves the host out.")
    if parts.get(HANDOVER, 0.0) > _MUCH_HANDOVER * (first.expectation.seconds or 0.0):
        said.append(
            "Handover is what a round takes beyond its legs, where ranks wait for the slower of "
            "their neighbours, and threads for a core: more cores a rank, or a machine with less "
            "else to do, would lower it."
        )
    short, long = _by_latency(members)
    if short:
        said.append(
            f"Up to {size_text(short[-1])} latency counts: fewer and larger messages, or --form "
            "batched, would raise it."
        )
    if long:
        said.append(f"From {size_text(long[0])} on bandwidth counts: {_path(record, first)}.")
    return said


def _by_latency(members: Members) -> tuple[list[int], list[int]]:
    """Sizes whose measured time is mostly the smallest size's, and the others."""
    by_size = sorted(members, key=lambda one: one.case.message_bytes())
    latency = by_size[0].measured_s / _LATENCY
    limit = next(
        (index for index, one in enumerate(by_size) if one.measured_s > latency),
        len(by_size),
    )
    if by_size[0].case.message_bytes() > _SHORT_BYTES:
        limit = 0
    sizes = [one.case.message_bytes() for one in by_size]
    return sizes[:limit], sizes[limit:]


def _path(record: Record, member: Member) -> str:
    """The path of the longest leg's bytes."""
    if member.judged.bound == "transfer":
        return f"what {record.transport_name} reaches at best"
    if member.judged.bound != "exchange":
        if is_on_host(record):
            return "device and host share a memory, through which these copies go"
        return "the link between device and host, and whether host memory is pinned, matter"
    if record.world.nodes > 1:
        return f"{record.world.nodes} nodes share a network, its load and its ports matter"
    return (
        f"{record.world.ranks} ranks copy through one node's memory, neighbours on one socket and "
        "no other work on it help"
    )


def _latency(_record: Record, members: Members) -> str:
    return (
        f"Up to {size_text(max(one.case.message_bytes() for one in members))} the links' latency "
        "counts: fewer and larger messages would raise it."
    )


def _link_clock(_record: Record, members: Members) -> str:
    smallest = min(one.case.message_bytes() for one in members)
    return (
        f"From {size_text(smallest)} on the links' width times clock counts: more of the board's "
        "channels for each message would raise it."
    )


def _banks(_record: Record, members: Members) -> str:
    return f"The memory banks count, the kernels could ask for more. {_next_bound(members[0])}"


def _board(_record: Record, members: Members) -> str:
    bound = members[0].judged.bound
    return (
        f"The kernels as synthesised count ({bound}): a higher clock, more replications or wider "
        f"blocks would raise it. {_next_bound(members[0])}"
    )


def _other(_record: Record, members: Members) -> str:
    return f"The bound is {members[0].judged.bound}. {_next_bound(members[0])}"


def _next_bound(member: Member) -> str:
    """The possible gain until the next bound."""
    parts = {
        name: seconds
        for name, seconds in member.expectation.parts.items()
        if name != member.judged.bound and seconds > 0
    }
    if not parts:
        return "No other bound is known."
    name = max(parts, key=parts.__getitem__)
    factor = member.judged.expected_s / parts[name]
    if factor <= 1:
        return f"The next bound is {name}, as large."
    return f"Raised {factor:.3g} times, {name} would bind in its place."


# By the hint named by a bound.
_HINTS: dict[str, Hint] = {
    "arithmetic": _arithmetic,
    "updates": _updates,
    "memory": _memory,
    "launch": _launch,
    "message latency": _message_latency,
    "message gap": _message_gap,
    "scattered words": _scattered,
    "own updates": _own_updates,
    "buckets": _buckets,
    "look-ahead": _look_ahead,
    "link": _link,
    "channel latency": _latency,
    "channel clock": _link_clock,
    "banks": _banks,
    "kernels": _board,
    "transfer": _legs,
}


def _is_board(record: Record) -> bool:
    return any(rank.device.type == "accelerator" for rank in record.ranks if rank.device)


def grouped(members: Sequence[Member]) -> Iterator[list[Member]]:
    """Groups of equal verdict and bound, slow first, the worst of each first."""
    order = ("slow", "ambiguous", "fast", "ok", None)
    groups: dict[tuple[str | None, str | None], list[Member]] = {}
    for one in members:
        groups.setdefault((one.judged.verdict, one.judged.bound), []).append(one)
    for group in groups.values():
        group.sort(key=_off, reverse=True)
    yield from sorted(
        groups.values(), key=lambda group: (order.index(group[0].judged.verdict), -_off(group[0]))
    )


def _off(member: Member) -> float:
    return max(member.judged.ratio, 1 / member.judged.ratio)
