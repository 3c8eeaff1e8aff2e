"""Where things lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from plumbline.base import paths as home
from plumbline.base.paths import Home, cache_folder, checkout_root, find_home


def test_the_variable_decides() -> None:
    assert find_home({"PLUMBLINE_HOME": "/somewhere"}) == Home(Path("/somewhere"))


def test_from_a_checkout_it_is_the_checkout() -> None:
    assert checkout_root() == Path(__file__).resolve().parents[2]
    assert find_home({}).root == checkout_root()


def test_installed_it_is_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "PACKAGE", tmp_path / "plumbline")
    assert checkout_root() is None
    assert find_home({"XDG_DATA_HOME": "/data"}).root == Path("/data/plumbline")
    assert find_home({}).root == Path("~/.local/share/plumbline").expanduser()


def test_paths_within() -> None:
    here = Home(Path("/h"))
    assert here.local_system == Path("/h/systems/local.toml")
    assert here.index == Path("/h/records/index.sqlite")
    assert here.runtimes == Path("/h/runtimes")
    assert here.system_folders()[0] == Path("/h/systems")


def test_the_cache_is_apart() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/plumbline")
