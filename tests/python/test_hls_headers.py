"""Kernels in HLS C++ with numbers of arbitrary width, by the headers of hls4ml."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.launching import PATIENCE_S, ROOT, program

ENGINE = program("plumb-mpi")
TYPES = ROOT / "build" / "ap-types" / "hls4ml" / "templates" / "vivado" / "ap_types"
STREAM = ROOT / "benchmarks" / "hpcc" / "stream" / "single_work_item_hls.cpp"


@pytest.mark.skipif(not ENGINE.exists(), reason="the engine is not built (make build)")
@pytest.mark.skipif(not TYPES.exists(), reason="hls4ml's headers are not installed (make test)")
def test_a_kernel_finds_ap_int_and_ap_fixed(tmp_path: Path) -> None:
    """STREAM with counters of 12 bits, beside the own streams, vectors and words."""
    text = STREAM.read_text()
    counted = text.replace(
        "for (unsigned k = 0; k < length;", "for (ap_uint<12> k = 0; k < length;"
    )
    assert counted.count("ap_uint") == 3
    own = '#include "ap_axi_sdata.h"\n#include "ap_utils.h"\n#include "hls_stream.h"\n'
    word = "typedef hls::axis_data<ap_uint<512>, AXIS_ENABLE_LAST> Word;\n"
    made = tmp_path / "kernels.cpp"

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        made.write_text(f'{own}#include "ap_fixed.h"\n#include "ap_int.h"\n{word}{counted}')
        words = (
            "stream",
            "--runtime",
            "hls",
            "--elements",
            "3072",
            "--repetitions",
            "1",
            "--format",
            "csv",
        )
        return subprocess.run(
            [str(ENGINE), *words, "--kernel-file", str(made), "--record", "none"],
            env={**os.environ, "OMPI_MCA_btl": "self", **more},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    without = run()
    assert "ap_fixed.h: No such file" in without.stdout + without.stderr
    done = run(CPLUS_INCLUDE_PATH=str(TYPES))
    assert done.returncode == 0, done.stderr
    assert ",passed," in done.stdout
