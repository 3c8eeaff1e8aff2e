"""``plumb report``: one page of HTML, whatever is in the records; in a browser where there is one."""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import DATA, ROOT, Plumb

from plumbline.record.record import Phase, Record, load_record
from plumbline.report.figures import records as figures
from plumbline.report.figures.records import Shown
from plumbline.report.figures.svg import standalone
from plumbline.report.page import Loaded, write_page

GOLDEN = ROOT / "tests" / "golden"
ODD = "<img src=x onerror=alert(1)> & \"node\" 'a' $(reboot) {{ 7*7 }} </script>"
VOID = {"meta", "link", "br", "input"}


def golden(name: str) -> Record:
    return load_record(GOLDEN / f"{name}.record.json")


def every_record() -> list[Record]:
    return [load_record(path) for path in sorted(GOLDEN.glob("*.record.json"))]


def page(*records: Record, title: str = "A title") -> str:
    return write_page(title, [Loaded(f"r{i}", one, None) for i, one in enumerate(records)])


class Checker(HTMLParser):
    """Every element is closed in its order, no id is there twice, links within lead somewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            self.ids.append(given["id"] or "")
        link = given.get("href") or given.get("src") or ""
        (self.links if link.startswith("#") else self.outside).append(link)
        self.handlers += [name for name in given if name.startswith("on")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert {link.removeprefix("#") for link in checker.links} <= set(checker.ids)
    assert set(checker.outside) <= {"", "data:,"}
    assert checker.handlers == []
    return checker


def test_every_benchmark_has_its_section() -> None:
    text = page(*every_record())
    checked(text)
    for record in every_record():
        assert f"<h2>{record.benchmark.name} " in text
    assert "://" not in re.sub(r"<script>.*</script>", "", text).replace("http://www.w3.org", "")


def test_what_a_record_says_is_text() -> None:
    document = json.loads((GOLDEN / "b_eff_2_failed.record.json").read_text())
    document["hosts"][0]["name"] = ODD
    document["command"] = ["plumb-mpi", ODD]
    document["benchmark"]["title"] = ODD
    document["cases"][0]["key"] = ODD
    for rank in document["ranks"]:
        rank["device"]["name"] = ODD
    text = page(Record.model_validate_json(json.dumps(document)), title=ODD)
    checker = checked(text)
    assert "<img" not in text
    assert "{{ 7*7 }}" in text
    assert text.count("</script>") == 1
    assert html.escape(ODD, quote=False).replace("'", "&#39;").replace('"', "&#34;") in text
    assert checker


def test_failures_are_told() -> None:
    text = page(golden("b_eff_2_failed"))
    assert "data-attention" in text
    assert re.search(r'<li class="bad"><strong>\d+</strong> wrong or failed', text)
    assert "data-attention" not in re.sub(
        r"<script>.*</script>", "", page(golden("ptrans_2")), flags=re.S
    )


def test_settings_are_told_apart_by_what_differs() -> None:
    one = golden("b_eff_2_passed")
    other = one.model_copy(update={"parameters": {**one.parameters, "replications": 2}})
    text = page(one, other, one)
    assert "--replications 2" in text
    assert "2 runs, newest" in text
    on, off = (
        one.model_copy(update={"parameters": {**one.parameters, "write-mesh": given}})
        for given in (True, False)
    )
    text = page(on, off)
    assert ">--write-mesh<" in text
    assert ">without --write-mesh<" in text


def test_the_comparison_comes_first(plumb: Plumb, home: Path, tmp_path: Path) -> None:
    records = home / "records"
    records.mkdir(parents=True)
    for name in ("a1", "a2", "a3", "b1", "b2", "b3"):
        shutil.copy(GOLDEN / "b_eff_2_passed.record.json", records / f"{name}.json")
    output = tmp_path / "x.html"
    words = ("report", f"{records}/b*.json", "--against", f"{records}/a*.json")
    status, out, err = plumb(*words, "--output", str(output))
    assert (status, out) == (0, ""), err
    text = output.read_text()
    checked(text)
    assert text.index("B against A") < text.index("<h2>Machine</h2>")
    assert "5 cases: " in text


def test_a_page_that_cannot_be_written(plumb: Plumb, home: Path, tmp_path: Path) -> None:
    path = str(GOLDEN / "ptrans_2.record.json")
    assert plumb("report", path, "--output", str(tmp_path))[0] == 2
    status, _, err = plumb("report", path, "--output", "/proc/nowhere/x.html")
    assert (status, "--output /proc/nowhere/x.html cannot be written" in err) == (3, True)
    status, _, err = plumb("report", path, "--output", "/dev/full")
    assert (status, "--output /dev/full cannot be written: No space left" in err) == (3, True)
    assert Path("/dev/full").is_char_device()  # not replaced by a file
    assert plumb("report")[0] == 2  # no survey yet


def test_a_hundred_records_are_small() -> None:
    record = load_record(DATA / "record.json")
    hundred = [
        record.model_copy(
            update={"parameters": {"batch": i % 50}, "started": f"2026-11-22T{i % 24:02}:00:00Z"}
        )
        for i in range(100)
    ]
    assert len(page(*hundred)) < 5e6


@pytest.mark.parametrize("record", every_record(), ids=lambda one: one.benchmark.name)
def test_figures_are_whole(record: Record) -> None:
    for figure in figures.every_figure([Shown("", record, None)]):
        text = standalone(figure)
        assert "nan" not in text
        assert "inf" not in text.replace("info", "")
        assert text.startswith("<svg xmlns=")


def test_figures_of_many_kinds() -> None:
    one = golden("b_eff_8_random")
    found = {type(figure).__name__ for figure in figures.every_figure([Shown("", one, None)])}
    assert {"Heat", "Distribution"} <= found
    ranks = [
        one.model_copy(update={"world": one.world.model_copy(update={"ranks": count})})
        for count in (2, 4, 8)
    ]
    assert list(figures.over_ranks([Shown(str(i), r, None) for i, r in enumerate(ranks)]))
    days = [one.model_copy(update={"started": f"2026-11-{d:02}T00:00:00Z"}) for d in range(1, 9)]
    assert list(figures.over_time("b_eff", days))


def test_a_timeline_shows_each_interval() -> None:
    (figure,) = figures.timeline(with_phases([(0, 0.1), (0.3, 0.4), (0.7, 0.8)], [(0.1, 0.3)]))
    assert "last repetition" in figure.title
    assert [figure.rows[bar.row] for bar in figure.bars] == ["rank 0, a"] * 3 + ["rank 0, b"]
    assert standalone(figure).count("M") >= 4  # no bar hides the pauses
    assert "3 times from 0 to 800 ms, 300 ms in all" in standalone(figure)


def test_a_timeline_of_many_intervals_is_small() -> None:
    many = [(i / 1000, (i + 0.5) / 1000) for i in range(4000)]
    (figure,) = figures.timeline(with_phases(many, many))
    assert len(standalone(figure)) < 60_000


def with_phases(*spans: list[tuple[float, float]]) -> Record:
    one = golden("hpl_2")
    phases = {
        name: Phase(unit="s", by_rank=[[0.1]], last_spans_by_rank=[lives])
        for name, lives in zip("ab", spans, strict=True)
    }
    case = one.cases[0].model_copy(update={"phases": phases})
    return one.model_copy(update={"cases": [case]})


def test_pairs_of_cores_have_one_map_a_test() -> None:
    one = golden("shoms_2")
    case = next(case for case in one.cases if case.outcome.status == "passed")
    cases = [
        case.model_copy(update={"labels": {"test": test, "core_0": a, "core_1": b}})
        for a in (0, 1)
        for b in (0, 1)
        for test in ("put", "get")
    ]
    put, get = figures.pairs(one.model_copy(update={"cases": cases}))
    assert [put.rows, put.columns, get.rows] == [["0", "1"]] * 3
    assert None not in put.cells[0] + put.cells[1]


def test_searches_have_a_distribution_of_their_rates() -> None:
    one = golden("graph500_2")
    first = one.cases[0]
    cases = [first.model_copy(update={"key": f"bfs/top-down/{search}"}) for search in range(8)]
    one = one.model_copy(update={"cases": cases})
    (figure,) = figures.over_cases(Shown("", one, None))
    assert [(row.label, len(row.values)) for row in figure.rows] == [("bfs/top-down", 8)]
    assert re.fullmatch("[kMGT]TEPS", figure.x.label)
    assert not list(figures.over_cases(Shown("", golden("b_eff_2_passed"), None)))


def test_labels_lose_common_words_and_their_middle() -> None:
    one = golden("osu_shmem_2")
    (figure,) = figures.distribution(Shown("", one, None))
    assert not any(row.label.startswith("osu_") for row in figure.rows)
    assert len({row.label for row in figure.rows}) == len(figure.rows)


def test_a_device_is_shown_once_though_its_free_memory_differs() -> None:
    one = golden("b_eff_2_passed")
    ranks = [
        rank.model_copy(update={"device": rank.device.model_copy(update={"memory_bytes": 3 << 30})})
        for rank in one.ranks
        if rank.device
    ]
    later = one.model_copy(update={"ranks": ranks, "started": "2026-12-01T00:00:00Z"})
    assert page(one, later).count("<dt>device</dt>") == page(one).count("<dt>device</dt>") == 1
    assert "3.0 GiB" in page(one, later)


def test_a_figure_is_drawn_in_each_form(plumb: Plumb, tmp_path: Path) -> None:
    pytest.importorskip("cairosvg", exc_type=(ImportError, OSError))
    words = ("plot", str(GOLDEN / "b_eff_2_passed.record.json"), "--figure", "1", "--output")
    for suffix, begin in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        path = tmp_path / f"figure{suffix}"
        assert plumb(*words, str(path)) == (0, "", "")
        assert path.read_bytes().startswith(begin)
        assert path.stat().st_size > 2000
    status, _, err = plumb(*words, str(tmp_path / "nowhere" / "x.svg"))
    assert (status, "cannot be written: No such file or directory" in err) == (3, True)


def test_without_cairosvg_the_packages_are_named(
    plumb: Plumb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    record = str(GOLDEN / "b_eff_2_passed.record.json")
    status, _, err = plumb("plot", record, "--figure", "1", "--output", str(tmp_path / "x.png"))
    assert (status, "pip install cairosvg and Debian's libcairo2" in err) == (2, True)


# --- in a browser ---------------------------------------------------------------------------------


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def open_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., object]]:
    api = pytest.importorskip("playwright.sync_api", reason="without Playwright")
    if chromium() is None:
        pytest.skip("without Chromium")
    path = tmp_path_factory.mktemp("page") / "report.html"
    document = json.loads((GOLDEN / "ptrans_2.record.json").read_text())
    document["hosts"][0]["name"] = ODD
    path.write_text(page(*every_record(), Record.model_validate_json(json.dumps(document))))
    with api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])

        def call(width: int, scheme: str) -> object:
            opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            opened.said = []
            opened.on("console", lambda message: opened.said.append(message.text))
            opened.on("pageerror", lambda error: opened.said.append(str(error)))
            opened.on("request", lambda request: opened.said.append(request.url))
            opened.goto(path.as_uri())
            return opened

        yield call
        browser.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_renders(open_page, width: int, scheme: str) -> None:
    opened = open_page(width, scheme)
    assert [one for one in opened.said if not one.startswith(("file:", "data:"))] == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    shown = opened.locator("figure svg").evaluate_all("all => all.map(one => one.clientWidth)")
    assert shown
    assert all(0 < one <= width for one in shown)
    background = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(16, 21, 27)") == (scheme == "dark")
    opened.close()


def test_filters_work(open_page) -> None:
    opened = open_page(1280, "light")
    sections = opened.locator(".benchmark:visible")
    every = sections.count()
    opened.fill("#words", "transposition")
    assert sections.count() == 1
    assert opened.text_content("#count") == f"1 of {every} benchmarks"
    opened.fill("#words", "")
    opened.select_option("#host", ODD)
    assert sections.count() == 1
    opened.select_option("#host", "")
    opened.check("#attention")
    assert 0 < sections.count() < every
    opened.uncheck("#attention")
    assert sections.count() == every
    opened.click("#theme")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 27)"
    opened.close()


def test_by_keyboard(open_page) -> None:
    opened = open_page(1280, "light")
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent") == "Skip to the results"
    details = opened.locator("details").first
    details.locator("summary").focus()
    opened.keyboard.press("Enter")
    assert details.get_attribute("open") is not None
    opened.close()
