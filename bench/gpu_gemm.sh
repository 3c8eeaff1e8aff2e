#!/usr/bin/env bash
# gemm on one NVIDIA GPU through CUDA, in one call: builds, checks every type at even and odd sizes, runs the wrong kernels (each
# must fail), and measures beside cuBLAS; logs and rates go to the folder given. Exit status 1 when
# a product is wrong, or a wrong kernel passes.
#
#   bench/gpu_gemm.sh OUTPUT_FOLDER
set -euo pipefail
out=$(realpath -m "${1:?usage: bench/gpu_gemm.sh OUTPUT_FOLDER}")
cd "$(dirname "$0")/.."
mkdir -p "$out"

cmake --preset release >"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log"; exit 1; }
cmake --build --preset release --target plumb-serial -j "$(nproc)" >>"$out/build.log" 2>&1 || { grep -E "error|undefined" "$out/build.log" | head -n 20; exit 1; }
nvcc -O3 -arch=native bench/peers/gemm.cu -o build/release/bin/gpu_gemm -lcublas >>"$out/build.log" 2>&1 || tail -n 5 "$out/build.log"

failed=0
echo "== every element of the products"
for type in half bfloat16 tf32 float double; do
  for size in 256 4096 5000 8191; do
    build/release/bin/plumb-serial gemm --runtime cuda --type $type --size $size --time-limit 0.2 --progress none --format none \
      --record "$out/$type-$size.json" && echo "$type $size: passed, kernel $(grep -o '"kernel": "[gh][a-z]*"' "$out/$type-$size.json" | head -n 1)" || failed=1
  done
done

echo "== wrong kernels"
python3 bench/kernel_mutants.py gemm --device cuda >"$out/mutants.log" || failed=1
sed '/^as wanted/d' "$out/mutants.log"

echo "== beside cuBLAS"
python3 bench/peers.py gemm --gpu --runtime cuda --rounds "${ROUNDS:-3}" --json "$out/peers.json"
exit $failed
