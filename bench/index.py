"""Time of the index of records: `bench/index.py RECORD [COUNT]`.

Makes COUNT (10,000) copies of a record in a temporary home, an hour apart, with different times;
indexes them, updates the unchanged index, and queries one figure's history, as `plumb history`.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from plumbline.base.paths import Home
from plumbline.record.store import Store
from plumbline.report.history import Wanted, lines_of

_T = TypeVar("_T")


def copies(text: str, folder: Path, count: int) -> None:
    folder.mkdir()
    moment = datetime(2025, 1, 1)
    match = re.search(r'"started": ?"[^"]*"', text)
    assert match is not None
    before, after = text[: match.start()], text[match.end() :]
    for i in range(count):
        started = (moment + timedelta(hours=i)).isoformat()
        (folder / f"b_eff-{i:05}.json").write_text(f'{before}"started": "{started}Z"{after}')


def timed(what: str, act: Callable[[], _T]) -> _T:
    begin = time.perf_counter()
    result = act()
    print(f"{what}: {time.perf_counter() - begin:.3f} s")
    return result


def main() -> None:
    text = Path(sys.argv[1]).read_text()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        home = Home(Path(folder))
        copies(text, home.records, count)
        print(f"{count} records of {len(text)} B")
        store = Store(home)
        timed("index them", store.sync)
        print(f"the index has {home.index.stat().st_size} B")
        timed("see that nothing changed", store.sync)
        series = store.series("b_eff")
        timed(f"history of {series[0].title}", lambda: store.history(series[0]))
        wanted = Wanted("b_eff", "b_eff")
        timed("history of b_eff with its changes", lambda: lines_of(store, wanted))
        (home.records / "b_eff-00000.json").unlink()
        timed("forget one that is gone", store.sync)


if __name__ == "__main__":
    main()
