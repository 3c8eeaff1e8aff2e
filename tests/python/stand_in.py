#!/usr/bin/env python3
"""A stand-in for plumb-mpi that behaves badly on demand (STAND_IN), for the launcher's tests.

It measures nothing: its record is data/record.json. Real runs are tested with the real engine.
Each start adds a line, its process and words, to the file STAND_IN_LOG; the start of number
STAND_IN_HOLD (from 1) goes no further than that.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

DATA = Path(os.environ["STAND_IN_DATA"])
MODE = os.environ.get("STAND_IN", "passes")
RANK = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")))
RANKS = int(os.environ.get("OMPI_COMM_WORLD_SIZE", os.environ.get("PMI_SIZE", "1")))


def event(**fields):
    if RANK == 0:
        print(json.dumps(fields), file=sys.stderr, flush=True)


def option(name):
    return sys.argv[sys.argv.index(name) + 1]


def record(cases, status):
    document = json.loads((DATA / "record.json").read_text())
    document["cases"] = document["cases"][:cases]
    document["command"] = sys.argv
    document["status"] = status
    document["world"]["ranks"] = int(os.environ.get("OMPI_COMM_WORLD_SIZE", "2"))
    document["ranks"] = [
        {**document["ranks"][0], "rank": rank} for rank in range(document["world"]["ranks"])
    ]
    if "--transport" in sys.argv:
        document["transport"]["name"] = option("--transport")
    if "--approach" in sys.argv:
        as_transport(document)
    for case in document["cases"]:
        by_rank = case["samples"]["by_rank"]
        case["samples"]["by_rank"] = [by_rank[0]] * document["world"]["ranks"]
    if status == "running":
        document["finished"] = document["outcome"] = None
    if RANK == 0:
        path = Path(option("--record"))
        path.with_suffix(f".{os.getpid()}").write_text(json.dumps(document))
        path.with_suffix(f".{os.getpid()}").replace(path)
    return document


def as_transport(document):
    """Approaches of the device are faster for short messages; a bandwidth is in the record, too."""
    approach = option("--approach").split("-")
    transport = {"name": option("--transport"), "scheduled_by": approach[0], "landing": approach[1]}
    document["transport"].update(transport)
    for case in document["cases"]:
        size = case["labels"].get("message_bytes")
        for metric in case["metrics"][:1] if size else []:
            if approach[0] == "device":
                metric["value"] = 1 + size / 512
            rate = {"name": "bandwidth_per_rank", "value": size / metric["value"] / 1e3}
            case["metrics"].append({**metric, **rate, "unit": "GB/s"})


def refuses_buffered():
    """Says no to an approach, as an engine on a device that cannot do it."""
    if "device-buffered" in sys.argv:
        event(event="error", text="transport peer does not work on this device: it has no flags")
        sys.exit(2)
    passes()


def wrong_by_peer():
    passes(*((1, "failed") if "peer" in sys.argv else ()))


def passes(exit_status=0, outcome="passed"):
    document = record(99, "complete")
    keys = [case["key"] for case in document["cases"]]
    event(event="start", benchmark="b_eff", cases=len(keys), ranks=RANKS, record=None)
    for index, key in enumerate(keys, 1):
        event(event="case_started", index=index, of=len(keys), key=key)
        event(
            event="case_finished",
            index=index,
            of=len(keys),
            key=key,
            outcome="passed",
            reason=None,
            repetitions=5,
        )
    event(event="warning", code="unbound", text="rank 1 is bound to no core")
    event(event="finish", outcome=outcome, exit=exit_status, seconds=0.1)
    sys.exit(exit_status)


def dies():
    """Rank 1 is killed after two cases; rank 0 waits for it."""
    record(2, "running")
    event(event="start", benchmark="b_eff", cases=14, ranks=RANKS, record=None)
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600)
    event(event="error", text="rank 0 waited to its end")


def errs():
    document = record(99, "complete")
    document["outcome"] = {"status": "error", "reason": "natural/launch/1: could not compile x.cl"}
    Path(option("--record")).write_text(json.dumps(document))
    event(event="start", benchmark="b_eff", cases=14, ranks=RANKS, record=None)
    event(event="finish", outcome="error", exit=3, seconds=0.1)
    sys.exit(3)


def hangs():
    """Reports an error and runs forever, with any arguments."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    record(2, "aborted")
    event(event="error", text="rank 0 lost rank 1")
    time.sleep(600)


def waits():
    record(2, "running")
    event(event="start", benchmark="b_eff", cases=14, ranks=RANKS, record=None)
    Path(os.environ["STAND_IN_PIDS"] + f".{RANK}").write_text(str(os.getpid()))
    time.sleep(600)


def waits_the_second_time():
    lines = Path(os.environ["STAND_IN_LOG"]).read_text().splitlines()
    (passes if sum("--progress" in line for line in lines) < 2 else waits)()


def slow():
    """Cases one by one, each in the record before it is told."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    keys = [case["key"] for case in json.loads((DATA / "record.json").read_text())["cases"]]
    event(event="start", benchmark="b_eff", cases=len(keys), ranks=RANKS, record=None)
    for index, key in enumerate(keys, 1):
        time.sleep(0.02)
        record(index, "running")
        done = {"index": index, "of": len(keys), "key": key, "outcome": "passed"}
        event(event="case_finished", **done, reason=None, repetitions=5)
    record(99, "complete")
    event(event="finish", outcome="passed", exit=0, seconds=0.1)


def fails():
    record(2, "aborted")
    event(event="error", text="rank 0 on node1: clFinish failed: CL_OUT_OF_RESOURCES")
    sys.exit(3)


def mute():
    sys.exit(77)


def log_start():
    path = Path(os.environ["STAND_IN_LOG"])
    with path.open("a") as file:
        print(os.getpid(), *sys.argv[1:], file=file)
    if len(path.read_text().splitlines()) == int(os.environ.get("STAND_IN_HOLD", "0")):
        time.sleep(600)


def main():
    words = sys.argv[1:]
    if "STAND_IN_LOG" in os.environ and RANK == 0:
        log_start()
    if words == ["--describe"]:
        print((DATA / "describe.json").read_text())
    elif words[0] == "--devices":
        devices = [
            rank["device"] for rank in json.loads((DATA / "record.json").read_text())["ranks"]
        ]
        print(json.dumps({"devices": devices[:1], "reason": None}))
    elif words[0] == "--transports":
        print((DATA / "transports.json").read_text())
    elif words[0] == "--show":
        expected = "--expected" in words
        print(f"results as {option('--format')}, {'with' if expected else 'without'} a model")
    elif "--dry-run" in words:
        if MODE == "refuses":
            print("error: --max-size 30 needs 8 GiB, but 4 GiB are there", file=sys.stderr)
            sys.exit(2)
        print("plan: 14 cases")
    elif MODE == "wrong":
        passes(1, "failed")
    else:
        globals()[MODE]()


if __name__ == "__main__":
    main()
