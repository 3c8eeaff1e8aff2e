"""What a build says of its sources: the commit, and whether they are just that commit's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("cmake")), reason="git or cmake is not here"
)
GIT = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    for name in ("engine/core/a.cpp", "benchmarks/b/b.cl", "cmake/c.cmake", "docs/d.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("one\n")
    (folder / ".gitignore").write_text("/records/\n*.local.cpp\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    return folder


def is_dirty(sources: Path, tmp_path: Path) -> bool:
    output = tmp_path / "version.cpp"
    given = {"SOURCE": sources, "OUTPUT": output, "VERSION": "1", "BUILD_TYPE": "Release"}
    words = [f"-D{name}={value}" for name, value in given.items()]
    script = ROOT / "cmake" / "write_version.cmake"
    subprocess.run(["cmake", *words, "-P", str(script)], check=True, stderr=subprocess.DEVNULL)
    text = output.read_text()
    assert ('"", true' in text) == ('"", false' in text)  # there is a commit
    return ", true, " in text


def test_a_commit_is_clean_only_with_its_own_sources(sources: Path, tmp_path: Path) -> None:
    assert not is_dirty(sources, tmp_path)
    for harmless in ("records/r.json", "notes.cpp", "engine/core/notes.md", "docs/new.md"):
        (sources / harmless).parent.mkdir(parents=True, exist_ok=True)
        (sources / harmless).write_text("x\n")
    assert not is_dirty(sources, tmp_path)
    for compiled in ("engine/core/new.cpp", "benchmarks/b/new.cl", "engine/x/y.local.cpp"):
        path = sources / compiled
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
        assert is_dirty(sources, tmp_path), compiled
        path.unlink()
    (sources / "engine/core/a.cpp").write_text("two\n")
    assert is_dirty(sources, tmp_path)
