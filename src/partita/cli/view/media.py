"""Pictures, files and other things that a terminal names in one line."""

from typing import TypeAlias, assert_never

from msgspec import UNSET

from partita.types.codec import to_json
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    SourceDocumentPart,
    SourceUrlPart,
    UnknownPart,
)

from .bodies import compact
from .look import Look
from .rows import Row
from .text import one_line, size_of

Thing: TypeAlias = (
    ImagePart
    | FilePart
    | ReasoningFilePart
    | SourceUrlPart
    | SourceDocumentPart
    | DataPart
    | CustomPart
    | ForeignPart
    | UnknownPart
)
LONGEST_DATA = 300


def describe(part: Thing, look: Look) -> Row:
    """The line that names a thing: what it is, its name, its type, its size."""
    match part:
        case ImagePart(url=url, media_type=kind, name=name):
            return _file("image", name, kind, url, look)
        case FilePart(url=url, media_type=kind, filename=name):
            return _file("file", name, kind, url, look)
        case ReasoningFilePart(url=url, media_type=kind, filename=name):
            return _file("file of the reasoning", name, kind, url, look)
        case SourceUrlPart(url=url, title=title):
            return Row("  ".join(one_line(word) for word in (title, url) if word), "blue", "↗ ")
        case SourceDocumentPart(title=title, filename=name, media_type=kind):
            return Row(" · ".join(one_line(word) for word in (title, name, kind) if word), "blue", "↗ ")
        case DataPart(name=name, data=data):
            said = "" if data is UNSET else compact(data, None if look.full else LONGEST_DATA)
            return Row(f"{one_line(name, 80)}  {said}".rstrip(), "dim", "◆ ", cut=not look.full)
        case CustomPart(kind=kind):
            return Row(one_line(kind), "dim", "◇ ")
        case ForeignPart(format=format_, value=value):
            said = compact(value, None if look.full else LONGEST_DATA)
            return Row(f"{one_line(format_, 80)}  {said}", "dim", "? ", cut=not look.full)
        case UnknownPart():
            said = compact(to_json(part), None if look.full else LONGEST_DATA)
            return Row(f"{one_line(part.type, 80)}  {said}", "dim", "? ", cut=not look.full)
        case _:
            assert_never(part)


def _file(what: str, name: str | None, kind: str | None, url: str, look: Look) -> Row:
    size = url_size(url, look)
    words = [name, kind, None if size is None else size_of(size), None if _is_content(url) else url]
    return Row(" · ".join(one_line(word) for word in words if word), "cyan", f"▣ {what}  ", "cyan")


def _is_content(url: str) -> bool:
    """Whether a url holds or names content and would tell the reader nothing."""
    return url.startswith(("data:", "blob:"))


def url_size(url: str, look: Look) -> int | None:
    """How many bytes a url stands for, if it can be known without asking anyone."""
    if url.startswith("blob:"):
        return look.blobs.size(url)
    head, comma, data = url.partition(",")
    if not url.startswith("data:") or not comma:
        return None
    return len(data) * 3 // 4 - data[-2:].count("=") if head.endswith(";base64") else len(data)
