"""Boards: presets, generated files, command lines, stand-ins of the tools, manifests, reports."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import fpga_tools
import pytest
from conftest import HERE, ROOT, Plumb
from jinja2 import UndefinedError

from plumbline.base.errors import PlumbError, RunError, UsageError
from plumbline.base.paths import find_home
from plumbline.engine import runtimes
from plumbline.engine.program import (
    BenchmarkSpec,
    BoardSpec,
    BuildSpec,
    Engine,
    OptionSpec,
    find_engine,
)
from plumbline.synth import tools
from plumbline.synth.build import Build, build_name, make_build
from plumbline.synth.check import check_link, check_text, read_link
from plumbline.synth.containers import read_container
from plumbline.synth.generate import generate, kernel_text, link_text, render
from plumbline.synth.manifest import manifest_path, read_manifest, run_options
from plumbline.synth.reports import read_report
from plumbline.synth.steps import steps_of
from plumbline.synth.synthesise import files_of
from plumbline.system.files import load_system
from plumbline.system.synthesis import Preset, Synthesis
from plumbline.system.system import Identity, System

INSTALLED = find_home()
ENGINE = Path(os.environ.get("PLUMBLINE_ENGINE", ROOT / "build" / "release" / "bin"))
NAMES = sorted(path.stem for path in (ROOT / "systems").glob("*.toml"))
SYSTEMS = {name: load_system(ROOT / "systems" / f"{name}.toml") for name in NAMES}
GEMM_520N = "gemm-float-r5-b512-g8-u16.520n"


def _why_not() -> str | None:
    try:
        find_engine({**os.environ, "PLUMBLINE_ENGINE": str(ENGINE)})
    except PlumbError as error:
        return str(error)
    return None


MISSING = _why_not()
needs_engine = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.fixture(scope="module")
def engine() -> Engine:
    return find_engine({**os.environ, "PLUMBLINE_ENGINE": str(ENGINE)})


@pytest.fixture
def vendor(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of stand-ins of the tools, on PATH; the real engine is in use."""
    folder = tmp_path / "vendor"
    folder.mkdir()
    for tool in ("aoc", "v++", "emconfigutil"):
        shutil.copy(HERE / "fpga_tools.py", folder / tool)
        (folder / tool).chmod(0o755)
    monkeypatch.setenv("PLUMBLINE_ENGINE", str(ENGINE))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN_VERSION", "19.4.0")
    monkeypatch.chdir(tmp_path)
    return folder


# ----------------------------------------------------------------------------------------- tables

BOARDS_3_4 = ("bittware-520n", "bittware-520n-mx", "alveo-u280-ddr", "alveo-u280-hbm2", "pac-d5005")
TABLE_3_4 = """
stream        NUM_REPLICATIONS   4      32     2      32     1
stream        DATA_TYPE          float  float  float  float  float
stream        GLOBAL_MEM_UNROLL  1      1      1      1      1
stream        VECTOR_COUNT       16     8      16     16     16
stream        DEVICE_BUFFER_SIZE 4096   4096   16384  2048   1
random_access NUM_REPLICATIONS   4      32     2      32     1
random_access DEVICE_BUFFER_SIZE 1      1      1024   1024   1024
fft           NUM_REPLICATIONS   2      16     1      15     1
fft           LOG_FFT_SIZE       17     7      9      5      17
gemm          NUM_REPLICATIONS   5      4      3      3      5
gemm          DATA_TYPE          float  float  float  float  float
gemm          GLOBAL_MEM_UNROLL  16     8      16     16     16
gemm          BLOCK_SIZE         512    256    256    256    512
gemm          GEMM_SIZE          8      8      8      8      8
"""
COLUMNS_3_8 = (
    *(("bittware-520n", name) for name in ("half", "buffer-65536", "double")),
    *(("alveo-u280-hbm2", name) for name in ("half", "updated", "double")),
)
TABLE_3_8 = """
stream NUM_REPLICATIONS   -    4     4      32    32    32
stream DATA_TYPE          -    float double half  float double
stream GLOBAL_MEM_UNROLL  -    1     1      32    1     8
stream VECTOR_COUNT       -    16    8      1     16    1
stream DEVICE_BUFFER_SIZE -    65536 32768  65536 2048  16384
gemm   NUM_REPLICATIONS   2    5     2      3     3     6
gemm   DATA_TYPE          half float double half  float double
gemm   GLOBAL_MEM_UNROLL  32   16    8      32    16    8
gemm   BLOCK_SIZE         512  512   512    512   256   128
gemm   GEMM_SIZE          4    8     4      8     8     4
"""
COLUMNS_4_6 = (("noctua1-520n", "channel"), ("noctua1-520n", "staged"), ("hacc-u280", "staged"))
TABLE_4_6 = """
stream        NUM_REPLICATIONS                    4     4     2
stream        DATA_TYPE                           float float float
stream        GLOBAL_MEM_UNROLL                   1     1     1
stream        VECTOR_COUNT                        16    16    16
stream        DEVICE_BUFFER_SIZE                  32768 32768 16384
random_access NUM_REPLICATIONS                    4     4     2
random_access HPCC_FPGA_RA_DEVICE_BUFFER_SIZE_LOG 0     0     10
random_access HPCC_FPGA_RA_RNG_COUNT_LOG          5     5     3
random_access HPCC_FPGA_RA_RNG_DISTANCE           5     5     1
fft           NUM_REPLICATIONS                    2     2     1
fft           LOG_FFT_SIZE                        17    17    9
gemm          NUM_REPLICATIONS                    5     5     3
gemm          DATA_TYPE                           float float float
gemm          GLOBAL_MEM_UNROLL                   8     8     8
gemm          BLOCK_SIZE                          512   512   256
gemm          GEMM_SIZE                           8     8     8
b_eff         NUM_REPLICATIONS                    2     -     -
b_eff         CHANNEL_WIDTH                       8     -     -
ptrans        NUM_REPLICATIONS                    4     4     2
ptrans        DATA_TYPE                           float float float
ptrans        CHANNEL_WIDTH                       8     16    16
ptrans        BLOCK_SIZE                          512   512   256
hpl           NUM_REPLICATIONS                    5     5     2
hpl           DATA_TYPE                           float float float
hpl           LOCAL_MEM_BLOCK_LOG                 9     9     8
hpl           REGISTER_BLOCK_LOG                  3     3     3
"""


def preset_of(board: str, benchmark: str, name: str) -> Preset:
    (found,) = (p for p in SYSTEMS[board].presets if (p.benchmark, p.name) == (benchmark, name))
    return found


def cell_of(spec: BenchmarkSpec, preset: Preset, name: str) -> str:
    """The preset's value of a parameter by HPCC FPGA's name."""
    if name in preset.parameters:
        return str(preset.parameters[name])
    log = f"HPCC_FPGA_RA_{name}_LOG"
    for option in spec.build_parameters:
        if f"--{name}" in option.aliases:
            return str(preset.parameters[option.name])
        if f"--{log}" in option.aliases:  # table 3.4 counts numbers
            return str(1 << int(preset.parameters[option.name]))
    raise AssertionError(name)


@needs_engine
def test_presets_have_every_cell_of_the_tables(engine: Engine) -> None:
    first = {"stream": "float", "random_access": "base", "fft": "base", "gemm": "float"}
    same = {("bittware-520n", "gemm"): "float", ("alveo-u280-hbm2", "gemm"): "float"}
    cells = 0
    for table, columns in (
        (TABLE_3_4, [(board, "") for board in BOARDS_3_4]),
        (TABLE_3_8, COLUMNS_3_8),
        (TABLE_4_6, COLUMNS_4_6),
    ):
        for line in table.strip().splitlines():
            benchmark, name, *values = line.split()
            spec = engine.description.benchmark(benchmark)
            for (board, preset), value in zip(columns, values, strict=True):
                if value == "-":
                    continue
                if table is TABLE_3_4:
                    preset = first[benchmark]
                elif table is TABLE_4_6 and benchmark in first:
                    preset = "table-4.6"
                elif preset in ("buffer-65536", "updated"):
                    preset = same.get((board, benchmark), preset)
                found = cell_of(spec, preset_of(board, benchmark, preset), name)
                assert found == value, (board, benchmark, preset, name)
                cells += 1
    assert cells == 70 + 55 + 74


# Benchmark, board, then resources as printed, clock and hours ("-": not printed).
SYNTHESES = """
3.5 stream bittware-520n      176396 25    449231 25    4029 34    128 2     316.67 -
3.5 stream bittware-520n-mx   261485 44    721211 44    3634 53    512 13    400.00 -
3.5 stream alveo-u280-ddr     20832 1.90   39002 1.39   558 34.19  160 1.78  300.00 -
3.5 stream alveo-u280-hbm2    331904 20.69 574976 27.24 1408 77.70 2560 28.38 370.00 -
3.5 stream pac-d5005          103628 12    244354 12    548 5      32 <1     346.00 -
3.5 random_access bittware-520n 115743 18  253578 18    489 4      14 <1     329.17 -
3.5 random_access pac-d5005   103397 12    225293 12    535 5      0 0       322.00 -
3.5 fft alveo-u280-hbm2       602125 54.13 941404 42.18 405 22.35  5280 58.58 254.00 -
3.5 gemm alveo-u280-ddr       568558 51.87 441602 19.43 666 43.11  7683 85.23 100.00 -
3.7 stream bittware-520n      203607 26    436516 26    7409 63    128 2     280.00 -
3.9 stream bittware-520n      150827 20    333381 20    7169 61    128 2     312.50 -
3.9 stream alveo-u280-hbm2    454848 42.58 874432 41.43 1408 77.70 2048 22.71 341.00 -
3.9 gemm bittware-520n        497462 55    1094926 55   6381 54    495 9     216.68 -
3.9 gemm alveo-u280-hbm2      553260 50.10 957318 43.17 758 41.72  4230 46.90 241.00 -
4.7 stream noctua1-520n       178268 19    - -          3926 33    128 2     341.67 2.64
4.7 random_access hacc-u280   184888 14    - -          350 17     24 <1     300.00 2.20
4.7 fft hacc-u280             375069 29    - -          342 17     682 8     286.00 6.94
4.7 gemm noctua1-520n         310564 33    - -          8321 71    3318 58   272.50 9.87
4.7 b_eff noctua1-520n        173010 19    - -          512 4      0 0       290.63 2.45
4.7 ptrans noctua1-520n       242232 26    - -          4756 41    68 1      281.25 3.64
4.7 hpl noctua1-520n          276546 30    - -          2587 22    3185 55   280.00 6.08
4.7 hpl hacc-u280             663418 51    - -          994 49     6201 69   156.00 12.10
4.9 hpl bittware-520n-100g    396597 43    - -          8828 75    2809 49   225.00 11.4
5.1 shallow_water noctua2-u280 334225 25.6 586847 22.5  344 17.1   1242 13.8 252 15.1
"""


@pytest.mark.parametrize("line", SYNTHESES.strip().splitlines())
def test_published_syntheses_have_percentages_hours_and_presets(line: str) -> None:
    _, benchmark, board, *cells = line.split()
    luts = int(cells[0])
    device = SYSTEMS[board].device
    assert device is not None
    (entry,) = (e for e in device.bitstreams if (e.benchmark, e.luts) == (benchmark, luts))
    assert entry.percent is not None
    names = ("luts", "registers", "brams", "dsps")
    for name, amount, percent in zip(names, cells[0:8:2], cells[1:8:2], strict=True):
        assert str(getattr(entry, name)) == (amount if amount != "-" else "None")
        assert str(getattr(entry.percent, name)) == (percent if percent != "-" else "None")
    assert entry.frequency_mhz == float(cells[8])
    assert entry.hours == (None if cells[9] == "-" else float(cells[9]))
    assert entry.preset is not None
    preset_of(board, benchmark, entry.preset)


def test_table_5_1_has_urams() -> None:
    device = SYSTEMS["noctua2-u280"].device
    assert device is not None
    found = {e.preset: (e.urams, e.percent and e.percent.urams) for e in device.bitstreams[:3]}
    assert found == {"base": (188, "19.6"), "accl-udp": (188, "19.6"), "accl-tcp": (101, "10.5")}


def test_board_strings() -> None:
    boards = {name: s.synthesis.board for name, s in SYSTEMS.items() if s.synthesis}
    assert boards["bittware-520n"] == boards["noctua1-520n"] == "p520_hpc_sg280l"
    assert preset_of("noctua1-520n", "hpl", "channel").board == "p520_max_sg280l"
    assert boards["bittware-520n-mx"] == "p520_hpc_m210h"
    assert boards["pac-d5005"] == "pac_s10_usm"
    assert boards["alveo-u280-ddr"] == boards["alveo-u280-hbm2"] == "xilinx_u280_xdma_201920_3"
    assert boards["alveo-u250"] == "xilinx_u250_xdma_201830_2"
    assert boards["alveo-u55c"] == "xilinx_u55c_gen3x16_xdma_3_202210_1"
    noctua = SYSTEMS["noctua1-520n"].synthesis
    assert noctua is not None
    assert noctua.channels == [f"kernel_{d}_ch{i}" for i in range(4) for d in ("input", "output")]


# ---------------------------------------------------------------------------------- a made-up board


def board_system(tool: str = "v++", **changes: Any) -> System:
    """A board with four banks and two dies."""
    bank = {"v++": "DDR[{bank}]", "aoc": "HBM{bank}"}[tool]
    version = {"v++": "2021.2", "aoc": "19.4.0"}[tool]
    facts = {"tool": tool, "version": version, "board": "xilinx_b", "bank": bank, "banks": 4}
    synthesis = Synthesis.model_validate({**facts, "slrs": 2, "source": "s", **changes})
    identity = Identity(name="maker-b", description="d", source="s")
    return System(system=identity, synthesis=synthesis)


def spec(streams: bool = True) -> BenchmarkSpec:
    """A benchmark of two kernels with a stream between them."""
    kernels = [
        {"name": n, "numbered": n + "_{replication}", "arguments": [{"name": a, "bank": b}]}
        for n, a, b in (("fetch", "from", 0), ("sum", "to", 1))
    ]
    stream = [{"from": "fetch_{replication}.out", "to": "sum_{replication}.in"}]
    board = BoardSpec.model_validate(
        {
            "source": "x/sum.cl",
            "options": "-DX",
            "kernels": kernels,
            "streams": stream if streams else [],
            "banks": 2,
            "own_banks": True,
        }
    )
    options = [
        ("replications", "integer", BuildSpec(letter="r")),
        ("block", "integer", BuildSpec(letter="b", macro="BLOCK", log2=True)),
        ("fast", "flag", BuildSpec(letter="fast", options={"true": "-DFAST", "false": ""})),
    ]
    return BenchmarkSpec(
        name="summing",
        title="t",
        source="s",
        parameters=[OptionSpec(name=n, type=t, build=b) for n, t, b in options],  # type: ignore[arg-type]
        boards={"v++": board, "aoc": board},
    )


def made(tool: str = "v++", **given: str) -> Build:
    values = {"replications": "2", "block": "8", "fast": "true", **given}
    return make_build(spec(), "maker-b", board_system(tool), values)


def test_names_hold_every_parameter() -> None:
    assert made().file_name == "summing-r2-b8-fast.b.xclbin"
    assert made(fast="false").file_name == "summing-r2-b8.b.xclbin"
    assert made().options() == ["-DBLOCK=3", "-DFAST", "-DX"]


def test_a_link_file() -> None:
    assert link_text(made()) == (
        "# summing-r2-b8-fast.b\n[connectivity]\nnk=fetch:2:fetch_0.fetch_1\nnk=sum:2:sum_0.sum_1\n"
        "slr=fetch_0:SLR0\nsp=fetch_0.from:DDR[0]\nslr=fetch_1:SLR1\nsp=fetch_1.from:DDR[2]\n"
        "slr=sum_0:SLR0\nsp=sum_0.to:DDR[1]\nslr=sum_1:SLR1\nsp=sum_1.to:DDR[3]\n"
        "stream_connect=fetch_0.out:sum_0.in\nstream_connect=fetch_1.out:sum_1.in\n"
    )
    later = make_build(
        spec(),
        "maker-b",
        board_system(version="2024.2"),
        {"replications": "2", "block": "8", "fast": "true"},
    )
    assert "nk=fetch:2:fetch_0,fetch_1\n" in link_text(later)
    check_link(made(), read_link(link_text(made())))


def test_the_text_of_replications() -> None:
    text = kernel_text(made("aoc"), "sum.cl")
    check_text(made("aoc"), text)
    assert text.count('#include "sum.cl"') == 2
    assert '#define BANK_to __attribute__((buffer_location("HBM3")))' in text
    assert "REPLICATION" not in kernel_text(made(), "sum.cl")


def test_an_undefined_name_of_a_template_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("link.cfg.j2", name="x")


LINK_MUTANTS = [
    ("bank used twice", "DDR[2]", "DDR[0]", "bank 0 is used by replications 0 and 1"),
    ("nk one short", "nk=sum:2:sum_0.sum_1", "nk=sum:1:sum_0", "copies of sum are sum_0, not"),
    ("names one short", "nk=sum:2:sum_0.sum_1", "nk=sum:2:sum_0", "counts 2 copies, but names 1"),
    ("stream crossed", "fetch_0.out:sum_0.in", "fetch_0.out:sum_1.in", "streams are"),
    ("unknown bank", "DDR[3]", "DDR[4]", "bank 4, but maker-b has 4"),
    ("unknown SLR", "sum_1:SLR1", "sum_1:SLR2", "no SLR of the board's 2"),
    ("argument without bank", "sp=sum_0.to:DDR[1]\n", "", "sum_0.to has no memory bank"),
    ("a range over another's bank", "to:DDR[1]", "to:DDR[1:2]", "bank 2 is used by replications"),
    ("a kernel left out", "nk=fetch:2:fetch_0.fetch_1\n", "", "kernels are sum, not"),
    ("not a line of v++", "slr=", "die=", "is invalid: die="),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"), LINK_MUTANTS, ids=lambda v: str(v)[:24]
)
def test_a_wrong_link_file_is_found(name: str, old: str, new: str, sentence: str) -> None:
    text = link_text(made())
    assert old in text
    with pytest.raises(UsageError, match=re.escape(sentence)):
        check_link(made(), read_link(text.replace(old, new, 1)))


TEXT_MUTANTS = [
    (
        "a replication's number lost",
        "#define REPLICATION 1",
        "",
        "replications are 0, -1, not 0, 1",
    ),
    ("a replication twice", "#define REPLICATION 1", "#define REPLICATION 0", "are 0, 0, not 0, 1"),
    ("bank used twice", "HBM2", "HBM0", "bank 0 is used by replications 0 and 1"),
    ("unknown bank", "HBM3", "HBM4", "unknown bank 4: there are 4"),
    ("no bank", "#define BANK_to", "#define BANK_two", "replication 0 has no bank of to"),
    ("one short", '#include "sum.cl"\n', "", "replications are 1, not 0, 1"),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"), TEXT_MUTANTS, ids=lambda v: str(v)[:24]
)
def test_a_wrong_text_is_found(name: str, old: str, new: str, sentence: str) -> None:
    text = kernel_text(made("aoc"), "sum.cl")
    assert old in text
    with pytest.raises(UsageError, match=re.escape(sentence)):
        check_text(made("aoc"), text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("given", "changes", "sentence"),
    [
        ({"replications": "3"}, {}, "--replications 3 of summing need 2 banks each, but maker-b"),
        ({"block": "12"}, {}, "--block must be a power of two, not 12"),
        ({"block": "0"}, {}, "--block must be a number, at least 1, in a bitstream, not '0'"),
        ({"block": "x"}, {}, "--block must be a number"),
        ({"blok": "8"}, {}, "no build parameter blok"),
        ({"fast": "perhaps"}, {}, "--fast must be true or false"),
    ],
)
def test_invalid_parameters(given: dict[str, str], changes: dict[str, Any], sentence: str) -> None:
    values = {"replications": "2", "block": "8", "fast": "true", **given}
    with pytest.raises(UsageError, match=re.escape(sentence)):
        make_build(spec(), "maker-b", board_system(**changes), values)


def test_missing_parameters_and_tools_that_fit_nothing() -> None:
    with pytest.raises(UsageError, match="lacks --replications, --block, --fast"):
        make_build(spec(), "maker-b", board_system(), {})
    bare = System(system=Identity(name="m", description="d", source="s"))
    with pytest.raises(UsageError, match=r"has no table \[synthesis\]"):
        make_build(spec(), "m", bare, {})
    other = spec().model_copy(update={"boards": {}})
    with pytest.raises(UsageError, match=r"summing has no kernels for boards of v\+\+"):
        make_build(other, "maker-b", board_system(), {})
    files = generate(made(), "")
    late = replace(made(), synthesis=board_system(version="2025.1").synthesis)
    with pytest.raises(UsageError, match=r"v\+\+ 2025.1 compiles no OpenCL C"):
        steps_of(late, files, "hw", Path("/x"))
    with pytest.raises(UsageError, match="--seeds are aoc's"):
        steps_of(made(), files, "hw", Path("/x"), 1)
    with pytest.raises(UsageError, match="--seeds are of place and route"):
        steps_of(made("aoc"), files, "report", Path("/x"), 1)


@pytest.mark.parametrize(
    ("slrs", "sentence"), [([0], "1 dies for 2 replications"), ([0, 7], "unknown SLR 7")]
)
def test_dies_of_a_preset(slrs: list[int], sentence: str) -> None:
    preset = Preset(
        benchmark="summing",
        name="p",
        parameters={"replications": 2, "block": 8, "fast": False},
        slrs=slrs,
        source="s",
    )
    system = board_system().model_copy(update={"presets": [preset]})
    with pytest.raises(UsageError, match=sentence):
        make_build(spec(), "maker-b", system, {})


def test_command_lines() -> None:
    """The forms of the vendors' manuals."""
    files, folder = generate(made(), ""), Path("/b")
    *compiles, link, emulation = steps_of(made(), files, "hw-emulation", folder)
    assert [step.output.name for step in compiles] == ["fetch.xo", "sum.xo"]
    assert " ".join(compiles[0].arguments) == (
        "v++ -c -t hw_emu --platform xilinx_b -k fetch -DBLOCK=3 -DFAST -DX -I/b --config "
        "/b/summing-r2-b8-fast.b.compile.cfg -R2 --report_dir /b/reports -o /b/fetch.xo "
        "/b/summing-r2-b8-fast.b.cl"
    )
    assert " ".join(link.arguments) == (
        "v++ -l -t hw_emu --platform xilinx_b --config /b/summing-r2-b8-fast.b.link.cfg -R2 "
        "--report_dir /b/reports -o /b/summing-r2-b8-fast.b.xclbin /b/fetch.xo /b/sum.xo"
    )
    assert emulation.arguments == ["emconfigutil", "-f", "xilinx_b", "--od", "/b"]
    intel = {
        target: " ".join(steps_of(made("aoc"), files, target, folder)[0].arguments)  # type: ignore[arg-type]
        for target in ("emulation", "report", "hw-emulation", "hw")
    }
    head = "aoc /b/summing-r2-b8-fast.b.cl -DBLOCK=3 -DFAST -DX -I/b"
    assert intel["emulation"] == f"{head} -march=emulator -o /b/summing-r2-b8-fast.b.aocx"
    assert intel["hw-emulation"] == f"{head} -march=simulator -o /b/summing-r2-b8-fast.b.aocx"
    assert intel["report"] == f"{head} -rtl -report -board=xilinx_b -o /b/summing-r2-b8-fast.b.aocr"
    assert intel["hw"] == f"{head} -board=xilinx_b -o /b/summing-r2-b8-fast.b.aocx"


# ------------------------------------------------------------------------- all presets, stand-ins


def synthesised() -> list[tuple[str, str, str]]:
    """Board, benchmark and preset of all presets of benchmarks with kernels for boards."""
    return [
        (board, preset.benchmark, preset.name)
        for board, system in SYSTEMS.items()
        if system.synthesis
        for preset in system.presets
        if preset.benchmark in ("stream", "random_access", "fft", "gemm")
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
    ("pac-d5005", "gemm", "float", "19.4"),
    ("alveo-u280-hbm2", "stream", "half", "2019.2"),
    ("alveo-u280-ddr", "gemm", "float", "2019.2"),
    ("alveo-u55c", "random_access", "base", "2022.1"),
    ("alveo-u250", "fft", "base", "2019.2"),
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
    words = ("--board", board, "--preset", preset, "--output", "out")
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


# -------------------------------------------------------------------------------------- manifests


@needs_engine
def test_a_run_takes_parameters_from_the_manifest(
    engine: Engine, vendor: Path, plumb: Plumb, tmp_path: Path
) -> None:
    status, out, err = plumb("synth", "gemm", "--board", "bittware-520n", "--output", "out")
    assert status == 0, err
    bitstream = Path(out.strip())
    assert bitstream.name == f"{GEMM_520N}.aocx"
    gemm = engine.description.benchmark("gemm")
    taken, built = run_options(bitstream, gemm, {"size": "1024"})
    wanted = {"type": "float", "replications": "5", "block-size": "512", "gemm-block": "8"}
    assert taken == {**wanted, "global-mem-unroll": "16", "variant": "single_work_item"}
    assert built is not None
    assert built.startswith(f"{GEMM_520N} (hw, aoc 19.4.0), SHA-256 ")
    assert run_options(bitstream, gemm, {"block-size": "2^9"})[0] == taken
    with pytest.raises(UsageError, match=r"--block-size 256 contradicts .* built with 512"):
        run_options(bitstream, gemm, {"block-size": "256"})
    with pytest.raises(UsageError, match="--variant nd_range contradicts"):
        run_options(bitstream, gemm, {"variant": "nd_range"})
    status, _, err = plumb("run", "gemm", "--kernel-file", str(bitstream), "--gemm-block", "4")
    assert (status, "--gemm-block 4 contradicts" in err) == (2, True)
    with pytest.raises(UsageError, match="is a bitstream of gemm, not stream"):
        run_options(bitstream, engine.description.benchmark("stream"), {})


@needs_engine
def test_a_manifest_that_disagrees_with_its_bitstream(
    engine: Engine, vendor: Path, plumb: Plumb
) -> None:
    """Another hash, a false name, a parameter that is not in the name, another build's clock."""
    words = ("synth", "gemm", "--board", "bittware-520n", "--output", "out")
    status, out, err = plumb(*words)
    assert status == 0, err
    bitstream, gemm = Path(out.strip()), engine.description.benchmark("gemm")
    content, text = bitstream.read_bytes(), manifest_path(bitstream).read_text()

    def refused(sentence: str, path: Path = bitstream) -> None:
        with pytest.raises(UsageError, match=sentence):
            run_options(path, gemm, {})

    bitstream.write_bytes(content + b"x")
    refused("differs from its manifest's bitstream")
    bitstream.write_bytes(content)
    other = bitstream.with_name(bitstream.name.replace("b512", "b256"))
    shutil.copy(bitstream, other)
    shutil.copy(manifest_path(bitstream), manifest_path(other))
    refused("has a false name: .* must be gemm-float-r5-b512-g8-u16.520n.aocx", other)
    document = json.loads(text)
    document["parameters"]["gemm-block"] = 4
    manifest_path(bitstream).write_text(json.dumps(document))
    refused("has a false name")
    del document["parameters"]["gemm-block"]
    manifest_path(bitstream).write_text(json.dumps(document))
    refused("must have the parameters .*gemm-block")
    manifest_path(bitstream).write_text(text[: len(text) // 2])
    refused("the manifest .*: ")
    from plumbline.synth.compare import resources_of

    manifest_path(bitstream).write_text(text)
    manifest = read_manifest(bitstream)
    assert manifest is not None
    assert resources_of(manifest, bitstream.parent).clock_mhz == 300
    with pytest.raises(UsageError, match=r"the clock 310 MHz of .* is another build's"):
        resources_of(manifest.model_copy(update={"clock_mhz": 310.0}), bitstream.parent)
    (report,) = (bitstream.parent / name for name in manifest.reports)
    report.write_text(report.read_text().replace("300.0", "310.0"))
    with pytest.raises(UsageError, match="is another build's: its hash differs"):
        resources_of(manifest, bitstream.parent)


@needs_engine
def test_every_build_parameter_changes_name_and_options(engine: Engine) -> None:
    """A parameter that is not in the name, or that no kernel reads, is found here."""
    for name in ("stream", "random_access", "fft", "gemm"):
        benchmark = engine.description.benchmark(name)
        preset = preset_of("noctua1-520n", name, "table-4.6")
        for option in benchmark.build_parameters:
            value = preset.parameters[option.name]
            other: Any = not value if isinstance(value, bool) else 4 if value == 2 else 2
            if isinstance(value, str):
                other = {"float": "double", "polynomial": "lcg"}[value]
            changed = {**preset.parameters, option.name: other}
            assert build_name(benchmark, changed) != build_name(benchmark, preset.parameters)
            build = make_build(benchmark, "noctua1-520n", SYSTEMS["noctua1-520n"], {})
            differs = replace(build, values=changed).options() != build.options()
            assert differs or option.name == "replications", option.name


@needs_engine
def test_the_generated_text_is_the_source_once_for_each_replication(engine: Engine) -> None:
    build = make_build(
        engine.description.benchmark("gemm"), "bittware-520n", SYSTEMS["bittware-520n"], {}
    )
    files = files_of(build, engine, os.environ)
    source = (ROOT / build.kernels.source).read_text()
    assert files.texts["single_work_item.cl"] == source
    assert files.texts[files.main].count("#include") == 5
    assert files.sha256 != replace(files, texts={**files.texts, "x": ""}).sha256


# ----------------------------------------------------------------------------- reports, containers

AOC_REPORT = """ALUTs: 203,607
Registers: 436,516
Logic utilization: 203,607 / 933,120 ( 26 % )
DSP blocks: 128 / 5,760 ( 2 % )
RAM blocks: 7,409 / 11,721 ( 63 % )
Actual clock freq: 280.0
Kernel fmax: 281.2
"""


def test_reports(tmp_path: Path) -> None:
    path = tmp_path / "acl_quartus_report.txt"
    path.write_text(AOC_REPORT)
    found = read_report(path)
    assert found.amounts == {"luts": 203607, "registers": 436516, "brams": 7409, "dsps": 128}
    assert found.percent == {"brams": "63", "dsps": "2"}
    assert (found.clock_mhz, found.fmax_mhz) == (280.0, 281.2)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("acl_quartus_report.txt", AOC_REPORT[:60], "is truncated: no number of 'RAM blocks:'"),
        ("acl_quartus_report.txt", AOC_REPORT.replace("280.0", "n/a"), "no 'Actual clock freq:'"),
        ("acl_quartus_report.txt", AOC_REPORT.replace("280.0", "-3"), "must be a clock in MHz"),
        ("csynth.xml", "<profile><Area", "is truncated or no XML"),
        ("csynth.xml", "<profile/>", "has no AreaEstimates"),
        ("kernel_util_routed.rpt", "| Name | LUT |\n", "is truncated: no row 'Used Resources'"),
        ("report.txt", "", "is no report"),
    ],
)
def test_reports_that_are_cut(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read_report(tmp_path / name)


def test_a_routed_report_counts_kernels_without_the_platform(tmp_path: Path) -> None:
    path = tmp_path / "kernel_util_routed.rpt"
    path.write_text(
        "| Name             | LUT             | REG            | BRAM        | DSP         |\n"
        "| Platform         | 164361 [12.62%] | 279284 [10.7%] | 202 [10.0%] | 10 [ 0.11%] |\n"
        "|   Used Resources |  20832 [ 1.83%] |  39002 [1.68%] | 558 [30.7%] |  2 [< 0.1%] |\n"
    )
    found = read_report(path)
    assert found.amounts == {"luts": 20832, "registers": 39002, "brams": 558, "dsps": 2}
    assert found.percent == {"luts": "1.83", "registers": "1.68", "brams": "30.7", "dsps": "<0.1"}


def test_estimates_of_high_level_synthesis(tmp_path: Path) -> None:
    path = tmp_path / "calc_csynth.xml"
    path.write_text(
        "<profile><UserAssignments><TopModelName>calc</TopModelName></UserAssignments>"
        "<PerformanceEstimates><SummaryOfTimingAnalysis><EstimatedClockPeriod>2.5"
        "</EstimatedClockPeriod></SummaryOfTimingAnalysis></PerformanceEstimates><AreaEstimates>"
        "<Resources><BRAM_18K>5</BRAM_18K><DSP48E>80</DSP48E><FF>17968</FF><LUT>9296</LUT>"
        "</Resources></AreaEstimates></profile>"
    )
    found = read_report(path)
    assert found.amounts == {"luts": 9296, "registers": 17968, "brams": 3, "dsps": 80}
    assert (found.fmax_mhz, found.kernel, found.estimated) == (400, "calc", True)


def test_containers_of_both_vendors(tmp_path: Path) -> None:
    aocx, xclbin = tmp_path / "a.aocx", tmp_path / "a.xclbin"
    aocx.write_bytes(fpga_tools.aocx("p520", ["calc_0", "calc_1"]))
    found = read_container(aocx)
    assert (found.kind, found.board, found.kernels) == ("aocx", "p520", ["calc_0", "calc_1"])
    xclbin.write_bytes(
        fpga_tools.xclbin("xilinx_u280", ["calc:calc_0", "calc:calc_1", "sum:sum_0"])
    )
    found = read_container(xclbin)
    assert (found.board, found.kernels) == ("xilinx_u280", ["calc", "sum"])
    assert found.copies == ["calc:calc_0", "calc:calc_1", "sum:sum_0"]
    assert found.clocks_mhz == {"DATA_CLK": 300}


def test_bitstreams_that_are_cut_or_none(tmp_path: Path) -> None:
    path = tmp_path / "a.aocx"
    for content in (fpga_tools.aocx("p520", ["calc"]), fpga_tools.xclbin("u280", ["calc:calc_0"])):
        for length in (20, 60, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:length])
            with pytest.raises(UsageError, match="truncated"):
                read_container(path)
    path.write_bytes(b"text")
    with pytest.raises(UsageError, match="is no bitstream"):
        read_container(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_container(tmp_path / "none")


def test_offsets_of_axlf() -> None:
    """offsetof and sizeof of XRT's xclbin.h (libxrt-dev 2.13): header, platform, sections."""
    from plumbline.synth import containers

    assert (containers._HEADER, containers._COUNT, containers._SECTIONS) == (304, 448, 456)
    assert containers._PLATFORM.start == 352
    assert containers._SECTION.size == 40
    sizes = [one.size for one in (containers._IP, containers._CLOCK, containers._MEM)]
    assert sizes == [80, 136, 40]
    assert struct.calcsize("<8si28s256sQ") == 304


def test_a_tool_that_cannot_start(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("no program")
    tool.chmod(0o755)
    with pytest.raises(RunError, match=r"tool (cannot be started|ended with)"):
        tools.run_step([str(tool)], tmp_path, tmp_path / "log", os.environ, None)


# --------------------------------------------------------------------------------- really emulated


def emulator() -> dict[str, str]:
    name = runtimes.FPGA_EMULATOR.name
    if not runtimes.is_installed(name, INSTALLED):
        pytest.skip(f"{name} is not installed (plumb setup {name} --accept-eula)")
    return runtimes.environment(name, INSTALLED, 1)


@pytest.fixture
def emulated(vendor: Path, home: Path) -> None:
    """The emulator's compiler in place of aoc."""
    emulator()
    (vendor / "aoc").unlink()
    home.mkdir(exist_ok=True)
    (home / "runtimes").symlink_to(INSTALLED.runtimes)


def outcomes(path: Path) -> list[str]:
    return [case["outcome"]["status"] for case in json.loads(path.read_text())["cases"]]


EMULATED = [
    (
        "gemm",
        ("-r", "2", "--block-size", "32", "--gemm-block", "4", "--global-mem-unroll", "8"),
        ("--size", "96"),
        {"passed"},
    ),
    ("stream", ("-r", "2", "--local-buffer", "64"), ("-s", "4096"), {"passed", "unsupported"}),
    ("fft", ("--size", "6", "--unroll", "4"), ("--batch", "5"), {"passed"}),
    (
        "random_access",
        ("-r", "2", "--buffer-log", "0", "-g", "2", "--rng-distance", "3"),
        ("--size", "10", "--updates", "buffered"),
        {"passed"},
    ),
]


@needs_engine
@pytest.mark.parametrize(("benchmark", "build", "words", "wanted"), EMULATED)
def test_from_build_to_run(
    emulated: None,
    plumb: Plumb,
    benchmark: str,
    build: tuple[str, ...],
    words: tuple[str, ...],
    wanted: set[str],
) -> None:
    """The emulator's compiler builds the board's text; the saved binary runs and is proven."""
    status, out, err = plumb(
        *("synth", benchmark, "--board", "bittware-520n", "--target", "emulation"),
        *("--output", "out", *build),
    )
    assert status == 0, err
    bitstream = Path(out.strip())
    manifest = read_manifest(bitstream)
    assert manifest is not None
    assert manifest.tool == "intel-opencl-rt 2023.2.4"
    status, _, err = plumb(
        *("run", benchmark, "-n", "1", "--runtime", "fpga-emulator", "--no-model"),
        *("--kernel-file", str(bitstream), *words, "--repetitions", "2", "--record", "r.json"),
    )
    assert status == 0, err
    assert set(outcomes(Path("r.json"))) == wanted
    record = json.loads(Path("r.json").read_text())
    assert record["measuring"]["kernel_build"].startswith(f"{manifest.name} (emulation, intel-")
    for name, value in manifest.parameters.items():
        assert str(record["parameters"][name]) == str(value)


@needs_engine
def test_a_replications_lost_offset_and_a_build_without_manifest(
    emulated: None, plumb: Plumb
) -> None:
    """Replication 1 reads the rows of replication 0: the run of the bitstream must fail."""
    build = ("--type", "float", "-r", "2", "--block-size", "32", "--gemm-block", "4")
    status, out, err = plumb(
        *("synth", "gemm", "--board", "bittware-520n", "--target", "emulation"),
        *("--output", "out", *build, "--global-mem-unroll", "8"),
    )
    assert status == 0, err
    bitstream = Path(out.strip())
    right, offset = '#include "single_work_item.cl"', "(ulong)(tile_row + i) * inner"
    text = next(Path("out").glob("gemm-*.cl"))
    first, second, rest = text.read_text().split(right)
    text.write_text(f'{first}{right}{second}#include "lost.cl"{rest}')
    source = Path("out/single_work_item.cl").read_text()
    assert source.count(offset) == 1
    lost = source.replace(offset, "(ulong)(tile_row - row_begin + i) * inner")
    Path("out/lost.cl").write_text(lost)
    manifest = read_manifest(bitstream)
    assert manifest is not None
    tools.run_step(
        manifest.steps[0].arguments,
        Path("out"),
        Path("log"),
        {**os.environ, **emulator()},
        None,
    )
    manifest_path(bitstream).unlink()
    status, _, err = plumb(
        *("run", "gemm", "-n", "1", "--runtime", "fpga-emulator", "--no-model", "--size", "96"),
        *("--kernel-file", str(bitstream), *build, "--global-mem-unroll", "8"),
        *("--variant", "single_work_item", "--repetitions", "2", "--record", "r.json"),
    )
    assert status == 1, err
    assert outcomes(Path("r.json")) == ["failed"]
    assert json.loads(Path("r.json").read_text())["measuring"]["kernel_build"] == "unknown"
