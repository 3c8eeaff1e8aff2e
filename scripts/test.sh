#!/bin/bash
# test.sh [WORDS...]  Builds and runs every test: the engine's under sanitizers, on real ranks in release and over MPICH,
# then the command's (pytest gets WORDS, and then runs alone). Goes on after a failure; prints counts at the end.
# Tests wait for half of their time, so each preset is built and tested in parallel with the tests of release: what is built takes
# the cores that tests leave.
source "$(dirname "$0")/steps.sh"

begin=$SECONDS
failed=0
counts=$logs/counts
rm -f "$counts"
export TAIL=60
# Ranks of several tests share the cores with each other and with compilers: those that wait give way, and sleep (patiently).
export OMPI_MCA_mpi_yield_when_idle=1 OMP_WAIT_POLICY=passive
# An mpirun that ends removes the host's folder of sessions if it is empty, also while another one makes its own in it, which
# then fails; what is held here is never empty.
OMPI_MCA_orte_tmpdir_base=$(mktemp --directory)
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
host=$(uname -n)
mkdir -p "$OMPI_MCA_orte_tmpdir_base/ompi.${host%%.*}.$(id -u)/held"

# Late in turn for a core; last in turn it ended long after the tests.
beside() { nice -n 8 "$@"; }

# In programs that this starts, what would yield its core sleeps (tests/patient.c); a sanitizer's library need not come first.
patiently() { env LD_PRELOAD="$PWD/build/release/lib/libplumb-patient.so" ASAN_OPTIONS=verify_asan_link_order=0 "$@"; }

# runtime NAME: Intel's, if its licence is accepted.
runtime() {
  if .venv/bin/python -c "import sys; from plumbline.base import paths; from plumbline.engine import runtimes; sys.exit(not runtimes.is_installed('$1', paths.find_home()))"; then
    return
  fi
  step "setup-$1" "Installing Intel's runtime $1" .venv/bin/plumb setup "$1" --accept-eula
}

# tests PRESET [CTEST WORDS...]
tests() {
  local preset=$1 log=$logs/ctest-$1.log status=0
  shift
  step "ctest-$preset" "Testing build/$preset" patiently ctest --preset "$preset" "$@" || status=1
  echo "ctest $preset: $(grep -E 'tests passed|No tests were found' "$log" || echo 'did not end')" >>"$counts"
  return $status
}

# The parts that use MPI, over MPICH; some of pytest's tests need them and are skipped if they are not built yet. Mutants of
# libplumb-mpi-device and more rank counts over MPICH belong to `make soak`.
mpich() {
  if command -v mpicxx.mpich >/dev/null; then
    [ -e build/mpich-5/lib/libmpich.so.12 ] || mpich_5
    beside bash scripts/engine.sh mpich programs mpi_tests plumb-mpi-examples plumb-mpi-device-programs
  else
    note "Without MPICH: there is no mpicxx.mpich"
  fi
}

# PyPI's MPICH 5, in whose place programs that are built over Debian's MPICH 4 run as well, has what MPI 4 adds. Not in .venv:
# its mpirun is not the system's.
mpich_5() {
  step mpich-5 "Installing MPICH 5 into build/mpich-5 (pip)" .venv/bin/python -m pip --disable-pip-version-check --no-input install \
    --no-deps --ignore-installed --prefix build/mpich-5 mpich==5.0.2 && ln -sf libmpi.so.12 build/mpich-5/lib/libmpich.so.12
}

# Headers of arbitrary precision for kernels in HLS C++, of hls4ml, which nothing else needs.
ap_types() {
  [ -d build/ap-types/hls4ml ] || step ap-types "Installing hls4ml's headers into build/ap-types (pip)" .venv/bin/python -m pip \
    --disable-pip-version-check --no-input install --no-deps --target build/ap-types hls4ml==1.3.0
}

# The engine's own tests under sanitizers, and those over MPICH. On 2 and 4 ranks they run in release.
others() {
  local status=0 over_mpich=
  if [ -d build/mpich ]; then
    tests mpich --tests-regex '^mpi_tests_on_2$|^mpi_example|^mpi_device' --exclude-regex '^mpi_device_mutant' &
    over_mpich=$!
  fi
  beside bash scripts/engine.sh asan engine_tests mpi_tests thread_tests && tests asan --parallel 2 --exclude-regex '^mpi_example|^mpi_tests_on_[24]$' || status=1
  beside bash scripts/engine.sh tsan thread_tests && tests tsan --label-regex threads || status=1
  if [ -n "$over_mpich" ]; then wait "$over_mpich" || status=1; fi
  return $status
}

# pytest has its own log. Background processes ignore interrupts by inheritance; env restores the default, since tests
# send interrupts. Many tests wait, so four run at a time; those of real ranks are one group, run one by one, which takes
# longest and so comes first.
command_tests() {
  if [ $# -eq 0 ]; then set -- -n 4 --dist loadgroup tests/python tests/mutants; fi
  local status=0
  note "pytest"
  patiently env --default-signal=INT .venv/bin/python -m pytest --quiet --durations 40 --durations-min 5 \
    --junitxml "$logs/pytest.xml" "$@" 2>&1 | tee "$logs/pytest.log" || status=1
  echo "pytest: $(tail -n 1 "$logs/pytest.log")" >>"$counts"
  return $status
}

installing=
if [ "${ACCEPT_INTEL_EULA:-}" = 1 ]; then  # while the engine is built, which does not need them
  { BESIDE=1; runtime intel-cpu && runtime fpga-emulator && runtime intel-sycl; } &
  installing=$!
else
  note "Without Intel's runtimes of OpenCL and SYCL: ACCEPT_INTEL_EULA=1 accepts their licence and tests with them, too"
fi
built=1
bash scripts/engine.sh release || built=0
if [ -n "$installing" ]; then wait "$installing" || failed=1; fi
if [ "$built" = 0 ]; then die "The engine does not build: its tests would run older programs"; fi

if [ $# -gt 0 ]; then
  command_tests "$@" || failed=1
else
  { export BESIDE=1; ap_types; mpich; } &
  building=$!
  tests release --parallel 4 --tests-regex '^mpi_example|^mpi_device|^AddressRegistry|^shmem_|^mpi_tests_on_[24]$' || failed=1
  wait "$building" || failed=1
  { export BESIDE=1; others; } &
  beside=$!
  command_tests || failed=1
  wait "$beside" || failed=1
fi

note ""
cat "$counts"
note "$(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s in all"
exit $failed
