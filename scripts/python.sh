#!/bin/bash
# python.sh [EXTRA...]  Makes .venv with the package (editable; the engine is CMake's, in build/release, not the wheel's),
# its requirements, and those of the given extras of pyproject.toml. Returns quickly if nothing has changed.
source "$(dirname "$0")/steps.sh"

find_python() {
  local python
  for python in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do
    [ -n "$python" ] && command -v "$python" >/dev/null || continue
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      "$python" -c 'import os, sys; print(os.path.realpath(sys.executable))'
      return
    fi
  done
  return 1
}

if [ "${1:-}" = --find ]; then
  find_python
  exit
fi

stamp=.venv/plumbline-stamp  # two lines: the content that .venv was made from, and its extras
made_for=$(hash_of "$(cat pyproject.toml)" "$PWD")
mapfile -t have < <(sed -n '2s/extras: //p' "$stamp" 2>/dev/null | tr ' ' '\n' | grep .)
mapfile -t extras < <(printf '%s\n' "${have[@]}" "$@" | grep . | sort -u)
made_with="extras: ${extras[*]}"
if [ -x .venv/bin/plumb ] && [ "$(cat "$stamp" 2>/dev/null)" = "$made_for"$'\n'"$made_with" ]; then exit 0; fi

if ! .venv/bin/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  python=$(find_python) || die "Plumbline needs Python 3.11 or newer with its module venv; here: $(python3 --version 2>&1 || true).
Install Debian's python3-venv, load a module of Python, or name one: make PYTHON=/path/to/python3.11 ..."
  rm -rf .venv
  step venv "Making .venv ($("$python" --version))" "$python" -m venv .venv
fi
rm -f "$stamp"
requirement=.
if [ ${#extras[@]} -gt 0 ]; then requirement=".[$(IFS=,; echo "${extras[*]}")]"; fi
TAIL=20 step pip "Installing Python packages into .venv (pip)" \
  .venv/bin/python -m pip --disable-pip-version-check --no-input install --editable "$requirement"
printf '%s\n%s\n' "$made_for" "$made_with" >"$stamp"
