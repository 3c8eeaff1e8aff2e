"""The part of Spack's API that a recipe of a Python package uses; every directive is checked.

``load(path)`` runs a recipe with it and returns the package's class with what it declared.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

SPEC = re.compile(r"[a-z0-9][a-z0-9-]*(@[0-9.]*:?[0-9.]*)?([+~][a-z]+)*")
TYPES = {"build", "link", "run", "test"}


class Declared:
    """What the class body declared, in order."""

    def __init__(self) -> None:
        self.versions: list[str] = []
        self.variants: dict[str, bool] = {}
        self.needs: list[tuple[str, tuple[str, ...], str]] = []
        self.conflicting: list[tuple[str, str]] = []
        self.licences: list[str] = []
        self.after: list[str] = []


class Spec:
    """A concrete spec: which variants are on."""

    def __init__(self, on: set[str], known: set[str]) -> None:
        self._on, self._known = on, known

    def satisfies(self, text: str) -> bool:
        assert text[0] in "+~", text
        assert text[1:] in self._known, f"no variant {text[1:]}"
        return (text[1:] in self._on) == (text[0] == "+")


class PythonPackage:
    prefix: Any = None


def load(path: Path) -> tuple[type[Any], Declared]:
    declared = Declared()
    module = types.ModuleType("spack.package")
    for name, value in _api(declared).items():
        setattr(module, name, value)
    parent = types.ModuleType("spack")
    before = {name: sys.modules.get(name) for name in ("spack", "spack.package")}
    sys.modules.update({"spack": parent, "spack.package": module})
    space: dict[str, Any] = {"__name__": "recipe"}
    try:
        exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102
    finally:
        for name, old in before.items():
            sys.modules.pop(name)
            if old is not None:
                sys.modules[name] = old
    (package,) = [
        one
        for one in space.values()
        if isinstance(one, type) and issubclass(one, PythonPackage) and one is not PythonPackage
    ]
    assert package.__doc__, "a package needs a description"
    return package, declared


def _api(declared: Declared) -> dict[str, Any]:
    def version(ver: str, *, sha256: str = "", branch: str = "", tag: str = "") -> None:
        assert re.fullmatch(r"[0-9.]+|main", ver), ver
        declared.versions.append(ver)

    def variant(name: str, default: bool = False, description: str = "") -> None:
        assert re.fullmatch(r"[a-z]+", name), name
        assert description
        assert name not in declared.variants
        declared.variants[name] = default

    def condition(when: str) -> str:
        assert not when or when[1:] in declared.variants, f"no variant {when} declared before"
        return when

    def depends_on(
        spec: str, when: str = "", type: str | tuple[str, ...] = ("build", "link")
    ) -> None:
        assert SPEC.fullmatch(spec), spec
        kinds = (type,) if isinstance(type, str) else type
        assert set(kinds) <= TYPES, kinds
        declared.needs.append((spec, kinds, condition(when)))

    def conflicts(spec: str, when: str = "", msg: str = "") -> None:
        declared.conflicting.append((condition(spec), condition(when)))

    def license(name: str) -> None:  # noqa: A001
        declared.licences.append(name)

    def run_after(phase: str) -> Callable[[Any], Any]:
        assert phase in ("install", "build"), phase
        declared.after.append(phase)
        return lambda function: function

    def on_package_attributes(**attributes: bool) -> Callable[[Any], Any]:
        assert set(attributes) <= {"run_tests"}, attributes
        return lambda function: function

    api = (version, variant, depends_on, conflicts, license, run_after, on_package_attributes)
    return {
        **{function.__name__: function for function in api},
        "PythonPackage": PythonPackage,
        "Executable": lambda path: lambda *words: (path, *words),
        "join_path": lambda *parts: "/".join(map(str, parts)),
    }
