"""A build's files: the vendor's text of the kernels, and the files for compiler and linker.

Templates instantiate the one source of a benchmark's kernels; all arithmetic is in that source.
They run in jinja2's sandbox, and an undefined name is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from jinja2 import PackageLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from plumbline.synth.build import Build


@dataclass(frozen=True)
class Files:
    """The generated files of a build: their texts by name.

    ``main`` is the compiled one; ``link``, ``compile`` and ``accl`` are v++'s configurations.
    """

    texts: Mapping[str, str]
    main: str
    link: str | None = None
    compile: str | None = None
    accl: str | None = None

    @property
    def sha256(self) -> str:
        """The hash of everything that is compiled or linked."""
        digest = hashlib.sha256()
        for name in sorted(self.texts):
            digest.update(f"{name}\0{len(self.texts[name])}\0{self.texts[name]}".encode())
        return digest.hexdigest()


@cache
def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        loader=PackageLoader("plumbline.synth"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # kernels, no HTML
    )


def render(template: str, **values: object) -> str:
    """The text of a template. Raises jinja2's errors for an undefined name."""
    return _environment().get_template(template).render(**values)


def generate(build: Build, source: str, included: Mapping[str, str] | None = None) -> Files:
    """The files of ``build``; ``source`` is the text of the benchmark's kernels.

    ``included``: the texts that it includes, by their paths.
    """
    include = PurePosixPath(build.kernels.source).name
    main = f"{build.name}{'.cpp' if build.in_hls else '.cl'}"
    texts = {main: kernel_text(build, include), include: source}
    texts |= {PurePosixPath(path).name: text for path, text in (included or {}).items()}
    if build.numbered:
        return Files(texts, main)
    link, compile_ = f"{build.name}.link.cfg", f"{build.name}.compile.cfg"
    texts[link] = link_text(build)
    texts[compile_] = render(
        "compile.cfg.j2", name=build.name, clock_mhz=_clock(build), in_hls=build.in_hls
    )
    if build.accl is None:
        return Files(texts, main, link, compile_)
    accl = f"{build.name}.accl.cfg"
    return Files({**texts, accl: build.accl.text}, main, link, compile_, accl)


def kernel_text(build: Build, include: str) -> str:
    """The compiled text: an inclusion of the kernels for each replication that has its own."""
    replications = [
        {
            "number": number,
            "attributes": _attributes(build, number),
            "channels": build.channel_names(number),
        }
        for number in range(build.replications if build.numbered else 1)
    ]
    return render(
        "kernels.cl.j2",
        name=build.name,
        source=build.kernels.source,
        include=include,
        numbered=build.numbered,
        replications=replications,
    )


def link_text(build: Build) -> str:
    """v++'s configuration of the linker: copies of kernels, their dies, banks and streams."""
    kernels = [
        {
            "name": build.kernel_name(kernel.name),
            "copies": [
                {
                    "name": build.kernel_name(kernel.numbered, number),
                    "slr": build.slr(number),
                    "banks": _banks(build, {a.name: a.bank for a in kernel.arguments}, number),
                }
                for number in range(build.replications)
            ],
        }
        for kernel in build.kernels.kernels
    ]
    streams = [
        {
            "from": build.kernel_name(stream.from_, number),
            "to": build.kernel_name(stream.to, number),
            "depth": stream.depth,
        }
        for stream in build.kernels.streams
        for number in range(build.replications)
    ]
    return render(
        "link.cfg.j2",
        name=build.name,
        kernels=kernels,
        streams=streams,
        separator=build.synthesis.separator,
    )


def _banks(build: Build, offsets: Mapping[str, int], replication: int) -> dict[str, str]:
    name = build.synthesis.bank
    if name is None:
        return {}
    return {
        argument: name.format(bank=build.bank(offset, replication))
        for argument, offset in offsets.items()
    }


def _attributes(build: Build, replication: int) -> dict[str, str]:
    """The bank of every argument as aoc's attribute."""
    if not build.numbered:
        return {}
    offsets = {a.name: a.bank for kernel in build.kernels.kernels for a in kernel.arguments}
    return {
        argument: f'__attribute__((buffer_location("{bank}")))'
        for argument, bank in _banks(build, offsets, replication).items()
    }


def _clock(build: Build) -> int | float | None:
    clock = build.clock_mhz
    return int(clock) if clock is not None and clock == int(clock) else clock
