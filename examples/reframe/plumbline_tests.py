"""Plumbline as ReFrame tests: each runs ``plumb run`` and takes its figures from the record.

    cd examples/reframe
    reframe -C settings.py -c plumbline_tests.py -r --performance-report

``plumb`` starts the ranks by itself (within a Slurm job by srun), so ReFrame starts one process.
References are of a metric by its name, of a case as ``metric@case``; see ReFrame's ``reference``,
or ``baseline`` below.
"""

from __future__ import annotations

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_before, sanity_function, variable


class PlumblineTest(rfm.RunOnlyRegressionTest):
    """One benchmark; a test of your own derives from it, and sets ``benchmark`` and ``options``.

    ``num_tasks`` is the number of ranks of a job (``-n`` among the options where there is no
    scheduler). ``baseline`` names a record whose metrics are the references: a rate must reach it,
    a time must not exceed it, within ``tolerance``; ``reference`` goes before it.
    """

    benchmark = variable(str)
    options = variable(typ.List[str], value=[])  # as of plumb run
    cases = variable(bool, value=False)  # the figures of each case, too, not the aggregates alone
    baseline = variable(str, value="")
    tolerance = variable(float, value=0.1)
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "plumb"

    @run_before("run")
    def _command(self) -> None:
        self.job.launcher = getlauncher("local")()
        self.executable_opts = ["run", self.benchmark, *self.options, "--record", "record.json"]

    @sanity_function
    def _right(self) -> object:
        """Every case that the device supports has right answers.

        The scheduler `squeue` tells no exit status; then the record's end must do.
        """
        record = _record(Path(self.stagedir) / "record.json")
        outcomes = {case["outcome"]["status"] for case in record["cases"]}
        return sn.all(
            [
                sn.assert_in(self.job.exitcode, (0, None)),
                sn.assert_eq(record["status"], "complete"),
                sn.assert_in("passed", outcomes),
                sn.assert_eq(outcomes & {"failed", "error"}, set()),
            ]
        )

    @run_before("performance")
    def _figures(self) -> None:
        found = _figures(_record(Path(self.stagedir) / "record.json"), cases=self.cases)
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit)
            for name, (value, unit) in found.items()
        }
        if self.baseline and not self.reference:
            earlier = _figures(_record(Path(self.baseline)), cases=self.cases)
            self.reference = {
                "*": {name: self._limits(*earlier[name]) for name in found if name in earlier}
            }

    def _limits(self, value: float, unit: str) -> tuple[float, float | None, float | None, str]:
        """The reference, and by which part a measured value may be below and above it."""
        if "/" in unit:  # a rate
            return value, -self.tolerance, None, unit
        return value, None, self.tolerance, unit


def _record(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def _figures(record: dict, *, cases: bool) -> dict[str, tuple[float, str]]:
    """Metrics with their units: the aggregates, and if asked for or without any, of each case."""
    found = [(metric["name"], metric) for metric in record["metrics"]]
    for case in record["cases"] if cases or not found else []:
        found += [(f"{one['name']}@{case['key']}", one) for one in case["metrics"]]
    return {
        name: (metric["value"], metric["unit"])
        for name, metric in found
        if metric["value"] is not None
    }


@rfm.simple_test
class RingTest(PlumblineTest):
    """The effective bandwidth of a ring of devices."""

    benchmark = "b_eff"
    preset = parameter(["smoke"])

    @run_before("run")
    def _preset(self) -> None:
        self.options = ["--preset", self.preset]


@rfm.simple_test
class MemoryTest(PlumblineTest):
    """A device's memory, case by case."""

    benchmark = "stream"
    options = ["--preset", "smoke"]
    cases = True
