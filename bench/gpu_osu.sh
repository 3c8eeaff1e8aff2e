#!/usr/bin/env bash
# OSU's collectives on RANKS (default 2) GPUs by NCCL and by MPI through libplumb-mpi-device (transport peer), and osu_latency
# between two GPUs beside mpi_device's round trips: two tables. Records go to the folder given. Needs the programs
# (cmake --build --preset release --target plumb-mpi plumb-mpi-device mpi_device). Exit status 1 when a run does not pass; the
# tables have the others.
#
#   RANKS=2 bench/gpu_osu.sh OUTPUT_FOLDER [LAUNCHES]
set -euo pipefail
out=$(realpath -m "${1:?usage: bench/gpu_osu.sh OUTPUT_FOLDER [LAUNCHES]}")
launches=${2:-3}
ranks=${RANKS:-2}
cd "$(dirname "$0")/.."
mkdir -p "$out"
bin=build/release/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HWLOC_COMPONENTS=-opencl
export PLUMB_MPI_RUNTIME=cuda PLUMB_MPI_TRANSPORT=peer PLUMB_MPI_REDUCE_FROM=1 PLUMB_MPI_COLLECTIVE_FROM=1
collectives=osu_allgather,osu_allreduce,osu_alltoall,osu_bcast,osu_reduce,osu_reduce_scatter_block

failed=0
on() { mpirun -np "$1" --bind-to core --map-by slot:PE=4 "${@:2}"; }
run() { # RANKS RECORD PRELOADED TEST WORDS...
  echo "== $2"
  on "$1" env LD_PRELOAD="$3" "$bin/plumb-mpi" "${@:4}" --runtime cuda --progress none --format none --record "$out/$2.json" || failed=1
}
library=$(realpath build/release/lib/libplumb-mpi-device.so)
for round in $(seq "$launches"); do
  sizes=(-m 8:4194304 --size-factor 8 --time-limit 0.03)
  run "$ranks" nccl-$round "" osu --only "$collectives" --library nccl "${sizes[@]}"
  run "$ranks" mpi-$round "$library" osu --only "$collectives" -d cuda "${sizes[@]}"
done
echo "== mpi_device"
on 2 "$bin/mpi_device" 26 >"$out/mpi_device.json" || failed=1
for size in 8 67108864; do # as many operations a sample as mpi_device's rounds have
  words=(osu_latency D D -d cuda -m "$size:$size" -i $((size == 8 ? 500 : 10)) --repetitions 15)
  run 2 latency-$size "$library" "${words[@]}"
  run 2 untouched-$size "$library" "${words[@]}" --no-touch --sync once
done
python3 - "$out" "$launches" <<'END' || failed=1
import json, statistics, sys
from pathlib import Path
out, launches = Path(sys.argv[1]), range(1, 1 + int(sys.argv[2]))
def cases(name):
    try:
        return json.loads((out / f"{name}.json").read_text())["cases"]
    except (OSError, ValueError):
        return []
def figure(case, name):
    return next((m["value"] for m in case.get("metrics", []) if m["name"] == name), None)
def latencies(name):
    found = {}
    for case in cases(name):
        if case["outcome"]["status"] == "passed":
            found[case["labels"]["test"], case["labels"]["bytes"]] = figure(case, "latency")
        elif name.endswith("-1"):
            print(f"{name} {case['key']}: {case['outcome']['status']}: {case['outcome'].get('reason')}")
    return found
nccl, mpi = ([latencies(f"{one}-{i}") for i in launches] for one in ("nccl", "mpi"))
print(f"\n{'collective':<26}{'bytes':>9}{'NCCL us':>10}{'MPI us':>10}{'MPI/NCCL':>10}   least..largest of the launches")
for test, size in nccl[0]:
    pair = [(a[test, size], b[test, size]) for a, b in zip(nccl, mpi) if (test, size) in a and (test, size) in b]
    if not pair:
        continue
    ratios = [b / a for a, b in pair]
    middle = [statistics.median(side) for side in zip(*pair)]
    print(f"{test:<26}{size:>9}{middle[0]:>10.2f}{middle[1]:>10.2f}{middle[1] / middle[0]:>10.2f}   {min(ratios):.2f}..{max(ratios):.2f}")
try:
    trips = json.loads((out / "mpi_device.json").read_text())["round_trip_us"]
except (OSError, ValueError, KeyError):
    sys.exit("mpi_device printed no round trips")
print(f"\n{'round trip':<12}{'mpi_device':>12}{'osu_latency':>13}{'ratio':>8}{'untouched':>12}{'ratio':>8}   us, least of the repetitions")
for size in (8, 67108864):
    own = [next((1e6 * c["summary"]["min_s"] / c["count"] for c in cases(f"{one}-{size}") if c["summary"]), None) for one in ("latency", "untouched")]
    theirs = trips[str(size)][0]
    print(f"{size:<12}{theirs:>12.2f}" + "".join(f"{o:>13.2f}{o / theirs:>8.3f}" if o else f"{'-':>21}" for o in own))
END
exit $failed
