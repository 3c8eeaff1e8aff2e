"""b_eff: a staged transfer is read, exchange and write, one after another.

Source: Meyer, dissertation, Paderborn University, 2024: eq. 4.2 and 4.7 (the transfer), section
5.1.2 (the sub-steps, each of which is its own leg here). How many messages a leg carries, and how
this relates to eq. 4.7's 6.06 GB/s, is in :mod:`plumbline.system.system`.

A system's own ``[[transfers]]``, measured or fitted, take the place of both. Where the legs are
known, too, what the whole takes beyond them is its part ``handover``: ranks that wait for the
slower of their neighbours, threads that wait for a core.

Over serial links (transport ``channel``) a message takes eq. 4.3's time: each lane has two of the
board's channels, as a kernel pair has there, and lanes for which no channels are left take turns.
"""

from __future__ import annotations

import math

from plumbline.base.errors import UsageError
from plumbline.model.prediction import Bound, Prediction
from plumbline.record.record import Case, Record
from plumbline.system.segments import time_of
from plumbline.system.system import LEGS, Channel, Figures, Leg, Legs, Need, Way, known

BENCHMARK = "b_eff"
NEEDS: Need = "legs"
TRANSPORTS = frozenset({"mpi", "staged", "channel"})
HANDOVER = Bound("handover", "transfer")
EMULATED = "an emulator's speed is not a board's"

_TRANSFER_WHOLE = Bound("transfer", "transfer")
_CLOCK = Bound("clock", "channel clock")
_LATENCY = Bound("latency", "channel latency")
_TRANSFER: dict[str, tuple[Leg, ...]] = {
    "mpi": ("exchange",),
    "staged": ("read", "exchange", "write"),
}


def describe(record: Record, figures: Figures) -> str:
    """The transfer's model, with its equation."""
    if figures.way(record.transport_name, record.approach):
        legs = _TRANSFER.get(record.transport_name, ()) if figures.legs else ()
        of = f", of {', '.join(legs)} and handover" if legs else ""
        return f"{record.transport_name}, measured whole{of}: latency + n L / bandwidth"
    if record.transport_name == "staged":
        return "staged = read + exchange + write (Meyer 2024, eq. 4.2)"
    if record.transport_name == "mpi":
        return "mpi = exchange"
    if record.transport_name == "channel":
        return "channel = ceil(L / (2 channels' width)) / clock + latency (Meyer 2024, eq. 4.3)"
    return f"none for the transport {record.transport_name}"


def expect(record: Record, figures: Figures) -> dict[str, Prediction]:
    """The time of one count of each case; cases without a model carry the reason."""
    way = figures.way(record.transport_name, record.approach)
    if record.transport_name == "channel" and way is None:
        return {case.key: _over_links(record, case, figures.channel) for case in record.cases}
    legs = figures.legs or Legs()
    return {case.key: _expectation(record, case, legs, way) for case in record.cases}


def _expectation(record: Record, case: Case, legs: Legs, way: Way | None) -> Prediction:
    steps = _steps(record, case)
    whole = way is not None and case.label("part") not in LEGS
    if not (steps or whole):
        return Prediction.unknown(f"no model for the transport {record.transport_name}")
    form = record.parameters.get("form", "exchange")
    if form != "exchange":
        return Prediction.unknown(f"no model for the form {form}, only for exchange")
    if way is not None and whole:
        return _measured_whole(case, legs, steps, way)
    parts = _parts(case, legs, steps)
    for leg, seconds in parts.items():
        if seconds is None:
            return Prediction.unknown(f"the system file has no leg {leg}")
    took: dict[str, float] = {leg: seconds or 0.0 for leg, seconds in parts.items()}
    return Prediction.in_turn(took)


def _parts(case: Case, legs: Legs, steps: tuple[Leg, ...]) -> dict[str, float | None]:
    """Seconds of each leg; None where it is unknown."""
    return {
        Bound(leg, "transfer"): legs.time_s(leg, case.work.messages, case.message_bytes())
        for leg in steps
    }


def _measured_whole(case: Case, legs: Legs, steps: tuple[Leg, ...], way: Way) -> Prediction:
    """The whole's own time; where its legs are known, they and what it takes beyond them."""
    whole = time_of(way.segments, case.work.messages, case.message_bytes()) or 0.0
    took: dict[str, float] = {
        leg: seconds or 0.0 for leg, seconds in _parts(case, legs, steps).items()
    }
    if not all(took.values()) or not took:
        return Prediction.in_turn({_TRANSFER_WHOLE: whole})
    if whole > sum(took.values()):
        took[HANDOVER] = whole - sum(took.values())
    return Prediction(whole, bound=max(took, key=took.__getitem__), parts=took)


def _over_links(record: Record, case: Case, channel: Channel | None) -> Prediction:
    form = record.parameters.get("form", "exchange")
    if form != "exchange":
        return Prediction.unknown(f"no model for the form {form}, only for exchange")
    from plumbline.model.equations import b_eff  # NumPy takes a while to import

    if channel is None:
        return Prediction.unknown("the system file has no channel")
    try:
        latency = known(channel.latency_ns, "latency_ns", "channel") * 1e-9
        clock = known(channel.frequency_mhz, "frequency_mhz", "channel") * 1e6
        width = known(channel.width_bytes, "width_bytes", "channel")
    except UsageError as error:
        return Prediction.unknown(str(error))
    turns = math.ceil(case.work.messages * b_eff.CHANNELS_OF_A_PAIR / channel.count)
    clocked = turns * float(b_eff.channel_s(case.message_bytes(), width, clock, 0))
    emulated = any("Emulation" in rank.device.platform for rank in record.ranks if rank.device)
    return Prediction.in_turn(
        {_LATENCY: latency, _CLOCK: clocked}, reason=EMULATED if emulated else None
    )


def leg_of(record: Record, case: Case) -> Leg | None:
    """The leg that a case measures alone, or None. A transfer between host memories is one."""
    steps = _steps(record, case)
    return steps[0] if len(steps) == 1 else None


def is_whole(record: Record, case: Case) -> bool:
    """Whether a case measures a transfer of several legs."""
    return len(_steps(record, case)) > 1


def _steps(record: Record, case: Case) -> tuple[Leg, ...]:
    part = case.label("part")
    for leg in LEGS:
        if part == leg:
            return (leg,)
    return _TRANSFER.get(record.transport_name, ())
