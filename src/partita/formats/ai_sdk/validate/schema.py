"""The schemas of the SDK's chunks and messages, derived from the canonical types and what versions differ in.

Chunks are loose: members that a schema does not name are accepted. Of messages they are stripped.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, cast, get_args, get_origin

import msgspec
from msgspec import UnsetType

from partita.formats.ai_sdk.versions import CANONICAL_ONLY, MEMBERS, PART_TYPES, PARTS, check_version
from partita.stream.rules import Version
from partita.stream.targets import ALWAYS_THERE, CHUNKS, FIELDS, FINISH_REASONS, Since, Target
from partita.types.chunks import DATA_PREFIX, DataChunk, TaggedChunk, UnknownChunk
from partita.types.json import Json, JsonObject
from partita.types.parts import (
    DocumentCitationSource,
    FilePart,
    TextPart,
    UrlCitationSource,
)
from partita.types.tools import Approval
from partita.types.value import EXTRA_NAME

from .checks import (
    ANY,
    BOOLEAN,
    FALSE,
    INDEX,
    NEVER,
    NOTHING,
    STRING,
    TRUE,
    Items,
    JsonTree,
    Kind,
    Members,
    Plain,
    Problem,
    Reading,
    Record,
    Variants,
    one_of,
    pick_by,
    shown,
)

__all__ = ["Problem", "chunk_problems", "message_schema"]

JSON_OBJECT: Final = Record(JsonTree())
PROVIDER_METADATA: Final = Record(JSON_OBJECT)
ROLES: Final = ("system", "user", "assistant")


def chunk_problems(chunk: Json, version: int = 7) -> list[Problem]:
    """Why a client of that version refuses a chunk; empty if it accepts it. Extra members are fine."""
    reading = Reading()
    _chunk_schema(check_version(version)).read(chunk, "$", reading)
    return reading.problems


@cache
def message_schema(version: int) -> Kind:
    """The schema of one UI message in that version."""
    members: Mapping[str, Kind] = {
        "id": STRING,
        "role": one_of(*ROLES),
        "metadata": ANY,
        "parts": Items(Variants(_part_schemas(_Schemas(check_version(version))))),
    }
    return Message(Members(members, frozenset({"id", "role", "parts"})))


class Message(NamedTuple):
    """A UI message: its members, and at least one part unless it is the assistant's."""

    members: Members
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The message without what the schema does not name."""
        known = self.members.read(value, path, reading)
        if known is not value and known.get("parts") == [] and known.get("role") != "assistant":
            reading.refuse(f"{path}.parts", "at least one part", "an empty array")
        return known


# Schemas of canonical types


class _Schemas:
    """The schemas of canonical types as one version of the SDK has them."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.target = Target(cast("Version", version))
        reasons = [reason for reason, since in FINISH_REASONS.items() if self.target.knows(since)]
        self._by_name: Mapping[str, Kind] = {
            "provider_metadata": PROVIDER_METADATA,
            "tool_metadata": JSON_OBJECT,
            "finish_reason": one_of(*reasons),
        }

    def knows(self, type_: type[Any]) -> bool:
        """Whether the version has a type of chunk or part."""
        return self.target.knows(PARTS.get(type_) or CHUNKS.get(type_) or Since())

    def of_struct(
        self, type_: type[Any], *, without: Collection[str] = (), required: Collection[str] = ()
    ) -> Members:
        """The members of a type, without some; `required` are required beside those without a default."""
        newer = {**FIELDS.get(type_, {}), **MEMBERS.get(type_, {})}
        members: dict[str, Kind] = {}
        needed: set[str] = set()
        if tag_field := type_.__struct_config__.tag_field:
            members[tag_field] = STRING  # by which the schema was chosen
        for field in msgspec.structs.fields(type_):
            is_known = self.target.knows(newer.get(field.name, Since()))
            if field.encode_name == EXTRA_NAME or field.name in without or not is_known:
                continue
            members[field.encode_name] = self._by_name.get(field.name) or self._of_type(field.type)
            if field.required or field.name in required:
                needed.add(field.encode_name)
        return Members(members, frozenset(needed))

    def of_part(self, type_: type[Any]) -> Members:
        """The members of a type of part."""
        return self.of_struct(type_, without=CANONICAL_ONLY.get(type_, ()))

    def _of_type(self, annotation: Any) -> Kind:
        """The schema of a member. `None` as a default is an absent member on the wire."""
        types = [one for one in get_args(annotation) if one not in (NoneType, UnsetType)]
        match get_origin(annotation):
            case origin if origin is Literal:
                return one_of(*types)
            case origin if origin is tuple:
                return Items(self._of_type(types[0]))
            case origin if origin is dict:
                return Record(self._of_type(types[1]))
            case None:
                return SCALARS.get(annotation) or self.of_struct(annotation)
            case _ if len(types) == 1:
                return self._of_type(types[0])
            case _ if UrlCitationSource in types:
                sources = (UrlCitationSource, DocumentCitationSource)
                return _tagged({one: self.of_struct(one, required={"type"}) for one in sources})
            case _:  # of a steering message, which has texts and files only
                text = self.of_struct(TextPart, without={"state", "citations"})
                return _tagged({TextPart: text, FilePart: self.of_struct(FilePart)})


SCALARS: Final[Mapping[Any, Kind]] = {str: STRING, bool: BOOLEAN, int: INDEX, Any: ANY}


def _tagged(variants: Mapping[type[Any], Kind]) -> Variants:
    tags = {str(type_.__struct_config__.tag): kind for type_, kind in variants.items()}
    return Variants(pick_by(next(iter(variants)).__struct_config__.tag_field or "", tags))


# Chunks


@cache
def _chunk_schema(version: int) -> Kind:
    schemas = _Schemas(version)
    kinds = {
        str(type_.__struct_config__.tag): schemas.of_struct(type_, required=_always(type_))
        for type_ in get_args(TaggedChunk)
        if type_ is not UnknownChunk and schemas.knows(type_)
    }
    data = schemas.of_struct(DataChunk, required=_always(DataChunk))

    def pick(chunk: JsonObject) -> Kind | Problem:
        type_ = chunk.get("type")
        if isinstance(type_, str):
            kind = data if type_.startswith(DATA_PREFIX) else kinds.get(type_)
            if kind is not None:
                return kind
        found = shown(type_) if "type" in chunk else NOTHING
        return Problem("type", f"a chunk type that version {version} knows", found)

    return Variants(pick)


def _always(type_: type[Any]) -> Collection[str]:
    return {ALWAYS_THERE[type_]} if type_ in ALWAYS_THERE else ()


# Parts


class State(NamedTuple):
    """The members that a tool part has in one state, besides those of every tool part."""

    needs: Collection[str]
    may: Collection[str]
    approved: Plain | None = None
    """What `approval.approved` must be. Without it there must not be an approval."""
    is_approval_required: bool = False


TOOL: Final[Mapping[str, Kind]] = {
    "type": STRING,
    "toolCallId": STRING,
    "state": STRING,
    "title": STRING,
    "toolMetadata": JSON_OBJECT,
    "providerExecuted": BOOLEAN,
}
"""The members of every tool part."""

NEW_IN_TOOLS: Final = {
    "title": 7,
    "toolMetadata": 6,
    "inputEncoding": 6,
    "resultProviderMetadata": 6,
}
"""Members of tool parts that not every version has, and the first that has them."""

IN_STATES: Final[Mapping[str, Kind]] = {
    "input": ANY,
    "rawInput": ANY,
    "inputEncoding": one_of("json", "text"),
    "output": ANY,
    "preliminary": BOOLEAN,
    "errorText": STRING,
    "callProviderMetadata": PROVIDER_METADATA,
    "resultProviderMetadata": PROVIDER_METADATA,
}
"""The members that only some states have."""

_CALL: Final = ("callProviderMetadata",)
_RESULT: Final = ("callProviderMetadata", "resultProviderMetadata")
STATES: Final[Mapping[str, State]] = {
    "input-streaming": State((), ("input", "rawInput", "inputEncoding", *_CALL)),
    "input-available": State(("input",), _CALL),
    "approval-requested": State(("input",), _CALL, NEVER, is_approval_required=True),
    "approval-responded": State(("input",), _CALL, BOOLEAN, is_approval_required=True),
    "output-available": State(("input", "output"), ("preliminary", *_RESULT), TRUE),
    "output-error": State(("errorText",), ("input", "rawInput", *_RESULT), TRUE),
    "output-denied": State(("input",), _CALL, FALSE, is_approval_required=True),
}


def _part_schemas(schemas: _Schemas) -> Callable[[JsonObject], Kind | Problem]:
    version = schemas.version
    kinds = {tag: schemas.of_part(type_) for tag, type_ in PART_TYPES.items() if schemas.knows(type_)}
    data = schemas.of_struct(DataChunk, without=CANONICAL_ONLY[DataChunk], required=_always(DataChunk))
    static = {name: _tool(name, state, schemas, is_dynamic=False) for name, state in STATES.items()}
    dynamic = {
        name: _tool(name, state, schemas, is_dynamic=True)
        for name, state in STATES.items()
        if version >= 6 or not state.is_approval_required
    }

    def pick(part: JsonObject) -> Kind | Problem:
        type_ = part.get("type")
        if not isinstance(type_, str):
            return Problem("type", "string", shown(type_) if "type" in part else NOTHING)
        if type_.startswith(DATA_PREFIX):
            return data
        if type_ == "dynamic-tool":
            return _by_state(part, dynamic, version)
        if type_.startswith("tool-"):
            return _by_state(part, static, version)
        return kinds.get(type_) or Problem("type", f"a part type that version {version} knows", shown(type_))

    return pick


def _by_state(part: JsonObject, states: Mapping[str, Members], version: int) -> Kind | Problem:
    state = part.get("state")
    if isinstance(state, str) and state in states:
        return states[state]
    found = shown(state) if "state" in part else NOTHING
    return Problem("state", f"a tool state that version {version} knows", found)


def _tool(name: str, state: State, schemas: _Schemas, *, is_dynamic: bool) -> Members:
    """The members of a tool part in one state. An output or an error in another state is refused."""
    version = schemas.version
    in_state = {one: IN_STATES[one] for one in (*state.needs, *state.may)}
    members = {**TOOL, **in_state}
    members |= {one: NEVER for one in ("output", "errorText") if one not in state.needs}
    required = {"toolCallId", "state", *state.needs}
    if name == "input-streaming":
        members["rawInput"] = STRING  # the text so far
        if version < 6:
            del members["callProviderMetadata"]
    if is_dynamic:
        members |= {"toolName": STRING, "dynamic": FALSE}
        required.add("toolName")
    if not is_dynamic or version >= 6:  # version 5 has no approvals of dynamic tools
        members["approval"] = NEVER if state.approved is None else _approval(state.approved, schemas)
        required |= {"approval"} if state.is_approval_required else set()
    known = {one: kind for one, kind in members.items() if NEW_IN_TOOLS.get(one, 5) <= version}
    return Members(known, frozenset(required))


def _approval(approved: Plain, schemas: _Schemas) -> Members:
    """An approval. A request has no answer yet."""
    approval = schemas.of_part(Approval)
    members: Mapping[str, Kind] = {**approval.members, "approved": approved}
    if approved is NEVER:
        return Members({**members, "reason": NEVER}, approval.required)
    return Members(members, approval.required | {"approved"})
