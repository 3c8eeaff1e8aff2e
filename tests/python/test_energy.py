"""Energy of a run's cases: sensors played in real time, tools, refusals, the table, the hint."""

from __future__ import annotations

import grp
import http.server
import json
import math
import os
import ssl
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from conftest import DATA, Plumb
from fake_sensors import Counter, Curve, Playing, Power, integral, put, rapl_zone
from strict import faults

from plumbline.judge.causes import causes
from plumbline.judge.state import StateOfMachine
from plumbline.record.record import load_record, parse_record
from plumbline.report.energy import text_of
from tests.launching import PATIENCE_S, launch_command, program

ENGINE = program("plumb-mpi")
needs_engine = pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built")
KEPT = DATA / "records" / "1.3.0.json"
SMALL = ("ceilings", "--runtime", "native", "--only", "launch", "--preset", "smoke")


def run(
    tmp_path: Path, ranks: int, *words: str, path: str | None = None
) -> tuple[int, dict[str, Any], str]:
    """One run; its exit status, its record (empty where there is none) and what it said."""
    record = tmp_path / "record.json"
    quiet = ["--record", str(record), "--progress", "none", "--format", "none"]
    command, environment = launch_command(ranks, ENGINE, *words, *quiet)
    if path is not None:
        environment = {**environment, "PATH": f"{path}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    return (
        done.returncode,
        json.loads(record.read_text()) if record.exists() else {},
        done.stdout + done.stderr,
    )


def waves(t: float) -> float:
    """Steps, a ramp and a wave."""
    burst = 60.0 if t % 0.5 < 0.2 else 0.0
    return 80 + burst + 10 * (t % 1) + 20 * math.sin(9 * t)


def exactly(case: dict[str, Any], watts: Curve) -> float:
    region = case["energy"]["region"]
    return integral(watts, region["begin"], region["begin"] + region["seconds"])


def domain(case: dict[str, Any], source: str) -> dict[str, Any]:
    (found,) = [one for one in case["energy"]["domains"] if one["source"] == source]
    return dict(found)


def unplayed(case: dict[str, Any], playing: Playing, swing: float) -> float:
    """Joules that a busy machine's player, where it was late, may have left out of a curve of this swing."""
    region = case["energy"]["region"]
    return swing * playing.late(region["begin"], region["begin"] + region["seconds"])


def is_right(found: dict[str, Any], joules: float, unplayed: float = 0.0) -> None:
    """Within 1 % or twice the stated error, and what was not played."""
    assert abs(found["joules"] - joules) < max(0.01 * joules, 2 * found["error_j"]) + unplayed
    assert found["error_j"] < 0.1 * joules


@needs_engine
def test_joules_of_two_ranks_count_once(tmp_path: Path) -> None:
    """The counter wraps within the region; the package's cores do not add to it; memory does."""
    limit = 150_000_000
    sensors = [
        Counter(
            rapl_zone(tmp_path, "intel-rapl:0", "package-0", range_uj=limit, limit_uw=125_000_000),
            waves,
            limit=limit,
            start=limit - 10_000_000,
        ),
        Counter(rapl_zone(tmp_path, "intel-rapl:0:0", "core"), lambda t: 0.6 * waves(t)),
        Counter(rapl_zone(tmp_path, "intel-rapl:0:1", "dram"), lambda _: 9.0),
    ]
    words = ("--energy", "auto", "--energy-root", str(tmp_path), "--energy-time", "1.5")
    stream = ("stream", "--runtime", "native", "--elements", "4194304", "--operation", "copy")
    with Playing(sensors) as playing:
        status, record, said = run(tmp_path, 2, *stream, "--time-limit", "0.1", *words)
    assert status == 0, said
    assert faults(record) == []
    (case,) = record["cases"]
    energy = case["energy"]
    reasons = [one["reason"] for one in energy["domains"] if one["reason"]]
    if any("updates" in reason for reason in reasons):
        pytest.skip(f"this machine is too busy to play a sensor: {reasons}")
    assert energy["region"]["seconds"] > 1
    package = domain(case, "rapl:package-0")
    is_right(package, exactly(case, waves), unplayed(case, playing, 110))
    is_right(domain(case, "rapl:package-0/dram"), 9 * energy["region"]["seconds"])
    sums = {one["domain"]: one for one in energy["sums"]}
    assert sums["together"]["of"] == ["rapl:package-0", "rapl:package-0/dram"]
    assert sums["together"]["joules"] == pytest.approx(
        package["joules"] + domain(case, "rapl:package-0/dram")["joules"]
    )
    metrics = {(one["name"], one["group"]): one["value"] for one in energy["metrics"]}
    moved = 2 * 2 * 4194304 * 4 * energy["region"]["count"]  # both ranks read and write
    assert metrics["bytes_per_joule", "together"] == pytest.approx(
        moved / 1e9 / sums["together"]["joules"], rel=1e-6
    )
    assert package["state"]["limit_w"] == 125
    assert case["validation"]["repetitions_checked"] >= 2
    (unused,) = [one for one in record["energy"]["sources"] if one["used"] == "no"]
    assert unused["reason"] == "a part of rapl:package-0"
    assert "rapl" not in text_of(parse_record(json.dumps(record), "x.json"))


@needs_engine
def test_a_named_power_of_a_board_and_a_node(tmp_path: Path) -> None:
    """Instantaneous power of hwmon's, and Cray's counter in whole joules ten times a second."""
    chip = tmp_path / "class" / "hwmon" / "hwmon0"
    cray = tmp_path / "cray" / "pm_counters"
    for folder in (chip, cray):
        folder.mkdir(parents=True)
    put(chip / "name", "amdgpu")
    put(chip / "update_interval", "20")
    put(cray / "raw_scan_hz", "10")
    node: Curve = lambda t: 400 + 100 * math.sin(3 * t)  # noqa: E731
    sensors: Sequence[Counter | Power] = [
        Power(chip / "power1_input", waves),
        Counter(cray / "energy", node, unit=1.0, start=24815, form="{} J 1571329 us"),
    ]
    words = ("--energy", "hwmon,pm_counters", "--energy-root", str(tmp_path))
    stream = ("stream", "--runtime", "native", "--elements", "4194304", "--operation", "triad")
    with Playing(sensors, 0.01) as playing:
        status, record, said = run(tmp_path, 1, *stream, "--time-limit", "0.1", *words)
    assert status == 0, said
    assert faults(record) == []
    (case,) = record["cases"]
    board, whole = case["energy"]["domains"]
    if reason := board["reason"] or whole["reason"]:
        pytest.skip(f"this machine is too busy to play a sensor: {reason}")
    is_right(board, exactly(case, waves), unplayed(case, playing, 110))
    is_right(whole, exactly(case, node), unplayed(case, playing, 200))
    together = next(one for one in case["energy"]["sums"] if one["domain"] == "together")
    assert together["of"] == ["pm_counters:energy"], "the node's meter has the board"


@needs_engine
def test_a_machine_without_sensors(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    words = ("--energy-root", nowhere, "--time-limit", "0.02")
    status, record, said = run(tmp_path, 2, *SMALL, "--energy", "auto", *words)
    assert status == 0, said
    assert faults(record) == []
    assert f"rapl: {nowhere}/class/powercap has no intel-rapl zones" in record["energy"]["reason"]
    assert all("energy" not in case for case in record["cases"])
    (tmp_path / "record.json").unlink()
    status, record, said = run(tmp_path, 2, *SMALL, "--energy", "rapl", *words)
    assert status == 2
    assert "--energy rapl: " in said
    assert record == {}
    status, _, said = run(tmp_path, 1, *SMALL, "--energy", "rappl", *words)
    assert status == 2
    assert "did you mean rapl" in said
    broken = rapl_zone(tmp_path, "intel-rapl:0", "package-0")
    put(broken, "none")
    status, _, said = run(tmp_path, 1, *SMALL, "--energy", "rapl", "--energy-root", str(tmp_path))
    assert status == 2
    assert 'energy_uj should hold a number, not "none"' in said


XBUTIL = """#!/bin/sh
case "$*" in
*electrical*) echo '{"devices": [{"electrical": {"power_consumption_watts": "25.1"}}]}' ;;
*) echo '{"system": {"host": {"devices": [{"bdf": "0000:a1:00.1"}]}}}' ;;
esac
"""
TOOLS = {
    "xbutil": (XBUTIL, "xbutil:0000:a1:00.1", "device"),
    "fpgainfo": (
        "#!/bin/sh\necho '(1) Total Input Power          :  69.24 Watts'\n",
        "fpgainfo:board",
        "device",
    ),
    "ipmitool": (
        "#!/bin/sh\necho '    Instantaneous power reading:         220 Watts'\n",
        "ipmitool:node",
        "node",
    ),
}


@needs_engine
@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_tools(tmp_path: Path, tool: str) -> None:
    """Listed with their domain; a broken one is an error where named."""
    script, name, extent = TOOLS[tool]
    shim = tmp_path / tool
    shim.write_text(script)
    shim.chmod(0o755)
    reader = name.split(":")[0]
    words = ("--energy", reader, "--test")
    status, record, said = run(tmp_path, 1, *SMALL, *words, path=str(tmp_path))
    assert status == 0, said
    (source,) = record["energy"]["sources"]
    assert (source["name"], source["domain"], source["unit"]) == (name, extent, "W")
    shim.write_text("#!/bin/sh\necho 'it is broken' >&2\nexit 3\n")
    status, _, said = run(tmp_path, 1, *SMALL, *words, path=str(tmp_path))
    assert status == 2
    assert "it is broken" in said


@needs_engine
def test_redfish_by_curl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older resource's answer; a file that others may read, and one without TLS, are refused."""
    answer = tmp_path / "power.json"
    answer.write_text('{"PowerControl": [{"PowerConsumedWatts": 344}]}')
    secret = tmp_path / "bmc.conf"
    secret.write_text(f'url = "file://{answer}"\nuser = "root:calvin"\n')
    secret.chmod(0o600)
    monkeypatch.setenv("PLUMBLINE_REDFISH", str(secret))
    words = ("--energy", "redfish", "--test")
    status, record, said = run(tmp_path, 1, *SMALL, *words)
    assert status == 0, said
    assert [one["name"] for one in record["energy"]["sources"]] == ["redfish:node"]
    assert "calvin" not in (tmp_path / "record.json").read_text()
    secret.chmod(0o644)
    status, _, said = run(tmp_path, 1, *SMALL, *words)
    assert status == 2
    assert "its mode must be 0600, not 0644" in said
    secret.chmod(0o600)
    secret.write_text(f'url = "file://{answer}"\ninsecure\n')
    status, _, said = run(tmp_path, 1, *SMALL, *words)
    assert status == 2
    assert "certificate must be verified" in said


@needs_engine
def test_a_gpu_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two, through a stand-in of NVML: its joules are missing with the reason, the other's are there."""
    library = tmp_path / "libnvidia-ml.so.1"
    source = Path(__file__).with_name("fake_nvml.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("LOST_AFTER", "250")  # of some 900 readings
    stream = ("stream", "--runtime", "native", "--elements", "4194304", "--operation", "copy")
    words = ("--energy", "nvml", "--energy-time", "1", "--time-limit", "0.1")
    status, record, said = run(tmp_path, 1, *stream, *words)
    assert status == 0, said
    assert faults(record) == []
    (case,) = record["cases"]
    gone = domain(case, "nvml:0000:18:00.0")
    assert gone["joules"] is None
    lost = "nvml:0000:18:00.0 cannot be read: NVML reports GPU is lost (15)"
    assert gone["reason"] == lost
    kept = domain(case, "nvml:0000:2a:00.0")
    if kept["reason"]:
        pytest.skip(f"this machine is too busy to read a sensor: {kept['reason']}")
    is_right(kept, 250 * case["energy"]["region"]["seconds"])
    assert kept["state"]["limit_w"] == 700
    assert kept["state"]["throttled"] == ["power"]
    together = next(one for one in case["energy"]["sums"] if one["domain"] == "together")
    assert together["of"] == ["nvml:0000:2a:00.0"]


@pytest.mark.skipif(os.geteuid() != 0, reason="files of another user are made by root")
@pytest.mark.parametrize(
    ("mode", "remedy"),
    [
        (0o440, "ask to join group {}, which may read it"),
        (0o400, "ask for read access of group {}"),
    ],
)
def test_a_counter_that_may_not_be_read(tmp_path: Path, mode: int, remedy: str) -> None:
    """As a user without root's privilege: the group to ask for is named; auto goes on without."""
    serial = program("plumb-serial")
    if not serial.exists():
        pytest.skip("the engine is not built")
    counter = rapl_zone(tmp_path, "intel-rapl:0", "package-0")
    other = grp.getgrgid(65534)
    os.chown(counter, 65534, other.gr_gid)
    counter.chmod(mode)
    command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", str(serial), *SMALL]
    command += ["--energy-root", str(tmp_path), "--progress", "none", "--format", "none"]
    record = tmp_path / "record.json"
    command += ["--record", str(record), "--test", "--energy"]
    done = subprocess.run([*command, "rapl"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{counter} may not be read: " in done.stderr
    assert remedy.format(other.gr_name) in done.stderr
    done = subprocess.run([*command, "auto"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert remedy.format(other.gr_name) in json.loads(record.read_text())["energy"]["reason"]


class Controller:
    """A management controller on loopback with a certificate of its own; silent after some answers."""

    def __init__(self, folder: Path, answers: float = math.inf) -> None:
        self.certificate = folder / "controller.pem"
        key = folder / "controller.key"
        words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=bmc"
        files = ["-keyout", str(key), "-out", str(self.certificate)]
        names = ["-addext", "subjectAltName=IP:127.0.0.1"]
        subprocess.run(["openssl", *words.split(), *files, *names], check=True, capture_output=True)
        silence = threading.Event()
        controller = self
        self.answers = answers

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                controller.answers -= 1
                if controller.answers < 0:
                    silence.wait()
                    return
                text = b'{"PowerWatts": {"Reading": 312.5}}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self.silence = silence
        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Answer)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.silence.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def curl(self, path: Path, host: str = "127.0.0.1", trusted: bool = True) -> None:
        """Write curl's configuration."""
        lines = [f'url = "https://{host}:{self.server.server_port}/EnvironmentMetrics"']
        lines += ['user = "root:calvin"', "max-time = 1", "noproxy = *"]
        lines += [f'cacert = "{self.certificate}"'] if trusted else []
        path.write_text("\n".join(lines) + "\n")
        path.chmod(0o600)


@needs_engine
def test_a_controller_must_prove_itself_and_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "bmc.conf"
    monkeypatch.setenv("PLUMBLINE_REDFISH", str(secret))
    words = (*SMALL, "--energy", "redfish", "--test")
    with Controller(tmp_path) as controller:
        controller.curl(secret)
        status, record, said = run(tmp_path, 1, *words)
        assert status == 0, said
        assert [one["name"] for one in record["energy"]["sources"]] == ["redfish:node"]
        controller.curl(secret, trusted=False)
        status, _, said = run(tmp_path, 1, *words)
        assert status == 2
        assert "--energy redfish: curl failed: (60) SSL certificate problem" in said
        controller.curl(secret, host="127.0.0.2")
        status, _, said = run(tmp_path, 1, *words)
        assert status == 2
        assert "no alternative certificate subject name matches target host name" in said
        controller.curl(secret)
        controller.answers = 0
        status, _, said = run(tmp_path, 1, *words)
        assert status == 2
        assert "curl failed: (28) Operation timed out" in said
        assert "calvin" not in said


@needs_engine
@pytest.mark.soak  # a sensor of a second's interval: 40 s
def test_a_controller_that_falls_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of the run: the reason, and no failure."""
    secret = tmp_path / "bmc.conf"
    monkeypatch.setenv("PLUMBLINE_REDFISH", str(secret))
    stream = ("stream", "--runtime", "native", "--elements", "4194304", "--operation", "copy")
    with Controller(tmp_path, answers=100) as controller:
        controller.curl(secret)
        words = ("--energy", "redfish", "--time-limit", "0.1")
        status, record, said = run(tmp_path, 1, *stream, *words)
    assert status == 0, said
    assert faults(record) == []
    (case,) = record["cases"]
    assert case["outcome"]["status"] == "passed"
    assert "curl failed: (28) Operation timed out" in domain(case, "redfish:node")["reason"]


def test_the_table_stands_beside_the_published_one(plumb: Plumb) -> None:
    status, out, _ = plumb("show", str(KEPT), "--energy")
    assert status == 0
    assert "J/operation" in out
    assert "GB/(W s)" in out
    assert "Table 3.11" in out
    assert "6.31" in out
    status, _, err = plumb("show", str(DATA / "records" / "1.2.0.json"), "--energy")
    assert status == 2
    assert "the record has no energy" in err


def test_a_power_limit_is_a_cause() -> None:
    record = load_record(KEPT)
    document = json.loads(KEPT.read_text())
    for one in document["cases"][0]["energy"]["domains"]:
        one["mean_w"] = 99.0
        one["state"] = {"limit_w": 100.0, "throttled": ["power"]}
    capped = parse_record(json.dumps(document), "x.json")
    nothing = StateOfMachine("")
    told = " ".join(causes(capped, nothing))
    assert "drew 99% of its power limit of 100 W in" in told
    assert "power limit" not in " ".join(causes(record, nothing))
