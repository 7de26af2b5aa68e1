"""Messages prepared to be written: their JSON, and what is derived from them: flags, previews, part rows.

It needs time but no database, so any process can do it before a transaction is opened.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias, get_args

from partita.errors import StoreError
from partita.store.blobs.moves import BLOB, THRESHOLD, Move
from partita.store.encoding import encode_content, encode_json
from partita.store.search.fields import SearchFields, fields_of
from partita.store.sql.texts import required, sanitized, storable
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Content,
    Message,
    MessageType,
    NetworkResult,
    Part,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    ending_in,
    unlisted_calls,
)
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)

from .parts_summary import PartRow, summarize

ROLES: dict[type[Any], str] = {
    SystemMessage: "system",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolMessage: "tool",
}
TYPES: tuple[str, ...] = get_args(MessageType)


CallTimes: TypeAlias = tuple[datetime | None, datetime | None]
"""The start and the end of a call."""


class MovedValues(NamedTuple):
    """Large values that were moved out of a content: their positions, and hash, bytes and type of each."""

    moves: tuple[Move, ...]
    values: tuple[tuple[str, bytes, str | None], ...]


class Derived(NamedTuple):
    """The columns and rows that are derived from a message. They can be derived again at any time."""

    has_tool_calls: bool
    has_reasoning: bool
    has_files: bool
    has_errors: bool
    preview: str
    parts_summary: str | None
    parts: list[PartRow]


class Prepared(NamedTuple):
    """A message and everything derived from it."""

    message: Message
    thread_id: str
    role: str
    content: str
    large: bool  # may contain values that move to blobs, or references to blobs
    extra: str | None
    derived: Derived
    fields: SearchFields
    times: Mapping[str, CallTimes] | None = None  # of its calls, if the source has them
    moved: MovedValues | None = None  # if large values were moved out of the content already


def prepare(message: Message, thread_id: str | None) -> Prepared:
    """Prepare a message for its thread, which is `thread_id` if the message has none.

    A message of another thread is refused, and one that would not be read back unchanged.
    """
    if thread_id and message.thread_id and message.thread_id != thread_id:
        raise StoreError(
            f"message {message.id!r} belongs to thread {message.thread_id!r}, not to {thread_id!r}",
            where="$.threadId",
            hint="to copy it, give the copy the other thread_id, or None",
        )
    role = ROLES[type(message)]
    try:
        content = encode_content(role, message.content)
        extra = None if message.extra is None else encode_json(dict(message.extra), "$")
    except StoreError as error:
        error.what = f"message {message.id!r} cannot be stored: {error.what}"
        raise
    return Prepared(
        message,
        required(thread_id or message.thread_id, "thread id"),
        role,
        content,
        len(content) > THRESHOLD or BLOB in content,
        extra,
        derive(message),
        fields_of(message),
    )


def check(message: Message) -> None:
    """Refuse unknown types, and ids that cannot be stored."""
    if message.type not in TYPES:
        raise StoreError(
            f"{message.type!r:.80} is not a type of message",
            where="$.type",
            hint=f"one of {', '.join(TYPES)}",
        )
    required(message.id, "message id")
    storable(message.parent_id, "the parent id")
    storable(message.run_id, "the run id")


# What is derived from a message

PREVIEW = 200
"""The number of characters of a preview."""

ERROR = 500
"""The number of characters of an error in the row of its part."""

FILES = frozenset({FilePart, ImagePart, ReasoningFilePart})
WITHOUT_ERROR = frozenset({type(None), TextOutput, JsonOutput, ContentOutput, ExecutionDeniedOutput})
TAGS: dict[type, str] = {}
NOTHING: frozenset[str] = frozenset()


def derive(message: Message) -> Derived:
    """What is derived from a message. Parts of sub-agents have rows, and their errors count."""
    rows: list[PartRow] = []
    parts = message.content.parts
    _walk(message.content, "", rows)
    types = {type(part) for part in parts}
    return Derived(
        has_tool_calls=ToolCallPart in types,
        has_reasoning=ReasoningPart in types,
        has_files=not FILES.isdisjoint(types),
        has_errors=any(row.error is not None for row in rows) or _has_failed(message.content),
        preview=preview(message.content),
        parts_summary=summarize(rows),
        parts=rows,
    )


def _has_failed(content: Content) -> bool:
    """Whether the run that wrote a message failed, such as a chat without a connection to the model."""
    ending = ending_in(content)
    return ending is not None and ending.get("status") == "failed"


def _walk(content: Content, prefix: str, rows: list[PartRow], known: frozenset[str] = NOTHING) -> None:
    """Add the rows of a message. Calls that are `known` above are left out: a network repeats them."""
    _walk_parts(content.parts, prefix, rows, known)
    network = content.network_execution if isinstance(content, AssistantContent) else None
    result = None if network is None else network.final_result
    if result is None:
        return
    above = known | {part.id for part in content.parts if isinstance(part, ToolCallPart)}
    error = error_of(_output_of(result))
    if error is not None:
        path = f"{prefix}network"
        rows.append(PartRow(path, "network-execution", None, None, "output-error", error, result.interrupted))
    _walk_parts(unlisted_calls(result), f"{prefix}network.calls.", rows, above)
    for number, message in enumerate(result.messages):
        _walk(message.content, f"{prefix}network.messages.{number}.", rows, above)


def _output_of(result: NetworkResult) -> ToolOutput | None:
    """The failure of an execution as the output of a call."""
    if result.interrupted is not None:
        return InterruptedOutput(result.interrupted, result.error)
    return None if result.error is None else ErrorTextOutput(result.error)


def _walk_parts(parts: Sequence[Part], prefix: str, rows: list[PartRow], known: frozenset[str]) -> None:
    for index, part in enumerate(parts):
        kind = type(part)
        if kind is TextPart or kind is ReasoningPart:
            rows.append(PartRow(f"{prefix}{index}", _tag(kind), None, None, part.state, None))  # type: ignore[union-attr] # by its `kind`
        elif isinstance(part, ToolCallPart):
            _add_call(part, f"{prefix}{index}", rows, known)
        else:
            rows.append(_other_row(part, f"{prefix}{index}"))


def _tag(kind: type) -> str:
    tag = TAGS.get(kind)
    if tag is None:
        tag = TAGS[kind] = str(kind.__struct_config__.tag)  # type: ignore[attr-defined] # every part is a struct
    return tag


def _add_call(call: ToolCallPart, path: str, rows: list[PartRow], known: frozenset[str]) -> None:
    error = error_of(call.output)
    if error is None and call.state == "output-error":
        error = "error"
    interruption = call.output.reason if type(call.output) is InterruptedOutput else None
    if call.id not in known:
        rows.append(
            PartRow(
                path, "tool-call", sanitized(call.name), sanitized(call.id), call.state, error, interruption
            )
        )
    for number, child in enumerate(call.children):
        _walk(child.content, f"{path}.children.{number}.", rows, known)


def _other_row(part: Part, path: str) -> PartRow:
    match part:
        case ToolResultPart(id=id, name=name, output=output):
            return PartRow(path, "tool-result", sanitized(name), sanitized(id), None, error_of(output))
        case DataPart(name="error", data=data):
            return PartRow(path, "data", None, None, None, _short(data if isinstance(data, str) else "error"))
        case UnknownPart():
            return PartRow(path, sanitized(part.type), None, None, None, None)
        case _:
            return PartRow(path, _tag(type(part)), None, None, None, None)


def error_of(output: ToolOutput | None) -> str | None:
    """The shortened error of a call; `None` if it has none. A denied call is not an error."""
    if type(output) in WITHOUT_ERROR:  # nearly always: faster than matching the cases
        return None
    match output:
        case ErrorTextOutput(value=text):
            return _short(text)
        case ErrorJsonOutput(value=value):
            return _short(dumps(_shortened(value)).decode())
        case InterruptedOutput(reason="timeout" | "lost" as reason, message=text):
            return _short(f"{reason}: {text}" if text else reason)
        case (
            None
            | TextOutput()
            | JsonOutput()
            | ContentOutput()
            | ExecutionDeniedOutput()
            | InterruptedOutput()
        ):
            return None


def _shortened(value: Json) -> Json:
    """The start of a value, so that a large one is not written as JSON."""
    if is_object(value):
        return {key: _shortened(item) for key, item in list(value.items())[:20]}
    if is_array(value):
        return [_shortened(item) for item in value[:20]]
    return value[:ERROR] if isinstance(value, str) else value


def _short(text: str) -> str:
    return sanitized(text[:ERROR])


def preview(content: Content) -> str:
    """The start of the text of a message; without text, the names of its calls."""
    texts: list[str] = []
    length = 0
    for part in content.parts:
        if isinstance(part, TextPart):
            text = " ".join(part.text[: PREVIEW + 50].split())
            texts.append(text)
            length += len(text)
            if length >= PREVIEW:
                break
    if length == 0:
        texts = [part.name for part in content.parts if isinstance(part, ToolCallPart | ToolResultPart)][:10]
    return sanitized(" ".join(texts)[:PREVIEW])
