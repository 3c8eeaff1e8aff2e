"""Makes the recipes of packages/ from packages/steps.toml, packages.txt and pyproject.toml.

`.venv/bin/python scripts/recipes.py` writes them; tests/python/test_packages.py compares them.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MADE = "Made by scripts/recipes.py from steps.toml."
LICENCE = "BSD-3-Clause"


def text_of(name: str) -> str:
    """A file of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


STEPS: dict[str, Any] = tomllib.loads(text_of("packages/steps.toml"))
PROJECT: dict[str, Any] = tomllib.loads(text_of("pyproject.toml"))["project"]
WORDS: str = PROJECT["description"]


def version() -> str:
    """CMake's version."""
    found = re.search(r"project\(plumbline VERSION ([0-9.]+)", text_of("CMakeLists.txt"))
    assert found is not None
    return found[1]


def debian() -> list[list[str]]:
    """The alternatives of each line of packages.txt for running, the first is installed."""
    lines = text_of("packages.txt").partition("[run]")[2].partition("\n[")[0].splitlines()
    names = [line.partition("#")[0].replace("|", " ").split() for line in lines]
    return [one for one in names if one]


def commands(step: dict[str, Any]) -> list[str]:
    """The commands of a step."""
    packages = " ".join(sorted(names[0] for names in debian()))
    places = {"prefix": STEPS["prefix"], "source": STEPS["source"], "packages": packages}
    return [line.format(**places) for line in step["run"]]


# --- containers -----------------------------------------------------------------------------------


def dockerfile() -> str:
    """The Dockerfile."""
    lines = [
        f"# {MADE} In the checkout: docker build --file packages/Dockerfile --tag plumbline .",
        f"FROM {STEPS['image']}",
        'SHELL ["/bin/bash", "-o", "pipefail", "-c"]',
        "ENV DEBIAN_FRONTEND=noninteractive",
    ]
    for number, step in enumerate(STEPS["steps"]):
        if number == 1:
            lines += [f"COPY {one} {STEPS['source']}/{one}" for one in STEPS["files"]]
        lines.append(f"# {step['what']}")
        if any("apt-get install" in one for one in step["run"]):
            lines.append("# Versions are Debian's.")
            lines.append("# hadolint ignore=DL3008")
        lines.append("RUN " + " \\\n && ".join(commands(step)))
    lines += [
        f"ENV PATH={STEPS['prefix']}/bin:$PATH PLUMBLINE_HOME=/data",
        "WORKDIR /data",
        'ENTRYPOINT ["plumb"]',
    ]
    return "\n".join(lines) + "\n"


def apptainer() -> str:
    """Apptainer's definition."""
    lines = [
        f"# {MADE} In the checkout: apptainer build plumbline.sif packages/plumbline.def",
        "Bootstrap: docker",
        f"From: {STEPS['image']}",
        "",
        "%files",
        *(f"    {one} {STEPS['source']}/{one}" for one in STEPS["files"]),
        "",
        "%post",
        "    set -e",
        "    export DEBIAN_FRONTEND=noninteractive",
    ]
    for step in STEPS["steps"][:-1]:
        lines.append(f"    # {step['what']}")
        lines += [f"    {one}" for one in commands(step)]
    lines += [
        "",
        "%environment",
        f"    export PATH={STEPS['prefix']}/bin:$PATH",
        "",
        "%runscript",
        '    exec plumb "$@"',
        "",
        "%test",
        *(f"    {one}" for one in commands(STEPS["steps"][-1])),
        "",
        "%help",
        f"    Plumbline {version()}: {WORDS}.",
        "    apptainer run [--nv] plumbline.sif run b_eff -n 2",
    ]
    return "\n".join(lines) + "\n"


# --- Spack ----------------------------------------------------------------------------------------


def _requirement(text: str) -> str:
    """``pydantic>=2.6`` as Spack's ``py-pydantic@2.6:``."""
    name, _, low = text.partition(">=")
    return f"py-{name}@{low}:" if low else f"py-{name}"


def _spack_needs() -> Iterator[str]:
    for need in STEPS["needs"].values():
        for spec in need.get("spack", []):
            kind = '("build", "link", "run")' if need.get("link") else '"build"'
            when = f', when="+{need["of"]}"' if "of" in need else ""
            yield f'    depends_on("{spec}", type={kind}{when})'
    yield '    depends_on("py-scikit-build-core@0.10:", type="build")'
    for one in PROJECT["dependencies"]:
        yield f'    depends_on("{_requirement(one)}", type=("build", "run"))'


def spack() -> str:
    """Spack's recipe."""
    options = STEPS["options"]
    lines = [
        f'"""{MADE}',
        "",
        "In the checkout: spack repo add packages/spack; spack dev-build plumbline@main",
        '"""',
        "",
        "from spack.package import *",
        "",
        "",
        "class Plumbline(PythonPackage):",
        f'    """{WORDS}."""',
        "",
        f'    license("{LICENCE}")',
        '    version("main")',
        f'    version("{version()}")',
        "",
        *(
            f'    variant("{one["variant"]}", default=True, description="{one["words"]}")'
            for one in options
        ),
        '    conflicts("+shmem", when="~mpi")',
        "",
        *_spack_needs(),
        "",
        "    def config_settings(self, spec, prefix):",
        f"        options = {json.dumps({one['cmake']: one['variant'] for one in options})}",
        "        return {",
        '            f"cmake.define.{option}": "ON" if spec.satisfies(f"+{variant}") else "OFF"',
        "            for option, variant in options.items()",
        "        }",
        "",
        '    @run_after("install")',
        "    @on_package_attributes(run_tests=True)",
        "    def check_version(self):",
        '        Executable(join_path(self.prefix.bin, "plumb"))("version")',
    ]
    return "\n".join(lines) + "\n"


# --- EasyBuild ------------------------------------------------------------------------------------


def _modules(names: list[str]) -> Iterator[str]:
    for name in names:
        module, number = name.split()
        yield f"    ('{module}', '{number}'),"


def easybuild() -> str:
    """EasyBuild's recipe."""
    needs = list(STEPS["needs"].values())
    build = [one for need in needs if not need.get("link") for one in need.get("easybuild", [])]
    link = [one for need in needs if need.get("link") for one in need.get("easybuild", [])]
    python = STEPS["python"]
    settings = " ".join(
        f"--config-settings=cmake.define.{one['cmake']}={'ON' if one['easybuild'] else 'OFF'}"
        for one in STEPS["options"]
    )
    tarball = f"git archive --prefix plumbline-{version()}/ --output plumbline-{version()}.tar.gz"
    lines = [
        f"# {MADE} The source: {tarball} HEAD",
        "easyblock = 'PythonBundle'",
        "",
        "name = 'Plumbline'",
        f"version = '{version()}'",
        "",
        "homepage = 'unpublished'",
        f'description = """{WORDS}."""',
        "",
        f"toolchain = {{'name': 'foss', 'version': '{STEPS['toolchain']}'}}",
        "",
        "builddependencies = [",
        *_modules([*build, *python["build"]]),
        "]",
        "",
        "dependencies = [",
        *_modules([*link, *python["modules"]]),
        "]",
        "",
        "exts_list = [",
        *(f"    ('{name}', '{number}')," for name, number in python["own"]),
        "    ('plumbline', version, {",
        "        'source_tmpl': '%(name)s-%(version)s.tar.gz',",
        f"        'installopts': '{settings}',",
        "    }),",
        "]",
        "",
        "sanity_check_paths = {'files': ['bin/plumb'], 'dirs': ['lib/python%(pyshortver)s']}",
        "sanity_check_commands = ['plumb version', 'plumb list']",
        "",
        "moduleclass = 'perf'",
    ]
    return "\n".join(lines) + "\n"


# --- a module, and continuous integration ---------------------------------------------------------


def module() -> str:
    """A module for Lmod."""
    return f"""-- {MADE}
-- For an installation by the steps of a container, in PLUMBLINE_PREFIX or {STEPS["prefix"]}.
help([[{WORDS}.]])
whatis("Name: Plumbline")
whatis("Version: {version()}")
whatis("Description: {WORDS}")
conflict("plumbline")
local prefix = os.getenv("PLUMBLINE_PREFIX") or "{STEPS["prefix"]}"
prepend_path("PATH", pathJoin(prefix, "bin"))
"""


def gitlab() -> str:
    """Jobs for GitLab with Jacamar CI."""
    install = [
        line.replace(STEPS["prefix"], "$PLUMBLINE_PREFIX") for line in commands(STEPS["steps"][1])
    ]
    install = [line.replace(STEPS["source"], ".") for line in install]
    body = {
        "stages": ["install", "measure"],
        "variables": {
            "PLUMBLINE_PREFIX": "$CI_PROJECT_DIR/installed",
            "PLUMBLINE_HOME": "/project/plumbline",
        },
        "install": {
            "stage": "install",
            "tags": ["jacamar-login"],
            "script": install,
            "artifacts": {"paths": ["installed/"], "expire_in": "1 week"},
        },
        "nightly": {
            "stage": "measure",
            "tags": ["jacamar-slurm"],
            "rules": [{"if": '$CI_PIPELINE_SOURCE == "schedule"'}],
            "variables": {
                "SCHEDULER_PARAMETERS": "--nodes=2 --ntasks-per-node=2 --exclusive --time=02:30:00"
            },
            "script": [
                "export PATH=$PLUMBLINE_PREFIX/bin:$PATH",
                "plumb survey nightly.toml --resume --budget 2h",
                "plumb accept requirements.toml --junit accept.xml",
            ],
            "artifacts": {"when": "always", "reports": {"junit": "accept.xml"}},
        },
    }
    head = (
        f"# {MADE}\n"
        "# Runners of Jacamar CI: `jacamar-login` has its shell executor, `jacamar-slurm` its\n"
        "# Slurm executor, which submits the script as the user's job with SCHEDULER_PARAMETERS;\n"
        "# within the job plumb starts ranks by srun.\n"
    )
    return head + "".join(_yaml(body, 0))


def _yaml(value: dict[str, Any], depth: int) -> Iterator[str]:
    """Mappings, lists of texts or mappings; every text quoted."""
    pad = "  " * depth
    for key, one in value.items():
        if isinstance(one, dict):
            yield f"{pad}{key}:\n"
            yield from _yaml(one, depth + 1)
        elif isinstance(one, list):
            yield f"{pad}{key}:\n"
            yield from (f"{pad}  - {json.dumps(item)}\n" for item in one)
        else:
            yield f"{pad}{key}: {json.dumps(one)}\n"


def recipes() -> dict[str, str]:
    """The text of each file of packages/."""
    eb = f"easybuild/Plumbline-{version()}-foss-{STEPS['toolchain']}.eb"
    return {
        "Dockerfile": dockerfile(),
        "Dockerfile.dockerignore": "".join(["*\n", *(f"!{one}\n" for one in STEPS["files"])]),
        "plumbline.def": apptainer(),
        "spack/repo.yaml": "repo:\n  namespace: plumbline\n",
        "spack/packages/plumbline/package.py": spack(),
        eb: easybuild(),
        f"modules/plumbline/{version()}.lua": module(),
        "gitlab-ci.yml": gitlab(),
    }


if __name__ == "__main__":
    for path, text in recipes().items():
        target = ROOT / "packages" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        print(f"packages/{path}")
