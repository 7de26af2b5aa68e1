"""UI messages and their parts, type by type and state by state. What a row does not name is stripped."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject

from .schema_checks import (
    ANY,
    BOOLEAN,
    FALSE,
    NEVER,
    NOTHING,
    STRING,
    TRUE,
    Items,
    Kind,
    Members,
    Problem,
    Reading,
    Variants,
    one_of,
    shown,
)
from .schema_fields import (
    CITATIONS,
    INPUT_ENCODING,
    JSON_OBJECT,
    PROVIDER_METADATA,
    STEERING_PARTS,
    USER_FILE,
    USER_TEXT,
    Field,
    may,
    members,
    need,
)


class Part(NamedTuple):
    """The members of one type of part, and the first version that knows the type."""

    fields: tuple[Field, ...] = ()
    since: int = 5


class State(NamedTuple):
    """The members that a tool part has in one state, besides those of every tool part."""

    fields: tuple[Field, ...]
    approval: tuple[Field, ...] = ()
    approval_required: bool = False


_TYPE: Final = need("type")
_OPTIONS: Final = may("providerMetadata", PROVIDER_METADATA)
_STATE: Final = may("state", one_of("streaming", "done"))

PARTS: Final[dict[str, Part]] = {
    "text": Part((*USER_TEXT, _STATE, may("citations", CITATIONS, since=7))),
    "reasoning": Part((need("text"), may("id"), _STATE, _OPTIONS)),
    "custom": Part((need("kind"), _OPTIONS), since=7),
    "source-url": Part((need("sourceId"), need("url"), may("title"), _OPTIONS)),
    "source-document": Part((need("sourceId"), need("mediaType"), need("title"), may("filename"), _OPTIONS)),
    "file": Part(USER_FILE),
    "reasoning-file": Part((need("mediaType"), need("url"), _OPTIONS), since=7),
    "steering-message": Part((need("id"), need("parts", STEERING_PARTS)), since=7),
    "step-start": Part(),
}
DATA_PART: Final = (need("data", ANY), may("id"))

_TOOL: Final = (
    _TYPE,
    need("toolCallId"),
    need("state"),
    may("title", since=7),
    may("toolMetadata", JSON_OBJECT, since=6),
    may("providerExecuted", BOOLEAN),
)
_DYNAMIC_TOOL: Final = (*_TOOL, need("toolName"), may("dynamic", FALSE))

_CALL_OPTIONS: Final = may("callProviderMetadata", PROVIDER_METADATA)
_RESULT_OPTIONS: Final = may("resultProviderMetadata", PROVIDER_METADATA, since=6)
_NO_OUTPUT: Final = may("output", NEVER)
_NO_ERROR: Final = may("errorText", NEVER)

_APPROVAL: Final = (
    need("id"),
    may("descriptor", ANY, since=6),
    may("signature", since=6),
    may("inputSchemaInput", ANY, since=6),
    may("requestReason", since=7),
    may("isAutomatic", BOOLEAN, since=7),
)
REQUESTED: Final = (*_APPROVAL, may("approved", NEVER), may("reason", NEVER))
RESPONDED: Final = (*_APPROVAL, need("approved", BOOLEAN), may("reason"))
GRANTED: Final = (*_APPROVAL, need("approved", TRUE), may("reason"))
DENIED: Final = (*_APPROVAL, need("approved", FALSE), may("reason"))

_WAITING: Final = (need("input", ANY), _CALL_OPTIONS, _NO_OUTPUT, _NO_ERROR)

TOOL_STATES: Final[dict[str, State]] = {
    "input-streaming": State(
        (
            may("input", ANY),
            may("rawInput"),
            may("inputEncoding", INPUT_ENCODING, since=6),
            may("callProviderMetadata", PROVIDER_METADATA, since=6),
            _NO_OUTPUT,
            _NO_ERROR,
        )
    ),
    "input-available": State(_WAITING),
    "approval-requested": State(_WAITING, REQUESTED, approval_required=True),
    "approval-responded": State(_WAITING, RESPONDED, approval_required=True),
    "output-available": State(
        (
            need("input", ANY),
            need("output", ANY),
            may("preliminary", BOOLEAN),
            _CALL_OPTIONS,
            _RESULT_OPTIONS,
            _NO_ERROR,
        ),
        GRANTED,
    ),
    "output-error": State(
        (
            need("errorText"),
            may("input", ANY),
            may("rawInput", ANY),
            _CALL_OPTIONS,
            _RESULT_OPTIONS,
            _NO_OUTPUT,
        ),
        GRANTED,
    ),
    "output-denied": State(_WAITING, DENIED, approval_required=True),
}


@dataclass(frozen=True, slots=True)
class Message:
    """A UI message: its known members, and at least one part unless the assistant speaks."""

    members: Members
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The message without what the schema does not know."""
        known = self.members.read(value, path, reading)
        if known is not value and known.get("parts") == [] and known.get("role") != "assistant":
            reading.refuse(f"{path}.parts", "at least one part", "an empty array")
        return known


def message_kind(version: int) -> Kind:
    """A UI message as that version knows it."""
    fields = (
        need("id", STRING),
        need("role", one_of("system", "user", "assistant")),
        may("metadata", ANY),
        need("parts", Items(Variants(_part_pick(version)))),
    )
    return Message(members(fields, version))


def _part_pick(version: int) -> Callable[[JsonObject], Kind | Problem]:
    kinds = {
        name: members((_TYPE, *part.fields), version) for name, part in PARTS.items() if part.since <= version
    }
    data = members((_TYPE, *DATA_PART), version)
    static = {name: _tool_members(_TOOL, state, version) for name, state in TOOL_STATES.items()}
    dynamic = {
        name: _tool_members(_DYNAMIC_TOOL, state, version)
        for name, state in TOOL_STATES.items()
        if version >= 6 or not state.approval_required
    }

    def pick(part: JsonObject) -> Kind | Problem:
        type_ = part.get("type")
        if not isinstance(type_, str):
            return Problem("type", "string", shown(type_) if "type" in part else NOTHING)
        if type_.startswith("data-"):
            return data
        if type_ == "dynamic-tool":
            return _by_state(part, dynamic, version)
        if type_.startswith("tool-"):
            return _by_state(part, static, version)
        return kinds.get(type_) or Problem("type", f"a part type that version {version} knows", shown(type_))

    return pick


def _by_state(part: JsonObject, states: dict[str, Members], version: int) -> Kind | Problem:
    state = part.get("state")
    if isinstance(state, str) and state in states:
        return states[state]
    return Problem(
        "state", f"a tool state that version {version} knows", shown(state) if "state" in part else NOTHING
    )


def _tool_members(common: tuple[Field, ...], state: State, version: int) -> Members:
    fields = (*common, *state.fields)
    if common is _DYNAMIC_TOOL and version < 6:  # version 5 knows no approvals on dynamic tools
        return members(fields, version)
    approval = members(state.approval, version) if state.approval else NEVER
    return members((*fields, Field("approval", approval, state.approval_required)), version)
