"""Transports between two hosts, over TCP: supported ones, and reasons for others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import two_hosts
from conftest import ROOT

from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.engine.program import find_engine
from plumbline.launch.launchers import LaunchRequest, plan_launch
from plumbline.launch.placement import Placement
from tests.launching import ENVIRONMENT

BIN = Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin"))
MPICH_BIN = ROOT / "build" / "mpich" / "bin"
REASON = two_hosts.why_not()
INSTALLED = find_home()
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.skipif(not (BIN / "plumb-mpi").exists(), reason="plumb-mpi is not built"),
    pytest.mark.xdist_group("ranks"),
]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[two_hosts.Hosts]:
    with two_hosts.two_hosts(tmp_path_factory.mktemp("hosts")) as made:
        yield made


@pytest.fixture
def emulator() -> dict[str, str]:
    """The environment in which each rank finds the FPGA emulator."""
    name = runtimes.FPGA_EMULATOR.name
    if not runtimes.is_installed(name, INSTALLED):
        pytest.skip(f"{name} is not installed (plumb setup {name})")
    kept = {"PLUMB_TEST_KERNELS": ENVIRONMENT["PLUMB_TEST_KERNELS"]}
    return runtimes.environment(name, INSTALLED, 1) | kept


def engine(*words: str) -> list[str]:
    """A short b_eff."""
    return [str(BIN / "plumb-mpi"), "b_eff", "--preset", "smoke", "--max-size", "3", *words]


def patterns(names: str) -> list[str]:
    """Every pattern that tests send over the transports called so."""
    if not (BIN / "mpi_tests").exists():
        pytest.skip("mpi_tests is not built")
    return [str(BIN / "mpi_tests"), "--gtest_color=no", f"--gtest_filter={names}"]


@pytest.mark.parametrize("ranks", [1, 2])
def test_every_pattern_between_host_memories(hosts: two_hosts.Hosts, ranks: int) -> None:
    done = hosts.run(ranks, patterns("*/staged_*:*/pipelined_*"), {}, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "EachRoundLeavesItsMessageInASlotOfItsOwn/pipelined_native" in done.stdout


def test_every_pattern_by_the_engine_of_accl(hosts: two_hosts.Hosts) -> None:
    done = hosts.run(1, patterns("*/accl_tcp_native*"), {}, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "EachRoundLeavesItsMessageInASlotOfItsOwn/accl_tcp_native" in done.stdout


def test_b_eff_by_datagrams_that_fit_the_cable(hosts: two_hosts.Hosts, tmp_path: Path) -> None:
    """The cable's MTU is 1,500 bytes, 28 of which are headers."""
    words = ("--transport", "accl-udp", "--record", str(tmp_path / "record.json"))
    done = hosts.run(1, engine(*words, "--accl-packet", "1472"), {}, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 2 nodes" in done.stdout
    assert "outcome     passed" in done.stdout
    ends, said = hosts.refused(1, engine(*words), {})
    assert ends == {2}, said
    assert "exceeds the 1500 bytes (MTU) of the route" in said
    assert "at most 1472 fit" in said


@pytest.mark.parametrize(
    "words",
    [
        "ptrans --size 64 --block-size 16 --transport accl-tcp",
        "hpl --size 64 --block 16 --runtime native --transport accl-udp --accl-packet 1472",
        "shallow_water --preset smoke --runtime native --transport accl-udp --accl-packet 1472",
        "shallow_water --preset smoke --runtime native --transport accl-tcp --accl-operands streams",
    ],
)
def test_applications_by_the_engine_of_accl(
    hosts: two_hosts.Hosts, tmp_path: Path, words: str
) -> None:
    more = ("--repetitions", "1", "--record", str(tmp_path / "record.json"))
    done = hosts.run(1, [str(BIN / "plumb-mpi"), *words.split(), *more], {}, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 2 nodes" in done.stdout
    assert "outcome     passed" in done.stdout


def test_links_between_hosts_are_relayed(
    hosts: two_hosts.Hosts, emulator: dict[str, str], tmp_path: Path
) -> None:
    """What a relay may mix up: rounds, and both directions. All patterns are those of one host (test_real_engine.py)."""
    named = "*EachRound*hannel*:*Window*hannel*:*AllToAll*hannel*:ChannelTransport*"
    done = hosts.run(1, patterns(named), emulator, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "[       OK ] All/Transports.EachRoundLeavesItsMessageInASlotOfItsOwn/channel"
        in done.stdout
    )


def test_b_eff_over_relayed_links(
    hosts: two_hosts.Hosts, emulator: dict[str, str], tmp_path: Path
) -> None:
    words = ("--transport", "channel", "--runtime", "opencl", "--relay-port", "7100")
    done = hosts.run(1, engine(*words, "--record", str(tmp_path / "record.json")), emulator, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 2 nodes" in done.stdout
    assert "outcome     passed" in done.stdout


def test_a_port_that_is_taken_ends_the_run_with_a_sentence(
    hosts: two_hosts.Hosts, emulator: dict[str, str], tmp_path: Path
) -> None:
    listen = "import socket, time; s = socket.create_server(('', 7200)); print(1, flush=True); time.sleep(100)"
    holder = subprocess.Popen(
        hosts.inside(1, [sys.executable, "-c", listen]), stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        words = ("--transport", "channel", "--runtime", "opencl", "--relay-port", "7200")
        record = tmp_path / "record.json"
        done = hosts.run(1, engine(*words, "--record", str(record)), emulator, 60)
    finally:
        holder.kill()
        holder.wait()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "cannot wait for a neighbour on port 7200 of this host" in done.stderr
    assert "--relay-port" in done.stderr


@pytest.mark.parametrize("transport", ["peer"])
def test_what_needs_one_host_says_so(
    hosts: two_hosts.Hosts, tmp_path: Path, transport: str
) -> None:
    words = ("--transport", transport, "--record", str(tmp_path / "record.json"))
    ends, said = hosts.refused(1, engine(*words), {})
    assert ends == {2}, said
    assert "host" in said
    assert f"transport {transport}" in said


def test_a_barrier_is_proven_between_hosts(hosts: two_hosts.Hosts, tmp_path: Path) -> None:
    """No clock is shared: one that does not wait fails, and the right one passes."""
    if not (BIN / "plumb-mpi-mutants").exists():
        pytest.skip("plumb-mpi-mutants is not built")
    wishes = [
        {"benchmark": name, "transport": "mpi", "options": {}, "wrong_mpi": wrong}
        for name, wrong in [
            ("osu_barrier", "early-barrier"),
            ("osu_ibarrier", "early-ibarrier"),
            ("osu_barrier", ""),
            ("osu_ibarrier", ""),
        ]
    ]
    (tmp_path / "runs.json").write_text(json.dumps(wishes))
    words = [str(BIN / "plumb-mpi-mutants"), "--many", str(tmp_path / "runs.json")]
    done = hosts.run(1, words, {}, 60)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["status"] for one in found] == ["failed", "failed", "passed", "passed"], done.stderr


def test_congestion_counts_every_pair(hosts: two_hosts.Hosts, tmp_path: Path) -> None:
    """Two ranks on each host: both pairs' messages count, in the time of the first host's ranks."""
    words = ["osu", "--only", "osu_bw_fan_in,osu_bw_fan_out", "-m", "64:4096", "-W", "8", "-i", "4"]
    words += ["--size-factor", "64", "--repetitions", "3", "--format", "none", "--progress", "none"]
    record = tmp_path / "record.json"
    done = hosts.run(2, [str(BIN / "plumb-mpi"), *words, "--record", str(record)], {}, 60)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = json.loads(record.read_text())["cases"]
    assert [case["outcome"]["status"] for case in cases] == ["passed"] * 4
    for case in cases:
        (found,) = (m["value"] for m in case["metrics"] if m["name"] == "bandwidth")
        seconds = [own / 3 for own in case["tallies_by_rank"]["own_s"]]
        should = 2 * 8 * case["labels"]["bytes"] / (sum(seconds[:2]) / 2) / 1e6
        assert found == pytest.approx(should, rel=1e-6)


def test_hosts_of_unequal_devices(hosts: two_hosts.Hosts, tmp_path: Path) -> None:
    """A second device on the first host only: a map of each node's own works, one for both does not."""
    if not runtimes.is_installed("pocl", INSTALLED):
        pytest.skip("PoCL is not installed")
    devices = runtimes.environment("pocl", INSTALLED, devices=1)
    record = tmp_path / "record.json"
    words = [*engine("--transport", "staged", "--runtime", "opencl"), "--record", str(record)]
    unequal = (
        f'[ "$(hostname)" = {hosts.names[0]} ] && export POCL_DEVICES="basic basic"; exec "$@"'
    )
    on_each = ["bash", "-c", unequal, "bash", *words, "--device-map"]
    ends, said = hosts.refused(1, [*on_each, "node=1"], devices)
    assert ends == {2}, said
    assert f"rank 1 on {hosts.names[1]}: --device-map node=1, 1 for rank 1: " in said
    places = tmp_path / "devices"
    places.write_text(f"{hosts.names[0]} 1\n* 0\n")
    done = hosts.run(1, [*on_each, str(places)], devices, 60)
    assert done.returncode == 0, done.stdout + done.stderr
    ranks = json.loads(record.read_text())["ranks"]
    assert [rank["device"]["index"] for rank in ranks] == [1, 0]


def test_mpich_by_its_own_launcher(
    hosts: two_hosts.Hosts, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the words of plumb; its messages are what the record's ports have counted."""
    if not (MPICH_BIN / "plumb-mpi").exists():
        pytest.skip("plumb-mpi is not built over MPICH")
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(MPICH_BIN))
    program = find_engine(os.environ, "mpi")
    words = ("-hosts", ",".join(hosts.names))
    placed = Placement(nodes=2, per_node=1)
    asked = LaunchRequest(2, arguments=words, oversubscribe=True, placement=placed)
    launch = plan_launch(asked, program, os.environ)
    record = tmp_path / "record.json"
    words = ("b_eff", "--runtime", "native", "--ring", "natural", "--repetitions", "6")
    words += ("--min-size", "12", "--max-size", "14", "--record", str(record))
    agent = {"HYDRA_LAUNCHER": "rsh", "HYDRA_LAUNCHER_EXEC": str(hosts.agent)}
    before = hosts.sent(0)
    command = launch.command(program.path, words)
    done = hosts.here(command, {**launch.environment, **agent, "UCX_TLS": "tcp,self"}, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(record.read_text())
    assert [host["name"] for host in found["hosts"]] == list(hosts.names)
    assert "MPICH" in found["world"]["library"]
    carried = {(port["host"], port["name"]): port["sent_bytes"] for port in found["ports"]}
    assert carried.keys() == {(0, "cable0"), (1, "cable1")}
    least = sum(
        case["work"]["bytes_sent"] * case["count"] * case["repetitions"] for case in found["cases"]
    )
    assert hosts.sent(0) - before >= carried[0, "cable0"] >= least > 0


def test_openshmem_by_its_own_launcher(hosts: two_hosts.Hosts, tmp_path: Path) -> None:
    """Updates of words on the other host, bounded in time; several threads are refused at once."""
    program = BIN / "plumb-shmem"
    if not program.exists():
        pytest.skip("plumb-shmem is not built")
    record = tmp_path / "record.json"
    over_tcp = {"UCX_TLS": "tcp,self"}
    words = [str(program), "gups", "--size", "14", "--stream", "lcg", "--time-bound", "0.05"]
    words += ["--repetitions", "1", "--record", str(record)]
    done = hosts.run(1, words, over_tcp, 120, "oshrun")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(record.read_text())
    assert [host["name"] for host in found["hosts"]] == list(hosts.names)
    assert [case["outcome"]["status"] for case in found["cases"]] == ["passed"] * 3
    assert found["cases"][0]["facts"]["updates_done"] < 1, "each waits for the other host"
    words = [str(program), "shoms", "--only", "int_put", "--threads", "2", "--record", "none"]
    ends, said = hosts.refused(1, words, over_tcp, "oshrun")
    assert ends == {2}, said
    assert "--threads: several contexts hang between hosts in Open MPI's OpenSHMEM" in said
