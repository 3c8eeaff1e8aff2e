#!/bin/bash
# engine.sh PRESET [TARGET...]  Configures (once) and builds a preset: the targets, or everything. The target
# `programs` does not need the tests' packages.
# The sources of a folder are compiled together, which halves the time: most of it is spent on headers and on
# templates that all of them instantiate. ccache, if installed, keeps objects (in its own folder).
# CMAKE_ARGS holds further arguments for CMake; changed ones configure afresh.
source "$(dirname "$0")/steps.sh"

preset=$1
shift
tree=build/$preset
stamp=build/stamps/configured-$preset
export PATH="$PATH:$PWD/.venv/bin"  # cmake and ninja from PyPI, if the system has none

# Relative paths, so that trees share the objects in the cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

tests=ON
# A tree with tests can build the programs as well.
if [ "$*" = programs ] && ! grep -qs '^PLUMBLINE_TESTS:BOOL=ON' "$tree/CMakeCache.txt"; then tests=OFF; fi

arguments="${CMAKE_ARGS:-} in $PWD"
if [ ! -f "$tree/build.ninja" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$tests $arguments" ]; then
  fresh=
  if [ -f "$stamp" ] && [ "$(cut -d' ' -f2- "$stamp")" != "$arguments" ]; then fresh=--fresh; fi
  if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$tree/CMakeCache.txt"; then fresh=--fresh; fi  # moved, or none
  # shellcheck disable=SC2086  # CMAKE_ARGS is a list of words
  TAIL=40 SHOW='/CMake Error/,/Call Stack/{/Call Stack/!p}' step "configure-$preset" "Configuring $tree" cmake --preset "$preset" $fresh -DPLUMBLINE_TESTS=$tests \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=24 ${CMAKE_ARGS:-}
  echo "$tests $arguments" >"$stamp"
fi
TAIL=40 step "build-$preset" "Building $tree" cmake --build "$tree" ${*:+--target "$@"}
