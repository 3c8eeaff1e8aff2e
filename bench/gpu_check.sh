#!/usr/bin/env bash
# Every benchmark that runs on a GPU, small, through CUDA and OpenCL, on one rank and on two (which share the GPU if there is one):
# a line for each with its outcome. Records go to the folder given. Needs the programs (cmake --build --preset release).
# Exit status 1 when one does not pass.
#
#   bench/gpu_check.sh OUTPUT_FOLDER
set -uo pipefail
out=$(realpath -m "${1:?usage: bench/gpu_check.sh OUTPUT_FOLDER}")
cd "$(dirname "$0")/.."
mkdir -p "$out"
bin=build/release/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HWLOC_COMPONENTS=-opencl
failed=0

check() { # LABEL COMMAND...
  local label=$1 status=0
  shift
  timeout 120 "$@" --device gpu --progress none --format none --record "$out/$label.json" >"$out/$label.log" 2>&1 || status=$?
  python3 - "$out/$label.json" "$label" "$status" <<'END' || { failed=1; tail -n 3 "$out/$label.log"; }
import json, sys
path, label, status = sys.argv[1:]
try:
    cases = json.load(open(path))["cases"]
except (OSError, ValueError):
    sys.exit(f"{label:44} status {status}, no record")
outcomes = [case["outcome"]["status"] for case in cases]
wrong = next((case["outcome"].get("reason") for case in cases if case["outcome"]["status"] != "passed"), "")
best = next((f"{m['name']} {m['value']:.4g} {m['unit']}" for case in cases[-1:] for m in case.get("metrics", []) if m["value"]), "")
print(f"{label:44} {outcomes.count('passed')} of {len(outcomes)} passed; {best} {wrong}", flush=True)
sys.exit(status != "0")
END
}
one() { check "$1" $bin/plumb-serial "${@:2}"; }
two() { check "$1" mpirun --oversubscribe --bind-to none -np 2 $bin/plumb-mpi "${@:2}" --share-devices; }

for runtime in cuda opencl; do
  for benchmark in stream random_access fft gemm; do
    one $runtime-$benchmark $benchmark --runtime $runtime --preset smoke
  done
  one $runtime-ceilings ceilings --runtime $runtime --preset smoke --size 26 --tables 2
  one $runtime-parts stream --runtime $runtime --preset smoke --parts "ceilings only=memory size=24"
  one $runtime-hpl hpl --runtime $runtime --size 2000 --block 128 --repetitions 2
  [ $runtime = opencl ] || one $runtime-hpl-library hpl --runtime $runtime --variant library --size 12000 --block 512 --repetitions 3
  for order in 0 1 2; do one $runtime-water-$order shallow_water --runtime $runtime --size 2 --order $order; done
  one $runtime-graph500 graph500 --runtime $runtime --variant device --scale 18 --roots 8
  one $runtime-ssca1 ssca1 --runtime $runtime --variant device --scale 26
  two $runtime-ssca1-two ssca1 --runtime $runtime --variant device --scale 24
  for name in is mg; do
    one $runtime-npb_$name npb_$name --runtime $runtime --variant device --class A
    two $runtime-npb_$name-two npb_$name --runtime $runtime --variant device --class S --transport staged
  done
  for transport in staged pipelined; do
    two $runtime-b_eff-$transport b_eff --runtime $runtime --transport $transport --preset smoke
  done
  two $runtime-ptrans ptrans --runtime $runtime --transport staged --size 2048
  two $runtime-mpi_fft mpi_fft --runtime $runtime --transport staged --size 16
  two $runtime-hpl-1x2 hpl --runtime $runtime --transport staged --grid 1x2 --size 2000 --block 64 --repetitions 2
  two $runtime-water-two shallow_water --runtime $runtime --transport staged --size 2
  two $runtime-graph500-two graph500 --runtime $runtime --variant device --scale 16 --roots 8
done
for approach in device-streaming device-buffered host-buffered; do
  two peer-$approach b_eff --runtime cuda --transport peer --approach $approach --preset smoke
done
two peer-ptrans ptrans --runtime cuda --transport peer --size 2048
two peer-graph500 graph500 --runtime cuda --variant device --scale 16 --roots 8 --transport peer
two peer-ssca1 ssca1 --runtime cuda --variant device --scale 24 --transport peer
for name in is mg; do two peer-npb_$name npb_$name --runtime cuda --variant device --class W --transport peer; done
two peer-water shallow_water --runtime cuda --transport peer --size 2
exit $failed
