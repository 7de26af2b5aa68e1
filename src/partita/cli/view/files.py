"""Files: changed, read, looked for."""

import re

from rich.console import RenderableType
from rich.text import Text

from partita.types.json import Json, is_array, is_object

from .bodies import folded
from .calls import Call, whole_number
from .card import Card, named
from .diffs import draw_change, stat
from .patches import changes_of, path_of
from .results import errors, result_rows, value_rows
from .rows import Row, Rows
from .text import counted, lines_of, one_line, safe

READ_LINES = 4
FOUND_LINES = 6


def draw_change_card(call: Call) -> Card:
    """The files that were changed, each with its lines."""
    changes = changes_of(call)
    if not changes:
        about = named(call.part.name, call.look.path(path_of(call)))
        return Card(about, errors(call) or [Rows(result_rows(call))])
    verb = "write" if call.part.name.lower().startswith(("write", "create")) else "edit"
    body: list[RenderableType] = []
    if len(changes) == 1:
        title = Text().append(f"{verb}  ", "bold").append_text(stat(changes[0]))
        body.append(Rows(draw_change(changes[0], call.look)))
    else:
        title = named(verb, counted(len(changes), "file"))
        for change in changes:
            body += [stat(change), Rows(draw_change(change, call.look))]
    return Card(title, [*body, *errors(call)])


def draw_read(call: Call) -> Card:
    """Which lines of which file were read, and the first of them."""
    paths: Json = call.input.get("paths") or call.input.get("file_paths")
    path = path_of(call)
    about = call.look.path(path) if path else ", ".join(map(str, paths)) if is_array(paths) else ""
    body = [] if call.failed else [Rows(_content(call))]
    lines = _range(call)
    return Card(named("read", f"{about} {lines}".strip()), [*body, *errors(call)])


def _content(call: Call) -> list[Row]:
    """The first lines of what was read, by their numbers where the agent keeps them apart."""
    file: Json = call.detail("file")
    if not is_object(file) or not isinstance(file.get("content"), str):
        return folded(lines_of(call.given.text, tabs=4), call.look, READ_LINES) or value_rows(call)
    lines = safe(file["content"], tabs=4).removesuffix("\n").split("\n")
    first = whole_number(file.get("startLine")) or 1
    width = len(str(first + len(lines)))
    rows = folded(lines, call.look, READ_LINES)
    count = len(lines) if len(rows) == len(lines) else READ_LINES
    numbers = [f"{first + place:>{width}}  " if place < count else "" for place in range(len(rows))]
    return [row._replace(prefix=number) for row, number in zip(rows, numbers, strict=True)]


def _range(call: Call) -> str:
    """`lines 10-59 of 200`, as far as it is known."""
    file: Json = call.detail("file")
    told = file if is_object(file) else {}
    start = whole_number(told.get("startLine")) or whole_number(call.input.get("offset"))
    count = whole_number(told.get("numLines")) or whole_number(call.input.get("limit"))
    total = whole_number(told.get("totalLines"))
    if start is None and count is None:
        return ""
    first = start or 1
    if total is not None and first == 1 and count == total:
        return f"({counted(total, 'line')})"
    last = f"-{first + count - 1}" if count else " on"
    return f"(lines {first}{last}{f' of {total}' if total is not None else ''})"


def draw_search(call: Call) -> Card:
    """What was looked for and where, how much was found, and the first of it."""
    pattern = call.word("pattern", "query", "regex", "search_term", "glob")
    place = call.word("path", "dir_path", "include", "directory")
    kinds = [call.word("glob"), call.word("type")]
    about = " ".join(
        [
            *([f"“{one_line(pattern, 100)}”"] if pattern else []),
            *([f"in {call.look.path(place)}"] if place else []),
            *(f"({one_line(kind, 40)})" for kind in kinds if kind and kind != pattern),
        ]
    )
    lines = [] if call.failed else _found(call)
    body = [Rows(folded(lines, call.look, FOUND_LINES) or value_rows(call))]
    notes = [_count(call, lines)] if call.succeeded else []
    return Card(named(call.part.name.lower(), about), [*body, *errors(call)], notes=notes)


def _count(call: Call, lines: list[str]) -> str:
    """How much was found: as the agent counted it, or in lines."""
    told = next((n for name in COUNTS if (n := whole_number(call.detail(name))) is not None), None)
    if told is None and (match := COUNTED.match(call.given.text)) is not None:
        told = int(match[1])
    if told is not None:
        return f"{told:,} found" if told else "nothing found"
    if not lines and (call.given.value is not None or call.given.others or call.given.files):
        return ""
    return counted(len(lines), "line") if lines else "nothing found"


COUNTS = ("numMatches", "numFiles", "totalMatches", "numLines")
COUNTED = re.compile(r"Found (\d{1,9}) ")
NOTHING = ("no files found", "no matches found", "no match", "0 matches", "found 0 ")


def _found(call: Call) -> list[str]:
    names: Json = call.detail("filenames")
    if is_array(names) and names and not call.detail("content"):
        return [call.look.path(name, limit=None) for name in names if isinstance(name, str)]
    lines = lines_of(call.given.text)
    return [] if lines and lines[0].lower().startswith(NOTHING) else lines
