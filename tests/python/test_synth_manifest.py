"""Names and manifests of bitstreams, and what a run takes from them."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Plumb
from synth_board import SYSTEMS, needs_engine

from plumbline.base.errors import UsageError
from plumbline.engine.program import (
    Engine,
)
from plumbline.synth.build import build_name, make_build
from plumbline.synth.manifest import manifest_path, read_manifest, run_options
from plumbline.synth.synthesise import files_of

GEMM_520N = "gemm-float-r5-b512-g8-u16.520n"


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
    first = {
        preset.benchmark: (board, preset.name)
        for board, system in SYSTEMS.items()
        for preset in reversed(system.presets if system.synthesis else [])
        if not preset.kernels
    }
    for name, (board, preset) in first.items():
        benchmark = engine.description.benchmark(name)
        build = make_build(benchmark, board, SYSTEMS[board], {}, preset)
        for option in benchmark.build_parameters:
            value, choices = build.values[option.name], option.build and option.build.options
            other: Any = not value if isinstance(value, bool) else 4 if value == 2 else 2
            if isinstance(value, str):
                other = next(one for one in choices or [] if one != value)
            changed = {**build.values, option.name: other}
            assert build_name(benchmark, changed) != build_name(benchmark, build.values)
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
