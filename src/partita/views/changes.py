"""The changes of files that a call made, from whichever form the agent stores them in."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from partita.types.json import JsonObject, is_array
from partita.types.tool_views import ChangeKind, FileChange, Hunk, ToolText

from .call_data import CallData, first_name, first_text, integer, objects, texts
from .text import split_lines

BEGIN: Final = "*** Begin Patch"
FILE: Final = re.compile(r"^\*\*\* (?P<what>Add|Update|Delete) File: (?P<path>.*)$")
MOVE: Final = "*** Move to: "
KINDS: Final[dict[str, ChangeKind]] = {"Add": "add", "Update": "update", "Delete": "delete"}

HUNK: Final = re.compile(r"^@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@", re.MULTILINE)
NEW_FILE: Final = re.compile(r"^\+\+\+ (?:[ab]/)?([^\t]*)")
MARKS: Final = (" ", "+", "-")

PATHS: Final = (
    "file_path", "filePath", "path", "notebook_path", "absolute_path", "filename", "target_file", "file",
)  # fmt: skip
OLD: Final = ("old_string", "oldString", "old_str", "oldText", "old_text", "old_source")
NEW: Final = ("new_string", "newString", "new_str", "newText", "new_text", "new_source")
WHOLE: Final = ("content", "file_text", "contents", "text")

CONTEXT: Final = 3
LONGEST_COMPARED: Final = 600
"""The most differing lines that are compared; with more of them, one text replaces the other."""

MOST_PAIRS: Final = 30_000
"""The most pairs of equal lines in the texts of a call; with more of them, one text replaces the other."""


def path_of(data: CallData) -> str:
    """The path that the input names, or else the only location of the call."""
    locations = objects(data.acp.get("locations"))
    return data.word(*PATHS) or (first_text(locations[0], "path") if len(locations) == 1 else "")


def find_changes(data: CallData) -> tuple[FileChange, ...]:
    """The changes of a call, from the most precise source; empty if it has none."""
    for find in (_structured, _acp_diffs, _displayed_diff, _patch_text, _replaced):
        found = find(data)
        if found:
            return tuple(found)
    return ()


def looks_like_change(data: CallData) -> bool:
    """Whether a call of an unknown tool looks like a change of a file."""
    replaces = any(name in data.input for name in OLD) and any(name in data.input for name in NEW)
    return (
        any(is_array(found.get("structuredPatch")) for _, found in data.details)
        or (replaces and bool(path_of(data)))
        or BEGIN in data.input_text
    )


def _change(
    data: CallData, path: str, hunks: Sequence[Hunk], kind: ChangeKind = "update", moved_to: str = ""
) -> FileChange:
    marks = [line[:1] for hunk in hunks for line in hunk.lines]
    return FileChange(
        path=data.relative(path),
        change=kind,
        moved_to=data.relative(moved_to),
        hunks=tuple(hunks),
        added=marks.count("+"),
        removed=marks.count("-"),
    )


def _whole(data: CallData, path: str, text: str, located: ToolText, kind: ChangeKind) -> FileChange:
    """A file of which every line is new."""
    hunks = (Hunk(text=located, new_start=1),) if text else ()
    return FileChange(path=data.relative(path), change=kind, hunks=hunks, added=len(split_lines(text)))


def _structured(data: CallData) -> list[FileChange]:
    """Claude Code keeps the hunks, with the numbers of their lines: `toolUseResult.structuredPatch`."""
    for place, found in data.details:
        path = first_text(found, "filePath") or path_of(data)
        hunks = [
            Hunk(
                lines=_marked(texts(hunk.get("lines"))),
                old_start=integer(hunk.get("oldStart")),
                new_start=integer(hunk.get("newStart")),
            )
            for hunk in objects(found.get("structuredPatch"))
        ]
        if hunks:
            return [_change(data, path, hunks)]
        content = found.get("content")
        if found.get("type") == "create" and isinstance(content, str):
            return [_whole(data, path, content, ToolText(path=(*place, "content")), "add")]
    return []


def _acp_diffs(data: CallData) -> list[FileChange]:
    """Agents of the Agent Client Protocol send the texts before and after: https://agentclientprotocol.com/protocol/tool-calls#diffs"""
    changes: list[FileChange] = []
    for place, found in data.details:
        path, old, new = first_text(found, "path"), found.get("oldText"), found.get("newText")
        if found.get("type") != "diff" or not isinstance(new, str):
            continue
        if isinstance(old, str):
            changes.append(_change(data, path, list(compare(old, new))))
        else:
            changes.append(_whole(data, path, new, ToolText(path=(*place, "newText")), "add"))
    return changes


def _marked(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines that begin with a mark."""
    return tuple(
        line if line.startswith(MARKS) else f" {line[1:]}"
        for line in lines
        if not line.startswith("\\")  # "\ No newline at end of file"
    )


def _displayed_diff(data: CallData) -> list[FileChange]:
    """Gemini CLI keeps the unified diff that it displayed: `resultDisplay.fileDiff`. Others have one, too."""
    for found in (*(found for _, found in data.details), data.input):
        text = first_text(found, "fileDiff", "diff", "unified_diff", "patch")
        if HUNK.search(text):
            path = first_text(found, "filePath", "fileName") or path_of(data)
            return list(_unified(data, text, path))
    return []


def _unified(data: CallData, text: str, path: str) -> Iterator[FileChange]:
    """The changes of a unified diff, which may be of several files."""
    files: list[tuple[str, list[tuple[int, int, list[str]]]]] = []
    lines = text.split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        named = NEW_FILE.match(after) if line.startswith("--- ") else None
        hunk = HUNK.match(line)
        if named is not None:
            files.append((path or named[1], []))
        elif hunk is not None:
            if not files:
                files.append((path, []))
            files[-1][1].append((int(hunk["old"]), int(hunk["new"]), []))
        elif line.startswith(MARKS) and files and files[-1][1]:
            files[-1][1][-1][2].append(line)
    for name, hunks in files:
        if hunks:
            made = [Hunk(lines=_marked(lines), old_start=old, new_start=new) for old, new, lines in hunks]
            yield _change(data, name, made)


def _patch_text(data: CallData) -> list[FileChange]:
    """Codex' own patches, as the input or inside a command.

    Their grammar: https://github.com/openai/codex/blob/main/codex-rs/apply-patch/apply_patch_tool_instructions.md
    """
    inside = (data.word("input", "patch", "patchText", "command", "cmd"), *texts(data.input.get("command")))
    for text in (data.input_text, *inside):
        start = text.find(BEGIN)
        if start >= 0:
            return list(_patch(data, text[start:]))
    return []


def _patch(data: CallData, text: str) -> Iterator[FileChange]:
    """The changes of an `apply_patch` text, which may be incomplete."""
    files: list[tuple[ChangeKind, str, list[list[str]]]] = []
    moved: dict[int, str] = {}
    for line in text.split("\n"):
        named = FILE.match(line)
        if line.startswith("*** End Patch"):
            break
        if named is not None:
            files.append((KINDS[named["what"]], named["path"].strip(), []))
        elif not files:
            continue
        elif line.startswith(MOVE):
            moved[len(files) - 1] = line[len(MOVE) :].strip()
        elif line.startswith("@@"):
            files[-1][2].append([])
        elif line.startswith(MARKS):
            if not files[-1][2]:
                files[-1][2].append([])
            files[-1][2][-1].append(line)
    for place, (kind, path, hunks) in enumerate(files):
        start = 1 if kind == "add" else None
        made = [Hunk(lines=tuple(lines), new_start=start) for lines in hunks if lines]
        yield _change(data, path, made, kind, moved.get(place, ""))


def _replaced(data: CallData) -> list[FileChange]:
    """The replacements in the input, or the whole file that it writes."""
    edits = objects(data.input.get("edits")) or [data.input]
    path = path_of(data) or first_text(edits[0], *PATHS)
    pairs = MOST_PAIRS // len(edits)
    hunks = [
        hunk
        for edit in edits
        if any(isinstance(edit.get(name), str) for name in (*OLD, *NEW))
        for hunk in compare(_member(edit, OLD), _member(edit, NEW), pairs)
    ]
    if hunks:
        return [_change(data, path, hunks)]
    located = data.located(*WHOLE)
    name = first_name(data.input, *WHOLE)
    return [_whole(data, path, data.input[name], located, "update")] if located and name and path else []


def _member(holder: JsonObject, names: Sequence[str]) -> str:
    return next((value for name in names if isinstance(value := holder.get(name), str)), "")


def compare(old: str, new: str, most_pairs: int = MOST_PAIRS) -> Iterator[Hunk]:
    """The hunks between two texts. Where they are in the file is not known."""
    before, after = split_lines(old), split_lines(new)
    start, end = common_ends(before, after)
    removed, added = before[start : len(before) - end], after[start : len(after) - end]
    if not removed and not added:
        return
    head = before[max(0, start - CONTEXT) : start]
    tail = before[len(before) - end :][:CONTEXT]
    if (
        not (removed and added)
        or max(len(removed), len(added)) > LONGEST_COMPARED
        or count_pairs(removed, added) > most_pairs
    ):
        marked = [(" ", head), ("-", removed), ("+", added), (" ", tail)]
        yield Hunk(lines=tuple(mark + line for mark, lines in marked for line in lines))
        return
    old_lines, new_lines = [*head, *removed, *tail], [*head, *added, *tail]
    matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        yield Hunk(lines=tuple(_lines(group, old_lines, new_lines)))


def count_pairs(before: Sequence[str], after: Sequence[str]) -> int:
    """How many pairs of equal lines two texts have."""
    counts = Counter(after)
    return sum(counts[line] for line in before)


def common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many lines two texts have in common at their starts, and then at their ends."""
    shorter = min(len(before), len(after))
    start = next((place for place in range(shorter) if before[place] != after[place]), shorter)
    rest = shorter - start
    end = next((place for place in range(rest) if before[-1 - place] != after[-1 - place]), rest)
    return start, end


def _lines(
    group: Iterable[tuple[str, int, int, int, int]], before: Sequence[str], after: Sequence[str]
) -> Iterator[str]:
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            yield from (f" {line}" for line in before[old_start:old_end])
        else:
            yield from (f"-{line}" for line in before[old_start:old_end])
            yield from (f"+{line}" for line in after[new_start:new_end])
