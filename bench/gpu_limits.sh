#!/usr/bin/env bash
# The limits of one NVIDIA GPU and our benchmarks of one device on it, through CUDA; records go to the folder given. Needs the
# programs (cmake --build --preset release --target plumb-serial). `plumb show RECORD --system h200` sets a record beside the data sheet.
#
#   bench/gpu_limits.sh OUTPUT_FOLDER
set -euo pipefail
out=$(realpath -m "${1:?usage: bench/gpu_limits.sh OUTPUT_FOLDER}")
cd "$(dirname "$0")/.."
mkdir -p "$out/mutants"
run() { build/release/bin/plumb-serial "$@" --progress none; }

echo "== limits, as plumb calibrate measures them"
began=$SECONDS
for runtime in cuda opencl; do
  run ceilings --runtime $runtime --device gpu --size 30 --tables 2 --updates 24 --accumulators 2162688 --time-limit 0.1 \
    --min-repetitions 6 --record "$out/ceilings-$runtime.json" | sed -n '/rate/,/^$/p'
done
echo "took $((SECONDS - began)) s"

echo "== wrong kernels for matrix units: each must fail (exit status 1)"
kernels=benchmarks/device/ceilings/ceilings.cl
try() { # NAME OLD NEW
  sed "s/$2/$3/" $kernels >"$out/mutants/$1.cl"
  cmp -s $kernels "$out/mutants/$1.cl" && { echo "$1: nothing was altered"; return; }
  local status=0
  run ceilings --runtime cuda --only flops/matrix --accumulators 4096 --kernel-file "$out/mutants/$1.cl" --repetitions 2 \
    --format none --record "$out/mutants/$1.json" 2>"$out/mutants/$1.log" || status=$?
  echo "$1: exit status $status, $(grep -o '"status": "failed"' "$out/mutants/$1.json" | wc -l) times failed"
}
try one-pair-less 'left > 0;' 'left > 1;'
try half 'left = pairs;' 'left = pairs \/ 2;'
try into-one 'ADD_PRODUCT(x + chain, first_a' 'ADD_PRODUCT(x, first_a'
try first-twice 'ADD_PRODUCT(x + chain, second_a, second_b)' 'ADD_PRODUCT(x + chain, first_a, first_b)'

echo "== our benchmarks, for bench/published.py"
for type in float double; do
  run stream --runtime cuda --type $type --elements 536870912 --record "$out/stream-$type.json" --format none
  run fft --runtime cuda --size 9,17 --type $type --data 4096 --record "$out/fft-$type.json" --format none
done
run random_access --runtime cuda --size 29 --record "$out/random_access.json" --format none
for type in half tf32 float double; do
  run gemm --runtime cuda --size 8192 --type $type --record "$out/gemm-$type.json" --format none
done
ls "$out"
