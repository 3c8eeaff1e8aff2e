"""Legs: the steps of a transfer by transport, and the cases of b_eff that measure a single one."""

from __future__ import annotations

from plumbline.model.prediction import Bound
from plumbline.record.record import Case, Record
from plumbline.system.system import LEGS, Leg

LEGS_OF: dict[str, tuple[Leg, ...]] = {
    "mpi": ("exchange",),
    "staged": ("read", "exchange", "write"),
    "staged-launch": ("launch", "read", "exchange", "write", "launch"),
}
HANDOVER = Bound("handover", "transfer")  # excess of the whole over its legs


def legs_of(record: Record, case: Case) -> tuple[Leg, ...]:
    """The legs of a case: that of its ``part``, otherwise its transport's."""
    part = case.label("part")
    for leg in LEGS:
        if part == leg:
            return (leg,)
    return LEGS_OF.get(record.transport_name, ())


def leg_of(record: Record, case: Case) -> Leg | None:
    """The single leg measured by a case (also: between host memories), or None."""
    legs = legs_of(record, case)
    return legs[0] if len(legs) == 1 else None


def is_whole(record: Record, case: Case) -> bool:
    """Whether a case measures a transfer of several legs, or of a transport that has none."""
    legs = legs_of(record, case)
    return len(legs) > 1 or (not legs and case.label("part") == "transfer")
