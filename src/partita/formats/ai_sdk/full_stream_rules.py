"""Rules for `full_stream`: which parts and members become chunks, and which become metadata of the message.

Releases: 5.0.277, 6.0.326, 7.0.169. The SDK leaves the metadata to the application (`messageMetadata` of
`toUIMessageStream`) and drops it otherwise.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from partita.errors import StreamError
from partita.formats.ai_sdk.versions import ai_sdk_usage
from partita.stream.state import Version
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object, same_json
from partita.types.usage import Usage, sum_usages

NEEDED: Final = frozenset(
    {"id", "text", "delta", "toolCallId", "toolName", "kind", "url", "mediaType", "approvalId", "approved"}
)
"""Fields that are required by every rule that has them."""


class Field(NamedTuple):
    """A field of a part, its name in the chunk, and the first version that carries it over."""

    name: str
    chunk_name: str
    since: Version = 5
    open: bool = False  # of any type: `null` is a value too


class Rule(NamedTuple):
    """How the parts of one type are converted. Without a chunk type, nothing is sent to the client."""

    chunk: str | None
    fields: tuple[Field, ...] = ()
    by_hand: frozenset[str] = frozenset()
    """Fields that the decoder handles itself."""
    repeated: frozenset[str] = frozenset()
    """Fields that repeat those of the call."""
    since: Version = 5

    def carry(self, part: JsonObject, version: Version) -> JsonObject:
        """Return the chunk of a part, without the fields that the decoder handles itself."""
        chunk: JsonObject = {"type": self.chunk}
        for field in self.fields:
            if field.since > version:
                continue
            if part.get(field.name) is not None or (field.open and field.name in part):
                chunk[field.chunk_name] = part[field.name]
            elif field.name in NEEDED:
                raise StreamError(f"missing field `{field.name}`", hint="pass the part unchanged")
        return chunk

    def path_in_part(self, path: str) -> str:
        """Return the path in the part for a path in its chunk."""
        for field in self.fields:
            start = f"$.{field.chunk_name}"
            if path.startswith(start):
                return f".{field.name}{path.removeprefix(start)}"
        return path

    def left(self, part: JsonObject, version: Version) -> list[str]:
        """Return the fields with a value that are not carried over."""
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
"""By type of the part; sources also by their type, calls also by whether they are valid."""


def rule_of(part: JsonObject, version: Version) -> Rule | None:
    """Return the rule of a part, or `None` if the version has no such parts."""
    name: str = part["type"]
    if name == "source":
        name = f"source {part.get('sourceType')}"
    if name == "tool-call" and part.get("invalid"):
        name = "invalid tool-call"
    rule = RULES.get(name)
    return rule if rule is not None and rule.since <= version else None


# Metadata

KEPT: Final = {
    "start-step": frozenset({"warnings"}),
    "finish-step": frozenset({"usage", "finishReason", "rawFinishReason", "providerMetadata", "response"}),
    "finish": frozenset({"totalUsage", "rawFinishReason"}),
}
"""Members that become metadata, by type of the part."""

RESPONSE: Final = {"id": "responseId", "modelId": "model", "timestamp": "timestamp"}
"""Members of a response that become metadata, and their names there."""


class StepMetadata:
    """Collects the metadata of a message: the last step, the total usage and, if there are several, steps."""

    def __init__(self, error_text: Callable[[Json], str]) -> None:
        self._error_text = error_text
        self._errors: list[str] = []
        self._warnings: JsonObject = {}
        self._steps: list[JsonObject] = []
        self._usages: list[Usage] = []

    def __call__(self, part: JsonObject) -> JsonObject | None:
        """Return the metadata of the message after its last part."""
        match part["type"]:
            case "start-step":
                warnings = part.get("warnings")
                self._warnings = {"warnings": warnings} if warnings else {}
            case "finish-step":
                self._add_step(part)
            case "error":
                self._errors.append(self._error_text(part.get("error")))
            case "abort":
                reason = {"reason": part["reason"]} if isinstance(part.get("reason"), str) else {}
                return {"ended": {"status": "cancelled", **reason}}
            case "finish":
                return self.finish(part)
            case _:
                pass
        return None

    def finish(self, part: JsonObject | None = None) -> JsonObject | None:
        """Return the metadata once, with members of the `finish` part if there was one."""
        if part is None and not self._steps and not self._errors:
            return None
        end: JsonObject = {} if part is None else part
        total = end.get("totalUsage")
        usage = ai_sdk_usage(total) if is_object(total) and total else sum_usages(self._usages)
        last: JsonObject = self._steps[-1] if self._steps else {}
        metadata: JsonObject = {
            **last,
            **{key: end[key] for key in ("finishReason", "rawFinishReason") if end.get(key) is not None},
            **({} if usage is None else {"usage": to_json(usage)}),
        }
        if len(self._steps) > 1 or any(not same_json(metadata[key], value) for key, value in last.items()):
            metadata["steps"] = self._steps
        if self._errors:
            metadata["errors"] = self._errors
        self._steps, self._usages, self._errors = [], [], []
        return metadata or None

    def _add_step(self, part: JsonObject) -> None:
        response, usage = part.get("response"), part.get("usage")
        step: JsonObject = {
            **{key: part[key] for key in KEPT["finish-step"] - {"usage", "response"} if part.get(key)},
            **{
                ours: response[theirs]
                for theirs, ours in RESPONSE.items()
                if is_object(response) and response.get(theirs) is not None
            },
            **self._warnings,
        }
        self._warnings = {}
        if is_object(usage) and usage:
            self._usages.append(ai_sdk_usage(usage))
            step["usage"] = to_json(self._usages[-1])
        if step:
            self._steps.append(step)


def losses_in(part: JsonObject, key: str) -> list[str]:
    """Return the paths in a member that do not become metadata; the member itself if nothing in it does."""
    if key not in KEPT.get(part["type"], ()):
        return [key]
    value = part[key]
    if key != "response" or not is_object(value):
        return []
    return [
        f"response.{name}" for name in value if name not in RESPONSE and value[name] not in (None, {}, [])
    ]
