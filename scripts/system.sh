#!/bin/bash
# system.sh GROUP...  Installs missing packages of these groups of packages.txt by apt, as root or with sudo;
# otherwise names those that the environment lacks. Returns quickly if nothing is missing.
source "$(dirname "$0")/steps.sh"

# Lines of the groups: "a | b # words".
lines() {
  local group
  for group in "$@"; do
    sed -n "/^\[$group\]/,/^\[/{/^\[/d;/^ *#/d;/^ *$/d;p}" packages.txt
  done
}

installed=$(dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' 2>/dev/null | sed -n 's/^installed //p' | sed 's/:.*//') || true
is_installed() { grep -qxF -- "$1" <<<"$installed"; }

# The first alternative of each line without an installed one.
missing() {
  local names name
  while IFS= read -r line; do
    names=${line%%#*}
    for name in ${names//|/ }; do
      if is_installed "$name"; then continue 2; fi
    done
    for name in $names; do
      echo "$name"
      break
    done
  done < <(lines "$@") | sort -u
}

# How to become root: "" as root, "sudo", or nothing at all (status 1).
becoming_root() {
  if [ "$(id -u)" = 0 ]; then return 0; fi
  command -v sudo >/dev/null || return 1
  if sudo -n true 2>/dev/null; then echo "sudo -n"; return 0; fi
  [ -t 0 ] && [ -t 2 ] || return 1
  note "sudo may ask for your password, to install: $*"
  sudo -v 2>&1 >/dev/null || return 1
  echo "sudo -n"
}

apt_install() {
  local apt=($1 env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o DPkg::Lock::Timeout=300)
  shift
  # Without lists, or with old ones, apt has no package or an outdated version: then update once and try again.
  if "${apt[@]}" install --no-install-recommends "$@"; then return 0; fi
  "${apt[@]}" update
  "${apt[@]}" install --no-install-recommends "$@"
}

install_missing() {
  local packages=("$@") become
  command -v apt-get >/dev/null || return 1
  become=$(becoming_root "${packages[@]}") || return 1
  step apt "Installing ${#packages[@]} packages (apt: ${packages[*]})" apt_install "$become" "${packages[@]}"
}

# Without root: whether the environment provides the package's content. CMake checks its own requirements and names
# all missing ones; headers are checked here only without CMake.
at_least() { printf '%s\n%s\n' "$1" "$2" | sort -V -C; }
has() { command -v "$1" >/dev/null; }
has_cmake() { has cmake && at_least 3.25 "$(cmake --version | sed -n '1s/[^0-9]*//p')"; }
has_compiler() { has "${CXX:-c++}" || has g++ || has clang++; }
has_header() {
  local folder
  if has_cmake && has_compiler; then return 0; fi
  for folder in ${CMAKE_PREFIX_PATH//:/ } ${CPATH//:/ } ${CPLUS_INCLUDE_PATH//:/ } /usr /usr/local; do
    if [ -e "$folder/$1" ] || [ -e "$folder/include/$1" ]; then return 0; fi
  done
  return 1
}
offers() {
  case $1 in
    g++) has_compiler ;;
    cmake) has_cmake ;;
    ninja-build) has ninja || has ninja-build ;;
    pkg-config) has pkg-config || has pkgconf ;;
    libcli11-dev) has_header CLI/CLI.hpp ;;
    nlohmann-json3-dev) has_header nlohmann/json.hpp ;;
    libfmt-dev) has_header fmt/format.h ;;
    libhwloc-dev) has_header hwloc.h ;;
    ocl-icd-opencl-dev) has_header CL/cl.h ;;
    opencl-clhpp-headers) has_header CL/opencl.hpp ;;
    libgtest-dev) has_header gtest/gtest.h ;;
    libgmock-dev) has_header gmock/gmock.h ;;
    openmpi-bin | libopenmpi-dev) has mpicxx || has mpic++ || [[ ${CMAKE_ARGS:-} == *PLUMBLINE_MPI=OFF* ]] ;;
    python3-venv) bash scripts/python.sh --find >/dev/null 2>&1 ;;
    *) true ;;  # not needed to build; its users report it if missing
  esac
}

name_missing() {
  local package all words refused=0
  all=$(lines "${groups[@]}")
  export CPATH=${CPATH:-} CPLUS_INCLUDE_PATH=${CPLUS_INCLUDE_PATH:-} CMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH:-}
  for package in "$@"; do
    if offers "$package"; then continue; fi
    [ $refused = 1 ] || note "Missing here (by its name in Debian):"
    refused=1
    words=$(sed -n "/^$package[ |]/{s/^[^#]*# *//p;q}" <<<"$all")
    note "  $package: $words"
  done
  [ $refused = 0 ] || die "Take the way that each line names, or have them installed (Debian: apt-get install $*)."
}

groups=("$@")
export PATH=$PATH:$PWD/.venv/bin  # cmake and ninja from PyPI, if the system has none
mapfile -t packages < <(missing "${groups[@]}")
[ ${#packages[@]} -gt 0 ] || exit 0

# A failed installation is not repeated at every call; `make setup` tries again.
tried=build/stamps/not-installed
if [ "$(cat "$tried" 2>/dev/null)" = "${packages[*]}" ] && [ -z "${TRY_AGAIN:-}" ]; then
  name_missing "${packages[@]}"
  exit 0
fi
if install_missing "${packages[@]}"; then
  rm -f "$tried"
else
  name_missing "${packages[@]}"
  note "Going on with what the environment offers; not installed: ${packages[*]}"
  echo "${packages[*]}" >"$tried"
fi
