"""Plumbline as ReFrame tests: each runs ``plumb run`` and takes its figures from the record.

    reframe -c examples/reframe/plumbline_tests.py -r --performance-report

``plumb`` starts the ranks by itself (within a Slurm job by srun), so ReFrame starts one process.
References are of a metric by its name, of a case as ``metric@case``; see ReFrame's ``reference``.
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
    """One benchmark; a test of your own derives from it, and sets ``benchmark`` and ``options``."""

    benchmark = variable(str)
    options = variable(typ.List[str], value=[])  # as of plumb run
    cases = variable(bool, value=False)  # the figures of each case, too, not the aggregates alone
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "plumb"

    @run_before("run")
    def _command(self) -> None:
        self.job.launcher = getlauncher("local")()
        self.executable_opts = ["run", self.benchmark, *self.options, "--record", "record.json"]

    @sanity_function
    def _right(self) -> object:
        """Every case that the device supports has right answers."""
        outcomes = {case["outcome"]["status"] for case in self._record()["cases"]}
        return sn.all(
            [
                sn.assert_eq(self.job.exitcode, 0),
                sn.assert_in("passed", outcomes),
                sn.assert_eq(outcomes & {"failed", "error"}, set()),
            ]
        )

    @run_before("performance")
    def _figures(self) -> None:
        record = self._record()
        found = [(metric["name"], metric) for metric in record["metrics"]]
        for case in record["cases"] if self.cases or not found else []:
            found += [(f"{one['name']}@{case['key']}", one) for one in case["metrics"]]
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(metric["value"]), metric["unit"])
            for name, metric in found
            if metric["value"] is not None
        }

    def _record(self) -> dict:
        return json.loads((Path(self.stagedir) / "record.json").read_text(encoding="utf-8"))


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
