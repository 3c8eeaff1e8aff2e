"""A record against the model of its benchmark and a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plumbline.judge.verdict import Comparison, compare
from plumbline.model import Expectation, model_of, need_of
from plumbline.record.record import Record
from plumbline.system.system import LOCAL, Conditions, Need, System

# Where no run calibrates what is missing.
_SAID = {"operations": " (shoms measures one-sided operations, of OpenSHMEM only)"}


@dataclass(frozen=True)
class Assessment:
    """A comparison, or None with the reason; ``line`` tells either to the user.

    ``expectations`` are what was compared with, by the case's key.
    """

    comparison: Comparison | None
    line: str
    expectations: Mapping[str, Expectation] = field(default_factory=dict)


def conditions_of(record: Record) -> Conditions:
    """Under what a record was measured, as far as a calibration depends on it."""
    device = record.ranks[0].device
    transfers = record.transport is not None
    replications = record.parameters.get("replications", 1)
    kind = record.memory.kind
    bank = record.memory.bank
    return Conditions(
        cpu=record.hosts[0].cpu,
        library=record.world.library or record.world.kind,
        ranks=record.world.ranks,
        nodes=record.world.nodes,
        cores_per_rank=min(len(rank.cores) for rank in record.ranks),
        transport=record.transport_name,
        memory=kind if bank is None else f"{kind}:{bank}",
        runtime=device.runtime if device else "none",
        platform=device.platform if device else "none",
        devices=record.devices(),
        driver=device.driver if device else "none",
        form=str(record.parameters.get("form", "exchange")) if transfers else "none",
        messages=2 * (replications if isinstance(replications, int) else 1) if transfers else 0,
        build_type=record.program.build_type,
    )


def is_covered(record: Record, system: System) -> bool:
    """Whether ``system`` has figures for ``record``'s conditions, or no model asks for them."""
    model = model_of(record.benchmark.name)
    if model is None or record.transport_name not in model.TRANSPORTS:
        return True
    need = need_of(model, record.transport_name)
    return need == "channel" or system.figures_under(conditions_of(record)).has(need)


def assess(record: Record, system: System | None, tolerance: float) -> Assessment:
    """Judge ``record``; ``tolerance`` as in :mod:`plumbline.judge.verdict`."""
    model = model_of(record.benchmark.name)
    if model is None:
        return Assessment(None, f"no model: there is none for {record.benchmark.name} yet")
    figures = system.figures_under(conditions_of(record)) if system else None
    whole = bool(
        record.transport and figures and figures.way(record.transport_name, record.approach)
    )
    if record.transport_name not in model.TRANSPORTS and not whole:
        return Assessment(
            None, f"no model: there is none for the {record.transport_name} transport"
        )
    need = need_of(model, record.transport_name)
    if system is None or figures is None or not (whole or figures.has(need)):
        return Assessment(None, _unknown(system, need))
    expectations = model.expect(record, figures)
    comparison = compare(
        record,
        expectations,
        model=model.describe(record, figures),
        system=system.system.name,
        tolerance=tolerance,
    )
    if not (comparison.cases or comparison.without):
        return Assessment(None, "no model: no case was measured")
    return Assessment(comparison, _line(comparison, len(record.cases), tolerance), expectations)


def _unknown(system: System | None, need: Need) -> str:
    if system is None or system.system.name == LOCAL:
        return (
            f"no model: this machine is not calibrated for what this run used{_SAID.get(need, '')}"
        )
    missing = {"updates": "rates of random updates", "operations": "one-sided operations"}.get(
        need, need
    )
    return f"no model: the system {system.system.name} has no {missing}"


def _line(comparison: Comparison, cases: int, tolerance: float) -> str:
    counts = comparison.counts()
    words = [
        f"{counts[word]} {word}" for word in ("ok", "slow", "fast", "ambiguous") if counts[word]
    ]
    if not comparison.cases:
        return f"no model: {next(iter(comparison.without.values()))}"
    without = cases - counts.total()
    if without:
        why = next(iter(comparison.without.values()), None)
        words.append(f"{without} without ({why})" if why else f"{without} without")
    line = (
        f"model: {comparison.model}; system {comparison.system}; "
        f"verdicts within {tolerance * 100:g} %: {', '.join(words)}"
    )
    if comparison.system == LOCAL and counts["slow"] > len(comparison.cases) / 2:
        line += " (launches differ: --launches 3 shows by how much; plumb calibrate measures anew)"
    return line
