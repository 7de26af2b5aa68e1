"""The results of a search or of a listed directory, by file, from the lines that the tools print."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from partita.types.json import JsonObject
from partita.types.parts import ContentOutput
from partita.types.tool_views import FoundFile, Match

from .call_data import CallData, integer, objects, texts
from .changes import path_of
from .text import split_lines

LONGEST_LINE: Final = 400
"""How many characters of a line that was found are displayed."""

# Claude Code: `numFiles` is 0 where it only counts matches, so a 0 is not a count of files.
COUNTS: Final = ("numMatches", "totalMatches", "numFiles", "matches", "count")
COUNTED: Final = re.compile(r"^(?:Found|Listed) (\d{1,9}) ")
NOTHING: Final = re.compile(
    r"^(?:no files found|no matches found|no match|0 matches|found 0 )", re.IGNORECASE
)
# ripgrep: `path:12:text`, `path-13-text` around a match, `12:text` in one file, `path:3` for counts.
MATCH: Final = re.compile(r"^((?:[A-Za-z]:)?[^:\s][^:]{0,500}):(\d{1,9}):(.*)$")
CONTEXT: Final = re.compile(r"^((?:[A-Za-z]:)?[^:\s][^:]{0,500}?)-(\d{1,9})-(.*)$")
COUNT: Final = re.compile(r"^(\S[^:]{0,500}):(\d{1,9})$")
# Gemini CLI: `File: path`, then `L12: text`, and `L13- text` around a match.
# OpenCode: `path:`, then `  Line 12: text`.
HEAD: Final = re.compile(r"^(?:File: (.+)|(\S[^:]*\.[A-Za-z0-9]{1,8}):)$")
MATCH_ALONE: Final = re.compile(r"^(?:(\d{1,9}):|(?:L|\s+Line )(\d{1,9}):\s?)(.*)$")
CONTEXT_ALONE: Final = re.compile(r"^(?:(\d{1,9})-|L(\d{1,9})- ?)(.*)$")
PATH: Final = re.compile(r"^(?:\.{0,2}/|[A-Za-z]:\\)?[^\s:][^:]*$")


class Found(NamedTuple):
    """Files with their matches, other lines, and the number of results, if that is known."""

    files: tuple[FoundFile, ...] = ()
    remarks: tuple[str, ...] = ()
    total: int | None = None


def find_matches(data: CallData) -> Found:
    """The results of a call: as the agent stores them, else from the lines of its output."""
    counts = [count for name in COUNTS if (count := integer(data.detail(name))) is not None]
    reported = next((count for count in counts if count), None)
    names = texts(data.detail("filenames"))
    if names and not data.detail("content"):
        files = tuple(FoundFile(path=data.relative(name)) for name in names)
        return Found(files, total=reported or len(files))
    listed = objects(data.detail("files", "entries", "matches"))
    if not data.text and listed:
        return Found(tuple(_listed(data, item) for item in listed), total=reported)
    found = _parse(data, split_lines(data.parsed_text))
    if _is_plain(found):
        known = reported or integer(data.detail("numLines")) or 0
        # `numFiles` is smaller than the number of lines that are displayed.
        return Found(total=known if known >= len(found.remarks) + len(found.files) else None)
    if found.total is None and not found.remarks and _is_empty(data):
        return found._replace(total=reported or 0)
    return found._replace(total=max(reported, found.total or 0)) if reported else found


def _is_plain(found: Found) -> bool:
    """Whether an output has lines of files without their numbers, which look like paths."""
    has_numbers = any(file.matches or file.count is not None for file in found.files)
    return len(found.remarks) > 1 and not has_numbers


def _is_empty(data: CallData) -> bool:
    """Whether a call has ended and has no output at all."""
    output = data.part.output
    has_items = isinstance(output, ContentOutput) and bool(output.value)
    return data.succeeded and not (data.text or data.is_stored or has_items) and data.value is None


def _listed(data: CallData, item: JsonObject) -> FoundFile:
    path = next((item[name] for name in ("path", "name", "file") if item.get(name) is not None), "…")
    text = next((item[name] for name in ("text", "line_text", "content") if item.get(name) is not None), None)
    line = integer(item.get("line", item.get("line_number")))
    matches = (Match(text=text[:LONGEST_LINE], line=line),) if isinstance(text, str) else ()
    return FoundFile(path=data.relative(str(path)), matches=matches)


class _Files:
    """Files in the order in which they were found."""

    def __init__(self) -> None:
        self.files: list[tuple[str, list[Match]]] = []
        self.counts: dict[int, int] = {}

    def last(self, default: str) -> str:
        return self.files[-1][0] if self.files else default

    def at(self, path: str) -> list[Match]:
        if not self.files or self.files[-1][0] != path:
            self.files.append((path, []))
        return self.files[-1][1]

    def found(self, data: CallData) -> tuple[FoundFile, ...]:
        return tuple(
            FoundFile(path=data.relative(path), matches=tuple(matches), count=self.counts.get(place))
            for place, (path, matches) in enumerate(self.files)
        )


def _match(line: str, text: str, *, context: bool = False) -> Match:
    cut = f"{text[:LONGEST_LINE]} …" if len(text) > LONGEST_LINE else text
    return Match(text=cut, line=int(line), context=context)


def _parse(data: CallData, lines: Sequence[str]) -> Found:
    """Files and matches from lines. Lines without a path are of the file that the input names."""
    files = _Files()
    remarks: list[str] = []
    total: int | None = None
    has_paths = any(MATCH.match(line) for line in lines)
    named = path_of(data)
    for raw in lines:
        line = raw.removesuffix("\r")
        if not line.strip() or line in ("--", "---"):
            continue
        if NOTHING.match(line):
            return Found(total=0)
        if counted := COUNTED.match(line):
            total = int(counted[1]) if total is None else total
        elif found := MATCH.match(line):
            files.at(found[1]).append(_match(found[2], found[3]))
        elif (head := HEAD.match(line)) and not COUNT.match(line):
            files.at(head[1] or head[2])
        elif has_paths and (found := CONTEXT.match(line)):
            files.at(found[1]).append(_match(found[2], found[3], context=True))
        elif found := MATCH_ALONE.match(line):
            files.at(files.last(named)).append(_match(found[1] or found[2], found[3]))
        elif not has_paths and (found := CONTEXT_ALONE.match(line)):
            files.at(files.last(named)).append(_match(found[1] or found[2], found[3], context=True))
        elif count := COUNT.match(line):
            files.at(count[1])
            files.counts[len(files.files) - 1] = int(count[2])
        elif PATH.match(line):
            files.files.append((line, []))
        else:
            remarks.append(line[:LONGEST_LINE])
    found_files = files.found(data)
    return Found(found_files, tuple(remarks), _total(found_files) if total is None else total)


def _total(files: Sequence[FoundFile]) -> int | None:
    matches = sum(
        sum(not match.context for match in file.matches) if file.count is None else file.count
        for file in files
    )
    return matches or len(files) or None
