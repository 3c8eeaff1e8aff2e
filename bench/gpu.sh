#!/usr/bin/env bash
# Builds, checks and measures on a machine with NVIDIA GPUs in one call; records and tables go to the folder given.
#
#   bench/gpu.sh OUTPUT_FOLDER [RANKS]
#
# RANKS (default: the number of GPUs): one rank a GPU, through NVIDIA's OpenCL.
set -euo pipefail
out=$(realpath -m "${1:?usage: bench/gpu.sh OUTPUT_FOLDER [RANKS]}")
gpus=$(nvidia-smi -L | wc -l)
ranks=${2:-$gpus}
cd "$(dirname "$0")/.."
mkdir -p "$out"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun's hwloc would load OpenCL, whose loader cuts OCL_ICD_FILENAMES at its first colon: the ranks would see one vendor.
export HWLOC_COMPONENTS=-opencl

cmake --preset release >"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log"; exit 1; }
cmake --build --preset release -j "$(nproc)" --target all engine_tests >>"$out/build.log" 2>&1 || { grep -E "error|undefined" "$out/build.log" | head -n 20; exit 1; }
bin=build/release/bin
"$bin/plumb-mpi" --version
"$bin/plumb-mpi" --devices

echo "== tests of the engine on this machine's devices"
"$bin/engine_tests" --gtest_brief=1 >"$out/engine_tests.log" 2>&1 || grep -E "FAILED|Failure" -A6 "$out/engine_tests.log" | head -n 60
tail -n 3 "$out/engine_tests.log"
launch() { mpirun -np "$1" --bind-to core --map-by slot:PE=4 "${@:2}"; }
for n in 2 3; do launch "$n" "$bin/mpi_tests" --gtest_brief=1 2>&1 | grep -E "PASSED|FAILED" | tail -n 3; done

echo "== b_eff, staged, one rank a GPU ($ranks)"
launch "$ranks" "$bin/plumb-mpi" b_eff --device gpu --share-devices --transport staged --record "$out/b_eff_staged.json" --progress none
echo "== 2^21 to 2^26 B"
launch "$ranks" "$bin/plumb-mpi" b_eff --device gpu --share-devices --transport staged --min-size 21 --max-size 26 --record "$out/b_eff_large.json" --progress none | sed -n '/time per/,/^$/p'
echo "== is the transfer the sum of its parts?"
python3 bench/parts.py --launches 5 --sizes 0,10,20,26 --json "$out/parts.json" --options "--device gpu --share-devices" -- \
  mpirun -np "$ranks" --bind-to core --map-by slot:PE=4

echo "== one device: ours beside the vendor's libraries and kernels written by hand"
for source in bench/peers/*.cu; do
  nvcc -O3 -arch=native "$source" -o "$bin/gpu_$(basename "$source" .cu)" -lcublas -lcufft >>"$out/build.log" 2>&1 || tail -n 5 "$out/build.log"
done
python3 bench/peers.py --gpu --rounds "${ROUNDS:-5}" --json "$out/peers.json"
