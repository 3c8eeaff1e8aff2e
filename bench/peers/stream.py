"""Pairs of our cases and the peers' (``stream.cpp`` on CPUs, ``stream.cu`` on NVIDIA GPUs), and hpcc's."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple


class Facing(NamedTuple):
    """``words`` of ours, with case ``case`` and the target ``goal``: bytes a second over the peer's fastest form."""

    program: str  # peer_stream, or peer_stream_cuda built from stream.cu
    peer_case: str
    words: tuple[str, ...]
    case: str
    goal: float


CPU = ("stream", "--type", "double", "--elements", "16777216")  # 4 x 32 MiB
GPU = ("stream", "--type", "double", "--elements", "134217728")

CASES = (
    Facing("peer_stream", "triad", (*CPU, "--operation", "triad"), "triad", 0.95),
    Facing("peer_stream", "dot", (*CPU, "--operation", "dot"), "dot", 0.9),
    Facing("peer_stream_cuda", "triad", (*GPU, "--operation", "triad"), "triad", 0.98),
    Facing("peer_stream_cuda", "dot", (*GPU, "--operation", "dot"), "dot", 0.95),
    Facing("peer_stream_cuda", "copy", (*GPU, "--operation", "copy"), "copy", 1.0),
    Facing("peer_stream_cuda", "write", (*GPU, "--operation", "write"), "write", 0.95),
    Facing("peer_stream_cuda", "read", (*GPU, "--operation", "read"), "read", 0.95),
)

HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


def hpcc_star_triad(launcher: list[str], folder: Path, ranks: int, size: int) -> tuple[int, float]:
    """Elements of an array on each rank and GB/s of all ranks together, of Debian's hpcc with an HPL matrix of ``size``."""
    text = HPCC_INPUT.read_text()
    text = re.sub(r"^1000 +Ns", f"{size} Ns", text, flags=re.M)
    text = re.sub(r"^2 +Ps", "1 Ps", text, flags=re.M)
    text = re.sub(r"^2 +Qs", f"{ranks} Qs", text, flags=re.M)
    (folder / "hpccinf.txt").write_text(text)
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    program = shutil.which("hpcc")
    if program is None:
        raise SystemExit("hpcc is not installed (Debian: apt install hpcc)")
    subprocess.run([*launcher, program], cwd=folder, check=True, capture_output=True, timeout=3600)
    summary = (folder / "hpccoutf.txt").read_text()
    figure = {
        key: re.search(rf"^{key}=([\d.]+)", summary, re.M)
        for key in ("STREAM_VectorSize", "StarSTREAM_Triad")
    }
    elements, rate = (float(found[1]) if found else float("nan") for found in figure.values())
    return int(elements), ranks * rate
