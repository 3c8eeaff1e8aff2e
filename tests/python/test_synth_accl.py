"""plumb synth with ACCL's engine and network stack, by stand-ins of v++ and of a built checkout of ACCL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Plumb
from synth_board import SYSTEMS, needs_engine

from plumbline.base.errors import UsageError
from plumbline.synth.accl import CONFIGURATION, find_accl
from plumbline.synth.containers import read_container
from plumbline.synth.manifest import read_manifest

# By kernel: where its object lies, its copies (the last one's streams go to the engine), and pointers.
KERNELS = {
    "ccl_offload": ("kernels/cclo", "ccl_offload_0", ["m_axi_0"]),
    "hostctrl": ("kernels/plugins/hostctrl", "hostctrl_0_0.hostctrl_0_1", []),
    "loopback": ("kernels/plugins/loopback", "lb_user_krnl_0", []),
}
VNX = "test/refdesigns/xup_vitis_network_example"
TCP = "test/refdesigns/Vitis_with_100Gbps_TCP-IP"
STACKS = {
    "udp": (
        {
            "networklayer": (f"{VNX}/NetLayers/_x.{{platform}}", "poe_0", []),
            "cmac_1": (f"{VNX}/Ethernet/_x.{{platform}}", "cmac", []),
        },
        f"{VNX}/Ethernet/post_sys_link.tcl",
        f"{VNX}/NetLayers/100G-fpga-network-stack-core/synthesis_results_{{memory}}",
    ),
    "tcp": (
        {
            "network_krnl": (f"{TCP}/_x.hw.{{platform}}", "poe_0", ["m00_axi"]),
            "cmac_krnl": (f"{TCP}/_x.hw.{{platform}}", "cmac", []),
        },
        f"{TCP}/scripts/post_sys_link.tcl",
        f"{TCP}/build/fpga-network-stack/iprepo",
    ),
}


def checkout(stack: str, platform: str, memory: str, bank: str) -> Path:
    """What a checkout of ACCL has after its Makefile."""
    folder = Path("ACCL").resolve()
    of_stack, script, cores = STACKS[stack]
    lines = ["[connectivity]"]
    for kernel, (place, copies, pointers) in {**KERNELS, **of_stack}.items():
        made = folder / place.format(platform=platform) / f"{kernel}.xo"
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(json.dumps({"kernel": kernel, "pointers": pointers}))
        lines.append(f"nk={kernel}:{copies.count('.') + 1}:{copies}")
        lines += [f"sp={copies}.{pointer}:{bank}" for pointer in pointers]
    lines += ["", "slr=ccl_offload_0:SLR1", "stream_connect=poe_0.rx:ccl_offload_0.net:512"]
    (folder / script).parent.mkdir(parents=True, exist_ok=True)
    (folder / script).write_text("# Tcl\n")
    (folder / cores.format(memory=memory)).mkdir(parents=True)
    (folder / CONFIGURATION).write_text("\n".join(lines) + "\n")
    return folder


@needs_engine
@pytest.mark.parametrize(
    ("stack", "board", "version", "memory", "bank"),
    [
        ("udp", "alveo-u280-ddr", "2019.2", "HBM", "HBM[0:5]"),
        ("tcp", "alveo-u250", "2019.2", "noHBM", "DDR[1]"),
    ],
)
def test_a_bitstream_with_acceleration_of_messages(
    vendor: Path,
    plumb: Plumb,
    monkeypatch: pytest.MonkeyPatch,
    stack: str,
    board: str,
    version: str,
    memory: str,
    bank: str,
) -> None:
    """Kernels of both, ACCL's cores and script; the name holds the stack; a changed object is linked anew."""
    monkeypatch.setenv("STAND_IN_VERSION", version)
    synthesis = SYSTEMS[board].synthesis
    assert synthesis is not None
    accl = checkout(stack, synthesis.board, memory, bank)
    words = ("stream", "--board", board, "--accl", str(accl), "--output", "out", "--resume")
    status, out, err = plumb("synth", *words)
    assert status == 0, err
    bitstream = Path(out.strip())
    manifest = read_manifest(bitstream)
    assert manifest is not None
    assert manifest.name.endswith(f".{board.partition('-')[2]}-accl-{stack}")
    of_stack, script, cores = STACKS[stack]
    assert sorted(read_container(bitstream).kernels) == sorted(
        [*manifest.kernels, *KERNELS, *of_stack]
    )
    linked = manifest.steps[-1].arguments
    assert linked[linked.index("--user_ip_repo_paths") + 1] == str(
        accl / cores.format(memory=memory)
    )
    assert f"compiler.userPostSysLinkOverlayTcl={accl / script}" in linked
    engine = accl / "kernels/cclo/ccl_offload.xo"
    engine.write_text(engine.read_text() + "\n")
    status, _, err = plumb("synth", *words)
    assert (status, f"done before: {bitstream.name}" in err) == (0, False)


@needs_engine
@pytest.mark.parametrize(
    ("old", "new", "status", "sentence"),
    [
        ("nk=networklayer:1:poe_0\n", "", 2, "must have ccl_offload and one of networklayer"),
        ("nk=loopback", "nk=loopforth", 2, "loopforth.xo is missing: build ACCL there"),
        ("hostctrl:2", "hostctrl:3", 2, "nk of hostctrl counts 3 copies, but names 2"),
        ("poe_0.rx:", "poe_1.rx:", 3, "stream_connect: poe_1.rx"),
        ("m_axi_0", "m_axi_7", 3, "sp: ccl_offload_0.m_axi_7"),
    ],
)
def test_a_wrong_configuration_of_accl_is_found(
    vendor: Path,
    plumb: Plumb,
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    new: str,
    status: int,
    sentence: str,
) -> None:
    monkeypatch.setenv("STAND_IN_VERSION", "2019.2")
    accl = checkout("udp", "xilinx_u280_xdma_201920_3", "HBM", "HBM[0:5]")
    text = (accl / CONFIGURATION).read_text()
    assert old in text
    (accl / CONFIGURATION).write_text(text.replace(old, new))
    board = ("--board", "alveo-u280-ddr", "--memory", "D")
    words = ("placeholder", *board, "--accl", str(accl), "--output", "out")
    ended, _, err = plumb("synth", *words)
    assert (ended, sentence in err) == (status, True), err


@needs_engine
def test_what_accl_cannot_be_linked_to(vendor: Path, plumb: Plumb) -> None:
    accl = checkout("udp", "xilinx_u280_xdma_201920_3", "HBM", "HBM[0:5]")
    for folder, board, target, sentence in (
        (accl, "bittware-520n", "hw", "--accl is of v++"),
        (accl, "alveo-u280-ddr", "hw-emulation", "--accl is of --target hw"),
        ("nowhere", "alveo-u280-ddr", "hw", "link_config.ini is missing"),
        (accl, "alveo-u55c", "hw", "networklayer.xo is missing"),
    ):
        words = ("--board", board, "--target", target, "--accl", str(folder), "--dry-run")
        status, _, err = plumb("synth", "stream", *words)
        assert (status, sentence in err) == (2, True), err


def test_names_of_copies_are_joined_as_the_version_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    accl = checkout("udp", "p", "HBM", "HBM[0:5]")
    synthesis = SYSTEMS["alveo-u55c"].synthesis
    assert synthesis is not None
    later = synthesis.model_copy(update={"version": "2024.2"})
    found = find_accl(accl, later, "p")
    assert "nk=hostctrl:2:hostctrl_0_0,hostctrl_0_1\n" in found.configuration
    assert "stream_connect=poe_0.rx:ccl_offload_0.net:512\n" in found.configuration
    with pytest.raises(UsageError, match="is missing"):
        find_accl(accl, later, "another")
