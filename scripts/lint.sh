#!/bin/bash
# lint.sh [format|tidy] [FILE...]  Checks formats (C++, Python), ruff's, mypy's and import-linter's rules; with `tidy`
# clang-tidy's, which is slow the first time; with `format`, formats the files instead. FILEs restrict
# the checks to these files (pre-commit passes those of a commit).
# clang-format and clang-tidy are those pinned in pyproject.toml, for equal results on every machine.
source "$(dirname "$0")/steps.sh"
export PATH=$PWD/.venv/bin:$PATH

mode=check
case ${1:-} in
  format | tidy) mode=$1; shift ;;
esac
if [ $# -gt 0 ]; then files=("$@"); else mapfile -t files < <(find engine interpose benchmarks tests bench plumbline scripts -type f | sort); fi
mapfile -t cpp < <(printf '%s\n' "${files[@]}" | grep -E '\.(cpp|hpp)$' || true)
mapfile -t python < <(printf '%s\n' "${files[@]}" | grep -E '\.pyi?$' || true)

if [ $mode = format ]; then
  [ ${#cpp[@]} = 0 ] || clang-format -i "${cpp[@]}"
  [ ${#python[@]} = 0 ] || ruff check --quiet --fix-only "${python[@]}"
  [ ${#python[@]} = 0 ] || ruff format "${python[@]}"
  exit 0
fi

# clang-tidy of one file, unless the same file passed before with the same headers and rules.
tidy_one() {
  local file=$1 key
  key=build/lint/clean/$(cat "$file" build/lint/rules | sha256sum | cut -c1-32)
  [ -e "$key" ] || { clang-tidy -p build/lint --quiet "$file" 2>/dev/null && : >"$key"; }
}
export -f tidy_one

tidy() {
  cmake --preset release -B build/lint -DPLUMBLINE_TESTS=ON ${CMAKE_ARGS:-}
  mkdir -p build/lint/clean
  { clang-tidy --version; cat .clang-tidy interpose/.clang-tidy tests/.clang-tidy build/lint/CMakeCache.txt
    find engine interpose benchmarks tests bench -name '*.hpp' -print0 | sort -z | xargs -0 cat; } >build/lint/rules
  local known
  known=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/lint/compile_commands.json)
  # Not: peers (PyPI's clang has no omp.h), and device code that a test reads as C++.
  for file in "${cpp[@]}"; do
    if [[ $file == bench/peers/* || $file == tests/engine/gemm_units* ]]; then continue; fi
    if [[ $file == *.cpp ]] && grep -qxF "$PWD/$file" <<<"$known"; then printf '%s\0' "$file"; fi
  done | xargs -0 -r -P "$(nproc)" -n 1 bash -c 'tidy_one "$1"' -
}

failed=0
try() { TAIL=60 step "$@" || failed=1; }
if [ $mode = tidy ]; then
  [ ${#cpp[@]} = 0 ] || try clang-tidy "clang-tidy" tidy
else
  [ ${#cpp[@]} = 0 ] || try clang-format "clang-format, ${#cpp[@]} files" clang-format --dry-run -Werror "${cpp[@]}"
  if [ ${#python[@]} -gt 0 ]; then
    try ruff "ruff, ${#python[@]} files" ruff check --no-cache "${python[@]}"
    try ruff-format "ruff format" ruff format --no-cache --check "${python[@]}"
    try mypy "mypy" mypy
    try imports "import-linter" lint-imports --no-cache
  fi
fi
[ $failed = 0 ] || die "make format mends formats; build/logs/ has all that was said"
