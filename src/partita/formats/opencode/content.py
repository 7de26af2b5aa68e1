"""Parts of OpenCode that stand for themselves → canonical parts and chunks."""

from collections.abc import Iterator
from typing import Final

from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import UserPart
from partita.types.parts import DataPart, FilePart, ImagePart, TextPart

KEY: Final = "openCode"
"""Where messages, parts and calls hold what is OpenCode's alone."""

KINDS: Final = frozenset(
    {
        "text",
        "reasoning",
        "file",
        "tool",
        "step-start",
        "step-finish",
        "snapshot",
        "patch",
        "agent",
        "skill",
        "subtask",
        "retry",
        "compaction",
    }
)
STEPS: Final = ("step-start", "step-finish")
IDS: Final = ("id", "messageID", "sessionID")
UNTYPED: Final = "application/octet-stream"


def kind_of_part(part: JsonObject) -> str:
    """The type of a part; a text that has none, or a file, is not taken for one."""
    kind = part.get("type")
    if kind in ("text", "reasoning") and not isinstance(part.get("text"), str):
        return ""
    if kind == "file" and file_of(part) is None:
        return ""
    return kind if isinstance(kind, str) else ""


def user_part(part: JsonObject) -> UserPart:
    """A part of what a user said."""
    kind = kind_of_part(part)
    if kind == "text":
        return TextPart(part["text"], provider_metadata=provider_metadata(part, "text"))
    file = file_of(part) if kind == "file" else None
    return file or DataPart(f"opencode-{kind or 'part'}", data_of(part, kind), _id_of(part))


def is_injected(part: JsonObject) -> bool:
    """Whether nobody wrote a part: OpenCode put it in."""
    return part.get("type") == "text" and part.get("synthetic") is True


def part_chunks(part: JsonObject, block: str) -> Iterator[Chunk]:
    """The chunks of a part that is no call. A text that is still being written stays open."""
    match kind_of_part(part):
        case "text":
            yield TextStart(block, provider_metadata(part, "text"))
            yield TextDelta(block, part["text"])
            if not is_open(part):
                yield TextEnd(block)
        case "reasoning":
            yield ReasoningStart(block, provider_metadata(part, "text"))
            yield ReasoningDelta(block, part["text"])
            if not is_open(part):
                yield ReasoningEnd(block)
        case "step-start":
            yield StepStart()
        case "step-finish":
            return
        case "file":
            file = file_of(part)
            if file is not None:
                yield FileChunk(file.url, file.media_type or UNTYPED, _described(file))
        case kind:
            yield DataChunk(f"data-opencode-{kind or 'part'}", data_of(part, kind), _id_of(part))


def grown(old: JsonObject, new: JsonObject, block: str) -> list[Chunk] | None:
    """What makes `new` of a part that was told as `old`; nothing if that cannot be done."""
    kind = kind_of_part(new)
    if kind != kind_of_part(old) or old.get("id") != new.get("id"):
        return None
    if kind == "step-finish":
        return []
    if kind in ("text", "reasoning") and is_open(old) and new["text"].startswith(old["text"]):
        delta, end = (TextDelta, TextEnd) if kind == "text" else (ReasoningDelta, ReasoningEnd)
        metadata = provider_metadata(new, "text")
        chunks: list[Chunk] = [delta(block, new["text"][len(old["text"]) :], metadata)]
        return chunks if is_open(new) else [*chunks, end(block)]
    is_data = kind not in ("text", "reasoning", "file", "tool", "step-start") and _id_of(new) is not None
    return [*part_chunks(new, block)] if is_data else None


def is_open(part: JsonObject) -> bool:
    """Whether a text is still being written."""
    time = part.get("time")
    return is_object(time) and "start" in time and time.get("end") is None


def file_of(part: Json) -> ImagePart | FilePart | None:
    """A file, if the part is one."""
    if not is_object(part) or not isinstance(url := part.get("url"), str):
        return None
    media_type = text_or(part.get("mime"), UNTYPED)
    name = part.get("filename")
    name = name if isinstance(name, str) else None
    metadata = provider_metadata(part, "url", "mime", "filename")
    if media_type.startswith("image/"):
        return ImagePart(url, media_type, name, provider_metadata=metadata)
    return FilePart(url, media_type, name, provider_metadata=metadata)


def provider_metadata(part: JsonObject, *said: str) -> JsonObject | None:
    """What providers left with a part, and under our key what has no place among ours."""
    metadata = part.get("metadata")
    theirs: JsonObject = metadata if is_object(metadata) else {}
    if part.get("type") == "tool":
        return theirs or None
    own = without(
        part, "type", "messageID", "sessionID", *said, *(("metadata",) if is_object(metadata) else ())
    )
    return {**theirs, KEY: own} if own else theirs or None


def data_of(part: JsonObject, kind: str) -> JsonObject:
    """A part as data: all it says, but for ids; one that is not understood whole."""
    return without(part, "type", *IDS) if kind in KINDS else part


def step_of(part: JsonObject) -> JsonObject:
    """The boundary of a step, as metadata of its message."""
    return without(part, *IDS)


def without(fields: JsonObject, *names: str) -> JsonObject:
    """All fields but some."""
    return {key: value for key, value in fields.items() if key not in names}


def text_or(value: Json, otherwise: str) -> str:
    """A text, if it is one and not empty."""
    return value if isinstance(value, str) and value else otherwise


def _described(file: ImagePart | FilePart) -> JsonObject | None:
    """The metadata of a file, its name among it: the chunk has no place for that."""
    name = file.name if isinstance(file, ImagePart) else file.filename
    if name is None:
        return file.provider_metadata
    theirs = file.provider_metadata or {}
    return {**theirs, KEY: {**theirs.get(KEY, {}), "filename": name}}


def _id_of(part: JsonObject) -> str | None:
    id_ = part.get("id")
    return id_ if isinstance(id_, str) and id_ else None
