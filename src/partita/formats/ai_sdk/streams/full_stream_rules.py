"""What the SDK carries over from the parts of `fullStream` to chunks, type by type and field by field.

Releases meant: 5.0.277, 6.0.326, 7.0.169.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from partita.errors import StreamError
from partita.stream.rules import Version
from partita.types.json import JsonObject

NEEDED: Final = frozenset(
    {"id", "text", "delta", "toolCallId", "toolName", "kind", "url", "mediaType", "approvalId", "approved"}
)
"""Fields that must be there wherever a rule names them."""


class Field(NamedTuple):
    """A field of a part, its name in the chunk, and the first version that carries it over."""

    name: str
    chunk_name: str
    since: Version = 5
    open: bool = False  # may hold anything: `null` is a value too


class Rule(NamedTuple):
    """What becomes of the parts of one type. Without a chunk they say nothing to a client."""

    chunk: str | None
    fields: tuple[Field, ...] = ()
    by_hand: frozenset[str] = frozenset()
    """Fields that the decoder carries over in its own way."""
    repeated: frozenset[str] = frozenset()
    """Fields that say again what the call has said."""
    since: Version = 5

    def carry(self, part: JsonObject, version: Version) -> JsonObject:
        """The chunk that a part becomes, but for what is done by hand."""
        chunk: JsonObject = {"type": self.chunk}
        for field in self.fields:
            if field.since > version:
                continue
            if part.get(field.name) is not None or (field.open and field.name in part):
                chunk[field.chunk_name] = part[field.name]
            elif field.name in NEEDED:
                raise StreamError(f"missing field `{field.name}`", hint="give the part as the SDK gave it")
        return chunk

    def path_in_part(self, path: str) -> str:
        """The place in the part that a place in its chunk comes from."""
        for field in self.fields:
            start = f"$.{field.chunk_name}"
            if path.startswith(start):
                return f".{field.name}{path.removeprefix(start)}"
        return path

    def left(self, part: JsonObject, version: Version) -> list[str]:
        """The fields that say something and are not carried over."""
        known = {field.name for field in self.fields if field.since <= version} | self.by_hand | self.repeated
        return [
            key for key, value in part.items() if key not in known | {"type"} and value not in (None, {}, [])
        ]


def _same(*names: str, since: Version = 5) -> tuple[Field, ...]:
    return tuple(Field(name, name, since) for name in names)


_BLOCK: Final = _same("id", "providerMetadata")
_DELTA: Final = (*_BLOCK, Field("text", "delta"))
_FILE: Final = _same("providerMetadata", since=6)
_FILE_BY_HAND: Final = frozenset({"file"})
_EXECUTED: Final = _same("providerExecuted")
_CALL: Final = (
    *_same("toolCallId", "toolName", "providerExecuted", "providerMetadata"),
    *_same("toolMetadata", "title", since=6),
    Field("input", "input", open=True),
)
_OUTCOME: Final = (
    *_same("toolCallId", "providerExecuted"),
    *_same("providerMetadata", "toolMetadata", since=6),
)
_KIND: Final = frozenset({"dynamic"})
_OF_CALL: Final = frozenset({"toolName", "input", "title"})
_SOURCE: Final = (Field("id", "sourceId"), *_same("title", "providerMetadata"))
_SOURCE_TYPE: Final = frozenset({"sourceType"})

RULES: Final[Mapping[str, Rule]] = {
    "start": Rule("start"),
    "start-step": Rule("start-step"),
    "finish-step": Rule("finish-step"),
    "finish": Rule("finish", _same("finishReason")),
    "abort": Rule("abort", _same("reason")),
    "error": Rule("error", by_hand=frozenset({"error"})),
    "text-start": Rule("text-start", _BLOCK),
    "text-delta": Rule("text-delta", _DELTA),
    "text-end": Rule("text-end", (*_BLOCK, *_same("citations", since=7))),
    "reasoning-start": Rule("reasoning-start", _BLOCK),
    "reasoning-delta": Rule("reasoning-delta", _DELTA),
    "reasoning-end": Rule("reasoning-end", _BLOCK),
    "file": Rule("file", _FILE, _FILE_BY_HAND),
    "reasoning-file": Rule("reasoning-file", _FILE, _FILE_BY_HAND, since=7),
    "source url": Rule("source-url", (*_SOURCE, *_same("url")), _SOURCE_TYPE),
    "source document": Rule("source-document", (*_SOURCE, *_same("mediaType", "filename")), _SOURCE_TYPE),
    "custom": Rule("custom", _same("kind", "providerMetadata"), since=7),
    "steering-message": Rule("steering-message", _same("id"), frozenset({"message"}), since=7),
    "tool-input-start": Rule(
        "tool-input-start",
        (
            Field("id", "toolCallId"),
            *_same("toolName", "providerExecuted"),
            *_same("providerMetadata", "toolMetadata", "title", "inputEncoding", since=6),
        ),
        _KIND,
    ),
    "tool-input-delta": Rule(
        "tool-input-delta", (Field("id", "toolCallId"), Field("delta", "inputTextDelta"))
    ),
    "tool-input-end": Rule(None, repeated=frozenset({"id"})),
    "tool-call": Rule("tool-input-available", _CALL, _KIND | {"invalid"}),
    "invalid tool-call": Rule("tool-input-error", _CALL, _KIND | {"invalid", "error"}),
    "tool-result": Rule(
        "tool-output-available",
        (*_OUTCOME, *_same("preliminary"), Field("output", "output", open=True)),
        _KIND,
        _OF_CALL,
    ),
    "tool-error": Rule("tool-output-error", _OUTCOME, _KIND | {"error"}, _OF_CALL),
    "tool-output-denied": Rule("tool-output-denied", _same("toolCallId"), repeated=_KIND | _OF_CALL, since=6),
    "tool-approval-request": Rule(
        "tool-approval-request",
        (*_same("approvalId", "signature", since=6), *_same("reason", "isAutomatic", since=7)),
        frozenset({"toolCall"}),
        since=6,
    ),
    "tool-approval-response": Rule(
        "tool-approval-response",
        _same("approvalId", "approved", "reason", "providerExecuted"),
        repeated=frozenset({"toolCall"}),
        since=7,
    ),
    "raw": Rule(None),
    "ping": Rule(None, since=7),
}
"""By type of the part; a source also by its kind, a call also by whether it is any good."""


def rule_of(part: JsonObject, version: Version) -> Rule | None:
    """What becomes of a part; `None` if the version has no such parts."""
    name: str = part["type"]
    if name == "source":
        name = f"source {part.get('sourceType')}"
    if name == "tool-call" and part.get("invalid"):
        name = "invalid tool-call"
    rule = RULES.get(name)
    return rule if rule is not None and rule.since <= version else None
