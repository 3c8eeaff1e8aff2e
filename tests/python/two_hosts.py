"""Two hosts within this one: network namespaces with names of their own, joined by a cable."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NET = "10.77.0"
_NAMESPACES = ("--net", "--uts", "--mount")
_AGENT = """#!/bin/bash
# {name} HOST COMMAND...: what ssh is elsewhere
declare -A process=({processes})
exec nsenter --net --uts --mount --target "${{process[$1]}}" bash -c "${{*:2}}"
"""
# Before a command: says how it ended and ends well, because Open MPI's launchers take seconds to end failed ranks.
_TOLD = ("bash", "-c", '"$@"; echo "ended with $?" >&2', "bash")


def why_not() -> str | None:
    """Why hosts cannot be made here, or None."""
    missing = [
        tool for tool in ("ip", "nsenter", "unshare", "mpirun.openmpi") if not shutil.which(tool)
    ]
    if missing:
        return f"there is no {missing[0]}"
    done = subprocess.run(["unshare", *_NAMESPACES, "true"], capture_output=True, check=False)
    return None if done.returncode == 0 else "namespaces are for root"


@dataclass(frozen=True)
class Hosts:
    """Names (their addresses), a process in each, and the agent that starts launchers' daemons."""

    names: tuple[str, str]
    processes: tuple[int, int]
    agent: Path

    def inside(self, host: int, words: Sequence[str]) -> list[str]:
        """A command line, run on a host."""
        enter = ["nsenter", *_NAMESPACES, "--target", str(self.processes[host])]
        return [*enter, f"--wdns={Path.cwd()}", *words]

    def of_cable(self, host: int, name: str) -> str:
        """A file of sysfs about a host's end of the cable."""
        words = ["cat", f"/sys/class/net/cable{host}/{name}"]
        done = subprocess.run(self.inside(host, words), check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def sent(self, host: int) -> int:
        """Bytes that a host has sent over the cable, with headers."""
        return int(self.of_cable(host, "statistics/tx_bytes"))

    def here(
        self, words: Sequence[str], environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the first host and wait for it."""
        return subprocess.run(
            self.inside(0, words),
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def run(
        self,
        ranks: int,
        words: Sequence[str],
        environment: dict[str, str],
        timeout: float,
        program: str = "mpirun.openmpi",
    ) -> subprocess.CompletedProcess[str]:
        """Start ``ranks`` on each host over TCP by one of Open MPI's launchers and wait for them."""
        settings = {
            "plm_rsh_agent": str(self.agent),
            "pml": "ob1",
            "btl": "tcp,self,vader",
            "btl_tcp_if_include": f"{NET}.0/24",
            "oob_tcp_if_include": f"{NET}.0/24",
            "mpi_yield_when_idle": "1",
        }
        places = ",".join(f"{name}:{ranks}" for name in self.names)
        launcher = [program, "-np", str(2 * ranks), "--host", places, "--bind-to", "none"]
        for key, value in settings.items():
            launcher += ["--mca", key, value]
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        # The other host's daemon of an earlier launch may still be removing its folder of sessions.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as sessions:
            launcher += ["--mca", "orte_tmpdir_base", sessions]
            return self.here([*launcher, *words], {**root, **environment}, timeout)

    def refused(
        self,
        ranks: int,
        words: Sequence[str],
        environment: dict[str, str],
        program: str = "mpirun.openmpi",
    ) -> tuple[set[int], str]:
        """As run(), of ranks that fail: the ways in which they ended, and what they said."""
        done = self.run(ranks, [*_TOLD, *words], environment, 60, program)
        ends = re.findall(r"^ended with (\d+)$", done.stderr, re.M)
        return set(map(int, ends)), done.stdout + done.stderr


@contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """The hosts while the context lasts; ``folder`` gets the agent."""
    # A sysfs of each host's own shows its network, in which UCX looks.
    hold = ["sh", "-c", "mount -t sysfs sysfs /sys && exec sleep 3600"]
    unshare = ["unshare", *_NAMESPACES, "--fork", "--kill-child", *hold]
    keepers = [subprocess.Popen(unshare) for _ in range(2)]
    try:
        processes = [_child(keeper.pid) for keeper in keepers]
        names = (f"{NET}.1", f"{NET}.2")
        agent = folder / "agent"
        pairs = " ".join(f"[{name}]={pid}" for name, pid in zip(names, processes, strict=True))
        agent.write_text(_AGENT.format(name=agent.name, processes=pairs))
        agent.chmod(0o755)
        hosts = Hosts(names, (processes[0], processes[1]), agent)
        _join(hosts)
        yield hosts
    finally:
        for keeper in keepers:
            keeper.send_signal(signal.SIGKILL)
            keeper.wait()


def _join(hosts: Hosts) -> None:
    def on(host: int, words: str) -> None:
        subprocess.run(hosts.inside(host, words.split()), check=True, capture_output=True)

    on(0, f"ip link add cable0 type veth peer name cable1 netns {hosts.processes[1]}")
    for host, name in enumerate(hosts.names):
        on(host, f"hostname {name}")
        on(host, f"ip address add {name}/24 dev cable{host}")
        on(host, f"ip link set cable{host} up")
        on(host, "ip link set lo up")
    # The kernel reports a link up to a second late, and UCX takes no other.
    until = time.monotonic() + 10
    while [hosts.of_cable(host, "operstate") for host in range(2)] != ["up", "up"]:
        if time.monotonic() > until:
            raise TimeoutError("the cable does not come up")
        time.sleep(0.05)


def _child(keeper: int) -> int:
    """The process that ``keeper`` (unshare) started, once it is there."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
        if children and Path(f"/proc/{children[0]}/comm").read_text() == "sleep\n":
            return int(children[0])
        time.sleep(0.02)
    raise TimeoutError("unshare started nothing")
