"""The generated pages of the documentation."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.launching import program

ROOT = Path(__file__).resolve().parents[2]


def load_site() -> ModuleType:
    """scripts/site.py, which is no module of a package."""
    found = importlib.util.spec_from_file_location("plumbline_site", ROOT / "scripts" / "site.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


SITE = load_site()


def option(**changes: Any) -> dict[str, Any]:
    plain = {
        "name": "size",
        "aliases": [],
        "help": "rows",
        "unit": "",
        "default": 4,
        "minimum": None,
        "maximum": None,
        "choices": None,
    }
    return {**plain, **changes}


def test_a_row_has_names_meaning_default_and_values() -> None:
    table = SITE.options_table(
        [
            option(aliases=["-n"], unit="B", minimum=1, maximum=9),
            option(name="form", choices=["a", "b"], default="a"),
            option(name="file", help="a|b", default=None, minimum=0),
        ]
    )
    assert table.splitlines()[2:] == [
        "| `--size`, `-n` | rows (B) | `4` | 1 … 9 |",
        "| `--form` | rows | `a` | `a`, `b` |",
        r"| `--file` | a\|b |  | 0 … |",
    ]


def test_links_follow_pages_and_lose_other_files() -> None:
    pages = {"docs/models.md": "models.md", "benchmarks/a/b/README.md": "benchmarks/a_b.md"}
    text = "[m](../../../docs/models.md#x) [own](README.md) [code](b.cpp) [web](https://a.b/c) [here](#y)"
    assert SITE.relocated(text, "benchmarks/a/b", "benchmarks/a_b.md", pages) == (
        "[m](../models.md#x) [own](a_b.md) code [web](https://a.b/c) [here](#y)"
    )


@given(st.text(alphabet="ab[]()#/.!: ", max_size=60))
def test_text_without_files_stays(text: str) -> None:
    assert SITE.relocated(text, "benchmarks/a/b", "p.md", {}).count("](../") <= text.count("](../")


def test_a_schema_has_a_table_per_object() -> None:
    page = SITE.schema_page(
        {
            "description": "All.",
            "properties": {
                "one": {"$ref": "#/$defs/Part"},
                "two": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["one"],
            "$defs": {
                "Part": {
                    "description": "A part.",
                    "properties": {"x": {"anyOf": [{"type": "null"}, {"enum": ["a"]}]}},
                }
            },
        },
        "Title",
    )
    assert "| `one` | [Part](#part) | yes |  |" in page
    assert "| `two` | list of integer |  |  |" in page
    assert "## Part\n\nA part.\n" in page
    assert "| `x` | null or `a` |  |  |" in page


@pytest.mark.skipif(
    not program("plumb-mpi").exists(), reason="the engine is not built (make build)"
)
def test_each_text_is_a_page_and_each_benchmark_has_its_options() -> None:
    texts = SITE.generated()
    readmes = list(ROOT.glob("benchmarks/*/*/*.md"))
    assert len([page for page in texts if page.startswith("benchmarks/")]) == len(readmes) > 10
    described = SITE.describe()["benchmarks"]
    alone = [name for name, one in described.items() if not one["family"]]
    for name in alone:
        headings = [page for page, text in texts.items() if f"## Options of `{name}`" in text]
        assert len(headings) == 1, name
    assert "--preset" in texts["reference/options.md"]
    assert all(f"`{name}`" in texts["reference/options.md"] for name in alone)
    assert "schema_version" in texts["reference/record.md"]


def test_every_page_of_a_benchmark_tells_how_it_is_fooled() -> None:
    described = {"benchmarks": {}, "options": []}
    pages = SITE.benchmark_pages(ROOT, described)
    folders = {path.parent.relative_to(ROOT) for path in ROOT.glob("benchmarks/*/*/*.cpp")}
    registered = {
        folder
        for folder in folders
        if any("RegisteredBenchmark" in path.read_text() for path in (ROOT / folder).glob("*.cpp"))
    }
    for folder in registered:
        page = f"benchmarks/{folder.parent.name}_{folder.name}.md"
        assert "## How it is fooled, and why not" in pages[page], page
    assert "benchmarks/shmem_npb_flow.md" in pages
    titles = [SITE.title_of(text) for text in pages.values()]
    assert len(set(titles)) == len(titles)  # else one is missing from the navigation


def test_every_page_is_in_the_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text()
    assert [
        page.name for page in (ROOT / "docs").glob("*.md") if f": {page.name}" not in listed
    ] == []
