"""Reports of the tools, and containers of both vendors."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import fpga_tools
import pytest

from plumbline.base.errors import UsageError
from plumbline.synth.containers import read_container
from plumbline.synth.reports import read_report

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
