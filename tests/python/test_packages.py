"""The recipes of packages/: made from one list of steps, and accepted by their own tools."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import spack_stub
from conftest import ROOT

from plumbline.base.version import version

sys.path.insert(0, str(ROOT / "scripts"))
import recipes

PACKAGES = ROOT / "packages"
VERSION = version()
LMOD = Path("/usr/share/lmod/lmod/init/bash")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tool(name: str) -> str:
    """The path of a tool of the environment, or of the system."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"without {name}")
    return found


def run(
    words: Sequence[str],
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 280,
) -> str:
    """Standard output of a command that succeeds."""
    where = {**os.environ, **(environ or {})}
    done = subprocess.run(
        words, capture_output=True, text=True, env=where, cwd=cwd, timeout=timeout, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def test_they_are_what_the_steps_make() -> None:
    for path, text in recipes.recipes().items():
        assert (PACKAGES / path).read_text() == text, "scripts/recipes.py makes them"


def test_the_needs_are_those_of_packages_txt_and_cmake() -> None:
    assert [names[0] for names in recipes.debian()] == list(recipes.STEPS["needs"])
    cmake = re.findall(r"^option\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.M)
    named = [one["cmake"] for one in recipes.STEPS["options"]]
    assert sorted([*named, "PLUMBLINE_TESTS"]) == sorted(cmake)
    tracked = run(["git", "ls-files", *recipes.STEPS["files"]], cwd=ROOT).splitlines()
    assert {one.split("/")[0] for one in tracked} == set(recipes.STEPS["files"])


# --- Spack, EasyBuild -----------------------------------------------------------------------------


def test_spack_sets_what_cmake_knows() -> None:
    package, declared = spack_stub.load(PACKAGES / "spack/packages/plumbline/package.py")
    cmake = set(re.findall(r"^option\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.M))
    assert declared.versions == ["main", VERSION]
    assert declared.licences == ["BSD-3-Clause"]
    for chosen in itertools.product([False, True], repeat=len(declared.variants)):
        on = {name for name, wanted in zip(declared.variants, chosen, strict=True) if wanted}
        spec = spack_stub.Spec(on, set(declared.variants))
        settings = package().config_settings(spec, "/prefix")
        options = {key.removeprefix("cmake.define."): value for key, value in settings.items()}
        assert set(options) <= cmake
        assert {name.removeprefix("PLUMBLINE_").lower() for name in options} == set(
            declared.variants
        )
        assert {
            name.removeprefix("PLUMBLINE_").lower()
            for name, value in options.items()
            if value == "ON"
        } == on


def test_spack_has_the_requirements_of_python_and_of_the_build() -> None:
    _, declared = spack_stub.load(PACKAGES / "spack/packages/plumbline/package.py")
    needs = {spec.partition("@")[0]: (spec, kinds, when) for spec, kinds, when in declared.needs}
    for one in PROJECT["dependencies"]:
        name, _, low = one.partition(">=")
        spec, kinds, when = needs[f"py-{name}"]
        assert (spec, when) == (f"py-{name}@{low}:", "")
        assert "run" in kinds
    # Found by parts.cmake under an option: asked for with its variant, and only then.
    assert {name for name, (_, _, when) in needs.items() if when == "+opencl"} == {
        *("opencl", "opencl-clhpp", "clblast"),
    }
    assert needs["mpi"][2] == "+mpi"
    assert declared.conflicting == [("+shmem", "~mpi")]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('depends_on("cli11"', 'depend_on("cli11"'),
        ('when="+mpi"', 'when="+mpy"'),
        ("cmake.define.{option}", "cmake.define.X{option}"),
        ('"build", "link", "run"', '"build", "lnk", "run"'),
        ('default=True, description="OpenCL devices"', "default=True"),
        ('f"+{variant}"', '"+opencl"'),
    ],
)
def test_the_stub_of_spack_finds_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    text = (PACKAGES / "spack/packages/plumbline/package.py").read_text()
    assert right in text
    path = tmp_path / "spack/packages/plumbline/package.py"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace(right, wrong))
    monkeypatch.setattr(sys.modules[__name__], "PACKAGES", tmp_path)
    with pytest.raises((AssertionError, NameError)):
        test_spack_sets_what_cmake_knows()


def test_easybuild_resolves_it(tmp_path: Path) -> None:
    eb = tool("eb")
    if not LMOD.exists():
        pytest.skip("without Lmod")
    (recipe,) = PACKAGES.glob("easybuild/*.eb")
    libexec = LMOD.parent.parent / "libexec"
    out = run(
        [eb, "--dry-run", "--robot", "--allow-use-as-root-and-accept-consequences", str(recipe)],
        {
            "PATH": f"{Path(sys.executable).parent}:{libexec}:{os.environ['PATH']}",
            "LMOD_CMD": str(libexec / "lmod"),
            "EASYBUILD_PREFIX": str(tmp_path),
            "HOME": str(tmp_path),
        },
    )
    modules = re.findall(r"\(module:\s+(\S+?)/", out)  # rich wraps lines
    assert "Plumbline" in modules
    asked = re.findall(r"^    \('([\w.-]+)', '[\d.]+'\),$", recipe.read_text(), re.M)
    own = [name for name, _ in recipes.STEPS["python"]["own"]]
    assert set(asked) - set(own) <= set(modules)


# --- containers -----------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's, with continued lines joined."""
    text = (PACKAGES / "Dockerfile").read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2]) for line in lines]


def test_the_dockerfile() -> None:
    assert run([tool("hadolint"), str(PACKAGES / "Dockerfile")]) == ""
    steps = [" && ".join(recipes.commands(step)) for step in recipes.STEPS["steps"]]
    ran = [re.sub(r"\s+", " ", text) for name, text in instructions() if name == "RUN"]
    assert ran == steps


def test_the_apptainer_definition() -> None:
    parsers = pytest.importorskip("spython.main.parse.parsers", reason="without spython")
    (recipe,) = parsers.get_parser("singularity")(str(PACKAGES / "plumbline.def")).recipe.values()
    assert recipe.fromHeader == recipes.STEPS["image"]
    copied = {line.split()[0] for line in recipe.files}
    assert copied == set(recipes.STEPS["files"])
    told = ("#", "set ", "export ", "echo ", "chmod ")  # spython makes a file of %test
    ran = [line for line in recipe.install if not line.startswith(told)]
    steps = recipes.STEPS["steps"][:-1]
    assert ran == [line for step in steps for line in recipes.commands(step)]
    assert recipe.cmd == 'exec plumb "$@"'


@pytest.mark.soak
@pytest.mark.parametrize("recipe", ["docker", "apptainer"])
def test_steps_of_containers_in_a_root(recipe: str, tmp_path: Path) -> None:
    """Both recipes' files and commands, in a Debian made by debootstrap (as root).

    What is mounted within is seen by these commands alone, and gone with them, however they end.
    """
    if os.geteuid() != 0:
        pytest.skip("only root may change the root")
    root = tmp_path / "root"
    mirror = filter(None, [os.environ.get("DEBIAN_MIRROR")])  # else debootstrap's own
    made = [tool("debootstrap"), "--variant=minbase", "bookworm", str(root), *mirror]
    run(["unshare", "--mount", *made], timeout=3600)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    environ = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    certificates = Path("/etc/ssl/certs/ca-certificates.crt")
    if certificates.exists():  # those of this machine, by which it reaches the registries
        shutil.copy(certificates, root / "machine.crt")
        (root / "etc/pip.conf").write_text("[global]\ncert = /machine.crt\n")
    for name in recipes.STEPS["files"]:
        target = root / recipes.STEPS["source"].lstrip("/") / name
        target.parent.mkdir(parents=True, exist_ok=True)
        whole = ROOT / name
        shutil.copytree(whole, target) if whole.is_dir() else shutil.copy(whole, target)
    steps = recipes.STEPS["steps"]
    if recipe == "docker":
        ran = [text for name, text in instructions() if name == "RUN"]
    else:
        parsers = pytest.importorskip("spython.main.parse.parsers", reason="without spython")
        read = parsers.get_parser("singularity")(str(PACKAGES / "plumbline.def"))
        (one,) = read.recipe.values()
        install = [line for line in one.install if "/tests.sh" not in line]
        ran = ["\n".join(install), *recipes.commands(steps[-1])]
    inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" /bin/bash -o pipefail -c "$1"'
    for text in [*ran, f"{recipes.STEPS['prefix']}/bin/plumb version"]:
        words = ["unshare", "--mount", "sh", "-c", inside, str(root), text]
        done = subprocess.run(words, check=True, env=environ, stdout=subprocess.PIPE, text=True)
    assert VERSION in done.stdout


# --- module, continuous integration, ReFrame --------------------------------------------------------


def test_the_module_is_loaded(tmp_path: Path) -> None:
    if not LMOD.exists():
        pytest.skip("without Lmod")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "plumb").symlink_to(Path(sys.executable).parent / "plumb")
    said = run(
        [
            *("bash", "--norc", "-c"),
            (
                f". {LMOD}; module use {PACKAGES}/modules; module load plumbline/{VERSION}\n"
                "command -v plumb; plumb version; module unload plumbline; command -v plumb || echo none"
            ),
        ],
        {"PLUMBLINE_PREFIX": str(tmp_path), "PATH": "/usr/bin:/bin"},
    ).splitlines()
    assert said[0] == str(tmp_path / "bin" / "plumb")
    assert VERSION in said[1]
    assert said[-1] == "none"


def test_the_jobs_of_gitlab() -> None:
    yaml = pytest.importorskip("yaml", reason="without PyYAML")
    jobs = yaml.safe_load((PACKAGES / "gitlab-ci.yml").read_text())
    assert [jobs[name]["stage"] for name in ("install", "nightly")] == jobs["stages"]
    assert "--nodes=2" in jobs["nightly"]["variables"]["SCHEDULER_PARAMETERS"]
    assert jobs["nightly"]["artifacts"]["reports"] == {"junit": "accept.xml"}
    for line in (*jobs["install"]["script"], *jobs["nightly"]["script"]):
        run(["bash", "-n", "-c", line])


SBATCH = """#!/bin/bash
out=$(sed -n 's/^#SBATCH --output=//p' "${@: -1}")
bash "${@: -1}" > "${out:-sbatch.out}" 2> rfm_job.err
echo "Submitted batch job 7"
"""
OWN_TEST = """
import sys
sys.path.insert(0, {folder!r})
import reframe as rfm
from plumbline_tests import PlumblineTest

@rfm.simple_test
class Small(PlumblineTest):
    benchmark = "b_eff"
    options = ["--runtime", "native", "-n", "1", "--launcher", "none", "--preset", "smoke",
               "--min-size", "10", "--max-size", "10"]
"""


@pytest.fixture
def reframe(tmp_path: Path):
    """Runs a test of our class on a partition; returns the exit status and what was said."""
    if not (ROOT / "build/release/bin/plumb-mpi").exists():
        pytest.skip("the engine is not built (make build)")
    program = tool("reframe")
    shims = tmp_path / "bin"
    shims.mkdir()
    for name, text in (("sbatch", SBATCH), ("squeue", "#!/bin/sh\n"), ("scontrol", "#!/bin/sh\n")):
        (shims / name).write_text(text)
        (shims / name).chmod(0o755)
    (tmp_path / "own.py").write_text(OWN_TEST.format(folder=str(ROOT / "examples/reframe")))

    def call(partition: str, *words: str) -> tuple[int, str]:
        beside = Path(sys.executable).parent
        done = subprocess.run(
            [program, "-C", str(ROOT / "examples/reframe/settings.py"), "-c", str(tmp_path / "own.py"),
             "-r", "--keep-stage-files", "--performance-report", f"--system=plumbline:{partition}",
             f"--prefix={tmp_path / partition}", *words],
            capture_output=True, text=True, timeout=280, check=False, cwd=tmp_path,
            env={**os.environ, "PATH": f"{shims}:{beside}:{os.environ['PATH']}",
                 "PLUMBLINE_HOME": str(tmp_path), "RFM_COLORIZE": "0"},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return call


def test_reframe_on_this_node_and_in_a_job(reframe, tmp_path: Path) -> None:
    words = ("-S", "Small.cases=true")
    status, said = reframe("node", *words)
    assert status == 0, said
    assert "P: bandwidth_per_rank@natural/transfer/1024: " in said
    (record,) = (tmp_path / "node").rglob("record.json")
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps(worse(json.loads(record.read_text()), 1000)))
    status, said = reframe("batch", *words, "-S", f"Small.baseline={baseline}")
    assert status == 0, said  # by `squeue`, which tells no exit status
    baseline.write_text(json.dumps(worse(json.loads(record.read_text()), 0.001)))
    status, said = reframe("node", *words, "-S", f"Small.baseline={baseline}")
    assert (status, "failed to meet reference" in said) == (1, True), said


def worse(document: dict[str, Any], factor: float) -> dict[str, Any]:
    """A record with rates smaller and times larger by ``factor``."""
    metrics = [*document["metrics"], *(m for case in document["cases"] for m in case["metrics"])]
    for metric in metrics:
        if metric["value"] is not None:
            metric["value"] *= 1 / factor if "/" in metric["unit"] else factor
    return document
