"""Transports accl-tcp and accl-udp: what they count, that they are said to be emulated, and what they refuse."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Plumb

from plumbline.base.errors import UsageError
from plumbline.fit.records import fit_records
from plumbline.judge.judgement import judge
from plumbline.model import messages
from plumbline.record.record import Record, load_record
from plumbline.system.files import load_system
from tests.launching import PATIENCE_S, ROOT, launch_command, program

ENGINE = program("plumb-mpi")
OVER_MPICH = (
    Path(os.environ.get("PLUMBLINE_ENGINE_MPICH", ROOT / "build" / "mpich" / "bin")) / "plumb-mpi"
)
pytestmark = [
    pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)"),
    pytest.mark.xdist_group("ranks"),
]
SIZES = "--max-size 17 --repetitions 1 --loop-upper 3 --loop-lower 3"


def start(ranks: int, *words: str, of: Path = ENGINE) -> subprocess.CompletedProcess[str]:
    """The engine, on some ranks."""
    command, environment = launch_command(ranks, of, *words, "--progress", "none")
    return subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def run(path: Path, ranks: int, words: str) -> tuple[Record, str]:
    """A run that passes: its record and its output."""
    done = start(ranks, *words.split(), "--record", str(path))
    assert done.returncode == 0, done.stderr
    return load_record(path), done.stdout


def counts_in(record: Record) -> dict[int, dict[str, Any]]:
    """What was counted on all ranks, by message size."""
    found: dict[int, dict[str, Any]] = {}
    for case in record.cases:
        counted = case.facts["transport"]
        assert isinstance(counted, dict)
        found[case.message_bytes() or 0] = counted
    return found


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("--transport accl-tcp", {}),
        ("--transport accl-udp", {"eager_limit": None}),
        ("--transport accl-udp --approach host-streaming", {"landing": "streaming"}),
        ("--transport accl-tcp --accl-operands streams", {"eager_limit": None}),
        (
            "--transport accl-tcp --accl-packet 8960 --accl-buffer-size 4000 --accl-eager-limit 4096",
            {"packet": 8960, "buffer": 4000, "eager_limit": 4096},
        ),
    ],
)
def test_counts_equal_the_terms_of_the_equations(
    tmp_path: Path, words: str, known: dict[str, Any]
) -> None:
    """Eq. 5.1: 2 l_k + l_m + l_c a message; a stream's and a rendezvous' terms likewise."""
    record, _ = run(tmp_path / "r.json", 2, f"b_eff {SIZES} {words}")
    assert len(record.cases) == 18
    for size, counted in counts_in(record).items():
        expected = messages.counts_of(size, **known)
        found = [
            counted[f"{what}_per_message"] for what in ("commands", "copies", "packets", "bytes")
        ]
        assert found == [
            expected.commands,
            expected.copies,
            expected.packets,
            expected.packet_bytes,
        ], size


@pytest.mark.parametrize("landing", ["buffered", "streaming", "buffered --accl-operands streams"])
def test_kernels_schedule_at_the_same_cost(tmp_path: Path, landing: str) -> None:
    """Kernels in HLS C++ issue the commands; the engine's counts are those of the host's."""
    words = f"--transport accl-tcp --approach device-{landing} --runtime hls"
    record, _ = run(tmp_path / "r.json", 2, f"b_eff {SIZES} {words} --min-size 3")
    landing, *options = landing.split()
    assert record.approach == f"device-{landing}"
    for size, counted in counts_in(record).items():
        limit = None if options else 32 << 10
        expected = messages.counts_of(size, landing=landing, eager_limit=limit)
        found = (counted["commands_per_message"], counted["copies_per_message"])
        assert found == (expected.commands, expected.copies), size
        assert counted["packets_per_message"] == expected.packets, size
    words += " --repetitions 2 --max-size 3"
    for part in ("command", "copy"):
        record, _ = run(tmp_path / "r.json", 2, f"b_eff --part {part} {words}")
        assert {case.outcome.status for case in record.cases} == {"passed"}, part


def test_counts_put_into_the_equations_are_these() -> None:
    """2 l_k + l_m + l_c, l_k + l_c, and 2 l_k + l_c(64 B) + l_c(L); of N neighbours, eq. 5.3's terms."""
    command, copy, link, address = 0.24e-6, 1.7e-6, 1.26e-6, 1.0e-6
    for counts, seconds in (
        (messages.counts_of(64), messages.buffered_s(command, copy, link)),
        (messages.counts_of(64, landing="streaming"), messages.streaming_s(command, link)),
    ):
        assert messages.counted_s(counts, command, copy, link) == pytest.approx(seconds)
    assert messages.counted_s(
        messages.counts_of(1 << 20), command, copy, link + address
    ) == pytest.approx(messages.rendezvous_s(command, address, link))
    neighbours = [messages.counts_of(1000)] * 5
    assert sum(one.commands for one in neighbours) == 2 * 5
    assert sum(one.copies for one in neighbours) == 5


ENGINE_STANDS_IN = "transport accl-tcp is a software engine of ACCL"
DEVICE_STANDS_IN = "C simulation emulates a board (HLS C++ in C simulation (Emulation))"


@pytest.mark.parametrize(
    ("ranks", "words", "sentence"),
    [
        (2, "b_eff --max-size 2 --transport accl-tcp", ENGINE_STANDS_IN),
        (1, "stream --elements 3072 --runtime hls", DEVICE_STANDS_IN),
        (
            2,
            "b_eff --max-size 2 --transport accl-tcp --runtime hls",
            f"{ENGINE_STANDS_IN}; {DEVICE_STANDS_IN}",
        ),
    ],
)
def test_emulated_is_said_and_gives_no_verdict(
    tmp_path: Path, ranks: int, words: str, sentence: str
) -> None:
    """Of transports and of devices alike."""
    words += " --repetitions 2"
    record, table = run(tmp_path / "r.json", ranks, words)
    assert record.emulated == sentence
    for case in record.cases:
        assert case.summary is not None
        phases = case.phases.values()
        told = [*case.metrics, *phases, case.summary, case.samples]
        assert all(one.emulated for one in told)
    assert all(metric.emulated for metric in record.metrics)
    assert sentence in " ".join(table.split())  # its lines are broken
    heads = [line for line in table.splitlines() if "GB/s" in line and ":" not in line]
    assert heads
    assert all(line.count("(emulated)") == line.count("GB/s") + line.count(" us") for line in heads)
    _, shown = run(tmp_path / "s.json", ranks, f"{words} --format csv")
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert [row["emulated"] for row in rows] == [sentence] * len(record.cases)
    judgement = judge(record, None, None)
    assert judgement.judged is None
    assert sentence in judgement.line
    with pytest.raises(UsageError, match="of no machine"):
        fit_records([record], "mine", None, 2)


@pytest.mark.parametrize("transport", ["accl-tcp", "accl-udp"])
@pytest.mark.parametrize(
    "words",
    [
        "ptrans --size 64 --block-size 16",
        "hpl --size 64 --block 16 --runtime native",
        "shallow_water --preset smoke --runtime native",
        "shallow_water --preset smoke --runtime native --accl-operands streams",
    ],
)
def test_benchmarks_with_transfers_run_over_it(tmp_path: Path, words: str, transport: str) -> None:
    words += f" --transport {transport} --repetitions 1"
    record, _ = run(tmp_path / "r.json", 2, words)
    assert record.outcome is not None
    assert record.outcome.status == "passed"
    counts = [case.facts["transport"] for case in record.cases]
    assert all((one["commands_per_message"], one["copies_per_message"]) == (2, 1) for one in counts)


@pytest.mark.parametrize(
    ("words", "operands", "terms"),
    [
        ("--accl-operands streams --runtime native", "streams", (2, 1)),
        ("--approach device-buffered --accl-operands streams --runtime hls", "streams", (2, 1)),
        ("--approach device-streaming --runtime hls", None, (1, 0)),
    ],
)
def test_shallow_water_streams_out_and_buffers_in(
    tmp_path: Path, words: str, operands: str | None, terms: tuple[int, int]
) -> None:
    """Meyer 2024, section 5.2: of N neighbours 2 N l_k and N l_m a stage (eq. 5.3), of hosts and of kernels."""
    water = "shallow_water --mesh rectangle --across 6 --steps 3 --repetitions 1 --order 1"
    record, _ = run(tmp_path / "r.json", 3, f"{water} --transport accl-udp {words}")
    assert record.transport is not None
    assert record.transport.facts["operands"] == operands
    for case in record.cases:
        counted: Any = case.facts["transport"]
        partitions: Any = case.facts["partitions"]
        neighbours = sum(one["neighbours"] for one in partitions)
        assert neighbours >= 4
        assert counted["messages"] % (neighbours * int(str(case.facts["stages"]))) == 0
        assert (counted["commands_per_message"], counted["copies_per_message"]) == terms
        assert counted["eager"] == counted["messages"]


@pytest.mark.skipif(not OVER_MPICH.exists(), reason="plumb-mpi is not built over MPICH")
@pytest.mark.parametrize(
    "ranks", [1, *(pytest.param(ranks, marks=pytest.mark.soak) for ranks in (2, 3, 4)), 5]
)
def test_over_mpich(tmp_path: Path, ranks: int) -> None:
    """The same counts over another MPI, on a number of ranks that is no power of two as well."""
    for transport in ("accl-tcp", "accl-udp"):
        words = f"b_eff --min-size 10 --max-size 11 --repetitions 1 --loop-upper 3 --loop-lower 3 --transport {transport}"
        done = start(ranks, *words.split(), "--record", str(tmp_path / transport), of=OVER_MPICH)
        assert done.returncode == 0, done.stderr
        record = load_record(tmp_path / transport)
        assert (record.world.library or "").startswith("MPICH")
        for size, counted in counts_in(record).items():
            expected = messages.counts_of(size, eager_limit=None)
            assert counted["commands_per_message"] == expected.commands
            assert counted["packets_per_message"] == expected.packets


def test_parts_of_the_engine(tmp_path: Path) -> None:
    """l_k and l_m: a command without work, and a copy from memory to a stream."""
    for part, cases in (("command", 1), ("copy", 3)):
        words = f"b_eff --part {part} --max-size 2 --repetitions 2 --transport accl-tcp"
        record, table = run(tmp_path / "r.json", 2, words)
        assert [case.outcome.status for case in record.cases] == ["passed"] * cases
        assert "us (emulated)" in table
    record, _ = run(tmp_path / "r.json", 2, "b_eff --part command --transport mpi")
    assert "has no engine that takes commands" in (record.cases[0].outcome.reason or "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("accl-tcp --accl-packet 1500", "--accl-packet 1500 must be a multiple of 64 bytes"),
        ("accl-tcp --accl-packet 9024", "accl-packet"),
        ("accl-tcp --accl-eager-limit 512", "must be at least a receive buffer, 1024 bytes"),
        ("accl-udp --accl-eager-limit 4096", "UDP has no rendezvous"),
        ("accl-udp --accl-buffers 1", "must be at least the 2 ranks"),
        (
            "accl-tcp --approach host-streaming --accl-operands streams",
            "--accl-operands streams is of --approach host-buffered",
        ),
        (
            "accl-tcp --accl-operands streams --accl-eager-limit 4096",
            "ACCL's rendezvous is from memory to memory",
        ),
        (
            "accl-udp --accl-operands streams --accl-buffer-size 1000",
            "must be a multiple of 64 bytes, the words of streams",
        ),
        ("accl-tcp --approach device-buffered", "kernels of this device have no command stream"),
        ("accl-tcp --approach host-buffred", "did you mean host-buffered"),
        ("vnx --runtime hls --vnx-frame 100", "--vnx-frame 100 must be a multiple of 64 bytes"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, words: str, sentence: str) -> None:
    record = tmp_path / "r.json"
    done = start(2, "b_eff", "--transport", *words.split(), "--record", str(record))
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not record.exists()


def test_calibrated_figures_are_said_to_be_emulated(
    plumb: Plumb, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """l_k, l_m and l_c of the software engine: models take them, and advice refuses them."""
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(ENGINE.parent))
    transport = ("--transport", "accl-tcp")
    status, _, err = plumb("calibrate", "-n", "2", "--runtime", "native", *transport)
    assert status == 0, err
    (made,) = load_system(home / "systems" / "local.toml").calibrations
    assert made.need == "accl"
    accl = made.accl
    assert accl is not None
    assert accl.commands is not None
    assert accl.copies is not None
    assert (accl.commands.device_us, accl.eager_limit_bytes) == (None, 32 << 10)
    assert accl.commands.host_us
    assert accl.copies.gb_s
    sentence = "transport accl-tcp is a software engine of ACCL"
    assert accl.emulated == sentence
    words = (*transport, "--approach", "host-buffered", "--system", "local")
    status, out, err = plumb("model", "b_eff", *words)
    assert (status, sentence in out) == (0, True), err
    status, _, err = plumb("advise", "--system", "local", "--transports", "accl-tcp")
    assert (status, "of no board" in err) == (2, True)


def test_compare_transports_leaves_it_out(
    plumb: Plumb, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(ENGINE.parent))
    status, out, err = plumb(
        *[
            "compare-transports",
            "b_eff",
            "-n",
            "2",
            "--runtime",
            "native",
            "--max-size",
            "1",
            "--repetitions",
            "1",
        ]
    )
    assert status == 0, err
    assert "transport accl-udp is a software engine of ACCL" in out


@pytest.mark.soak
def test_emulated_devices_calibrate_nothing(
    plumb: Plumb, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(ENGINE.parent))
    status, _, err = plumb("calibrate", "-n", "2", "--runtime", "hls", "--only", "legs")
    assert (status, f"no calibration, as its times are of no board: {DEVICE_STANDS_IN}" in err) == (
        2,
        True,
    ), err
    assert not (home / "systems" / "local.toml").exists()
