#!/bin/bash
# test.sh [WORDS...]  Builds and runs every test: the engine's in release, under sanitizers and over MPICH, then the
# command's with all of them (pytest gets WORDS). Goes on after a failure; the counts come at the end.
source "$(dirname "$0")/steps.sh"

begin=$SECONDS
failed=0
counts=()

# runtime NAME: Intel's, where its licence is accepted.
runtime() {
  if .venv/bin/python -c "import sys; from plumbline import home, runtimes; sys.exit(not runtimes.is_installed('$1', home.find_home()))"; then
    return
  fi
  step "setup-$1" "Installing Intel's OpenCL runtime $1" .venv/bin/plumb setup "$1" --accept-eula
}

# tests PRESET [CTEST WORDS...]
tests() {
  local preset=$1 log=$logs/ctest-$1.log
  shift
  step "ctest-$preset" "Testing build/$preset" ctest --preset "$preset" --parallel "$(nproc)" "$@" || failed=1
  counts+=("ctest $preset: $(grep -E 'tests passed|No tests were found' "$log" || echo 'did not end')")
}

installing=
if [ "${ACCEPT_INTEL_EULA:-}" = 1 ]; then  # while the engine is built, which does not need them
  { runtime intel-cpu && runtime fpga-emulator; } 2>"$logs/setup.log" &
  installing=$!
else
  note "Without Intel's OpenCL runtimes: ACCEPT_INTEL_EULA=1 accepts their licence and tests with them, too"
fi

# Relative paths, so that a tree gets from the cache what another has compiled alike (release and MPICH: the engine).
export CCACHE_DIR=$PWD/build/ccache CCACHE_MAXSIZE=1G CCACHE_BASEDIR=$PWD
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# CI is to be done in a quarter of an hour: there the engine's own tests run under sanitizers (without line numbers) and,
# on 2 and 3 ranks, over MPICH, not in release as well.
if [ "${CI:-}" = 1 ]; then
  bash scripts/engine.sh release programs mpi_tests shmem_tests plumb-mpi-mutants plumb-shmem-mutants plumb-mpi-examples overhead \
    plumb-mpi-device-tests plumb-mpi-device-programs
  in_release=(--tests-regex '^mpi_example|^mpi_device|^AddressRegistry|^shmem_')
  over_mpich=(plumb-mpi mpi_tests)
  in_mpich='^mpi_tests_on_[23]$'
  lines=-DCMAKE_CXX_FLAGS_DEBUG=-g0
else
  bash scripts/engine.sh release
  in_release=()
  over_mpich=(programs mpi_tests plumb-mpi-mutants plumb-mpi-examples plumb-mpi-device-programs)
  in_mpich='^mpi_'
  lines=
fi
CMAKE_ARGS="${CMAKE_ARGS:-} $lines" bash scripts/engine.sh asan engine_tests mpi_tests thread_tests
bash scripts/engine.sh tsan thread_tests
if command -v mpicxx.mpich >/dev/null; then
  bash scripts/engine.sh mpich "${over_mpich[@]}"
else
  note "Without MPICH: there is no mpicxx.mpich"
fi

if [ -n "$installing" ]; then
  wait "$installing" || failed=1
  cat "$logs/setup.log" >&2
fi

export TAIL=60
tests release "${in_release[@]}"
tests asan --exclude-regex '^mpi_example'
tests tsan --label-regex threads
if [ -x build/mpich/bin/mpi_tests ]; then tests mpich --tests-regex "$in_mpich"; fi

# pytest goes into its own log. Where this runs in the background, an interrupt is ignored by whoever inherits that; the
# tests send some. No test asks for a quiet machine, and many of them wait: three at a time. Only those of real ranks keep to
# themselves, by their group, which takes longest and so comes first.
if [ $# -eq 0 ]; then set -- -n 3 --dist loadgroup tests/python tests/mutants; fi
note "pytest"
env --default-signal=INT .venv/bin/python -m pytest --quiet "$@" 2>&1 | tee "$logs/pytest.log" || failed=1
counts+=("pytest: $(tail -n 1 "$logs/pytest.log")")

note ""
printf '%s\n' "${counts[@]}"
note "$(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s in all"
exit $failed
