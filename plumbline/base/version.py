"""The version, which is CMake's: of the installed package, or of the checkout."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from plumbline.base.paths import checkout_root


def version() -> str:
    """The version of this package, as ``0.1.0``; ``unknown`` if not found."""
    checkout = checkout_root()
    if checkout is not None:
        text = (checkout / "CMakeLists.txt").read_text(encoding="utf-8")
        found = re.search(r"project\(plumbline VERSION ([0-9.]+)", text)
        return found[1] if found else "unknown"
    try:
        return installed_version("plumbline")
    except PackageNotFoundError:
        return "unknown"
