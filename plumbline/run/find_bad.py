"""``plumb find-bad``: the nodes and links of a cluster that are slower than the others."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from plumbline.base.columns import aligned
from plumbline.base.errors import UsageError
from plumbline.fit.bad_nodes import FEWEST_NODES, Bad, Pair, bad_alone, bad_in_pairs
from plumbline.record.record import Device, Record, load_record
from plumbline.report.nodes import seconds_of_hosts, slowest_ranks

_BOTH = 2  # nodes of a pair
_FEWEST_ALONE = 3
_BARS = " ░▒▓█"
_NAMED = 8  # pairs that are named, of those not measured
_LEAST_SHARE = 0.1  # of the bytes of a host's busiest port, for a port that carries the messages
_OWN_WORDS = ("--record", "--progress", "--format")  # of a run, not of what it measures


@dataclass
class Measured:
    """Seconds of one count by figure: of single nodes, and of pairs of nodes.

    ``devices``: names of each node's devices, by figure and node. ``ports``: those that carried the
    messages, by figure, pair and node. ``words``: the engine's, by figure.
    """

    alone: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    pairs: dict[str, dict[Pair, list[float]]] = field(default_factory=dict)
    devices: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    ports: dict[tuple[str, Pair], dict[str, set[str]]] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)

    def missing(self, what: str) -> list[Pair]:
        """Pairs without a figure, of all nodes that any figure of pairs has."""
        nodes = sorted({name for one in self.pairs.values() for pair in one for name in pair})
        return [pair for pair in combinations(nodes, 2) if pair not in self.pairs[what]]

    @property
    def nodes(self) -> list[str]:
        """All nodes, sorted."""
        found = {name for one in self.alone.values() for name in one}
        found |= {name for one in self.pairs.values() for pair in one for name in pair}
        return sorted(found)


def gather(records: Iterable[Record]) -> Measured:
    """Figures of nodes from records without transport, of pairs from those of two nodes.

    Records of more nodes that exchange something cannot be assigned to a pair.
    """
    alone: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    pairs: dict[str, dict[Pair, list[float]]] = defaultdict(lambda: defaultdict(list))
    devices: dict[tuple[str, str], set[str]] = defaultdict(set)
    ports: dict[tuple[str, Pair], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    words: dict[str, list[str]] = {}
    for record in records:
        names = [host.name for host in record.hosts]
        carried = _busy_ports(record)
        for case in record.cases:
            if not case.has_figures or not case.count or not case.samples.by_rank:
                continue
            what = f"{record.benchmark.name} {case.key}"
            words.setdefault(what, _words_of(record.command))
            for rank in record.ranks:
                if rank.device is not None:
                    devices[what, names[rank.host]].add(_title(rank.device))
            if record.transport is None:
                for host, seconds in seconds_of_hosts(record, case).items():
                    alone[what][names[host]] += seconds
            elif len(set(names)) == _BOTH:
                one, other = sorted(names)
                pairs[what][one, other] += slowest_ranks(case.samples.by_rank, case.count)
                for node, port in carried:
                    ports[what, (one, other)][node].add(port)
    return Measured(
        {what: dict(found) for what, found in alone.items()},
        {what: dict(found) for what, found in pairs.items()},
        dict(devices),
        dict(ports),
        words,
    )


def _busy_ports(record: Record) -> list[tuple[str, str]]:
    """Host and name of the ports that carried the run's messages: those that moved most there."""
    most: dict[int, int] = defaultdict(int)
    for port in record.ports:
        most[port.host] = max(most[port.host], port.sent_bytes + port.received_bytes)
    return [
        (record.hosts[port.host].name, port.name)
        for port in record.ports
        if port.sent_bytes + port.received_bytes >= _LEAST_SHARE * most[port.host]
    ]


def _words_of(command: Sequence[str]) -> list[str]:
    """A record's command without its folder and its output's options."""
    kept, words = [Path(command[0]).name] if command else [], iter(command[1:])
    for word in words:
        if word in _OWN_WORDS:
            next(words, None)
        elif not word.startswith(tuple(f"{own}=" for own in _OWN_WORDS)):
            kept.append(word)
    return kept


def _title(device: Device) -> str:
    return f"{device.name} ({device.runtime} {device.index})"


def find_bad(measured: Measured) -> list[Bad]:
    """Bad nodes and links, the worst of each name, the worst first.

    A link is left out if one of its nodes is bad by itself.
    """
    figures = len(measured.alone) + len(measured.pairs)
    found: list[Bad] = []
    for what, samples in measured.alone.items():
        found += bad_alone(what, samples, figures)
    for what, pairs in measured.pairs.items():
        found += bad_in_pairs(what, pairs, figures)
    worst: dict[tuple[str, ...], Bad] = {}
    for one in sorted(found, key=lambda one: -one.low):
        worst.setdefault(one.nodes, one)
    nodes = {one.nodes[0] for one in worst.values() if len(one.nodes) == 1}
    return [one for one in worst.values() if len(one.nodes) == 1 or not nodes & set(one.nodes)]


def text_of(measured: Measured) -> str:
    """What is bad, with the command that confirms it and the line that drains a node."""
    nodes = measured.nodes
    if not nodes:
        raise UsageError("the records name no node with figures: give records of several nodes")
    pairs = sum(len(one) for one in measured.pairs.values())
    lines = [f"{len(nodes)} nodes, {len(measured.alone)} figures of nodes, {pairs} times of pairs"]
    lines += _limits(measured)
    bad = find_bad(measured)
    if not bad:
        measured_only = " of those measured" if any(map(measured.missing, measured.pairs)) else ""
        return "\n".join([*lines, f"no node and no link{measured_only} stands out"])
    head = ["", "slower", "95 % together", "by", "device", "port"]
    rows = [
        [
            one.name,
            f"{one.ratio:.3g} x",
            f"{one.low:.3g} .. {one.high:.3g}",
            one.what,
            _devices(measured, one),
            _ports(measured, one),
        ]
        for one in bad
    ]
    lines += ["", *aligned([head, *rows])]
    for what, of_pairs in measured.pairs.items():
        if any(one.what == what for one in bad):
            lines += ["", f"{what}: time of each pair over the median", *_heat(of_pairs)]
    lines += ["", "confirm:"]
    named = {name for one in bad for name in one.nodes}
    lines += [f"  {_confirm(measured, one, named)}" for one in bad]
    drained = [one for one in bad if len(one.nodes) == 1]
    if drained:
        lines += ["", "to drain (nothing was changed):"]
        lines += [
            f'  scontrol update NodeName={one.nodes[0]} State=DRAIN Reason="plumb find-bad: '
            f'{one.ratio:.3g} x in {one.what}"'
            for one in drained
        ]
    return "\n".join(lines)


def _devices(measured: Measured, bad: Bad) -> str:
    """The devices of its nodes in the runs that say so."""
    return _joined(measured.devices.get((bad.what, node), set()) for node in bad.nodes)


def _ports(measured: Measured, bad: Bad) -> str:
    """The ports of its nodes in its pairs, a link's own or all of a node; empty if not recorded."""
    found: dict[str, set[str]] = {node: set() for node in bad.nodes}
    for (what, pair), by_node in measured.ports.items():
        if what == bad.what and set(bad.nodes) <= set(pair):
            for node in bad.nodes:
                found[node] |= by_node.get(node, set())
    return _joined(found.values())


def _joined(of_nodes: Iterable[set[str]]) -> str:
    """Names on each node, once if they are the same on both."""
    return " - ".join(dict.fromkeys(", ".join(sorted(names)) for names in of_nodes))


def _limits(measured: Measured) -> Iterator[str]:
    """What the records cannot tell."""
    most = max((len({n for p in one for n in p}) for one in measured.pairs.values()), default=0)
    if 0 < most < FEWEST_NODES:
        yield (
            f"pairs of {most} nodes cannot separate a bad node from its link: "
            f"{FEWEST_NODES} nodes are needed"
        )
    if measured.alone and max(map(len, measured.alone.values())) < _FEWEST_ALONE:
        yield f"figures of fewer than {_FEWEST_ALONE} nodes cannot tell which of them is slow"
    for what, pairs in measured.pairs.items():
        if missing := measured.missing(what):
            names = ", ".join("-".join(pair) for pair in missing[:_NAMED])
            more = ", …" if len(missing) > _NAMED else ""
            of_all = f"{len(missing)} of {len(missing) + len(pairs)} pairs"
            yield f"{what}: {of_all} were not measured: {names}{more}"


def _confirm(measured: Measured, bad: Bad, named: set[str]) -> str:
    """The run that named it, on its nodes; a node that is slow in its pairs beside a usual one."""
    nodes = list(bad.nodes)
    if len(nodes) == 1 and bad.what in measured.pairs:
        usual = {name for pair in measured.pairs[bad.what] for name in pair} - named
        nodes += sorted(usual)[:1]
    words = measured.words.get(bad.what) or ["plumb-mpi", bad.what.split()[0]]
    return (
        f"srun --nodelist={','.join(nodes)} --ntasks={len(nodes)} --ntasks-per-node=1 "
        f"{shlex.join(words)}"
    )


def _heat(pairs: dict[Pair, list[float]]) -> Iterator[str]:
    """A map of all pairs: darker is slower, up to 1.25 times the median; ? was not measured."""
    middle = {pair: sorted(seconds)[len(seconds) // 2] for pair, seconds in pairs.items()}
    usual = sorted(middle.values())[len(middle) // 2]
    names = sorted({name for pair in pairs for name in pair})
    width = max(map(len, names))
    top = len(_BARS) - 1
    for one in names:
        cells = []
        for other in names:
            seconds = middle.get((min(one, other), max(one, other)))
            share = 0.0 if seconds is None else (seconds / usual - 1) / 0.25
            none = "·" if one == other else "?"
            cells.append(none if seconds is None else _BARS[min(top, max(0, round(share * top)))])
        yield f"  {one.ljust(width)} {''.join(cells)}"


def load(paths: Sequence[Path]) -> list[Record]:
    """Records of files, and of all files of folders."""
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob("*.json")) if path.is_dir() else [path]
    records = [load_record(path) for path in files if not path.name.endswith(".expected.json")]
    if not records:
        raise UsageError(f"there is no record in {', '.join(map(str, paths))}")
    return records
