"""Which files a call changed, and how: in the words of each agent, as changes."""

import re
from collections.abc import Iterator

from partita.types.json import Json, JsonObject, is_array

from .calls import Call, first_text, objects, whole_number
from .diffs import Change, Hunk, Kind, Line, Mark, added, compared

BEGIN = "*** Begin Patch"
FILE = re.compile(r"^\*\*\* (?P<what>Add|Update|Delete) File: (?P<path>.*)$")
MOVE = "*** Move to: "
HUNK = re.compile(r"^@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@", re.MULTILINE)
KINDS: dict[str, Kind] = {"Add": "add", "Update": "update", "Delete": "delete"}
MARKS: dict[str, Mark] = {" ": " ", "+": "+", "-": "-"}

PATHS = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "filename", "target_file", "file")
OLD = ("old_string", "oldString", "old_str", "oldText", "old_text")
NEW = ("new_string", "newString", "new_str", "newText", "new_text", "new_source")
WHOLE = ("content", "file_text", "contents", "text")


def changes_of(call: Call) -> list[Change]:
    """What a call changed, from the best source there is; nothing when it changed no file that is told."""
    for look_for in (_structured, _shown_diff, _patch_text, _replaced):
        found = look_for(call)
        if found:
            return [change._replace(path=call.look.path(change.path)) for change in found]
    return []


def path_of(call: Call) -> str:
    """The path that a call names."""
    return call.word(*PATHS)


def _structured(call: Call) -> list[Change]:
    """Claude Code keeps the hunks, with the numbers of their lines."""
    for detail in call.details():
        hunks = tuple(_hunk(hunk) for hunk in objects(detail.get("structuredPatch")))
        path = first_text(detail, "filePath") or path_of(call)
        if hunks:
            return [Change(path, hunks)]
        if detail.get("type") == "create" and isinstance(detail.get("content"), str):
            return [Change(path, added(detail["content"]), "add")]
    return []


def _hunk(hunk: JsonObject) -> Hunk:
    lines: Json = hunk.get("lines")
    texts = [line for line in lines if isinstance(line, str)] if is_array(lines) else []
    return Hunk(tuple(_lines(texts)), whole_number(hunk.get("oldStart")), whole_number(hunk.get("newStart")))


def _lines(texts: list[str]) -> Iterator[Line]:
    for text in texts:
        if not text.startswith("\\"):  # "\ No newline at end of file"
            yield Line(MARKS.get(text[:1], " "), text[1:])


def _shown_diff(call: Call) -> list[Change]:
    """Gemini CLI keeps what it showed to the user: a unified diff. Others give one, too."""
    for detail in (*call.details(), call.input):
        text = first_text(detail, "fileDiff", "diff", "unified_diff", "patch")
        if HUNK.search(text):
            return [Change(first_text(detail, "filePath", "fileName") or path_of(call), unified(text))]
    return []


def unified(text: str) -> tuple[Hunk, ...]:
    """The hunks of a unified diff."""
    hunks: list[tuple[int, int, list[str]]] = []
    for line in text.split("\n"):
        match = HUNK.match(line)
        if match is not None:
            hunks.append((int(match["old"]), int(match["new"]), []))
        elif hunks and line[:1] in MARKS:
            hunks[-1][2].append(line)
    return tuple(Hunk(tuple(_lines(lines)), old, new) for old, new, lines in hunks)


def _patch_text(call: Call) -> list[Change]:
    """Codex writes patches of its own kind, as the input itself or inside a command."""
    command: Json = call.input.get("command")
    inside = [word for word in command if isinstance(word, str)] if is_array(command) else []
    for text in (call.words, call.word("input", "patch", "command", "cmd"), *inside):
        at = text.find(BEGIN)
        if at >= 0:
            return list(patch(text[at:]))
    return []


def patch(text: str) -> Iterator[Change]:
    """The changes of an `apply_patch` text."""
    current: Change | None = None
    hunks: list[list[Line]] = []
    for line in text.split("\n"):
        match = FILE.match(line)
        if match is not None or line.startswith("*** End Patch"):
            if current is not None:
                yield _with_hunks(current, hunks)
            current = None if match is None else Change(match["path"].strip(), (), KINDS[match["what"]])
            hunks = []
        elif current is None:
            continue
        elif line.startswith(MOVE):
            current = current._replace(moved_to=line[len(MOVE) :].strip())
        elif line.startswith("@@"):
            hunks.append([])
        elif line[:1] in MARKS and not line.startswith("*** "):
            if not hunks:
                hunks.append([])
            hunks[-1].append(Line(MARKS[line[:1]], line[1:]))
    if current is not None:  # the text was cut
        yield _with_hunks(current, hunks)


def _with_hunks(change: Change, hunks: list[list[Line]]) -> Change:
    new = 1 if change.kind == "add" else None
    return change._replace(hunks=tuple(Hunk(tuple(lines), new=new) for lines in hunks if lines))


def _replaced(call: Call) -> list[Change]:
    """What the input says is to stand in the place of what."""
    edits = objects(call.input.get("edits")) or [call.input]
    path = path_of(call)
    hunks = [
        hunk
        for edit in edits
        if any(isinstance(edit.get(name), str) for name in (*OLD, *NEW))
        for hunk in compared(_member(edit, OLD), _member(edit, NEW))
    ]
    if hunks:
        return [Change(path, tuple(hunks))]
    whole = _member(call.input, WHOLE)
    return [Change(path, added(whole))] if whole and path else []


def _member(holder: JsonObject, names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := holder.get(name), str)), "")


def is_change(call: Call) -> bool:
    """Whether a call of a tool nobody knows looks like a change of a file."""
    told = any(is_array(detail.get("structuredPatch")) for detail in call.details())
    replaces = any(name in call.input for name in OLD) and any(name in call.input for name in NEW)
    return told or (replaces and bool(path_of(call))) or BEGIN in call.words
