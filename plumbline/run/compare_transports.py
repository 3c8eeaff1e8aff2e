"""``plumb compare-transports``: one benchmark over every available transport and approach.

Each is a separate run, with a record kept as by ``plumb run``; the table of results is
:mod:`plumbline.report.transports`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from plumbline.base.errors import ExitStatus, RunError, UsageError
from plumbline.engine.program import TransportDevice, TransportList, TransportState
from plumbline.launch.execute import execute, record_place
from plumbline.launch.placement import device_map
from plumbline.record.record import Record
from plumbline.report.transports import Column, Comparison, LeftOut, write
from plumbline.run.plan import RunPlan, check_with_engine
from plumbline.run.run import WEIGHT, fresh_output, index_record


def compare(plan: RunPlan) -> int:
    """Run a plan over every transport; returns the exit status.

    Transports rejected by the engine for a device are omitted with the reason, which is a failure
    only if none is left. Raises :class:`UsageError` for invalid options.
    """
    listed = plan.session.engine.transports(plan.session.environ)
    plan = _on_one_device(plan, listed)
    ways = list(_ways(plan, listed))
    wanted = [way for way in ways if isinstance(way, tuple)]
    if not wanted:
        raise UsageError("no transport works on this machine: plumb transports shows the reasons")
    check_with_engine(_over(plan, *wanted[0]))
    output = fresh_output(plan)
    comparison = Comparison(plan.benchmark.name, plan.request.ranks)
    comparison.left_out += [way for way in ways if isinstance(way, LeftOut)]
    status = _run_all(plan, wanted, comparison)
    text = write(comparison, plan.given.values.get("format", "table"))
    say(text, output)
    return status


def _run_all(
    plan: RunPlan, wanted: Sequence[tuple[str, str]], comparison: Comparison
) -> ExitStatus:
    statuses: list[ExitStatus] = []
    for number, (transport, approach) in enumerate(wanted, 1):
        plan.session.say(f"{transport}/{approach} ({number} of {len(wanted)})")
        path, problem = record_place(plan.session, plan.benchmark.name)
        if problem:
            plan.session.say(problem)
        arguments = _over(plan, transport, approach).arguments
        done = execute(plan.session, plan.benchmark.name, arguments, path)
        if done.record is not None:
            plan.session.say(f"record: {path}")
            index_record(plan.session, path)
        if done.status is ExitStatus.BAD_USAGE:
            reason = done.said or _reason(done.record) or "rejected by the engine"
            comparison.left_out.append(LeftOut(transport, approach, reason))
            continue
        failed = problem and done.status is ExitStatus.PASSED
        statuses.append(ExitStatus.ERROR if failed else done.status)
        if done.record is None:
            reason = done.said or "the run ended without a record"
            comparison.left_out.append(LeftOut(transport, approach, reason))
        else:
            comparison.columns.append(Column(transport, approach, path, done.record))
        if done.interrupted:
            break
    return max(statuses, key=WEIGHT.index, default=ExitStatus.BAD_USAGE)


def _on_one_device(plan: RunPlan, listed: TransportList) -> RunPlan:
    """The plan with a fixed runtime, as the transports' defaults differ."""
    given = plan.given.values
    if any(name in given for name in ("runtime", "device", "device-map")):
        return plan
    devices = [device for transport in listed.transports for device in transport.devices]
    words = ["--runtime", devices[0].runtime] if devices else []
    return replace(plan, arguments=[*plan.arguments, *words])


def ways_of(plan: RunPlan) -> list[tuple[str, str]]:
    """The transports and approaches that work on the device that the plan chooses."""
    listed = plan.session.engine.transports(plan.session.environ)
    ways = _ways(_on_one_device(plan, listed), listed)
    return [way for way in ways if isinstance(way, tuple)]


def _ways(plan: RunPlan, listed: TransportList) -> Iterator[tuple[str, str] | LeftOut]:
    """Each transport and approach, or the reason for its omission; an emulated one has no speed."""
    for transport in listed.transports:
        reason = transport.reason or transport.emulated or _device_reason(plan, transport)
        for approach in transport.approaches:
            if reason:
                yield LeftOut(transport.name, approach, reason)
            else:
                yield transport.name, approach


def _device_reason(plan: RunPlan, transport: TransportState) -> str | None:
    """Reason why the transport works on none of the plan's devices."""
    if plan.given.values.get("memory", "default") != "default":
        return None  # left to the engine: the list is for the default memory
    devices = [device for device in transport.devices if _may_use(plan, device)]
    reasons = [f"{device.name}: {device.reason}" for device in devices if device.reason]
    return reasons[0] if reasons and len(reasons) == len(devices) else None


def _may_use(plan: RunPlan, device: TransportDevice) -> bool:
    given, words = plan.given.values, plan.arguments
    runtime = words[words.index("--runtime") + 1] if "--runtime" in words else None
    numbers = device_map(given["device-map"]).numbers if "device-map" in given else []
    if given.get("device", "").isdigit():
        numbers = [int(given["device"])]
    if numbers:
        return device.index in numbers
    return runtime is None or device.runtime == runtime


def _over(plan: RunPlan, transport: str, approach: str) -> RunPlan:
    words = ["--transport", transport, "--approach", approach]
    return replace(plan, arguments=[*plan.arguments, *words])


def _reason(record: Record | None) -> str | None:
    return record.outcome.reason if record is not None and record.outcome else None


def say(text: str, output: Path | None) -> None:
    """Print the results, or write them to ``output``."""
    if output is None:
        print(text, flush=True)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        sys.stdout.write(text + "\n")
        raise RunError(f"the results cannot be written to {output}: {error.strerror}") from None
