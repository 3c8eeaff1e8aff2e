"""Pages of the documentation that are not written by hand, for mkdocs (hooks in mkdocs.yml).

One page per benchmark, from its README.md and its options; the engine's options; the fields of
records and system files, from their schemas. Options need the engine's programs (make build);
without them these tables are left out, and the page says so.
"""

from __future__ import annotations

import functools
import json
import posixpath
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("plumb-mpi", "plumb-shmem", "plumb-serial")
NO_ENGINE = (
    "The engine was not built when these pages were (`make build`), so its options are missing.\n"
)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def describe(root: Path = ROOT) -> dict[str, Any]:
    """Gives `options`, and `benchmarks` by name, from the engine's programs; empty without one."""
    found: dict[str, Any] = {"options": [], "benchmarks": {}}
    for name in PROGRAMS:
        program = root / "build" / "release" / "bin" / name
        if not program.exists():
            continue
        done = subprocess.run(
            [program, "--describe"], capture_output=True, text=True, check=True, timeout=60
        )
        told = json.loads(done.stdout)
        found["options"] = found["options"] or told["options"]
        for benchmark in told["benchmarks"]:
            found["benchmarks"].setdefault(benchmark["name"], benchmark)
    return found


def cell(text: object) -> str:
    """Text for a cell of a table."""
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def values(option: dict[str, Any]) -> str:
    """The values that an option takes: its choices or its range."""
    if option["choices"]:
        return ", ".join(f"`{choice}`" for choice in option["choices"])
    low, high = option["minimum"], option["maximum"]
    if low is None and high is None:
        return ""
    return f"{'' if low is None else low} … {'' if high is None else high}".strip()


def options_table(options: list[dict[str, Any]]) -> str:
    """A row per option: name, meaning, default, values."""
    rows = ["| option | meaning | default | values |", "| --- | --- | --- | --- |"]
    for option in options:
        names = ", ".join(f"`{name}`" for name in [f"--{option['name']}", *option["aliases"]])
        default = "" if option["default"] in (None, "") else f"`{cell(option['default'])}`"
        unit = f" ({option['unit']})" if option["unit"] else ""
        rows.append(
            f"| {names} | {cell(option['help'] + unit)} | {default} | {cell(values(option))} |"
        )
    return "\n".join(rows) + "\n"


def type_of(field: dict[str, Any]) -> str:
    """A field's type in JSON Schema, in words."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(type_of(one) for one in field["anyOf"]))
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = str(field.get("type", "any"))
    if kind == "array":
        return f"list of {type_of(field.get('items', {}))}"
    if kind == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"map to {type_of(field['additionalProperties'])}"
    return kind


def schema_page(schema: dict[str, Any], title: str) -> str:
    """All objects of a schema, each with a table of its fields."""
    parts = [f"# {title}\n", schema.get("description", "") + "\n"]
    objects = {"": schema, **schema.get("$defs", {})}
    for name, one in objects.items():
        if "properties" not in one:
            if name:
                parts.append(f"## {name}\n\n{one.get('description', type_of(one))}\n")
            continue
        if name:
            parts.append(f"## {name}\n\n{one.get('description', '')}\n")
        parts.append("| field | type | required | meaning |\n| --- | --- | --- | --- |")
        required = one.get("required", [])
        for field, of in one["properties"].items():
            meaning = cell(of.get("description", ""))
            needed = "yes" if field in required else ""
            parts.append(f"| `{field}` | {cell(type_of(of))} | {needed} | {meaning} |")
        parts.append("")
    return "\n".join(parts)


def relocated(text: str, folder: str, page: str, pages: dict[str, str]) -> str:
    """Gives the text of a file in `folder` as that of `page`.

    `pages` maps files of the repository to pages: links to these are changed, links to other files
    become their words.
    """

    def link(found: re.Match[str]) -> str:
        picture, words, target, anchor = (
            found.group(1),
            found.group(2),
            found.group(3),
            found.group(4) or "",
        )
        if "://" in target or not target:
            return found.group(0)
        file = posixpath.normpath(posixpath.join(folder, target))
        if file not in pages:
            return words
        return (
            f"{picture}[{words}]({posixpath.relpath(pages[file], posixpath.dirname(page))}{anchor})"
        )

    return LINK.sub(link, text)


def benchmark_pages(root: Path, described: dict[str, Any]) -> dict[str, str]:
    """Text by page, for each README.md under benchmarks/, and each text beside it."""
    written = sorted(path.relative_to(root).as_posix() for path in root.glob("benchmarks/*/*/*.md"))
    # A folder may share its name with another's (osu/shmem): the family goes before it.
    pages = {
        file: f"benchmarks/{'_'.join(file.removesuffix('.md').split('/')[1:])}.md".replace(
            "_README", ""
        )
        for file in written
    }
    files = {**pages, **{f"docs/{path.name}": path.name for path in (root / "docs").glob("*.md")}}
    texts = {}
    for file, page in pages.items():
        folder = posixpath.dirname(file)
        text = relocated((root / file).read_text(), folder, page, files)
        if not file.endswith("/README.md"):
            texts[page] = text
            continue
        files_of = [
            path.read_text(errors="replace") for path in sorted((root / folder).glob("*.cpp"))
        ]
        sources = "\n".join(one for one in files_of if "RegisteredBenchmark" in one)
        own = [
            one
            for name, one in described["benchmarks"].items()
            if f'"{name}"' in sources and not one["family"]
        ]
        for one in own:
            text += (
                f"\n## Options of `{one['name']}`\n\n{one['title']}. {one['source']}.\n\n"
                + options_table(one["parameters"])
            )
        texts[page] = text if described["benchmarks"] else text + "\n" + NO_ENGINE
    return texts


@functools.cache
def generated(root: Path = ROOT) -> dict[str, str]:
    """Text of all generated pages, by path."""
    described = describe(root)
    texts = benchmark_pages(root, described)
    rows = "\n".join(
        f"| `{name}` | {cell(one['title'])} | {cell(one['source'])} |"
        for name, one in sorted(described["benchmarks"].items())
        if not one["family"]
    )
    options = options_table(described["options"]) if described["options"] else NO_ENGINE
    texts["reference/options.md"] = (
        "# Options of every benchmark\n\n"
        "`plumb run NAME` and the engine's programs take these beside the benchmark's own.\n\n"
        f"{options}\n## Benchmarks\n\n| name | measures | source |\n| --- | --- | --- |\n{rows}\n"
    )
    for name, title in (("record", "Fields of a record"), ("system", "Fields of a system file")):
        schema = json.loads((root / "schema" / f"{name}.schema.json").read_text())
        texts[f"reference/{name}.md"] = schema_page(schema, title)
    return texts


def title_of(text: str) -> str:
    """A page's title, without what follows a colon."""
    return text.split("\n", 1)[0].lstrip("# ").split(":")[0]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds the pages to the navigation (called by mkdocs)."""
    for heading, folder in (("Benchmarks", "benchmarks/"), ("Reference", "reference/")):
        pages = {
            title_of(text): page for page, text in generated().items() if page.startswith(folder)
        }
        config.nav = [
            *(config.nav or []),
            {heading: [{title: page} for title, page in pages.items()]},
        ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages (called by mkdocs)."""
    from mkdocs.structure.files import File

    for page, text in generated().items():
        files.append(File.generated(config, page, content=text))
    return files
