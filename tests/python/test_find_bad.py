"""Bad nodes and links: simulations from real samples, records, the schedule of pairs, the mutants."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, Plumb
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from plumbline.base.errors import RunError
from plumbline.fit.bad_nodes import Bad, Pair, bad_alone, bad_in_pairs, rounds
from plumbline.record.record import parse_record
from plumbline.report.nodes import slowest_node
from plumbline.run import measure_nodes
from plumbline.run.find_bad import find_bad, gather
from plumbline.run.measure_nodes import Measurement, run_all

DOCUMENT: dict[str, Any] = json.loads((DATA / "record.json").read_text())
TURNS = 100
NODES = 8


def real_noise() -> list[float]:
    """Samples of a real run's longest messages over their median."""
    case = next(one for one in DOCUMENT["cases"] if one["key"] == "natural/transfer/1024")
    samples = sorted(max(pair) for pair in zip(*case["samples"]["by_rank"], strict=True))
    return [sample / samples[len(samples) // 2] for sample in samples]


NOISE = real_noise()


def cluster(
    chance: random.Random,
    node: str | None = None,
    link: Pair | None = None,
    slow: float = 1.10,
    nodes: int = NODES,
) -> dict[Pair, list[float]]:
    """Times of all pairs: a few real samples each, nodes that differ by 0.5 %, one thing slow."""
    names = [f"n{number:02}" for number in range(nodes)]
    shares = {name: chance.gauss(1, 0.005) * (slow if name == node else 1) for name in names}
    return {
        pair: [
            1e-3
            * shares[pair[0]]
            * shares[pair[1]]
            * (slow if pair == link else 1)
            * chance.choice(NOISE)
            for _ in range(25)
        ]
        for pair in itertools.combinations(names, 2)
    }


def names(bad: Sequence[Bad]) -> list[str]:
    return [one.name for one in bad]


def test_a_slow_node_and_a_slow_link_are_found_and_nothing_else() -> None:
    chance = random.Random(3)
    node = link = alarms = 0
    for _ in range(TURNS):
        node += names(bad_in_pairs("x", cluster(chance, node="n01"))) == ["node n01"]
        link += names(bad_in_pairs("x", cluster(chance, link=("n02", "n05")))) == ["link n02-n05"]
        alarms += bool(bad_in_pairs("x", cluster(chance)))
    assert node >= 0.95 * TURNS
    assert link >= 0.95 * TURNS
    assert alarms <= 0.05 * TURNS


def test_four_hosts_with_a_link_of_half_the_speed() -> None:
    chance = random.Random(5)
    for link in itertools.combinations([f"n{n:02}" for n in range(4)], 2):
        found = bad_in_pairs("x", cluster(chance, link=link, slow=2, nodes=4))
        assert names(found) == [f"link {link[0]}-{link[1]}"]


def test_a_busy_machine_is_no_bad_node() -> None:
    """Seconds of real pairs of four hosts on two busy cores, one link of half the others' rate."""
    sets = json.loads((DATA / "pairs_of_busy_hosts.json").read_text())
    for pairs in sets:
        times = {tuple(name.split("+")): seconds for name, seconds in pairs.items()}
        assert names(bad_in_pairs("x", times)) == ["link n02-n04"]


def test_a_slow_node_by_itself() -> None:
    chance = random.Random(8)
    samples = {f"n{n}": [chance.choice(NOISE) for _ in range(50)] for n in range(12)}
    assert bad_alone("x", samples) == []
    samples["n7"] = [1.1 * one for one in samples["n7"]]
    assert names(bad_alone("x", samples)) == ["node n7"]
    assert bad_alone("x", dict(list(samples.items())[6:8])) == [], "two cannot be told apart"


@given(st.integers(min_value=2, max_value=33))
def test_rounds_have_each_pair_once_and_each_node_once_a_round(nodes: int) -> None:
    schedule = rounds(nodes)
    assert len(schedule) == (nodes - 1 if nodes % 2 == 0 else nodes)
    assert sorted(pair for one in schedule for pair in one) == list(
        itertools.combinations(range(nodes), 2)
    )
    for one in schedule:
        assert len({node for pair in one for node in pair}) == 2 * len(one) == nodes // 2 * 2


def record_of(one: str, other: str, seconds: Sequence[float]) -> dict[str, Any]:
    """A record of one case on two hosts."""
    document = json.loads(json.dumps(DOCUMENT))
    host = document["hosts"][0]
    document["hosts"] = [{**host, "name": one}, {**host, "name": other}]
    document["ranks"][1]["host"] = 1
    document["command"] += ["--record", "b_eff@pair.json", "--format=none"]
    document["ports"] = [
        {"host": host, "name": port, "sent_bytes": sent, "received_bytes": sent}
        for host, of_host in enumerate(([("eth0", 9), ("mlx5_0:1", 800)], [(f"ib-{other}", 900)]))
        for port, sent in of_host
    ]
    case = next(c for c in document["cases"] if c["key"] == "natural/transfer/1024")
    case["samples"]["by_rank"] = [list(seconds), list(seconds)]
    document["cases"] = [case]
    return dict(document)


def write(folder: Path, times: Mapping[Pair, Sequence[float]]) -> None:
    for one, other in times:
        path = folder / f"{one}-{other}.json"
        path.write_text(json.dumps(record_of(one, other, times[one, other])))


def test_from_records(tmp_path: Path, plumb: Plumb) -> None:
    write(tmp_path, cluster(random.Random(2), link=("n01", "n03"), slow=1.3))
    status, out, err = plumb("find-bad", "--records", str(tmp_path))
    assert status == 0, err
    assert "8 nodes" in out
    assert "link n01-n03" in out
    assert "b_eff natural/transfer/1024  pthread-skylake-avx512 (opencl 0)" in out
    assert "(opencl 0)  mlx5_0:1 - ib-n03\n" in out, "the busy ports of this pair, by node"
    assert (
        "  srun --nodelist=n01,n03 --ntasks=2 --ntasks-per-node=1 plumb-mpi b_eff --part all\n"
        in out
    )
    assert "scontrol" not in out, "a link drains no node"
    write(tmp_path, cluster(random.Random(2), node="n04", slow=1.3))
    status, out, _ = plumb("find-bad", "--records", str(tmp_path))
    assert status == 0
    assert "scontrol update NodeName=n04 State=DRAIN" in out
    assert "(opencl 0)  ib-n04, mlx5_0:1\n" in out, "those of all its pairs"
    assert "srun --nodelist=n04,n00 --ntasks=2" in out, "a pair needs another node"
    assert "link" not in out.split("time of each pair")[0]


def test_a_skipped_pair_is_named(tmp_path: Path, plumb: Plumb) -> None:
    """The mutant of the schedule that leaves the slow link out: nothing else would tell."""
    times = cluster(random.Random(2), link=("n01", "n03"), slow=1.3)
    write(tmp_path, {pair: seconds for pair, seconds in times.items() if pair != ("n01", "n03")})
    status, out, _ = plumb("find-bad", "--records", str(tmp_path))
    assert status == 0
    assert "b_eff natural/transfer/1024: 1 of 28 pairs were not measured: n01-n03\n" in out
    assert "no node and no link of those measured stands out" in out
    write(tmp_path, cluster(random.Random(2), link=("n02", "n04"), slow=1.3))
    (tmp_path / "n01-n03.json").unlink()
    _, out, _ = plumb("find-bad", "--records", str(tmp_path))
    assert "\n  n01  · ?    \n" in out


def test_two_nodes_cannot_be_told_apart(tmp_path: Path, plumb: Plumb) -> None:
    write(tmp_path, {("a", "b"): [1.0, 1.1, 1.2]})
    status, out, _ = plumb("find-bad", "--records", str(tmp_path))
    assert status == 0
    assert "pairs of 2 nodes cannot separate a bad node from its link" in out
    assert "no node and no link stands out" in out
    status, _, err = plumb("find-bad", "--records", str(tmp_path / "none"))
    assert status == 2
    assert "there is no record" in err


def test_mutants_are_seen() -> None:
    """A pair skipped, the matrix transposed, a slow node blamed on its links: not right."""
    chance = random.Random(4)
    link = ("n02", "n04")
    times = cluster(chance, link=link)
    skipped = {pair: seconds for pair, seconds in times.items() if pair != link}
    assert names(bad_in_pairs("x", skipped)) != ["link n02-n04"]
    order = [f"n{n:02}" for n in range(NODES)]
    turned = dict(zip(order, reversed(order), strict=True))
    transposed = {
        (min(turned[a], turned[b]), max(turned[a], turned[b])): s for (a, b), s in times.items()
    }
    assert names(bad_in_pairs("x", transposed)) != ["link n02-n04"]
    slow = cluster(chance, node="n01")
    middle = sorted(sorted(s)[12] for s in slow.values())[len(slow) // 2]
    blamed = [pair for pair, s in slow.items() if sorted(s)[12] / middle > 1.05]
    assert len(blamed) > 1, "links alone, each beyond 5 %: many where one node is slow"
    assert names(bad_in_pairs("x", slow)) == ["node n01"]


def test_a_bad_node_takes_its_links_with_it() -> None:
    chance = random.Random(6)
    documents = [record_of(a, b, s) for (a, b), s in cluster(chance, node="n00").items()]
    measured = gather(parse_record(json.dumps(one), "x.json") for one in documents)
    assert measured.nodes == [f"n{n:02}" for n in range(NODES)]
    assert names(find_bad(measured)) == ["node n00"]


def test_the_slowest_node_of_a_run_is_named() -> None:
    document = record_of("a", "b", [1.0, 1.0, 1.0])
    document["cases"][0]["samples"]["by_rank"][1] = [1.2, 1.5, 1.2]
    said = slowest_node(parse_record(json.dumps(document), "x.json"))
    assert said == "slowest node: b, in 1 of 1 cases, 1.09 x the median node's time"
    alone = parse_record(json.dumps(DOCUMENT), "x.json")
    assert slowest_node(alone) is None


@pytest.mark.parametrize(
    ("nodes", "end", "said"),
    [
        (("a", "b"), "", None),
        (("a", "c"), "", "b_eff on a, c: the record is of a, b"),
        (("a", "b"), "; echo no route; exit 3", "b_eff on a, b failed: no route"),
        (("a", "b"), "; rm $1", "b_eff on a, b left no record"),
    ],
)
def test_a_pair_that_was_not_measured_is_an_error(
    tmp_path: Path, nodes: tuple[str, str], end: str, said: str | None
) -> None:
    """Another pair's record, a failed run and a missing record are no figures of the pair."""
    written, record = tmp_path / "written.json", tmp_path / "b_eff@pair.json"
    written.write_text(json.dumps(record_of("a", "b", [1.0, 1.1])))
    command = ["sh", "-c", f'cp "$0" "$1"{end}', str(written), str(record)]
    group = [Measurement(nodes, command, os.environ, record)]
    if said is None:
        run_all(group)
    else:
        with pytest.raises(RunError, match=said):
            run_all(group)


def test_runs_that_do_not_end_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher that does not listen, beside one that failed."""
    monkeypatch.setattr(measure_nodes, "_END_S", 0.3)
    lives = tmp_path / "lives"
    deaf = f"trap '' TERM; echo $$ >{lives}; while :; do sleep 0.1; done"
    fails = f"until [ -s {lives} ]; do sleep 0.01; done; echo no route; exit 3"
    group = [
        Measurement(nodes, ["sh", "-c", script], os.environ, tmp_path / "b_eff@x.json")
        for nodes, script in ((("a", "b"), fails), (("c", "d"), deaf))
    ]
    with pytest.raises(RunError, match="b_eff on a, b failed: no route"):
        run_all(group)
    with pytest.raises(ProcessLookupError):
        os.kill(int(lives.read_text()), 0)


def test_nodes_by_themselves_show_their_memory_arithmetic_and_link(stand_in: Path) -> None:
    """Both directions of the link by long copies, in every preset."""
    assert list(measure_nodes.ALONE) == ["stream", "gemm", "ceilings"]
    options = measure_nodes.ALONE["ceilings"]
    length = 2 ** int(options["size"])
    assert options["only"] == f"link/read/{length},link/write/{length}"


def test_open_mpis_ranks_start_without_slurms_pmix(
    stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which loses messages of a step on some of a job's nodes."""
    for name, said in (("mpirun.openmpi", "mpirun (Open MPI) 4.1.4"), ("srun", "slurm 22.05")):
        program = stand_in / name
        program.write_text(f"#!/bin/sh\necho '{said}'\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(stand_in), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    plan = measure_nodes._plan(*measure_nodes.PAIR, 2, os.environ, Console())
    prefix = plan.session.launch.prefix
    assert Path(prefix[0]).name == "mpirun.openmpi"
    assert prefix[-5:] == ("--host", "@NODES@", "--mca", "plm_slurm_args", "--overlap")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "find-bad measures the nodes of a job: salloc --nodes=N plumb find-bad"),
        (["--hosts", "a"], "at least 2 different nodes"),
        (["--hosts", "a,a"], "at least 2 different nodes"),
        (["--hosts", "a,b", "--nodes", "3"], "give one of them"),
        (["--records", ".", "--serial"], "--records takes no option of a measurement"),
    ],
)
def test_a_request_without_nodes_is_a_sentence(
    stand_in: Path, plumb: Plumb, words: list[str], said: str
) -> None:
    status, out, err = plumb("find-bad", *words)
    assert (status, out) == (2, "")
    assert said in err
