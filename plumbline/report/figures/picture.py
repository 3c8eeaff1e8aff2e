"""Figures as files: SVG, PNG or PDF."""

from __future__ import annotations

from pathlib import Path

from plumbline.base.errors import RunError, UsageError
from plumbline.report.figures import fields
from plumbline.report.figures.shapes import Field, Figure
from plumbline.report.figures.svg import standalone

SUFFIXES = (".svg", ".png", ".pdf")


def save(figure: Figure, path: Path) -> None:
    """Write ``figure`` as SVG, PNG or PDF, by the file's suffix."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"--output must end in {', '.join(SUFFIXES)}, not '{path.name}'")
    if isinstance(figure, Field):
        fields.save(figure, path)
        return
    text = standalone(figure)
    try:
        if suffix == ".svg":
            path.write_text(text, encoding="utf-8")
        else:
            path.write_bytes(_converted(text, suffix))
    except OSError as error:
        raise RunError(f"--output {path} cannot be written: {error.strerror}") from None


def _converted(text: str, suffix: str) -> bytes:
    try:
        import cairosvg
    except (ImportError, OSError):  # OSError: the library cairo is missing
        raise UsageError(
            f"{suffix} needs CairoSVG and the library cairo: pip install cairosvg and "
            "Debian's libcairo2; or --output FILE.svg"
        ) from None
    convert = cairosvg.svg2png if suffix == ".png" else cairosvg.svg2pdf
    made: bytes = convert(bytestring=text.encode(), scale=3 if suffix == ".png" else 1)
    return made
