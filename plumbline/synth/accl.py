"""ACCL in a bitstream: its engine, network stack and plug-ins, from a checkout of ACCL.

Its kernels must be built there for the board's platform, and its ``gen_config.py`` must have
written the linker's configuration: kernels, dies, banks and streams are that file's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plumbline.base.errors import UsageError
from plumbline.synth.check import read_link
from plumbline.synth.manifest import file_sha256
from plumbline.system.synthesis import Synthesis

CONFIGURATION = "test/refdesigns/link_config.ini"
# By the kernel that says which of them it is.
_STACKS = {"networklayer": "udp", "network_krnl": "tcp"}
_DESIGNS = "test/refdesigns"
_VNX = f"{_DESIGNS}/xup_vitis_network_example"
_TCP = f"{_DESIGNS}/Vitis_with_100Gbps_TCP-IP"
# Objects by kernel; those of all others are plug-ins.
_OBJECTS = {
    "ccl_offload": "kernels/cclo/{kernel}.xo",
    "networklayer": f"{_VNX}/NetLayers/_x.{{platform}}/{{kernel}}.xo",
    "cmac_0": f"{_VNX}/Ethernet/_x.{{platform}}/{{kernel}}.xo",
    "cmac_1": f"{_VNX}/Ethernet/_x.{{platform}}/{{kernel}}.xo",
    "network_krnl": f"{_TCP}/_x.hw.{{platform}}/{{kernel}}.xo",
    "cmac_krnl": f"{_TCP}/_x.hw.{{platform}}/{{kernel}}.xo",
}
_PLUGIN = "kernels/plugins/{kernel}/{kernel}.xo"
_SCRIPTS = {"udp": f"{_VNX}/Ethernet/post_sys_link.tcl", "tcp": f"{_TCP}/scripts/post_sys_link.tcl"}
_CORES = {
    "udp": f"{_VNX}/NetLayers/100G-fpga-network-stack-core/synthesis_results_{{memory}}",
    "tcp": f"{_TCP}/build/fpga-network-stack/iprepo",
}


@dataclass(frozen=True)
class Accl:
    """What the linker takes from a checkout of ACCL; ``stack`` is its network, udp or tcp."""

    stack: str
    configuration: str
    objects: dict[str, Path]  # by kernel
    cores: Path
    script: Path

    @property
    def text(self) -> str:
        """The configuration, with the objects' hashes: other objects are another source."""
        hashes = [f"# {name} SHA-256 {file_sha256(path)}" for name, path in self.objects.items()]
        return "\n".join([*hashes, self.configuration])

    @property
    def words(self) -> list[str]:
        """The linker's options besides its configuration."""
        script = f"compiler.userPostSysLinkOverlayTcl={self.script}"
        return ["--user_ip_repo_paths", str(self.cores), "--advanced.param", script]


def find_accl(folder: Path, synthesis: Synthesis, platform: str) -> Accl:
    """What ``folder`` has for a platform. Raises :class:`UsageError` for whatever is missing."""
    if synthesis.tool != "v++":
        raise UsageError(f"--accl is of v++; {synthesis.board} is a board of {synthesis.tool}")
    text = "\n".join(_lines(_there(folder / CONFIGURATION), synthesis.separator)) + "\n"
    kernels = read_link(text).copies
    stacks = [stack for kernel, stack in _STACKS.items() if kernel in kernels]
    if len(stacks) != 1 or "ccl_offload" not in kernels:
        raise UsageError(
            f"{folder / CONFIGURATION} must have ccl_offload and one of {', '.join(_STACKS)}: "
            "write it by ACCL's gen_config.py"
        )
    (stack,) = stacks
    memory = "HBM" if "B" in synthesis.memories else "noHBM"
    objects = {
        kernel: folder / _OBJECTS.get(kernel, _PLUGIN).format(kernel=kernel, platform=platform)
        for kernel in kernels
    }
    cores, script = folder / _CORES[stack].format(memory=memory), folder / _SCRIPTS[stack]
    for path in (*objects.values(), cores, script):
        _there(path)
    return Accl(stack, text, objects, cores, script)


def _lines(path: Path, separator: str) -> Iterator[str]:
    """The configuration's lines; names of copies are joined as the board's version wants it."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield line.replace(".", separator) if line.startswith("nk=") else line


def _there(path: Path) -> Path:
    if not path.exists():
        raise UsageError(f"{path} is missing: build ACCL there for the board's platform")
    return path
