"""The places of records, runtimes, system files and their index."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Home:
    """The folder of ``plumb``'s files. Paths are not created by these properties."""

    root: Path

    @property
    def records(self) -> Path:
        """Folder of records, one JSON document per run."""
        return self.root / "records"

    @property
    def comparisons(self) -> Path:
        """Folder of the launches of ``plumb compare --ab``, one folder for each comparison."""
        return self.root / "comparisons"

    @property
    def index(self) -> Path:
        """SQLite index of the records; can be rebuilt from them."""
        return self.records / "index.sqlite"

    @property
    def runtimes(self) -> Path:
        """Folder of installed runtimes, one folder each."""
        return self.root / "runtimes"

    @property
    def systems(self) -> Path:
        """Folder of the user's own system files."""
        return self.root / "systems"

    @property
    def local_system(self) -> Path:
        """The system file that ``plumb calibrate`` writes."""
        return self.systems / "local.toml"

    def lock(self, name: str) -> Path:
        """The lock file of this home; see :mod:`plumbline.base.files`."""
        return self.systems / f".{name}.lock"

    def system_folders(self) -> list[Path]:
        """Folders of systems found by name, in order of precedence."""
        return list(dict.fromkeys([self.systems, *shipped_folders("systems")]))


def shipped_folders(name: str) -> list[Path]:
    """Candidates of the shipped folder ``name``: the checkout's, the package's."""
    checkout = checkout_root()
    return [*([checkout / name] if checkout else []), PACKAGE / name]


def checkout_root() -> Path | None:
    """The source checkout of this package, or None if it is installed."""
    root = PACKAGE.parent
    if (root / "CMakeLists.txt").is_file() and (root / "systems").is_dir():
        return root
    return None


def find_home(environ: Mapping[str, str] = os.environ) -> Home:
    """``PLUMBLINE_HOME``, else the source checkout, else ``$XDG_DATA_HOME/plumbline``."""
    given = environ.get("PLUMBLINE_HOME")
    if given:
        return Home(Path(given).expanduser().resolve())
    checkout = checkout_root()
    if checkout is not None:
        return Home(checkout)
    data = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Home(Path(data).expanduser() / "plumbline")


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Folder of files that may be deleted at any time."""
    return Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "plumbline"
