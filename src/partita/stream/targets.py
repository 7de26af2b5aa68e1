"""Which release of the AI SDK understands what, and a chunk in the words of each.

A client stops for good at a chunk it does not know, and one older than `LOOSE` also at a field it does not
know. So every chunk is said in words its client has, as far as there are any, and what is left unsaid is
listed. Some things cannot be said:

- `reset-step`: what it takes away stays on the page of a client that does not know it.
- `steering-message` and `custom` have no older form.
- Release 5 knows no approvals; there a denied call has failed. Release 6 knows no automatic ones and would
  show the user a question that the policy has answered, so it does not hear of them.

What sub-agents do travels as transient `data-child` parts, `{path, chunk}` or `{path, message}`: every client
lets them in, and a page that knows them can draw them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias, assert_never

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import FormatError
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps, is_object
from partita.types.parts import Citation, FilePart, ForeignPart, TextPart, UnknownPart
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    interruption_text,
)

from .rules import RULES, Version

DENIED = "Tool call execution denied."
LARGEST_INDEX = 2**53 - 1  # JavaScript cannot tell larger integers apart


class Since(NamedTuple):
    """The first patch of each major version that has something; `None`: no release of it has."""

    five: int | None = 0
    six: int | None = 0
    seven: int | None = 0


_EVER = Since()
_NEVER = Since(None, None, None)
_SIX = Since(None, 0, 0)
_SEVEN = Since(None, None, 0)

LOOSE = Since(217, 231, 32)
"""Clients that let unknown fields pass."""

BLOCKS_OUTLIVE_STEPS = Since(None, None, 79)
"""Clients for which a text may go on after `finish-step`. Others fail at its next delta."""

CHUNKS: Mapping[type[Chunk], Since] = {
    c.StepReset: Since(None, None, 70),
    c.ReasoningFileChunk: _SEVEN,
    c.CustomChunk: _SEVEN,
    c.SteeringMessageChunk: Since(None, None, 163),
    c.ToolInputError: Since(7, 0, 0),
    c.ToolApprovalRequest: _SIX,
    c.ToolApprovalResponse: _SEVEN,
    c.ToolOutputDenied: _SIX,
    c.ToolOutputChunk: _NEVER,
    c.NetworkExecutionStart: _NEVER,
    c.NetworkExecutionEnd: _NEVER,
    c.ChildChunk: _NEVER,
    c.ChildMessage: _NEVER,
    c.UnknownChunk: _NEVER,
}
"""Chunks that not every client knows."""

_METADATA_OF_OUTPUTS = {"provider_metadata": Since(None, 120, 0), "tool_metadata": Since(None, 176, 0)}
_DESCRIPTION = {"title": _SIX, "tool_metadata": Since(None, 176, 0)}

FIELDS: Mapping[type[Chunk], Mapping[str, Since]] = {
    c.MessageFinish: {"finish_reason": Since(92, 0, 0)},
    c.MessageAbort: {"reason": Since(None, 15, 0)},
    c.TextEnd: {"citations": Since(None, None, 138)},
    c.ToolInputStart: {
        **_DESCRIPTION,
        "provider_metadata": Since(None, 39, 0),
        "input_encoding": Since(None, 308, 142),
    },
    c.ToolInputAvailable: _DESCRIPTION,
    c.ToolInputError: _DESCRIPTION,
    c.ToolApprovalRequest: {
        "signature": Since(None, 202, 0),
        "approval_descriptor": Since(None, 274, 87),
        "input_schema_input": Since(None, 290, 113),
        "is_automatic": _SEVEN,
        "reason": Since(None, None, 82),
    },
    c.ToolOutputAvailable: {**_METADATA_OF_OUTPUTS, "preliminary": Since(11, 0, 0)},
    c.ToolOutputError: _METADATA_OF_OUTPUTS,
}
"""Fields that not every client knows. Only to those that are not `LOOSE` does it matter."""

FINISH_REASONS: Mapping[str, Since] = {
    **dict.fromkeys(("stop", "length", "content-filter", "tool-calls", "error", "other"), _EVER),
    "unknown": Since(0, None, None),
    "interrupted": Since(None, None, 149),
}
"""The reasons there are. To a client that does not know one it is `other`."""

ALWAYS_THERE: Mapping[type[Chunk], str] = {
    c.MessageMetadata: "message_metadata",
    c.ToolInputAvailable: "input",
    c.ToolInputError: "input",
    c.ToolOutputAvailable: "output",
    c.DataChunk: "data",
}
"""Fields that may hold anything but may not be missing: `null` when there is nothing."""

_VERSION = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9})(?:\.([0-9]{1,9}))?)?")


@dataclass(frozen=True, slots=True)
class Target:
    """A release of the AI SDK whose client reads a stream. Without a patch: the newest of its major."""

    major: Version
    patch: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Target":
        """`"6"` or `"5.0.92"`. A minor version above zero is newer than every release known here."""
        match = _VERSION.fullmatch(text)
        if match is None:
            raise FormatError(f"{text[:40]!r} is no release of the AI SDK", hint='give "7" or "5.0.92"')
        major, minor, patch = (None if number is None else int(number) for number in match.groups())
        for known in RULES:
            if known == major:
                return cls(known, None if minor else patch)
        raise FormatError(f"no rules for version {major} of the AI SDK", hint="use 5, 6 or 7")

    def knows(self, since: Since) -> bool:
        """Whether this release has what came with `since`."""
        first = since[self.major - 5]
        return first is not None and (self.patch is None or self.patch >= first)

    def __str__(self) -> str:
        return f"AI SDK {self.major}" if self.patch is None else f"AI SDK {self.major}.0.{self.patch}"


class Withheld(NamedTuple):
    """Something that a client is not told, why, and the number of the chunk it was in."""

    what: str
    why: str
    chunk: int = 0

    def __str__(self) -> str:
        return f"{self.what}: {self.why} (chunk {self.chunk})"


class Adapted(NamedTuple):
    """What a client is sent for a chunk, and what it is not told."""

    chunks: tuple[Chunk, ...]
    withheld: tuple[Withheld, ...] = ()


def adapt(chunk: Chunk, target: Target) -> Adapted:
    """One chunk for a client, by itself. What takes a memory of the stream is in `encoder`."""
    withheld: list[Withheld] = []
    chunks = [_fit(said, target, withheld) for said in _say(chunk, target, withheld)]
    return Adapted(tuple(chunks), tuple(withheld))


# Whole chunks


def _say(chunk: Chunk, target: Target, withheld: list[Withheld]) -> Sequence[Chunk]:
    """The chunk, or its older form if the client does not know it, or nothing."""
    if not target.knows(CHUNKS.get(type(chunk), _EVER)):
        return _say_otherwise(chunk, target, withheld)
    match chunk:
        case c.MessageFinish(finish_reason=str(reason)) if not target.knows(
            FINISH_REASONS.get(reason, _NEVER)
        ):
            withheld.append(Withheld("finish.finishReason", f"{reason!r:.60} is 'other' to {target}"))
            return (replace(chunk, finish_reason="other"),)
        case c.ToolApprovalRequest(is_automatic=True) if target.major == 6:
            why = f"{target} would ask the user what the policy has answered"
            withheld.append(Withheld("tool-approval-request", why))
            return ()
        case _:
            return (chunk,)


def _say_otherwise(chunk: Chunk, target: Target, withheld: list[Withheld]) -> Sequence[Chunk]:
    match chunk:
        case c.ReasoningFileChunk(url=url, media_type=media_type):
            withheld.append(Withheld("reasoning-file.type", f"to {target} it is a file like any other"))
            return (c.FileChunk(url, media_type, chunk.provider_metadata, extra=chunk.extra),)
        case c.ToolOutputDenied(tool_call_id=call):
            withheld.append(Withheld("tool-output-denied.type", f"to {target} it is an error"))
            return (c.ToolOutputError(call, DENIED, extra=chunk.extra),)
        case c.ToolInputError():
            withheld.append(Withheld("tool-input-error.type", f"to {target} it is a call that failed"))
            return _failed_call(chunk)
        case c.ToolOutputChunk():
            return [said for bare in _bare_output(chunk, withheld) for said in _say(bare, target, withheld)]
        case c.ChildChunk(path=path):
            data: JsonObject = {"path": list(path), "chunk": to_json(chunk.chunk)}
            return (c.DataChunk("data-child", data, transient=True, extra=chunk.extra),)
        case c.ChildMessage(path=path):
            data = {"path": list(path), "message": to_json(chunk.message)}
            return (c.DataChunk("data-child", data, transient=True, extra=chunk.extra),)
        case _:
            withheld.append(Withheld(c.type_of(chunk), f"{target} does not know it"))
            return ()


def _bare_output(chunk: c.ToolOutputChunk, withheld: list[Withheld]) -> Sequence[Chunk]:
    """A typed output in the words of the AI SDK, which knows bare values, errors and refusals."""
    common: Any = {
        "tool_call_id": chunk.tool_call_id,
        "provider_executed": chunk.provider_executed,
        "provider_metadata": chunk.provider_metadata,
        "tool_metadata": chunk.tool_metadata,
        "extra": chunk.extra,
    }
    preliminary = chunk.preliminary
    match chunk.output:
        case TextOutput(value=value) | JsonOutput(value=value):
            return (c.ToolOutputAvailable(output=value, preliminary=preliminary, **common),)
        case ContentOutput():
            return (c.ToolOutputAvailable(output=to_json(chunk.output), preliminary=preliminary, **common),)
        case ErrorTextOutput(value=text):
            return (c.ToolOutputError(error_text=text, **common),)
        case ErrorJsonOutput(value=value):
            return (c.ToolOutputError(error_text=dumps(value).decode(), **common),)
        case InterruptedOutput():
            withheld.append(
                Withheld("tool-output-typed.output", "an interruption is an error like any other")
            )
            text = interruption_text(chunk.output)
            return (c.ToolOutputError(error_text=text, **common),)
        case ExecutionDeniedOutput(reason=reason):
            if reason is not None:
                withheld.append(
                    Withheld("tool-output-typed.output.reason", "a refusal has no room for a reason")
                )
            return (c.ToolOutputDenied(chunk.tool_call_id, extra=chunk.extra),)
        case _:
            assert_never(chunk.output)


def _failed_call(chunk: c.ToolInputError) -> Sequence[Chunk]:
    """A call with its input and its error, but never `tool-input-available`: a client might run the tool."""
    call = chunk.tool_call_id
    start = c.ToolInputStart(
        call,
        chunk.tool_name,
        chunk.provider_executed,
        chunk.provider_metadata,
        chunk.tool_metadata,
        chunk.dynamic,
        chunk.title,
        extra=chunk.extra,
    )
    text = dumps(None if chunk.input is UNSET else chunk.input).decode()
    error = c.ToolOutputError(call, chunk.error_text, chunk.provider_executed, dynamic=chunk.dynamic)
    return (start, c.ToolInputDelta(call, text), error)


# Fields


class _Field(NamedTuple):
    """A field that a client may not know, or whose value it may refuse."""

    name: str
    path: str
    default: object
    known: bool
    mend: "Mend | None"


@cache
def _fields_to_check(type_: type[Chunk], target: Target) -> tuple[_Field, ...]:
    newer: Mapping[str, Since] = {} if target.knows(LOOSE) else FIELDS.get(type_, {})
    fields = [
        _Field(
            field.name,
            f"{type_.__struct_config__.tag}.{field.encode_name}",
            field.default,
            target.knows(newer.get(field.name, _EVER)),
            MENDS.get(field.name),
        )
        for field in msgspec.structs.fields(type_)
    ]
    return tuple(field for field in fields if not field.known or field.mend is not None)


def _fit(chunk: Chunk, target: Target, withheld: list[Withheld]) -> Chunk:
    """The chunk without the fields, or what is in them, that the client refuses."""
    changes: JsonObject = {}
    for field in _fields_to_check(type(chunk), target):
        value = getattr(chunk, field.name)
        if value is field.default:
            continue
        if not field.known:
            changes[field.name] = field.default
            withheld.append(Withheld(field.path, f"{target} does not know it"))
        elif field.mend is not None:
            mended = field.mend(value, field.path, withheld)
            if mended is not value:
                changes[field.name] = mended
    if chunk.extra and not target.knows(LOOSE):
        changes["extra"] = None
        paths = [f"{c.type_of(chunk)}.{key}" for key in chunk.extra]
        withheld.extend(Withheld(path, f"{target} takes no extra fields") for path in paths)
    required = ALWAYS_THERE.get(type(chunk))
    if required is not None and getattr(chunk, required) is UNSET:
        changes[required] = None
    return replace(chunk, **changes) if changes else chunk


# Values that our types allow and clients do not

Mend: TypeAlias = Callable[[Any, str, list[Withheld]], Any]
_SteeringPart: TypeAlias = TextPart | FilePart | ForeignPart | UnknownPart


def _mend_provider_metadata(value: JsonObject, path: str, withheld: list[Withheld]) -> JsonObject:
    """Metadata by provider; each has an object of its own."""
    bad = [key for key, item in value.items() if not is_object(item)]
    withheld.extend(Withheld(f"{path}.{key}", "the metadata of a provider is an object") for key in bad)
    return {key: item for key, item in value.items() if key not in bad} if bad else value


def _mend_citations(
    citations: tuple[Citation, ...], path: str, withheld: list[Withheld]
) -> tuple[Citation, ...]:
    return tuple(
        _mend_citation(citation, f"{path}[{index}]", withheld) for index, citation in enumerate(citations)
    )


def _mend_citation(citation: Citation, path: str, withheld: list[Withheld]) -> Citation:
    source = replace(citation.source, type="source")
    if source.provider_metadata is not None:
        where = f"{path}.source.providerMetadata"
        metadata = _mend_provider_metadata(source.provider_metadata, where, withheld)
        source = replace(source, provider_metadata=metadata)
    start = _mend_index(citation.start_index, f"{path}.startIndex", withheld)
    end = _mend_index(citation.end_index, f"{path}.endIndex", withheld)
    return replace(citation, source=source, start_index=start, end_index=end)


def _mend_index(index: int | None, path: str, withheld: list[Withheld]) -> int | None:
    if index is None or 0 <= index <= LARGEST_INDEX:
        return index
    withheld.append(Withheld(path, f"{index} is no index"))
    return None


def _mend_parts(
    parts: tuple[_SteeringPart, ...], path: str, withheld: list[Withheld]
) -> tuple[_SteeringPart, ...]:
    mended: list[_SteeringPart] = []
    for index, part in enumerate(parts):
        where = f"{path}[{index}]"
        if not isinstance(part, TextPart | FilePart):
            withheld.append(Withheld(where, "a steering message holds texts and files alone"))
        elif part.provider_metadata is None:
            mended.append(part)
        else:
            metadata = _mend_provider_metadata(part.provider_metadata, f"{where}.providerMetadata", withheld)
            mended.append(replace(part, provider_metadata=metadata))
    return tuple(mended)


MENDS: Mapping[str, Mend] = {
    "provider_metadata": _mend_provider_metadata,
    "citations": _mend_citations,
    "parts": _mend_parts,
}
