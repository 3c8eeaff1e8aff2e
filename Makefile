# Plumbline from a bare machine: `make run`, `make test`. Each step does nothing where nothing has changed; what the tools
# say goes to build/logs/. CONTRIBUTING.md tells what lies behind.
#
#   CMAKE_ARGS  further arguments for CMake, for instance -DPLUMBLINE_OPENCL=OFF
#   PYTHON      the Python (3.11 or newer) that .venv is made with
#   ARGS        for `make run`: what `plumb run` gets (b_eff -n 2 --preset standard --time-limit 0.5); for `make test`: what pytest gets
#   ACCEPT_INTEL_EULA=1  accepts Intel's licence: `make test` then installs Intel's runtimes and tests with them, too

SHELL := /bin/bash
export CMAKE_ARGS PYTHON ACCEPT_INTEL_EULA
.DEFAULT_GOAL := help
.PHONY: help run build setup test soak lint tidy format docs clean
.NOTPARALLEL:

help:  ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || sed -nE 's/^([a-z]+):.*## (.*)/make \1: \2/p' Makefile

run:  ## install what is missing, build, and measure b_eff on two ranks
	@bash scripts/system.sh run
	@BESIDE=1 bash scripts/python.sh & python=$$!; bash scripts/engine.sh release programs && wait $$python
	@bash scripts/run.sh $(ARGS)

build:  ## build the engine's programs into build/release/bin
	@bash scripts/system.sh run
	@bash scripts/engine.sh release programs

setup:  ## install what running, testing and linting need, trying again what failed
	@TRY_AGAIN=1 bash scripts/system.sh run test
	@bash scripts/python.sh dev

test:  ## all tests, as CI runs them: the engine's (release, sanitizers, MPICH) and the command's
	@bash scripts/system.sh run test
	@bash scripts/python.sh test
	@bash scripts/test.sh $(ARGS)

soak:  ## long campaigns: random MPI operations of many seeds, every rank count over MPICH, mutants at large sizes
	@bash scripts/system.sh run test
	@bash scripts/python.sh test
	@bash scripts/soak.sh

lint:  ## formats, ruff, mypy, imports between rooms
	@bash scripts/system.sh run test
	@bash scripts/python.sh test lint
	@bash scripts/lint.sh

tidy:  ## clang-tidy of every source that changed since it passed
	@bash scripts/system.sh run test
	@bash scripts/python.sh test lint
	@bash scripts/lint.sh tidy

format:  ## bring C++ and Python into their formats
	@bash scripts/python.sh lint
	@bash scripts/lint.sh format

docs:  ## build the documentation into site/
	@bash scripts/python.sh docs
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet && echo "site/index.html"

clean:  ## remove what was built; .venv, records, runtimes and systems/local.toml stay
	rm -rf build site dist
