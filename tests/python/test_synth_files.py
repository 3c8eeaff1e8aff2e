"""Generated files and command lines of a build, for a made-up board, and what is wrong with them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError
from synth_board import board_system, made, spec

from plumbline.base.errors import UsageError
from plumbline.synth.build import Build, make_build
from plumbline.synth.check import check_link, check_text, read_link
from plumbline.synth.generate import generate, kernel_text, link_text, render
from plumbline.synth.steps import steps_of
from plumbline.system.synthesis import Preset
from plumbline.system.system import Identity, System


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


def in_hls(version: str = "2021.2") -> Build:
    """The made-up kernels in HLS C++, whose stream must hold 64 elements."""
    own = spec()
    (stream,) = own.boards["v++"].streams
    changed = {"source": "x/sum_hls.cpp", "streams": [stream.model_copy(update={"depth": 64})]}
    boards = {"v++": own.boards["v++"].model_copy(update=changed)}
    given = {"replications": "2", "block": "8", "fast": "true"}
    system = board_system(version=version)
    return make_build(own.model_copy(update={"boards": boards}), "maker-b", system, given)


def test_kernels_in_hls() -> None:
    """No option of OpenCL C's compiler, any version but for sw_emu, and streams as deep as declared."""
    build = in_hls("2025.1")
    files = generate(build, "")
    assert files.main == "summing-r2-b8-fast.b.cpp"
    assert "max_memory_ports" not in files.texts[files.compile or ""]
    steps = steps_of(build, files, "hw", Path("o"))
    assert [step.arguments[-1] for step in steps[:2]] == ["o/summing-r2-b8-fast.b.cpp"] * 2
    with pytest.raises(UsageError, match=r"2025\.1 has no sw_emu"):
        steps_of(build, files, "emulation", Path("o"))
    text = link_text(build)
    assert "stream_connect=fetch_1.out:sum_1.in:64\n" in text
    check_link(build, read_link(text))
    for wrong in ("", ":63"):
        with pytest.raises(UsageError, match="streams are"):
            check_link(build, read_link(text.replace(":64", wrong, 1)))


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


def with_channels(**changes: Any) -> Build:
    """Two replications with an io channel each way, on a board with two ports."""
    own = spec()
    board = own.boards["aoc"].model_copy(update={"channels": 1})
    own = own.model_copy(update={"boards": {"aoc": board}})
    values = {"replications": "2", "block": "8", "fast": "true"}
    channels = ["in0", "out0", "in1", "out1"]
    system = board_system("aoc", **{"channels": channels, **changes})
    return make_build(own, "maker-b", system, values)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"out1"', '"out0"', "the io channel out0 is used twice"),
        ('"out1"', '"in1"', "unknown io channel in1"),
        ('"in1"', '"in7"', "unknown io channel in7"),
        ('#define CHANNEL_IN_0 "in1"', "", "3 io channels are named"),
    ],
)
def test_io_channels(old: str, new: str, sentence: str) -> None:
    text = kernel_text(with_channels(), "sum.cl")
    check_text(with_channels(), text)
    assert old in text
    with pytest.raises(UsageError, match=sentence):
        check_text(with_channels(), text.replace(old, new, 1))
    with pytest.raises(UsageError, match="need 1 io channels each, but maker-b has 1"):
        with_channels(channels=["in0", "out0"])


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
