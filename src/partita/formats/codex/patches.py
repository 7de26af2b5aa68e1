"""Patches → a list of what happens to which file: `{path, kind, added, removed, diff …}`.

Codex tells a patch three times: as text that the model wrote, as an event with unified diffs, and as an item.
"""

from collections.abc import Iterator
from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .fields import found, present, text

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
MOVE: Final = "*** Move to: "
KINDS: Final = {"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"}
COMMANDS: Final = ("command", "cmd", "input", "script")
"""Where the input of a shell call may hold a patch, in a here-document."""


def changes_in_input(value: Json) -> list[JsonObject] | None:
    """The changes of a patch inside the input of a call; `None` when it holds none."""
    words = _words(value)
    start = words.find(BEGIN)
    return changes_in_text(words[start:]) if start >= 0 else None


def changes_in_text(patch: str) -> list[JsonObject]:
    """The changes that the text of a patch asks for, in its order."""
    changes: list[JsonObject] = []
    lines: list[str] = []
    for line in patch.split("\n"):
        if line.startswith("*** "):
            if line.startswith(END):
                break
            head = _head(line)
            if head is not None:
                _finish(changes, lines)
                changes.append(head)
                lines = []
                continue
            if line.startswith(MOVE) and changes:
                changes[-1]["movedTo"] = line[len(MOVE) :].strip()
                continue
        lines.append(line)
    _finish(changes, lines)
    return changes


def changes_in_event(value: Json) -> list[JsonObject] | None:
    """The changes of an event or an item; `None` when there is no list of them."""
    if is_object(value):
        return [_change(path, change) for path, change in value.items()]
    if is_array(value):
        return [_change(text(change, "path") or "", change) for change in value if is_object(change)]
    return None


def _head(line: str) -> JsonObject | None:
    for beginning, kind in KINDS.items():
        if line.startswith(beginning):
            return {"path": line[len(beginning) :].strip(), "kind": kind}
    return None


def _finish(changes: list[JsonObject], lines: list[str]) -> None:
    """Give the last change the lines that came after its head."""
    if not changes or not lines:
        return
    change = changes[-1]
    if change["kind"] == "add":
        change["content"] = "\n".join(line[1:] for line in lines if line.startswith("+"))
    elif change["kind"] == "update":
        change["diff"] = "\n".join(lines)
    change |= _counts(lines)


def _change(path: str, change: Json) -> JsonObject:
    """One change of an event: `{type, …}`, or `{kind, diff}`, or as in 2025 `{add: {…}}`."""
    if not is_object(change):
        return {"path": path, "kind": change if isinstance(change, str) else "unknown"}
    kind = found(change, "type") or found(change, "kind")
    if is_object(kind):
        moved, kind = text(kind, "move_path"), text(kind, "type")
    else:
        moved = None
    if kind is None and len(change) == 1:
        ((kind, change),) = change.items()
        change = change if is_object(change) else {}
    diff, content = text(change, "unified_diff") or text(change, "diff"), text(change, "content")
    lines = diff.split("\n") if diff is not None else []
    told = present(movedTo=moved or text(change, "move_path"), diff=diff, content=content)
    counts = _counts(lines) if diff is not None else _lines_of(kind, content)
    return {"path": path, "kind": kind if isinstance(kind, str) else "unknown", **told, **counts}


def _counts(lines: list[str]) -> JsonObject:
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return {"added": added, "removed": removed}


def _lines_of(kind: Json, content: str | None) -> JsonObject:
    if content is None or kind not in ("add", "delete"):
        return {}
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return {"added": lines, "removed": 0} if kind == "add" else {"added": 0, "removed": lines}


def _words(value: Json) -> str:
    """The text of an input that may hold a patch."""
    return "\n".join(_strings(value))


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for name in COMMANDS:
            command = value.get(name)
            if isinstance(command, str):
                yield command
            elif is_array(command):
                yield from (word for word in command if isinstance(word, str))
