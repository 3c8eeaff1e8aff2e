# Sourced by the other scripts: one line on the screen per step, the rest in build/logs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
logs=build/logs
mkdir -p "$logs" build/stamps

# step LOG "what" COMMAND...  Prints "what", runs the command with output to build/logs/LOG.log, and prints its time or,
# on failure, the log's last TAIL lines or the output of sed script SHOW. With BESIDE=1 (parallel steps) it prints at its end.
step() {
  local log="$logs/$1.log" begin=$SECONDS what=$2
  if [ -z "${BESIDE:-}" ]; then printf '%s ... ' "$what" >&2; what=; fi
  shift 2
  if "$@" >"$log" 2>&1 </dev/null; then
    printf '%s%d s\n' "${what:+$what ... }" $((SECONDS - begin)) >&2
  else
    printf '%sfailed. From %s:\n' "${what:+$what ... }" "$log" >&2
    { grep . "$log" | sed -n "${SHOW:-p}" | tail -n "${TAIL:-15}" | sed 's/^/  /'; } >&2
    return 1
  fi
}

note() { printf '%s\n' "$*" >&2; }
die() {
  printf '%s\n' "$*" >&2
  exit 2
}

# hash_of WORDS...  A short name for this content.
hash_of() { printf '%s\n' "$@" | sha256sum | cut -c1-16; }
