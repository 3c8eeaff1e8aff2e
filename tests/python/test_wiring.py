"""Wiring of boards behind an optical switch: rings and tori, their forms, refusals, mutants."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from conftest import Plumb
from hypothesis import given
from hypothesis import strategies as st

from plumbline.launch.placement import Placement, device_map
from plumbline.launch.wiring import Link, fpga_links, ring, torus

CHANNELS = (0, 1, 2, 3)
PORT = r"n\d\d:acl\d+:ch\d+"


def ports(named: list[str]) -> Counter[str]:
    """How many links end at each port."""
    assert all(re.fullmatch(f"{PORT}-{PORT}", one) for one in named)
    return Counter(port for one in named for port in one.split("-"))


def moved(links: list[Link], rank: int, channel: int, times: int) -> int:
    """The rank that is reached by leaving each board through ``channel``."""
    ends = {(one, mine): (other, theirs) for one, mine, other, theirs in links}
    ends |= {there: here for here, there in ends.items()}
    for _ in range(times):
        rank = ends[rank, channel][0]
    return rank


@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from(["block", "cyclic"]))
def test_each_port_has_one_link(nodes: int, per_node: int, distribution: str) -> None:
    placement = Placement(nodes, per_node, distribution)
    for links in (ring(placement.ranks, CHANNELS), torus(nodes, per_node, CHANNELS)):
        used = ports(fpga_links(links, placement))
        assert len(used) == 4 * placement.ranks
        assert set(used.values()) == {1}


@given(st.integers(1, 6), st.integers(1, 6))
def test_ways_around_return(rows: int, columns: int) -> None:
    """Right and down lead through a row or a column and back; left and up undo them."""
    links = torus(rows, columns, CHANNELS)
    left, up, right, down = CHANNELS
    for rank in range(rows * columns):
        there = moved(links, rank, right, 1)
        assert there == rank // columns * columns + (rank + 1) % columns
        assert moved(links, there, left, 1) == rank
        below = moved(links, rank, down, 1)
        assert below == (rank + columns) % (rows * columns)
        assert moved(links, below, up, 1) == rank
    around = ring(rows * columns, CHANNELS)
    for rank in range(rows * columns):
        assert moved(around, rank, 3, 1) == (rank + 1) % (rows * columns)
        assert moved(around, rank, 2, rows * columns) == rank


def test_the_command_prints_links(plumb: Plumb) -> None:
    status, out, err = plumb("wiring", "ring", "--nodes", "2", "--channels", "0:1")
    assert (status, err) == (0, "")
    assert out == (
        "changeFPGAlinks \\\n  --fpgalink=n00:acl0:ch1-n01:acl0:ch0 \\\n"
        "  --fpgalink=n01:acl0:ch1-n00:acl0:ch0\n"
    )
    words = ("--nodes", "2", "--ranks-per-node", "2", "--device-map", "node=1:0")
    status, out, _ = plumb("wiring", "2x2", *words)
    assert status == 0
    assert out.split("--fpgalink=")[1].startswith("n00:acl1:ch2-n00:acl0:ch0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("star", "--nodes", "2"), "the wiring must be ring, or a torus such as 2x3, not 'star'"),
        (("2x3", "--nodes", "4"), "a torus of 2x3 needs 6 ranks"),
        (("ring", "--nodes", "2", "--channels", "0,1"), "--channels must be numbers"),
        (("ring", "--nodes", "2", "--channels", "0:1:2"), "an even number of different channels"),
        (("ring", "--nodes", "2", "--channels", "0:0"), "an even number of different channels"),
        (("1x2", "--nodes", "2", "--channels", "0:1"), "--channels of a torus must be four"),
        (("ring", "--nodes", "2", "--device-map", "near"), "chooses boards when a run starts"),
        (("ring", "--nodes", "2", "--device-map", "0"), "--device-map must name 2 devices"),
        (
            ("ring", "--nodes", "1", "--ranks-per-node", "2", "--device-map", "node=0"),
            "two ranks would have the board n00:acl0",
        ),
    ],
)
def test_what_cannot_be_wired_is_a_sentence(
    plumb: Plumb, words: tuple[str, ...], said: str
) -> None:
    status, out, err = plumb("wiring", *words)
    assert (status, out) == (2, "")
    assert said in err


def test_mutants_are_seen() -> None:
    """A board by global rank, cyclic read as block: other ports than the right ones."""
    cyclic = Placement(2, 2, "cyclic")
    right = fpga_links(ring(4, CHANNELS), cyclic)
    assert "n00:acl0:ch2-n01:acl0:ch0" in right
    assert fpga_links(ring(4, CHANNELS), Placement(2, 2)) != right
    assert fpga_links(ring(4, CHANNELS), cyclic, device_map("0:1:2:3")) != right
