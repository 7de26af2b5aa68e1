"""The SDK's schemas of chunks and messages, derived from the canonical types and the differences of versions.

Chunks are loose: unknown members are accepted. From messages they are removed.

A kind of value reads a value and collects its problems. An optional member may be absent but not `null`. A
required member of any kind must be present, even if only as `null`. The rules are those of zod 4.6, which all
three versions accept. `validate` uses these schemas.

Source: https://github.com/vercel/ai/blob/main/packages/ai/src/ui/validate-ui-messages.ts
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, Protocol, cast, get_args, get_origin

import msgspec
from msgspec import UnsetType

from partita.stream.state import Version
from partita.stream.targets import ALWAYS_PRESENT, CHUNKS, FIELDS, FINISH_REASONS, Since, Target
from partita.types.chunks import DATA_PREFIX, DataChunk, TaggedChunk, UnknownChunk
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.parts import Approval, DocumentCitationSource, FilePart, TextPart, UrlCitationSource
from partita.types.value import EXTRA_NAME

from .versions import CANONICAL_ONLY, MEMBERS, PART_TYPES, PARTS, check_version

# Kinds of values

MAX_DEPTH: Final = 700
"""The levels of JSON that the SDK's recursive checks can handle; they overflow before the thousandth."""

MAX_SAFE_INTEGER: Final = 2**53 - 1
NOTHING: Final = "nothing"
SHOWN: Final = 40


class SchemaProblem(NamedTuple):
    """A value that a schema refuses: its path, what was expected, and what was found."""

    path: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


@dataclass(slots=True)
class Reading:
    """The state of reading one value: the problems so far, and whether unknown members are kept."""

    lossless: bool = False
    problems: list[SchemaProblem] = field(default_factory=list[SchemaProblem])

    def refuse(self, path: str, expected: str, found: str) -> None:
        """Add a problem."""
        self.problems.append(SchemaProblem(path, expected, found))


class Kind(Protocol):
    """A kind of value. `read` returns the value without unknown members."""

    @property
    def name(self) -> str:
        """The name of the kind in a problem."""
        ...

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the value without unknown members, and add its problems to `reading`."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """A value that is accepted or refused as it is."""

    name: str
    accepts: Callable[[Json], bool]

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the value itself."""
        if not self.accepts(value):
            reading.refuse(path, self.name, shown(value))
        return value


@dataclass(frozen=True, slots=True)
class Items:
    """An array whose items are all of one kind."""

    of: Kind
    name: str = "array"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the items without unknown members."""
        if not is_array(value):
            reading.refuse(path, self.name, shown(value))
            return value
        return [self.of.read(item, f"{path}[{index}]", reading) for index, item in enumerate(value)]


@dataclass(frozen=True, slots=True)
class Record:
    """An object with any keys, whose values are all of one kind. The key `__proto__` is removed."""

    of: Kind
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the members without unknown members."""
        if not is_object(value):
            reading.refuse(path, self.name, shown(value))
            return value
        return {
            key: item if key == "__proto__" else self.of.read(item, f"{path}.{key}", reading)
            for key, item in value.items()
            if reading.lossless or key != "__proto__"
        }


@dataclass(frozen=True, slots=True)
class JsonTree:
    """Any JSON value of at most `MAX_DEPTH` levels, without the key `__proto__`."""

    name: str = "JSON nested less deeply"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the value without the key `__proto__` at any depth."""
        if is_deeper(value, MAX_DEPTH):
            reading.refuse(path, self.name, f"more than {MAX_DEPTH} levels")
            return value
        if reading.lossless or not any(key == "__proto__" for key in keys_of(value)):
            return value
        return rebuild(value, keeps=lambda key: key != "__proto__")


@dataclass(frozen=True, slots=True)
class Members:
    """An object with known members, some of them required."""

    members: Mapping[str, Kind]
    required: frozenset[str]
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the known members, or all members if `reading` is lossless."""
        if not is_object(value):
            reading.refuse(path, self.name, shown(value))
            return value
        known: JsonObject = dict(value) if reading.lossless else {}
        for key, kind in self.members.items():
            if key in value:
                item = value[key]
                if isinstance(kind, Plain) and kind.accepts(item):  # for most members no path is built
                    known[key] = item
                else:
                    known[key] = kind.read(item, f"{path}.{key}", reading)
            elif key in self.required:
                reading.refuse(f"{path}.{key}", kind.name, NOTHING)
        return known


@dataclass(frozen=True, slots=True)
class Variants:
    """An object of one of several kinds, which its members decide."""

    pick: Callable[[JsonObject], Kind | SchemaProblem]
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the value as its variant reads it."""
        if not is_object(value):
            reading.refuse(path, self.name, shown(value))
            return value
        variant = self.pick(value)
        if isinstance(variant, SchemaProblem):
            reading.refuse(f"{path}.{variant.path}", variant.expected, variant.found)
            return value
        return variant.read(value, path, reading)


def one_of(*values: str) -> Plain:
    """A string that is one of a few."""
    names = ", ".join(f'"{value}"' for value in values)
    return Plain(names if len(values) == 1 else f"one of {names}", lambda value: value in values)


def pick_by(key: str, variants: Mapping[str, Kind]) -> Callable[[JsonObject], Kind | SchemaProblem]:
    """Choose a variant by the string at `key`."""
    expected = f"one of {', '.join(sorted(variants))}"

    def pick(value: JsonObject) -> Kind | SchemaProblem:
        tag = value.get(key)
        if isinstance(tag, str) and tag in variants:
            return variants[tag]
        return SchemaProblem(key, expected, shown(tag) if key in value else NOTHING)

    return pick


def _is_index(value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return (isinstance(value, int) or value.is_integer()) and 0 <= value <= MAX_SAFE_INTEGER


STRING: Final = Plain("string", lambda value: isinstance(value, str))
BOOLEAN: Final = Plain("boolean", lambda value: isinstance(value, bool))
TRUE: Final = Plain("true", lambda value: value is True)
FALSE: Final = Plain("false", lambda value: value is False)
INDEX: Final = Plain("integer from 0", _is_index)
ANY: Final = Plain("any JSON value", lambda value: True)
NEVER: Final = Plain("no such member", lambda value: False)


def shown(value: Json) -> str:
    """Return a short description of a value, for a problem."""
    if isinstance(value, str):
        return f'"{value if len(value) <= SHOWN else value[:SHOWN] + "…"}"'
    return kind_of(value)


def is_deeper(value: Json, limit: int) -> bool:
    """Whether objects and arrays are nested more than `limit` times."""
    level = [value]
    for _ in range(limit + 1):
        level = [item for container in level for item in _inside(container)]
        if not level:
            return False
    return True


def keys_of(value: Json) -> Iterator[str]:
    """Yield every key of every object in a value."""
    stack = [value]
    while stack:
        item = stack.pop()
        if is_object(item):
            yield from item
        stack.extend(_inside(item))


def rebuild(
    value: Json,
    *,
    text: Callable[[str], str] = lambda text: text,
    keeps: Callable[[str], bool] = lambda key: True,
) -> Json:
    """Return a copy of a value of any depth without some keys. `text` converts its strings and keys."""
    root: list[Json] = []
    stack: list[tuple[Json, Callable[[Json], None]]] = [(value, root.append)]
    while stack:
        item, place = stack.pop()
        if is_object(item):
            copy: JsonObject = {text(key): None for key in item if keeps(key)}
            place(copy)
            stack.extend((inner, _setter(copy, text(key))) for key, inner in item.items() if keeps(key))
        elif is_array(item):
            items: list[Json] = [None] * len(item)
            place(items)
            stack.extend((inner, _setter(items, index)) for index, inner in enumerate(item))
        else:
            place(text(item) if isinstance(item, str) else item)
    return root[0]


def _setter(container: Json, key: str | int) -> Callable[[Json], None]:
    def place(value: Json) -> None:
        container[key] = value

    return place


def _inside(value: Json) -> list[Json]:
    if is_object(value):
        return list(value.values())
    return value if is_array(value) else []


# Schemas

JSON_OBJECT: Final = Record(JsonTree())
PROVIDER_METADATA: Final = Record(JSON_OBJECT)
ROLES: Final = ("system", "user", "assistant")


def chunk_problems(chunk: Json, version: int = 7) -> list[SchemaProblem]:
    """Return why a client of that version refuses a chunk; empty if it accepts it.

    Unknown members are accepted.
    """
    reading = Reading()
    _chunk_schema(check_version(version)).read(chunk, "$", reading)
    return reading.problems


@cache
def message_schema(version: int) -> Kind:
    """Return the schema of a UI message in that version."""
    members: Mapping[str, Kind] = {
        "id": STRING,
        "role": one_of(*ROLES),
        "metadata": ANY,
        "parts": Items(Variants(_part_schemas(_Schemas(check_version(version))))),
    }
    return Message(Members(members, frozenset({"id", "role", "parts"})))


class Message(NamedTuple):
    """A UI message: its members, and at least one part unless it is of the assistant."""

    members: Members
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """Return the message without unknown members."""
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
        """Return the members of a type.

        `required`: members that are required besides those without a default.
        """
        newer = {**FIELDS.get(type_, {}), **MEMBERS.get(type_, {})}
        members: dict[str, Kind] = {}
        needed: set[str] = set()
        if tag_field := type_.__struct_config__.tag_field:
            members[tag_field] = STRING  # the member that has decided the schema
        for one in msgspec.structs.fields(type_):
            is_known = self.target.knows(newer.get(one.name, Since()))
            if one.encode_name == EXTRA_NAME or one.name in without or not is_known:
                continue
            members[one.encode_name] = self._by_name.get(one.name) or self._of_type(one.type)
            if one.required or one.name in required:
                needed.add(one.encode_name)
        return Members(members, frozenset(needed))

    def of_part(self, type_: type[Any]) -> Members:
        """Return the members of a type of part."""
        return self.of_struct(type_, without=CANONICAL_ONLY.get(type_, ()))

    def _of_type(self, annotation: Any) -> Kind:
        """Return the schema of a member. `None` as a default is an absent member on the wire."""
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
            case _:  # of a steering message, which only has texts and files
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

    def pick(chunk: JsonObject) -> Kind | SchemaProblem:
        type_ = chunk.get("type")
        if isinstance(type_, str):
            kind = data if type_.startswith(DATA_PREFIX) else kinds.get(type_)
            if kind is not None:
                return kind
        found = shown(type_) if "type" in chunk else NOTHING
        return SchemaProblem("type", f"a chunk type that version {version} knows", found)

    return Variants(pick)


def _always(type_: type[Any]) -> Collection[str]:
    return {ALWAYS_PRESENT[type_]} if type_ in ALWAYS_PRESENT else ()


# Parts


class State(NamedTuple):
    """The members that a tool part has in one state, besides those of every tool part."""

    needs: Collection[str]
    may: Collection[str]
    approved: Plain | None = None
    """The required value of `approval.approved`. Without it there must be no approval."""
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
"""Members of tool parts that some versions do not have, and the first version that has them."""

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


def _part_schemas(schemas: _Schemas) -> Callable[[JsonObject], Kind | SchemaProblem]:
    version = schemas.version
    kinds = {tag: schemas.of_part(type_) for tag, type_ in PART_TYPES.items() if schemas.knows(type_)}
    data = schemas.of_struct(DataChunk, without=CANONICAL_ONLY[DataChunk], required=_always(DataChunk))
    static = {name: _tool(name, state, schemas, is_dynamic=False) for name, state in STATES.items()}
    dynamic = {
        name: _tool(name, state, schemas, is_dynamic=True)
        for name, state in STATES.items()
        if version >= 6 or not state.is_approval_required
    }

    def pick(part: JsonObject) -> Kind | SchemaProblem:
        type_ = part.get("type")
        if not isinstance(type_, str):
            return SchemaProblem("type", "string", shown(type_) if "type" in part else NOTHING)
        if type_.startswith(DATA_PREFIX):
            return data
        if type_ == "dynamic-tool":
            return _by_state(part, dynamic, version)
        if type_.startswith("tool-"):
            return _by_state(part, static, version)
        return kinds.get(type_) or SchemaProblem(
            "type", f"a part type that version {version} knows", shown(type_)
        )

    return pick


def _by_state(part: JsonObject, states: Mapping[str, Members], version: int) -> Kind | SchemaProblem:
    state = part.get("state")
    if isinstance(state, str) and state in states:
        return states[state]
    found = shown(state) if "state" in part else NOTHING
    return SchemaProblem("state", f"a tool state that version {version} knows", found)


def _tool(name: str, state: State, schemas: _Schemas, *, is_dynamic: bool) -> Members:
    """Return the members of a tool part in one state. An output or an error in another state is refused."""
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
    """Return the schema of an approval. A request has no decision yet."""
    approval = schemas.of_part(Approval)
    members: Mapping[str, Kind] = {**approval.members, "approved": approved}
    if approved is NEVER:
        return Members({**members, "reason": NEVER}, approval.required)
    return Members(members, approval.required | {"approved"})
