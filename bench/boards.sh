#!/bin/bash
# boards.sh  What boards' tests cost on a quiet machine: the dry run of all presets, and C simulation of all smoke
# presets, one after the other, with an empty cache of compiled kernels.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH
XDG_CACHE_HOME=$(mktemp -d)
PLUMBLINE_HOME=$(mktemp -d)
export XDG_CACHE_HOME PLUMBLINE_HOME
trap 'rm -rf "$XDG_CACHE_HOME" "$PLUMBLINE_HOME"' EXIT

timed() {  # NAME COMMAND...
  local name=$1 began=$EPOCHREALTIME
  shift
  "$@" >"$PLUMBLINE_HOME/said"
  printf '%-24s %6.1f s\n' "$name" "$(bc -l <<<"$EPOCHREALTIME - $began")"
}

simulate() {
  local one
  for one in stream random_access fft gemm; do
    timed "$one" plumb run "$one" --runtime hls --preset smoke
  done
  for one in b_eff ptrans "hpl --matrix dominant" shallow_water; do
    timed "$one" plumb run $one -n 2 --runtime hls --preset smoke --transport staged
  done
}

timed "synth all --dry-run" plumb synth all --dry-run
echo "presets                  $(grep -c '^# ' "$PLUMBLINE_HOME/said")"
began=$EPOCHREALTIME
simulate
printf 'C simulation, together   %6.1f s\n' "$(bc -l <<<"$EPOCHREALTIME - $began")"
