#!/bin/bash
# run.sh [WORDS...]  plumb run WORDS, or b_eff on two ranks: its table on stdout, the record's path at the end.
source "$(dirname "$0")/steps.sh"

words=("$@")
if [ $# = 0 ]; then
  words=(b_eff -n 2 --preset standard --time-limit 0.5)  # 15 s; 1 s a case takes 25 s on slow cores
  # On a machine of one core the two ranks share it, and the result has a warning.
  cores=$(.venv/bin/python -c 'from plumbline.launch.launchers import physical_cores; print(physical_cores())')
  if [ "$cores" -lt 2 ]; then words+=(--oversubscribe); fi
fi
note "plumb run ${words[*]}"
exec .venv/bin/plumb run "${words[@]}"
