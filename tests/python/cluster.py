"""A cluster within this machine: Slurm on hosts that are namespaces, joined by shaped links.

Each host has its own network, names, processes, mounts (``/tmp``, ``/dev/shm``, ``/etc/hosts``)
and shared memory; the folders of a shared file system are the same on all of them. ``login``
holds slurmctld, munged and the switch; ``n01``, ``n02``, … have a slurmd each. What a node
receives is limited by TBF at the switch, what it sends to another node by a class of HTB, whose
bytes are counted.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

LOGIN = "login"
_NET = "10.78.0"
_LOGIN_ADDRESS = f"{_NET}.100"
_NAMESPACES = ("--net", "--uts", "--mount", "--ipc", "--pid")
_TOOLS = ("ip", "tc", "nsenter", "unshare", "munged", "slurmctld", "slurmd", "srun", "sbatch")
_START_S = 60.0
_NIC_MBIT = 2000
_LINK_MBIT = 1000

# Arguments: the name, the file of hosts' names, the shared folders. bash as the first process
# collects the processes that lose their parent.
_HOST = r"""
set -e
hostname "$1"
mount --make-rprivate /
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /sys/fs/cgroup
mount -t tmpfs tmpfs /dev/shm
mount --bind "$2" /etc/hosts
mount -t tmpfs tmpfs /media
at=0
for folder in "${@:3}"; do
  mkdir "/media/$at"
  mount --rbind "$folder" "/media/$at"
  at=$((at + 1))
done
mount -t tmpfs -o mode=1777 tmpfs /tmp
at=0
for folder in "${@:3}"; do
  mkdir -p "$folder"
  mount --rbind "/media/$at" "$folder"
  at=$((at + 1))
done
ip link set lo up
echo ready
while :; do sleep 3600 & wait; done
"""

_CONFIGURATION = """
ClusterName=test
SlurmctldHost={login}({address})
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir=/tmp/slurmd
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin={task}
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=5
KillWait=1
UnkillableStepTimeout=5
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
NodeName=n[01-{last:02}] NodeAddr={net}.[1-{last}] CPUs={cores} State=UNKNOWN Feature=shaped
PartitionName=batch Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def why_not() -> str | None:
    """Why there can be no cluster here, or None."""
    missing = [tool for tool in _TOOLS if not shutil.which(tool, path=_path())]
    if missing:
        return f"there is no {missing[0]}"
    words = ["unshare", *_NAMESPACES, "--fork", "mount", "-t", "tmpfs", "tmpfs", "/media"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no namespaces: {done.stderr.strip()}"


@dataclass
class Cluster:
    """The hosts: the process that holds each, and their daemons."""

    folder: Path
    nodes: tuple[str, ...]
    shared: tuple[Path, ...]
    holders: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Variables of commands on its hosts."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": _path()}

    def inside(self, host: str, words: Sequence[str], at: Path | None = None) -> list[str]:
        """A command line, run on a host."""
        enter = ["nsenter", *_NAMESPACES, "--target", str(self.first[host])]
        return [*enter, f"--wdns={at or self.folder}", *words]

    def run(
        self,
        *words: str,
        host: str = LOGIN,
        environ: Mapping[str, str] | None = None,
        timeout: float = 60,
        at: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host and wait for it."""
        return subprocess.run(
            self.inside(host, words, at),
            env={**os.environ, **self.environment, **(environ or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def shape(self, one: str, other: str, mbit: float) -> None:
        """Limit a link to ``mbit`` Mbit/s, in both directions."""
        for sender, receiver in ((one, other), (other, one)):
            self._tc(sender, "class replace", receiver, mbit)

    def sent(self, one: str, other: str) -> int:
        """Bytes that ``one`` has sent to ``other``, with headers."""
        text = self.checked(one, "tc -s class show dev net0")
        found = re.search(rf"class htb 1:{self._class(other)} .*?Sent (\d+) bytes", text, re.S)
        assert found is not None, text
        return int(found[1])

    def checked(self, host: str, words: str) -> str:
        """Standard output of a command that must succeed."""
        done = self.run(*words.split(), host=host)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def state(self, node: str) -> str:
        """The node's state by sinfo."""
        return self.checked(LOGIN, f"sinfo --noheader --nodes={node} --format=%T").strip()

    def start_daemon(self, node: str) -> None:
        """Start a node's slurmd and wait until it may get jobs."""
        self.daemons[node] = self._daemon(node, "slurmd", "-D")
        self._until(lambda: self.state(node) == "idle", f"{node} is not idle")

    def kill_daemon(self, node: str) -> None:
        """Kill a node's slurmd, and nothing else of it."""
        pid = self.checked(node, "cat /tmp/slurmd.pid").strip()
        self.checked(node, f"kill -9 {pid}")
        self.daemons.pop(node).wait(10)

    def start(self, cores: int, task: str) -> None:
        """Start hosts, network and daemons."""
        names = f"127.0.0.1 localhost\n{_LOGIN_ADDRESS} {LOGIN}\n"
        names += "".join(f"{self._address(node)} {node}\n" for node in self.nodes)
        (self.folder / "hosts").write_text(names)
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        text = _CONFIGURATION.format(
            login=LOGIN,
            address=_LOGIN_ADDRESS,
            folder=self.folder,
            net=_NET,
            last=len(self.nodes),
            cores=cores,
            task=task,
        )
        (self.folder / "slurm.conf").write_text(text)
        # slurmd uses no cgroups here, but looks for a kind of them.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        for host in (LOGIN, *self.nodes):
            self._hold(host)
        self._connect()
        at = [f"--{what}={self.folder}/munge.{what.split('-')[0]}" for what in _MUNGE_FILES]
        self.daemons["munged"] = self._daemon(LOGIN, "munged", "--force", "--foreground", *at)
        self._until((self.folder / "munge.socket").exists, "there is no munged")
        self.daemons[LOGIN] = self._daemon(LOGIN, "slurmctld", "-D")
        for node in self.nodes:
            self.daemons[node] = self._daemon(node, "slurmd", "-D")
        self.settle()

    def settle(self) -> None:
        """Wait until every node may get a job: those of an ended job stay taken for a while."""
        self._until(self._idle, "the nodes are not idle")

    def stop(self) -> None:
        """End all processes of all hosts."""
        for holder in self.holders.values():
            holder.send_signal(signal.SIGKILL)  # and with it the host's first process, and so all
        for process in [*self.holders.values(), *self.daemons.values()]:
            process.wait(20)

    def _idle(self) -> bool:
        done = self.run("sinfo", "--noheader", "--format=%D %T")
        return done.stdout.split() == [str(len(self.nodes)), "idle"]

    def _hold(self, host: str) -> None:
        """Make a host."""
        self.holders[host] = subprocess.Popen(
            [
                *("unshare", *_NAMESPACES, "--fork", "--kill-child", "bash", "-c", _HOST),
                *("host", host, str(self.folder / "hosts"), *map(str, self.shared)),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        holder = self.holders[host]
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n", f"{host} could not be made"
        children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text()
        self.first[host] = int(children.split()[0])

    def _connect(self) -> None:
        """The switch, a port and a cable for each node, and its limits."""
        lines = ["link add switch type bridge", "link set switch up"]
        lines += [f"address add {_LOGIN_ADDRESS}/24 dev switch"]
        for node in self.nodes:
            lines += [
                f"link add {node} type veth peer name net0 netns {self.first[node]}",
                f"link set {node} master switch up",
            ]
        # The first processes' numbers are this namespace's: enter the network alone.
        enter = ["nsenter", "--net", "--target", str(self.first[LOGIN])]
        for line in lines:
            subprocess.run([*enter, "ip", *line.split()], check=True, capture_output=True)
        for node in self.nodes:
            self.checked(node, f"ip address add {self._address(node)}/24 dev net0")
            self.checked(node, "ip link set net0 up")
            limit = f"tc qdisc add dev {node} root tbf rate {_NIC_MBIT}mbit burst 1mb latency 50ms"
            self.checked(LOGIN, limit)
            self.checked(node, "tc qdisc add dev net0 root handle 1: htb default 99")
            rate = f"rate {_NIC_MBIT}mbit burst 1mb quantum 60000"
            self.checked(node, f"tc class add dev net0 parent 1: classid 1:99 htb {rate}")
            for other in self.nodes:
                if other != node:
                    self._tc(node, "class add", other, _LINK_MBIT)
                    match = f"u32 match ip dst {self._address(other)}/32"
                    to = f"flowid 1:{self._class(other)}"
                    self.checked(
                        node, f"tc filter add dev net0 parent 1: protocol ip prio 1 {match} {to}"
                    )

    def _tc(self, sender: str, what: str, receiver: str, mbit: float) -> None:
        limit = f"htb rate {mbit}mbit burst 64kb cburst 64kb quantum 60000"
        self.checked(
            sender, f"tc {what} dev net0 parent 1: classid 1:{self._class(receiver)} {limit}"
        )

    def _daemon(self, host: str, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{host}-{words[0]}.out").open("ab") as out:
            return subprocess.Popen(
                self.inside(host, words),
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def _until(self, reached: object, otherwise: str) -> None:
        assert callable(reached)
        end = time.monotonic() + _START_S
        while not reached():
            if time.monotonic() > end:
                logs = [*self.folder.glob("*.log"), *self.folder.glob("*.out")]
                tails = [f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in logs]
                raise AssertionError("\n".join([otherwise, *tails]))
            time.sleep(0.05)

    def _address(self, node: str) -> str:
        return f"{_NET}.{self._class(node)}"

    def _class(self, node: str) -> int:
        return self.nodes.index(node) + 1


_MUNGE_FILES = ("key-file", "socket", "pid-file", "log-file", "seed-file")


@contextmanager
def cluster(
    folder: Path, nodes: int, shared: Sequence[Path], cores: int = 2, task: str = "task/none"
) -> Iterator[Cluster]:
    """A cluster while the context lasts. ``shared`` are folders that all hosts see, with theirs."""
    names = tuple(f"n{number:02}" for number in range(1, nodes + 1))
    made = Cluster(folder, names, tuple(_outermost([folder, *shared])))
    try:
        made.start(cores, task)
        yield made
    finally:
        made.stop()


def _outermost(folders: Sequence[Path]) -> Iterator[Path]:
    """Those that lie in no other of them."""
    resolved = sorted({folder.resolve() for folder in folders})
    for one in resolved:
        if not any(other in one.parents for other in resolved):
            yield one


def _path() -> str:
    """Where Debian has the daemons, too."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
