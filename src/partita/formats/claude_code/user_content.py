"""The content of user records: its kind, and its blocks ↔ parts.

Most records of `type: user` are not from the user: https://docs.claude.com/en/docs/claude-code/slash-commands,
…/hooks and …/sub-agents describe what is inserted; the tags were seen in recordings.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.anthropic import DOCUMENT, IMAGE, Block, Document, Image
from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.metadata import FIELDS
from partita.formats.core.wire import Codec, UnknownVariant, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import UserPart
from partita.types.parts import DataPart, FilePart, ForeignPart, ImagePart, TextPart
from partita.types.tags import tags_of

from .envelope import DATA_PREFIX
from .wire import ANTHROPIC

# Blocks ↔ parts

ContentPart: TypeAlias = TextPart | ImagePart | FilePart | ForeignPart


class Text(Block, tag="text"):
    """A text."""

    text: str


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A block of another type."""


_BLOCK: Final[Codec[Text | Image | Document | UnknownBlock]] = Codec(Text | Image | Document | UnknownBlock)
_CODECS: Final[PartCodecs[Any]] = PartCodecs(
    ANTHROPIC,
    PartCodec(Text, TextPart, lambda block, _: TextPart(block.text), lambda part: Text(text=part.text)),
    IMAGE,
    DOCUMENT,
    member=FIELDS,
)


def content_part(raw: Json) -> ContentPart:
    """A block of a user or of a tool result as a part. An unknown one is kept as it is."""
    try:
        part: ContentPart = _CODECS.read(_BLOCK.read(raw), None)
    except DecodeError:
        return ForeignPart(ANTHROPIC, raw)
    return part


def content_block(part: Any) -> Json | UnsetType:
    """The block of a part; `UNSET` if there is none."""
    if isinstance(part, ForeignPart):
        return part.value if part.format == ANTHROPIC else UNSET
    block = _CODECS.write(part)
    return UNSET if block is None else to_json(block)


def new_block(part: Any) -> JsonObject | None:
    """The block of a part of any format, as the API accepts it; `None` if there is none.

    The API refuses blank text (seen in its error messages).
    """
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text} if part.text.strip() else None
    if not isinstance(part, ImagePart | FilePart):
        return None
    block = _CODECS.write(replace(part, provider_metadata=None))
    return None if block is None else to_json(block)


# Kinds of user records

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
CONVERSATION: Final[frozenset[Kind]] = frozenset({"prompt"})
HIDDEN: Final[frozenset[Kind]] = frozenset({"injected"})
TAGGED: Final[frozenset[Kind]] = frozenset({"command", "command-output", "shell", "memory", "task"})
"""Kinds whose content is tags, which are read as data."""

_PREFIXES: Final[Sequence[tuple[str, Kind]]] = (
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
INSERTED: Final = (
    *("<system-reminder>", "<task-notification>", "<teammate-message", "<command-", "<local-command-"),
    *("<bash-", "<user-memory-input>", "Caveat: The messages below", "This session is being continued"),
)
"""Prefixes of texts that Claude Code inserts for the model, in the stream."""

_CONTEXT: Final = re.compile(
    r"\s*<(ide_opened_file|ide_selection|ide_diagnostics|system-reminder)>(.*?)</\1>\s*", re.DOTALL
)
"""Tags that an editor or the agent inserts before a prompt."""

_TEAM: Final = re.compile("</?teammate-message[^>]*>")


def kind_of_user(record: JsonObject, text: str) -> Kind:
    """The kind of a user record without results. `text` is its first text."""
    if record.get("isCompactSummary"):
        return "summary"
    if record.get("isMeta") or record.get("sourceToolUseID"):
        return "injected"
    start = text.lstrip()
    for prefix, kind in _PREFIXES:
        if start.startswith(prefix):
            return kind
    origin = record.get("origin")
    if is_object(origin) and origin.get("kind", "human") != "human":
        return "task" if origin.get("kind") == "task-notification" else "injected"
    return "prompt"


def first_text(content: Json) -> str:
    """The first text of a content."""
    if isinstance(content, str):
        return content
    for block in content if is_array(content) else ():
        if is_object(block) and block.get("type") == "text" and isinstance(block.get("text"), str):
            return str(block["text"])
    return ""


# Content → parts


def parts_of_kind(kind: Kind, content: Json, text: str) -> list[UserPart]:
    """The content of a user record of a kind as parts. `text` is its first text."""
    if kind in TAGGED:
        return [DataPart(f"{DATA_PREFIX}{kind}", tags_of(text))]
    if isinstance(content, str):
        return _texts(content)
    return [part for block in (content if is_array(content) else [content]) for part in _block_parts(block)]


def opening_of(kind: Kind, text: str) -> str | None:
    """What a session can be named after that begins with a command, or with the message of a team."""
    match kind:
        case "command":
            tags = tags_of(text)
            return f"{tags.get('command-name', '')} {tags.get('command-args', '')}".strip() or None
        case "team":
            return _TEAM.sub("", text).strip() or None
        case _:
            return None


def split_of(content: list[Json], parts: list[UserPart]) -> list[int] | None:
    """The number of parts of each block; `None` if each has one."""
    if len(parts) == len(content) and not any(isinstance(part, DataPart) for part in parts):
        return None
    return [len(_block_parts(block)) for block in content]


def _texts(text: str) -> list[UserPart]:
    """A text, after data with the tags that were inserted before it."""
    parts: list[UserPart] = []
    while text.startswith("<") and (match := _CONTEXT.match(text)) is not None:
        parts.append(DataPart(f"{DATA_PREFIX}{match.group(1)}", {"text": match.group(0)}))
        text = text[match.end() :]
    if text or not parts:
        parts.append(TextPart(text))
    return parts


def _block_parts(block: Json) -> list[UserPart]:
    part = content_part(block)
    return _texts(part.text) if isinstance(part, TextPart) and part.provider_metadata is None else [part]


# Parts → content


def text_of_part(part: UserPart) -> str | None:
    """The text of a part: of a text, or of data that was inserted before one."""
    match part:
        case TextPart(text=text):
            return text
        case DataPart(name=name, data={"text": str(text)}) if name.startswith(DATA_PREFIX):
            return text
        case _:
            return None


def user_blocks(parts: Sequence[UserPart], split: Json) -> list[Json]:
    """The blocks of the content of a user; `split` is the number of parts of each block."""
    blocks: list[Json] = []
    for group in _groups(parts, split):
        texts = [text_of_part(part) for part in group]
        if len(group) > 1 or isinstance(group[0], DataPart):
            found: Any = UNSET if None in texts else {"type": "text", "text": "".join(map(str, texts))}
        else:
            found = content_block(group[0])
        blocks += [] if found is UNSET else [found]
    return blocks


def _groups(parts: Sequence[UserPart], split: Json) -> Iterator[list[UserPart]]:
    """The parts of each block. If parts were added or removed, each is a block of its own."""
    sizes: list[Json] = split if is_array(split) else []
    fits = all(type(size) is int and size > 0 for size in sizes) and sum(sizes) == len(parts)
    rest = iter(parts)
    for size in sizes if fits else [1] * len(parts):
        group = list(islice(rest, size))
        if len(group) > 1 and any(text_of_part(part) is None for part in group):
            yield from ([part] for part in group)
        else:
            yield group
