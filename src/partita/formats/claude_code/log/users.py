"""`type: user` is mostly not the user: what a user record is, and its content as parts."""

import re
from typing import Final, Literal, TypeAlias

from partita.formats.claude_code.media import media_part
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import UserPart
from partita.types.parts import DataPart, ForeignPart, TextPart

Kind: TypeAlias = Literal[
    "prompt",
    "summary",
    "injected",
    "command",
    "command-output",
    "shell",
    "memory",
    "task",
    "team",
    "interruption",
]

INTERRUPTED: Final = "[Request interrupted by user"
TALK: Final[frozenset[Kind]] = frozenset({"prompt"})
HIDDEN: Final[frozenset[Kind]] = frozenset({"injected"})

_BEGINNINGS: Final[tuple[tuple[str, Kind], ...]] = (
    ("<command-name>", "command"),
    ("<command-message>", "command"),
    ("<command-args>", "command"),
    ("<local-command-stdout>", "command-output"),
    ("<local-command-stderr>", "command-output"),
    ("<local-command-caveat>", "injected"),
    ("Caveat: The messages below", "injected"),
    ("<bash-input>", "shell"),
    ("<bash-stdout>", "shell"),
    ("<bash-stderr>", "shell"),
    ("<user-memory-input>", "memory"),
    ("<task-notification>", "task"),
    ("<teammate-message", "team"),
    (INTERRUPTED, "interruption"),
)

_TAG: Final = re.compile(r"<([a-z][a-z-]{0,40})(?:\s[^<>]{0,200})?>")
_CONTEXT: Final = re.compile(
    r"\s*<(ide_opened_file|ide_selection|ide_diagnostics|system-reminder)>(.*?)</\1>\s*", re.DOTALL
)
TAGGED: Final[frozenset[Kind]] = frozenset({"command", "command-output", "shell", "memory", "task"})
"""What is told by tags, and read as data."""


def kind_of_user(record: JsonObject, text: str) -> Kind:
    """What a user record without results is. `text` is its first words."""
    if record.get("isCompactSummary"):
        return "summary"
    if record.get("isMeta") or record.get("sourceToolUseID"):
        return "injected"
    words = text.lstrip()
    for beginning, kind in _BEGINNINGS:
        if words.startswith(beginning):
            return kind
    origin = record.get("origin")
    if is_object(origin) and origin.get("kind", "human") != "human":
        return "task" if origin.get("kind") == "task-notification" else "injected"
    return "prompt"


def parts_of_kind(kind: Kind, content: Json, text: str) -> list[UserPart]:
    """The content of a user record of a kind as parts. `text` is its first words."""
    if kind in TAGGED:
        return [DataPart(f"claude-code-{kind}", tags_of(text))]
    return parts_of_user(content)


def first_text(content: Json) -> str:
    """The first words of a content."""
    if isinstance(content, str):
        return content
    for block in content if is_array(content) else ():
        if is_object(block) and block.get("type") == "text" and isinstance(block.get("text"), str):
            return str(block["text"])
    return ""


def tags_of(text: str) -> JsonObject:
    """The tags of a command, a task or a note, by name; a name that comes again makes a list."""
    found: JsonObject = {}
    open_ended: set[str] = set()
    at = 0
    while (match := _TAG.search(text, at)) is not None:
        name, at = match.group(1), match.end()
        end = -1 if name in open_ended else text.find(f"</{name}>", at)
        if end < 0:
            open_ended.add(name)
            continue
        value, at = text[at:end], end + len(name) + 3
        if name in found:
            earlier = found[name]
            found[name] = [*earlier, value] if is_array(earlier) else [earlier, value]
        else:
            found[name] = value
    return found


def parts_of_user(content: Json) -> list[UserPart]:
    """The content of a user record as parts: texts, images, documents; anything else is kept whole."""
    if isinstance(content, str):
        return _texts(content)
    parts: list[UserPart] = []
    for block in content if is_array(content) else [content]:
        parts += _parts_of_block(block)
    return parts


def split_of(content: list[Json], parts: list[UserPart]) -> list[int] | None:
    """How many parts came of each block, unless it was one of each."""
    if len(parts) == len(content) and not any(isinstance(part, DataPart) for part in parts):
        return None
    return [len(_parts_of_block(block)) for block in content]


def _texts(text: str) -> list[UserPart]:
    """A text, and before it, as data, what an editor or the agent put in front of it."""
    parts: list[UserPart] = []
    while text.startswith("<") and (match := _CONTEXT.match(text)) is not None:
        parts.append(DataPart(f"claude-code-{match.group(1)}", {"text": match.group(0)}))
        text = text[match.end() :]
    if text or not parts:
        parts.append(TextPart(text))
    return parts


def _parts_of_block(block: Json) -> list[UserPart]:
    if is_object(block):
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            if len(block) == 2:
                return _texts(block["text"])
            rest = {name: value for name, value in block.items() if name not in ("type", "text")}
            return [TextPart(block["text"], provider_metadata={"anthropic": rest})]
        if kind in ("image", "document"):
            return [media_part(block)]
    return [ForeignPart("anthropic", block)]
