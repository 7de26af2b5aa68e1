"""Files that were read: their text without the agent's additions, and the range of its lines."""

import re
from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.tool_views import ToolText

from .call_data import OUTPUT, CallData, integer
from .text import counted

# Line numbers: `     1→text` of Claude Code, `1<tab>text` of `cat -n`, `00001| text` of OpenCode.
NUMBERED: Final = {
    "→": re.compile(r" *(\d{1,9})→.*"),
    "\t": re.compile(r" *(\d{1,9})\t.*"),
    "| ": re.compile(r" *(\d{1,9})\|(?: .*)?"),
}
# `1: text` of newer versions of OpenCode, only between its tags: other files may have such lines.
NUMBERED_IN_TAGS: Final = {": ": re.compile(r"(\d{1,9}):(?: .*)?")}

# OpenCode: the lines, perhaps a remark in parentheses after a blank line, between tags. Seen in recordings.
FILE: Final = re.compile(r"\A(?P<head><file>\n)(?P<body>.*?)\n?(?:\n\([^\n]*\))?\n</file>", re.DOTALL)
NEWER_FILE: Final = re.compile(
    r"\A(?P<head><path>[^\n]*</path>\n<type>file</type>\n<content>\n?)(?P<body>.*?)\n?(?:\n\([^\n]*\))?\n</content>",
    re.DOTALL,
)
DIRECTORY: Final = re.compile(
    r"\A<path>[^\n]*</path>\n<type>directory</type>\n<entries>\n(?P<body>.*?)\n?(?:\n\([^\n]*\))?\n</entries>",
    re.DOTALL,
)
REMINDER: Final = "<system-reminder>"
"""Claude Code appends reminders for the model, which begin so."""


class FileText(NamedTuple):
    """The text that was read, the number of its first line, and the remark that the agent appended."""

    text: ToolText | None
    first_line: int = 1
    remark: str = ""


def file_text(data: CallData) -> FileText:
    """The text that was read: as the agent keeps it, else from the output."""
    for path, found in data.details:
        file: Json = found.get("file")  # Claude Code: `toolUseResult.file`
        if is_object(file) and isinstance(file.get("content"), str):
            located = ToolText(path=(*path, "file", "content")) if file["content"] else None
            return FileText(located, integer(file.get("startLine")) or 1)
    first = max(integer(data.input.get("offset")) or 1, 1)
    if data.failed or not data.text:
        return FileText(None, first)
    return _from_output(data.parsed_text, first) if data.parsed_text else FileText(OUTPUT, first)


def _from_output(output: str, first: int) -> FileText:
    start = output.find(REMINDER)
    whole, remark = (output, "") if start < 0 else (output[:start].rstrip("\n"), output[start:])
    tagged = FILE.match(whole) or NEWER_FILE.match(whole)
    body = tagged["body"] if tagged else whole
    if not body:
        return FileText(None, first, remark)
    lines = body.removesuffix("\n").split("\n")
    forms = NUMBERED | NUMBERED_IN_TAGS if tagged else NUMBERED
    separator = next((mark for mark, form in forms.items() if all(map(form.fullmatch, lines))), None)
    head = tagged["head"] if tagged else ""
    if separator is None and not remark and not head.endswith("\n"):
        return FileText(OUTPUT, first)
    if separator is not None:
        first = int(lines[0].partition(separator.rstrip(" "))[0])
    located = ToolText(
        path=OUTPUT.path, skip_lines=head.count("\n"), line_count=len(lines), separator=separator
    )
    return FileText(located, first, remark)


def directory_entries(data: CallData) -> list[str] | None:
    """The entries of a directory, which OpenCode reads like a file; `None` when it was not a directory."""
    found = DIRECTORY.match(data.parsed_text)
    return None if found is None else [line for line in found["body"].split("\n") if line]


def line_range(data: CallData) -> str:
    """`lines 10–59 of 200`, as far as it is known."""
    file: Json = data.detail("file")
    known: JsonObject = file if is_object(file) else {}
    view: Json = data.input.get("view_range")
    ends = [integer(end) for end in view[:2]] if is_array(view) else []
    start, end = (*ends, None, None)[:2]
    starts = (integer(known.get("startLine")), integer(data.input.get("offset")), start)
    first = next((number for number in starts if number is not None), None)
    counts = (integer(known.get("numLines")), integer(data.input.get("limit")))
    count = next((number for number in counts if number is not None), None)
    total = integer(known.get("totalLines"))
    if first is None and count is None:
        return ""
    if total is not None and (first or 1) == 1 and count == total:
        return counted(total, "line")
    first = 1 if first is None else first
    last = first + count - 1 if count else end if end and end > 0 else None
    return f"lines {first}{f'–{last}' if last else ' on'}{f' of {total}' if total is not None else ''}"
