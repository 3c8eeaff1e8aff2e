#!/bin/bash
# soak.sh [SEED...]  Tests that take too long for `make test`: the engine's tests in release, under sanitizers with the checks that
# `make test` leaves out (null, alignment, vptr) and on every number of ranks, and over MPICH, mutants of libplumb-mpi-device over MPICH and at 4 MiB, 10,000 random MPI operations per seed over both libraries,
# and the command's tests that are marked soak. Goes on after a failure; OPERATIONS sets another number.
source "$(dirname "$0")/steps.sh"

failed=0
seeds=("$@")
[ $# -gt 0 ] || seeds=(8 1001)
operations=${OPERATIONS:-10000}
export TAIL=60
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
try() { step "$@" || failed=1; }

# stress PRESET SEED LAUNCHER...: random operations, staged and from device to device.
stress() {
  local preset=$1 seed=$2 transport
  shift 2
  for transport in staged peer; do
    try "soak-$preset-$transport-$seed" "$operations operations over $preset, $transport, seed $seed" \
      env PLUMB_MPI_RUNTIME=native PLUMB_MPI_TRANSPORT=$transport PLUMB_MPI_REDUCE_FROM=1 PLUMB_MPI_COLLECTIVE_FROM=1 \
      "$@" "build/$preset/bin/plumb-mpi-device-stress" --seed "$seed" --operations "$operations"
  done
}

bash scripts/engine.sh release all engine_tests thread_tests || failed=1
try soak-release "Testing build/release" ctest --preset release
for seed in "${seeds[@]}"; do
  stress release "$seed" mpirun -n 3 --oversubscribe --bind-to none --mca mpi_yield_when_idle 1
done
CMAKE_ARGS="${CMAKE_ARGS:-} -DPLUMBLINE_NO_SANITIZE=" bash scripts/engine.sh asan engine_tests mpi_tests || failed=1
try soak-asan "Testing build/asan" ctest --preset asan --exclude-regex '^mpi_example'
if command -v mpicxx.mpich >/dev/null; then
  bash scripts/engine.sh mpich || failed=1
  try soak-mpich "Testing build/mpich" ctest --preset mpich --tests-regex '^mpi_'
  for seed in "${seeds[@]}"; do stress mpich "$seed" mpiexec.mpich -n 3; done
fi
try soak-pytest "pytest -m soak" .venv/bin/python -m pytest -m soak tests/python tests/mutants
exit $failed
