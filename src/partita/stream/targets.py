"""Which release of the AI SDK supports which chunks and fields, and the form of a chunk for each release.

A client fails at an unknown chunk, and one older than `LOOSE` also at an unknown field. So every chunk is
converted to a form that its client supports, and what cannot be converted is listed:

- `reset-step`: a client that does not support it continues to show the removed parts.
- `steering-message` and `custom` have no older form.
- Release 5 has no approvals; a denied call becomes a failed one. Release 6 has no automatic approvals and
  would ask the user although the policy has decided, so it does not receive these.

Chunks of sub-agents are sent as transient `data-child` parts, `{path, chunk}` or `{path, message}`, which
every client accepts.
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
from partita.types.parts import (
    Citation,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
    UnknownPart,
    interruption_text,
)

from .state import RULES, Version

DENIED = "Tool call execution denied."
LARGEST_INDEX = 2**53 - 1  # larger integers are not exact in JavaScript


class Since(NamedTuple):
    """The first patch release of each major version that supports something; `None` if none does."""

    five: int | None = 0
    six: int | None = 0
    seven: int | None = 0


_EVER = Since()
_NEVER = Since(None, None, None)
_SIX = Since(None, 0, 0)
_SEVEN = Since(None, None, 0)

LOOSE = Since(217, 231, 32)
"""The clients that accept unknown fields."""

BLOCKS_OUTLIVE_STEPS = Since(None, None, 79)
"""The clients for which a text may continue after `finish-step`. Others fail at its next delta."""

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
"""Chunks that not every client supports."""

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
"""Fields that not every client supports. Only relevant for clients that are not `LOOSE`."""

FINISH_REASONS: Mapping[str, Since] = {
    **dict.fromkeys(("stop", "length", "content-filter", "tool-calls", "error", "other"), _EVER),
    "unknown": Since(0, None, None),
    "interrupted": Since(None, None, 149),
}
"""The known finish reasons. A client that does not know a reason receives `other`."""

ALWAYS_PRESENT: Mapping[type[Chunk], str] = {
    c.MessageMetadata: "message_metadata",
    c.ToolInputAvailable: "input",
    c.ToolInputError: "input",
    c.ToolOutputAvailable: "output",
    c.DataChunk: "data",
}
"""Fields of any type that must not be missing: absent ones are sent as `null`."""

_VERSION = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9})(?:\.([0-9]{1,9}))?)?")


@dataclass(frozen=True, slots=True)
class Target:
    """A release of the AI SDK whose client reads a stream. Without a patch: the newest of its major."""

    major: Version
    patch: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Target":
        """Parse `"6"` or `"5.0.92"`. A minor version above zero is newer than every release known here."""
        match = _VERSION.fullmatch(text)
        if match is None:
            raise FormatError(f"{text[:40]!r} is not a release of the AI SDK", hint='give "7" or "5.0.92"')
        major, minor, patch = (None if number is None else int(number) for number in match.groups())
        for known in RULES:
            if known == major:
                return cls(known, None if minor else patch)
        raise FormatError(f"no rules for version {major} of the AI SDK", hint="use 5, 6 or 7")

    def knows(self, since: Since) -> bool:
        """Whether this release supports what was added in `since`."""
        first = since[self.major - 5]
        return first is not None and (self.patch is None or self.patch >= first)

    def __str__(self) -> str:
        return f"AI SDK {self.major}" if self.patch is None else f"AI SDK {self.major}.0.{self.patch}"


class Withheld(NamedTuple):
    """Something that a client does not receive, the reason, and the number of its chunk."""

    what: str
    why: str
    chunk: int = 0

    def __str__(self) -> str:
        return f"{self.what}: {self.why} (chunk {self.chunk})"


class Adapted(NamedTuple):
    """The chunks that a client receives for a chunk, and what it does not receive."""

    chunks: tuple[Chunk, ...]
    withheld: tuple[Withheld, ...] = ()


def adapt(chunk: Chunk, target: Target) -> Adapted:
    """Adapt one chunk to a client. `encoder` adapts what depends on earlier chunks."""
    withheld: list[Withheld] = []
    chunks = [_fit(adapted, target, withheld) for adapted in _adapt_chunk(chunk, target, withheld)]
    return Adapted(tuple(chunks), tuple(withheld))


# Whole chunks


def _adapt_chunk(chunk: Chunk, target: Target, withheld: list[Withheld]) -> Sequence[Chunk]:
    """The chunk, an older form of it if the client does not support it, or nothing."""
    if not target.knows(CHUNKS.get(type(chunk), _EVER)):
        return _in_older_form(chunk, target, withheld)
    match chunk:
        case c.MessageFinish(finish_reason=str(reason)) if not target.knows(
            FINISH_REASONS.get(reason, _NEVER)
        ):
            withheld.append(Withheld("finish.finishReason", f"{reason!r:.60} is 'other' to {target}"))
            return (replace(chunk, finish_reason="other"),)
        case c.ToolApprovalRequest(is_automatic=True) if target.major == 6:
            why = f"{target} would ask the user although the policy has decided"
            withheld.append(Withheld("tool-approval-request", why))
            return ()
        case _:
            return (chunk,)


def _in_older_form(chunk: Chunk, target: Target, withheld: list[Withheld]) -> Sequence[Chunk]:
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
            return [
                adapted
                for output in _untyped_output(chunk, withheld)
                for adapted in _adapt_chunk(output, target, withheld)
            ]
        case c.ChildChunk(path=path):
            data: JsonObject = {"path": list(path), "chunk": to_json(chunk.chunk)}
            return (c.DataChunk("data-child", data, transient=True, extra=chunk.extra),)
        case c.ChildMessage(path=path):
            data = {"path": list(path), "message": to_json(chunk.message)}
            return (c.DataChunk("data-child", data, transient=True, extra=chunk.extra),)
        case _:
            withheld.append(Withheld(c.type_of(chunk), f"{target} does not know it"))
            return ()


def _untyped_output(chunk: c.ToolOutputChunk, withheld: list[Withheld]) -> Sequence[Chunk]:
    """A typed output as a chunk of the AI SDK, which has untyped values, errors and denials."""
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
    """A call with its input and error. At `tool-input-available` a client might run the tool."""
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
    """A field that a client may not support, or whose value it may refuse."""

    name: str
    path: str
    default: object
    known: bool
    repair: "Repair | None"


@cache
def _fields_to_check(type_: type[Chunk], target: Target) -> tuple[_Field, ...]:
    newer: Mapping[str, Since] = {} if target.knows(LOOSE) else FIELDS.get(type_, {})
    fields = [
        _Field(
            field.name,
            f"{type_.__struct_config__.tag}.{field.encode_name}",
            field.default,
            target.knows(newer.get(field.name, _EVER)),
            REPAIRS.get(field.name),
        )
        for field in msgspec.structs.fields(type_)
    ]
    return tuple(field for field in fields if not field.known or field.repair is not None)


def _fit(chunk: Chunk, target: Target, withheld: list[Withheld]) -> Chunk:
    """The chunk without fields and values that the client refuses."""
    changes: JsonObject = {}
    for field in _fields_to_check(type(chunk), target):
        value = getattr(chunk, field.name)
        if value is field.default:
            continue
        if not field.known:
            changes[field.name] = field.default
            withheld.append(Withheld(field.path, f"{target} does not know it"))
        elif field.repair is not None:
            repaired = field.repair(value, field.path, withheld)
            if repaired is not value:
                changes[field.name] = repaired
    if chunk.extra and not target.knows(LOOSE):
        changes["extra"] = None
        paths = [f"{c.type_of(chunk)}.{key}" for key in chunk.extra]
        withheld.extend(Withheld(path, f"{target} does not accept extra fields") for path in paths)
    required = ALWAYS_PRESENT.get(type(chunk))
    if required is not None and getattr(chunk, required) is UNSET:
        changes[required] = None
    return replace(chunk, **changes) if changes else chunk


# Values that the canonical types allow and clients do not

Repair: TypeAlias = Callable[[Any, str, list[Withheld]], Any]
_SteeringPart: TypeAlias = TextPart | FilePart | ForeignPart | UnknownPart


def _repair_provider_metadata(value: JsonObject, path: str, withheld: list[Withheld]) -> JsonObject:
    """Provider metadata without entries that are not objects."""
    bad = [key for key, item in value.items() if not is_object(item)]
    withheld.extend(Withheld(f"{path}.{key}", "the metadata of a provider is an object") for key in bad)
    return {key: item for key, item in value.items() if key not in bad} if bad else value


def _repair_citations(
    citations: tuple[Citation, ...], path: str, withheld: list[Withheld]
) -> tuple[Citation, ...]:
    return tuple(
        _repair_citation(citation, f"{path}[{index}]", withheld) for index, citation in enumerate(citations)
    )


def _repair_citation(citation: Citation, path: str, withheld: list[Withheld]) -> Citation:
    source = replace(citation.source, type="source")
    if source.provider_metadata is not None:
        where = f"{path}.source.providerMetadata"
        metadata = _repair_provider_metadata(source.provider_metadata, where, withheld)
        source = replace(source, provider_metadata=metadata)
    start = _repair_index(citation.start_index, f"{path}.startIndex", withheld)
    end = _repair_index(citation.end_index, f"{path}.endIndex", withheld)
    return replace(citation, source=source, start_index=start, end_index=end)


def _repair_index(index: int | None, path: str, withheld: list[Withheld]) -> int | None:
    if index is None or 0 <= index <= LARGEST_INDEX:
        return index
    withheld.append(Withheld(path, f"{index} is not an index"))
    return None


def _repair_parts(
    parts: tuple[_SteeringPart, ...], path: str, withheld: list[Withheld]
) -> tuple[_SteeringPart, ...]:
    repaired: list[_SteeringPart] = []
    for index, part in enumerate(parts):
        where = f"{path}[{index}]"
        if not isinstance(part, TextPart | FilePart):
            withheld.append(Withheld(where, "a steering message only contains texts and files"))
        elif part.provider_metadata is None:
            repaired.append(part)
        else:
            metadata = _repair_provider_metadata(
                part.provider_metadata, f"{where}.providerMetadata", withheld
            )
            repaired.append(replace(part, provider_metadata=metadata))
    return tuple(repaired)


REPAIRS: Mapping[str, Repair] = {
    "provider_metadata": _repair_provider_metadata,
    "citations": _repair_citations,
    "parts": _repair_parts,
}
