"""Placement: options, maps of devices, and records in which ranks or devices lie otherwise."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, Plumb
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import UsageError
from plumbline.engine.options import flags_of
from plumbline.engine.program import Description
from plumbline.launch.placement import Placement, device_map, placement_of, why_misplaced
from plumbline.record.record import Record, parse_record
from plumbline.report.sharing import shared_devices
from plumbline.run.plan import option_groups
from tests.launching import program

DOCUMENT: dict[str, Any] = json.loads((DATA / "record.json").read_text())


def record_of(hosts: list[int], devices: list[int]) -> Record:
    """A record whose ranks lie on these hosts and devices."""
    document = json.loads(json.dumps(DOCUMENT))
    names = [f"n{number:02}" for number in range(1, max(hosts) + 2)]
    document["hosts"] = [{**document["hosts"][0], "name": name} for name in names]
    one = document["ranks"][0]
    document["ranks"] = [
        {**one, "rank": rank, "host": host, "device": {**one["device"], "index": device}}
        for rank, (host, device) in enumerate(zip(hosts, devices, strict=True))
    ]
    document["world"] = {**document["world"], "ranks": len(hosts), "nodes": len(names)}
    document["cases"] = []
    return parse_record(json.dumps(document), "x.json")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((None, None, None, None), None),
        ((None, 2, None, None), Placement(2, 1)),
        ((4, 2, None, "cyclic"), Placement(2, 2, "cyclic")),
        ((4, None, 2, None), Placement(2, 2)),
        ((None, None, 3, None), Placement(1, 3)),
        ((None, 2, 3, "block"), Placement(2, 3)),
        ((6, 2, 3, None), Placement(2, 3)),
    ],
)
def test_options_define_a_placement(asked: tuple[Any, ...], expected: Placement | None) -> None:
    assert placement_of(*asked) == expected


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((5, 2, 3, None), "--ranks 5 must be --nodes 2 times --ranks-per-node 3, 6"),
        ((5, 2, None, None), "--nodes must divide the 5 ranks, not 2"),
        ((5, None, 2, None), "--ranks-per-node must divide the 5 ranks, not 2"),
        ((4, None, None, "cyclic"), "--rank-order cyclic needs --nodes"),
    ],
)
def test_wrong_numbers_are_a_sentence(asked: tuple[Any, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        placement_of(*asked)


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from(["block", "cyclic"]))
def test_each_node_has_its_ranks(nodes: int, per_node: int, distribution: str) -> None:
    placement = Placement(nodes, per_node, distribution)
    hosts = [placement.node_of(rank) for rank in range(placement.ranks)]
    assert sorted(hosts) == sorted(list(range(nodes)) * per_node)
    assert placement.why_not(record_of(hosts, [0] * placement.ranks)) is None


BY_NODE = "node=0:1"
MUTANTS = {
    # What goes wrong: placement, map, and where ranks and devices are then.
    "cyclic read as block": (Placement(2, 2, "cyclic"), None, [0, 0, 1, 1], [0, 0, 0, 0]),
    "block read as cyclic": (Placement(2, 2), None, [0, 1, 0, 1], [0, 0, 0, 0]),
    "all ranks on one node": (Placement(2, 2), None, [0, 0, 0, 0], [0, 0, 0, 0]),
    "a rank is missing": (Placement(2, 2), None, [0, 0, 1], [0, 0, 0]),
    "map by global rank": (Placement(2, 2), BY_NODE, [0, 0, 1, 1], [0, 1, 2, 3]),
    "all ranks on device 0": (Placement(2, 2), BY_NODE, [0, 0, 1, 1], [0, 0, 0, 0]),
    "map turned": (Placement(2, 2), BY_NODE, [0, 0, 1, 1], [1, 0, 1, 0]),
    "map by parity of rank": (Placement(2, 2, "cyclic"), BY_NODE, [0, 1, 0, 1], [0, 1, 0, 1]),
    "by rank read as by node": (None, "2:0:3:1", [0, 0, 1, 1], [2, 0, 2, 0]),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_seen(name: str) -> None:
    placement, text, hosts, devices = MUTANTS[name]
    wanted = device_map(text) if text else None
    assert why_misplaced(record_of(hosts, devices), placement, wanted), name


@pytest.mark.parametrize(
    ("placement", "text", "hosts", "devices"),
    [
        (Placement(2, 2), BY_NODE, [0, 0, 1, 1], [0, 1, 0, 1]),
        (Placement(2, 2, "cyclic"), BY_NODE, [0, 1, 0, 1], [0, 0, 1, 1]),
        (None, "2:0:3:1", [0, 0, 1, 1], [2, 0, 3, 1]),
        (None, "near", [0, 0, 1, 1], [2, 0, 3, 1]),
    ],
)
def test_the_right_ones_pass(
    placement: Placement | None, text: str, hosts: list[int], devices: list[int]
) -> None:
    assert why_misplaced(record_of(hosts, devices), placement, device_map(text)) is None


def test_a_file_names_devices_of_nodes(tmp_path: Path) -> None:
    file = tmp_path / "map"
    file.write_text("# boards\nn02 3:2\n\n* 0:1  # all others\n")
    wanted = device_map(str(file))
    assert sorted(wanted.numbers) == [0, 1, 2, 3]
    assert wanted.why_not(record_of([0, 0, 1, 1], [0, 1, 3, 2])) is None
    found = wanted.why_not(record_of([0, 0, 1, 1], [0, 1, 2, 3]))
    assert found is not None
    assert "rank 2 on n02 used device 2" in found


def test_ranks_and_the_device_that_they_share_have_rates() -> None:
    """Two of three ranks: 1 GB and 3 GB per second each by their medians."""
    document = json.loads((DATA / "records" / "1.3.0.json").read_text())
    one, _ = document["ranks"]
    alone = {**one["device"], "index": 7}
    document["ranks"] = [
        {**one, "rank": 0},
        {**one, "rank": 1, "device": alone},
        {**one, "rank": 2},
    ]
    document["world"]["ranks"] = 3
    (case,) = document["cases"]
    case["work"] = {"bytes_read": 4e8, "bytes_written": 6e8}
    case["count"] = 2
    case["samples"]["by_rank"] = [[2.0, 2.0, 9.0], [1.0, 1.0, 1.0], [0.5, 2 / 3, 0.9]]
    assert shared_devices(parse_record(json.dumps(document), "x.json")) == []
    document["warnings"].append({"code": "shared_device", "text": "2 ranks share it"})
    _, line = shared_devices(parse_record(json.dumps(document), "x.json"))
    assert line.split("  ") == ["copy", "vm native 1", "0, 2", " 1 + 3 = 4 GB/s"]


@pytest.mark.parametrize("text", ["n01", "n01 0:x", "n01 0 1", "n01 0\nn01 1", "# nothing"])
def test_a_wrong_file_is_a_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "map"
    file.write_text(text + "\n")
    with pytest.raises(UsageError, match="map"):
        device_map(str(file))


@pytest.mark.parametrize("text", ["", "node=", "node=0:", "0:x", "1::2", "nowhere"])
def test_a_wrong_map_is_a_sentence(text: str) -> None:
    with pytest.raises(UsageError, match="--device-map must be"):
        device_map(text)


def test_ranks_that_started_alone_are_an_error(
    plumb: Plumb, stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launcher of another library starts two worlds of one rank each."""
    path = stand_in / "mpirun.openmpi"
    program = f"{stand_in}/plumb-mpi"
    path.write_text(
        "#!/bin/bash\n"
        '[ "$1" = --version ] && exec echo "mpirun (Open MPI) 4"\n'
        'while [ "${1##*/}" != plumb-mpi ]; do shift; done; shift\n'
        f'{program} "$@" & {program} "$@"; wait\n'
    )
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(stand_in), prepend=":")
    status, _, err = plumb("run", "b_eff", "-n", "2", "--launcher", "mpirun", "--no-model")
    assert status == 3
    assert "one world of 2 ranks was to start, but openmpi started 2, of 1 and 1" in err


@pytest.mark.parametrize("name", ["plumb-mpi", "plumb-shmem", "plumb-serial"])
def test_no_option_has_two_meanings(name: str) -> None:
    """An option of plumb's own would hide a benchmark's."""
    if not program(name).exists():
        pytest.skip(f"{name} is not built")
    command = [str(program(name)), "--describe"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    description = Description.model_validate_json(done.stdout)
    for benchmark in description.benchmarks:
        groups = option_groups(description, benchmark)
        every = (option for group in groups for option in group.options)
        names = Counter(flag for option in every for flag in flags_of(option))
        assert max(names.values()) == 1, (benchmark.name, names.most_common(3))


def test_the_order_of_ranks_has_its_earlier_name(plumb: Plumb) -> None:
    status, _, err = plumb("run", "b_eff", "--distribution", "cyclic")
    assert status == 2
    assert "--rank-order cyclic needs --nodes or --ranks-per-node" in err
