"""plumb synth from presets to bitstreams, by stand-ins of the tools."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import Plumb
from synth_board import SYSTEMS, needs_engine

from plumbline.base.errors import RunError
from plumbline.synth import tools
from plumbline.synth.containers import read_container
from plumbline.synth.manifest import read_manifest
from plumbline.system.files import load_system


def synthesised() -> list[tuple[str, str, str]]:
    """Board, benchmark and preset of all presets of benchmarks with kernels for boards."""
    return [
        (board, preset.benchmark, preset.name)
        for board, system in SYSTEMS.items()
        if system.synthesis
        for preset in system.presets
        if not preset.kernels
    ]


@needs_engine
def test_the_command_lines_of_all_presets(vendor: Path, plumb: Plumb, golden: Any) -> None:
    status, out, err = plumb("synth", "all", "--output", "out", "--dry-run")
    assert (status, err) == (0, "")
    told = [line.removeprefix("# ") for line in out.splitlines() if line.startswith("#")]
    assert told == [" ".join(one) for one in synthesised()]
    golden("synth.txt", out.replace(str(vendor.parent), "."))
    status, _, err = plumb("synth", "all")
    assert (status, "all is of --dry-run" in err) == (2, True)


REALLY = [
    ("bittware-520n", "stream", "float", "19.4.0"),
    ("bittware-520n-mx", "fft", "base", "20.4.0"),
    ("noctua1-520n", "random_access", "table-4.6", "21.2.0"),
    ("noctua1-520n", "b_eff", "channel", "21.2.0"),
    ("pac-d5005", "gemm", "float", "19.4"),
    ("alveo-u280-hbm2", "stream", "half", "2019.2"),
    ("alveo-u280-ddr", "gemm", "float", "2019.2"),
    ("alveo-u55c", "random_access", "base", "2022.1"),
    ("alveo-u250", "fft", "base", "2019.2"),
    ("hacc-u280", "hpl", "float", "2019.2"),
    ("alveo-u55c", "ptrans", "float", "2022.1"),
    ("noctua2-u280", "shallow_water", "order-1", "2019.2"),
    ("alveo-u250", "b_eff", "host", "2019.2"),
]


@needs_engine
@pytest.mark.parametrize(("board", "benchmark", "preset", "version"), REALLY)
def test_a_bitstream_by_stand_ins(
    vendor: Path,
    plumb: Plumb,
    monkeypatch: pytest.MonkeyPatch,
    board: str,
    benchmark: str,
    preset: str,
    version: str,
) -> None:
    """The stand-in takes names from the preprocessed text, so these are the declaration's."""
    monkeypatch.setenv("STAND_IN_VERSION", version)
    words = ("--board", board, "--preset", preset, "--output", "out", "--learn", "mine.toml")
    status, out, err = plumb("synth", benchmark, *words)
    assert status == 0, err
    bitstream = Path(out.strip())
    manifest = read_manifest(bitstream)
    assert manifest is not None
    assert sorted(read_container(bitstream).kernels) == sorted(manifest.kernels)
    assert manifest.preset == preset
    assert manifest.clock_mhz == 300
    assert manifest.tool.endswith(SYSTEMS[board].synthesis.version)  # type: ignore[union-attr]
    assert bitstream.stem == manifest.name
    mine, board_device = load_system(Path("mine.toml")).device, SYSTEMS[board].device
    assert mine is not None
    others = [one.name for one in SYSTEMS[board].presets if one.kernels]
    published = [
        b
        for b in (board_device.bitstreams if board_device else [])
        if b.benchmark == benchmark and b.preset not in others
    ]
    assert not published or mine.bitstreams[0].replications == published[0].replications


@needs_engine
def test_the_best_seed_is_kept_compared_and_learned(vendor: Path, plumb: Plumb, home: Path) -> None:
    words = ("synth", "stream", "--board", "bittware-520n", "--output", "out")
    status, out, err = plumb(*words, "--seeds", "1-3,5", "--compare", "--learn", "mine.toml")
    assert status == 0, err
    *table, path = out.strip().splitlines()
    manifest = read_manifest(Path(path))
    assert manifest is not None
    clocks = {seed.seed: seed.clock_mhz for seed in manifest.seeds}
    assert clocks == {1: 302, 2: 304, 3: 301, 5: 300}
    assert manifest.clock_mhz == 304
    assert Path(path).read_bytes() == (Path("out/seed-2") / Path(path).name).read_bytes()
    assert any("this / that" in row and "1.00" in row for row in table)
    assert "316.67" in "".join(table)
    (entry,) = tomllib.loads(Path("mine.toml").read_text())["device"]["bitstreams"]
    assert (entry["luts"], entry["vector_count"], entry["frequency_mhz"]) == (176396, 16, 304)
    mine = load_system(Path("mine.toml")).device
    assert mine is not None
    assert mine.bitstreams[0].preset == "float"
    assert mine.bitstreams[1].luts == 176396  # the board's own follow
    status, _, err = plumb(*words, "--seeds", "1-3,5", "--resume", "--learn", "mine.toml")
    assert (status, err.count("done before")) == (2, 4)
    assert "has an entry stream-float-r4" in err


@needs_engine
def test_resume_runs_again_what_changed(
    vendor: Path, plumb: Plumb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_VERSION", "2021.2")
    words = ("synth", "fft", "--board", "alveo-u250", "--output", "out", "--any-version")
    assert plumb(*words)[0] == 0
    status, _, err = plumb(*words, "--resume")
    assert (status, err.count("done before")) == (0, 2)
    (Path("out") / "fft.xo").write_text("{}")
    status, _, err = plumb(*words, "--resume")
    assert (status, err.count("done before")) == (0, 1)
    status, _, err = plumb(*words, "--resume", "--size", "8")
    assert (status, err.count("done before")) == (0, 0)


@needs_engine
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--board", "bittware-52n"), "unknown system bittware-52n"),
        (("--board", "h200"), "has no table [synthesis]"),
        ((), "--board is missing"),
        (("--board", "bittware-520n", "--preset", "quick"), "has no preset quick of gemm"),
        (("--board", "bittware-520n", "--type", "tf32"), "--type tf32 has no kernels for boards"),
        (("--board", "bittware-520n", "--seeds", "3-1"), "--seeds must be numbers"),
        (("--board", "alveo-u280-ddr", "--seeds", "1", "--any-version"), "--seeds are aoc's"),
        (
            ("--board", "alveo-u280-ddr"),
            "v++ is of version 19.4, but the board's file names 2019.2",
        ),
        (
            ("--board", "noctua1-520n"),
            "aoc is of version 19.4.0, but the board's file names 21.2.0",
        ),
        (("--board", "bittware-520n", "--gem-block", "4"), "unknown option --gem-block"),
    ],
)
def test_bad_input_starts_nothing(
    vendor: Path, plumb: Plumb, words: tuple[str, ...], sentence: str
) -> None:
    status, out, err = plumb("synth", "gemm", *words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not Path("synth").exists() or not list(Path("synth").rglob("*.log"))


@needs_engine
def test_benchmarks_without_kernels_for_boards(vendor: Path, plumb: Plumb) -> None:
    status, _, err = plumb("synth", "hpl", "--board", "noctua1-520n")
    assert (status, "hpl has no kernels for boards of aoc" in err) == (2, True)
    status, _, err = plumb("synth", "hpl", "--board", "hacc-u280", "--preset", "staged")
    assert status == 2
    assert "the preset staged of hpl has parameters of HPCC FPGA's kernels: Plumbline's have" in err
    status, _, err = plumb("synth", "shallow_water", "--board", "alveo-u250", "--order", "3")
    assert (status, "--order" in err) == (2, True)
    status, _, err = plumb("synth", "stream", "--board", "alveo-u280-ddr", "-r", "3")
    assert status == 2
    assert "--replications 3 of stream need one bank each, but alveo-u280-ddr has 2" in err


@needs_engine
def test_a_missing_tool(vendor: Path, plumb: Plumb) -> None:
    (vendor / "aoc").unlink()
    status, _, err = plumb("synth", "gemm", "--board", "bittware-520n")
    assert (status, "there is no aoc on PATH" in err) == (2, True)


@needs_engine
@pytest.mark.parametrize(
    ("variable", "tool", "sentence"),
    [
        ("STAND_IN_FAIL", "aoc", "aoc ended with 5; its last lines"),
        ("STAND_IN_KILL", "aoc", "aoc was killed by SIGKILL; it printed nothing"),
        ("STAND_IN_HANG", "aoc", "aoc exceeded the time limit; its last lines"),
    ],
)
def test_a_failing_tool(
    vendor: Path,
    plumb: Plumb,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    tool: str,
    sentence: str,
) -> None:
    monkeypatch.setenv(variable, tool)
    limit = ("--time-limit", "0.0003") if variable == "STAND_IN_HANG" else ()
    status, _, err = plumb("synth", "gemm", "--board", "bittware-520n", "--output", "out", *limit)
    assert status == 3
    assert sentence in err
    if variable == "STAND_IN_FAIL":
        assert "first line | Internal error: the fitter gave up" in err
    assert not list(Path("out").glob("*.json"))


@needs_engine
@pytest.mark.parametrize(
    ("board", "version", "kinds"),
    [("alveo-u280-ddr", "2019.2", "DBP"), ("bittware-520n-mx", "20.4.0", "B")],
)
def test_the_placeholder_for_each_kind_of_memory(
    vendor: Path,
    plumb: Plumb,
    monkeypatch: pytest.MonkeyPatch,
    board: str,
    version: str,
    kinds: str,
) -> None:
    monkeypatch.setenv("STAND_IN_VERSION", version)
    status, out, err = plumb("synth", "placeholder", "--board", board, "--output", "out")
    assert status == 0, err
    names = [Path(line).name.split(".")[0] for line in out.splitlines()]
    assert names == [f"placeholder-{kind}" for kind in kinds]
    kernel = "placeholder" if version == "2019.2" else "placeholder_0"
    assert all(read_container(Path(line)).kernels == [kernel] for line in out.splitlines())
    status, _, err = plumb("synth", "placeholder", "--board", board, "--memory", "X")
    assert status == 2
    status, _, err = plumb("synth", "placeholder", "--board", "pac-d5005")
    assert (status, "pac-d5005 has no memories" in err) == (2, True)


def test_a_tool_that_cannot_start(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("no program")
    tool.chmod(0o755)
    with pytest.raises(RunError, match=r"tool (cannot be started|ended with)"):
        tools.run_step([str(tool)], tmp_path, tmp_path / "log", os.environ, None)
