"""Presets and bitstreams of the boards: every cell of the published tables."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from synth_board import SYSTEMS, needs_engine, preset_of

from plumbline.engine.program import (
    BenchmarkSpec,
    Engine,
)
from plumbline.system.synthesis import Preset

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


def cell_of(spec: BenchmarkSpec, preset: Preset, name: str) -> str:
    """The preset's value of a parameter by HPCC FPGA's name."""
    if name in preset.parameters:
        return str(preset.parameters[name])
    if spec.name == "b_eff" and name == "NUM_REPLICATIONS":  # of one neighbour each; ours have both
        return str(2 * int(preset.parameters["replications"]))
    if spec.name == "b_eff" and name == "CHANNEL_WIDTH":  # in floats; ours in bytes
        text = (ROOT / "engine/transport/channel/channel.cl").read_text()
        (width,) = re.findall(r"#define CHANNEL_WIDTH (\d+)", text)
        return str(int(width) // 4)
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
3.5 stream        bittware-520n      176396 25    449231 25    4029 34    128 2      316.67 -
3.5 stream        bittware-520n-mx   261485 44    721211 44    3634 53    512 13     400.00 -
3.5 stream        alveo-u280-ddr     20832 1.90   39002 1.39   558 34.19  160 1.78   300.00 -
3.5 stream        alveo-u280-hbm2    331904 20.69 574976 27.24 1408 77.70 2560 28.38 370.00 -
3.5 stream        pac-d5005          103628 12    244354 12    548 5      32 <1      346.00 -
3.5 random_access bittware-520n      115743 18    253578 18    489 4      14 <1      329.17 -
3.5 random_access bittware-520n-mx   212838 38    608321 38    1970 29    112 3      477.78 -
3.5 random_access alveo-u280-ddr     7256 0.65    11716 0.50   38 2.23    14 0.16    446.00 -
3.5 random_access alveo-u280-hbm2    116096 10.68 187456 8.76  608 33.55  224 2.48   450.00 -
3.5 random_access pac-d5005          103397 12    225293 12    535 5      0 0        322.00 -
3.5 fft           bittware-520n      276676 36    724790 36    4177 36    1414 25    413.34 -
3.5 fft           bittware-520n-mx   458087 78    1408937 78   2066 30    2944 74    395.84 -
3.5 fft           alveo-u280-ddr     83494 7.39   168150 7.19  39 2.28    672 7.46   248.00 -
3.5 fft           alveo-u280-hbm2    602125 54.13 941404 42.18 405 22.35  5280 58.58 254.00 -
3.5 fft           pac-d5005          192189 22    480285 22    2147 18    707 12     348.00 -
3.5 gemm          bittware-520n      275754 36    861277 36    8860 76    3398 59    160.42 -
3.5 gemm          bittware-520n-mx   213337 37    600546 37    2388 35    2654 67    240.00 -
3.5 gemm          alveo-u280-ddr     568558 51.87 441602 19.43 666 43.11  7683 85.23 100.00 -
3.5 gemm          alveo-u280-hbm2    499002 42.64 920127 38.70 666 36.71  7683 85.18 236.00 -
3.5 gemm          pac-d5005          299427 33    829802 33    9041 77    3398 59    225.00 -
3.7 stream        bittware-520n      203607 26    436516 26    7409 63    128 2      280.00 -
3.9 stream        bittware-520n      150827 20    333381 20    7169 61    128 2      312.50 -
3.9 stream        bittware-520n      182213 25    423430 25    3841 33    128 2      322.50 -
3.9 stream        alveo-u280-hbm2    454848 42.58 874432 41.43 1408 77.70 2048 22.71 341.00 -
3.9 stream        alveo-u280-hbm2    297472 27.84 574976 27.24 1408 77.70 2560 28.38 360.00 -
3.9 stream        alveo-u280-hbm2    382848 35.84 731456 34.66 1408 77.70 2816 31.22 345.00 -
3.9 gemm          bittware-520n      420188 44    879834 44    3657 31    286 5      208.63 -
3.9 gemm          bittware-520n      497462 55    1094926 55   6381 54    495 9      216.68 -
3.9 gemm          alveo-u280-hbm2    364614 31.78 680277 29.11 1242 68.47 6147 68.15 243.00 -
3.9 gemm          alveo-u280-hbm2    553260 50.10 957318 43.17 758 41.72  4230 46.90 241.00 -
4.7 stream        noctua1-520n       178268 19    - -          3926 33    128 2      341.67 2.64
4.7 stream        hacc-u280          188124 14    - -          854 42     170 2      300.00 2.44
4.7 random_access noctua1-520n       222405 24    - -          602 5      14 <1      325.00 3.50
4.7 random_access hacc-u280          184888 14    - -          350 17     24 <1      300.00 2.20
4.7 fft           noctua1-520n       280105 30    - -          1811 15    1560 27    400.00 4.10
4.7 fft           hacc-u280          375069 29    - -          342 17     682 8      286.00 6.94
4.7 gemm          noctua1-520n       310564 33    - -          8321 71    3318 58    272.50 9.87
4.7 gemm          hacc-u280          659200 51    - -          1139 57    7714 85    186.00 12.25
4.7 b_eff         noctua1-520n       173010 19    - -          512 4      0 0        290.63 2.45
4.7 ptrans        noctua1-520n       242232 26    - -          4756 41    68 1       281.25 3.64
4.7 ptrans        noctua1-520n       233317 25    - -          4662 40    162 3      380.00 3.62
4.7 ptrans        hacc-u280          283028 22    - -          598 30     96 1       283.00 4.07
4.7 hpl           noctua1-520n       361377 39    - -          8326 71    2809 49    244.00 10.40
4.7 hpl           noctua1-520n       303471 33    - -          8245 70    3185 55    233.34 9.42
4.7 hpl           noctua1-520n       276546 30    - -          2587 22    3185 55    280.00 6.08
4.7 hpl           hacc-u280          663418 51    - -          994 49     6201 69    156.00 12.10
4.9 hpl           bittware-520n-100g 396597 43    - -          8828 75    2809 49    225.00 11.4
5.1 shallow_water noctua2-u280       126646 9.7   182015 7.0   265 13.1   1218 13.5  256    4.1
5.1 shallow_water noctua2-u280       176884 13.6  305381 11.7  312 15.5   1242 13.8  274    5.2
5.1 shallow_water noctua2-u280       334225 25.6  586847 22.5  344 17.1   1242 13.8  252    15.1
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
