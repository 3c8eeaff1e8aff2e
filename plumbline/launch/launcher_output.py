"""The output of launchers for failed ranks: held back, and parsed for the rank's number.

Open MPI puts its texts between rows of dashes, Hydra (MPICH) between rows of equals signs; Slurm
starts its lines with ``srun:``. Concurrent output of a rank splits rows, so the usual lines are
also matched by their text. The engine's own message takes precedence.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass, field

_ROW = re.compile(r"-{12,}|={12,}")
_LINE = re.compile(
    r"\[(proxy|mpiexec)[:@].*|Abort\(\d+\) on node .*|srun: .*|slurmstepd: .*"
    r"|YOUR APPLICATION TERMINATED .*"
    r"|This typically refers to a problem .*|Please see the FAQ page .*"
    r"|\[[^\]]*\] \d+ more processes? (has|have) sent help message .*"
    r"|Primary job +terminated normally.*|a non-zero exit code\. Per user-direction.*"
    r"|mpirun\S* (detected|noticed) that .*|the job to be terminated\. The first process .*"
    r"|\s+(Process name|Exit code): .*|MPI_ABORT was invoked on rank .*|with errorcode \d+\."
    r"|NOTE: invoking MPI_ABORT .*|You may or may not see output .*|exactly when Open MPI kills .*"
    r"|\[[^\]]*\] Set MCA parameter \"orte_base_help_aggregate\" .*"
)
_OPENMPI_SIGNAL = re.compile(
    r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+) "
    r"exited on signal (?P<signal>\d+)"
)
_OPENMPI_EXIT = re.compile(r"Process name: \[\[.*\],(?P<rank>\d+)\]")
_HYDRA_NODE = re.compile(r"PID \d+ RUNNING AT (?P<node>\S+)")
_HYDRA_SIGNAL = re.compile(r"EXIT STRING: .* \(signal (?P<signal>\d+)\)")
_SLURM = re.compile(r"srun: error: (?P<node>[^:]+): task (?P<rank>\d+): (?P<what>.*)")


@dataclass
class LauncherOutput:
    """Separates a launcher's lines from all others, and keeps them in ``held``."""

    held: list[str] = field(default_factory=list)
    _row: str = ""

    def hides(self, line: str) -> bool:
        """Whether ``line`` is the launcher's; if so, keep it instead of showing it."""
        if _ROW.fullmatch(line.strip()):
            self._row = "" if self._row else line.strip()[0]
            return True
        if self._row or _LINE.fullmatch(line):
            if line.strip():
                self.held.append(line.strip("= ") if self._row == "=" else line.strip())
            return True
        return False

    def text(self) -> str:
        """The held text, as one line."""
        return " ".join(self.held)

    def died(self) -> str | None:
        """The failed rank and its failure, if named in the launcher's output."""
        text = self.text()
        if found := _OPENMPI_SIGNAL.search(text):
            return (
                f"rank {found['rank']} on {found['node']} was ended by {_signal(found['signal'])}"
            )
        if found := _SLURM.search(text):
            return f"rank {found['rank']} on {found['node']}: {found['what']}"
        if found := _HYDRA_SIGNAL.search(text):
            node = _HYDRA_NODE.search(text)
            where = f" on {node['node']}" if node else ""
            return f"a rank{where} was ended by {_signal(found['signal'])}"
        if found := _OPENMPI_EXIT.search(text):
            return f"rank {found['rank']} ended early"
        return None


def _signal(number: str) -> str:
    try:
        return f"signal {number} ({signal.Signals(int(number)).name})"
    except ValueError:
        return f"signal {number}"
