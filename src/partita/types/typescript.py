"""TypeScript declarations of every public value, for the web UI and for clients.

python -m partita.types.typescript > web/src/partita.gen.ts
"""

import inspect
import json
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, UnsetType
from msgspec.structs import FieldInfo, fields

from .chunks import DATA_PREFIX, DataChunk, UnknownChunk
from .legacy import REMOVED_IN, LegacyRole
from .messages import ContentBase, MessageType, PrimitiveType
from .overview import OverviewState, ThreadDiff, ThreadOverview
from .parts import Interruption, PartState, ToolState, UnknownPart
from .schema import NOT_ON_WIRE, UNION_NAMES, UNIONS, contained_values, public_components, public_values
from .threads import RunStatus
from .tool_views import ChangeKind, Notice, Prompt, TodoStatus, ToolView
from .value import EXTRA_NAME, Value

HEADER = """\
// Generated from the Python types. Do not edit; run this instead:
//     python -m partita.types.typescript > web/src/partita.gen.ts
//
// The declarations describe what Partita writes. It also reads messages whose content is a string or a list
// of parts, and messages without the fields that are derived.

declare const unknownTag: unique symbol;

/**
 * A type that these declarations do not know: any string at run time. The brand distinguishes it from every
 * known type, so that comparing `type` narrows the union.
 */
export type UnknownTag = `${string & { readonly [unknownTag]: true }}`;
"""

LITERALS: Mapping[str, tuple[Any, str]] = {
    "MessageType": (
        MessageType,
        "The kind of a message; an event is a notice, not part of the conversation.",
    ),
    "PartState": (PartState, "Whether a text is still streaming."),
    "ToolState": (ToolState, "The state of a tool call."),
    "Interruption": (Interruption, "Why a call has no output."),
    "PrimitiveType": (PrimitiveType, "The kind of a primitive of a network."),
    "RunStatus": (RunStatus, "The status of a run."),
    "LegacyRole": (LegacyRole, "The role of a legacy message."),
    "TodoStatus": (TodoStatus, "The status of an item of a to-do list."),
    "ChangeKind": (ChangeKind, "What happened to a file."),
    "OverviewState": (OverviewState, "How a call ended."),
}
LITERAL_NAMES = {get_args(literal): name for name, (literal, _) in LITERALS.items()}

OPEN_TAGS: Mapping[type[Value], str] = {
    UnknownPart: "UnknownTag",
    UnknownChunk: "UnknownTag",
    DataChunk: f"`{DATA_PREFIX}${{string}}`",
}

LEAVES: Mapping[Any, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    datetime: "string",
    Any: "unknown",
}


def typescript() -> str:
    """All declarations, as the source of one module."""
    literals = (_alias(name, text, _choices(literal)) for name, (literal, text) in LITERALS.items())
    views = (*contained_values(ToolView), Notice, Prompt)
    overviews = (*contained_values(ThreadOverview), *contained_values(ThreadDiff))
    values = map(_interface, dict.fromkeys((*public_values(), *views, *overviews)))
    unions = (
        _alias(name, union.description, [member.__name__ for member in get_args(union.members)])
        for name, union in UNIONS.items()
    )
    tool_views = _alias(
        "ToolView", "What a tool call is and did.", [member.__name__ for member in get_args(ToolView)]
    )
    parts = _alias("PartView", "What is displayed for a part.", ["ToolView", "Notice", "Prompt"])
    return "\n".join([HEADER, *literals, *values, *unions, tool_views, parts])


def _alias(name: str, description: str, members: Sequence[str]) -> str:
    lines = "".join(f"\n  | {member}" for member in members)
    return f"{_comment(description)}export type {name} ={lines};\n"


def _interface(type_: type[Value]) -> str:
    lines = "".join(f"  readonly {line};\n" for line in _fields(type_))
    return f"{_comment(_description(type_))}export interface {type_.__name__} {{\n{lines}}}\n"


def _description(type_: type[Value]) -> str:
    text = " ".join((inspect.getdoc(type_) or "").split())
    deprecated = public_components().get(type_.__name__, {}).get("deprecated", False)
    return f"{text}\n@deprecated Use `Message`. Removed in version {REMOVED_IN}." if deprecated else text


def _comment(text: str) -> str:
    lines = text.replace("*/", "*\\/").split("\n")
    return (
        f"/** {lines[0]} */\n"
        if len(lines) == 1
        else "".join(["/**\n", *(f" * {line}\n" for line in lines), " */\n"])
    )


def _fields(type_: type[Value]) -> Iterator[str]:
    config = type_.__struct_config__
    if config.tag_field:
        yield f"{config.tag_field}: {OPEN_TAGS.get(type_) or json.dumps(config.tag)}"
    hidden = {EXTRA_NAME, *(NOT_ON_WIRE if type_ in OPEN_TAGS else ())}
    for field in fields(type_):
        if field.encode_name == "type" and type_ in OPEN_TAGS:
            yield f"type: {OPEN_TAGS[type_]}"
        elif field.encode_name not in hidden:
            yield f"{field.encode_name}{'?' if _may_be_absent(field) else ''}: {_type_of(field)}"
    yield "[key: string]: unknown"


def _may_be_absent(field: FieldInfo) -> bool:
    """Whether a field may be absent. A field with a default factory is always written."""
    return not field.required and field.default_factory is NODEFAULT


def _type_of(field: FieldInfo) -> str:
    """The type of a field. `None` is only written for a field without a default."""
    may_be_null = field.required and type(None) in get_args(field.type)
    return f"{_expression(field.type)} | null" if may_be_null else _expression(field.type)


def _expression(type_: Any) -> str:
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return _expression(arguments[0])
    if origin is Literal:
        return LITERAL_NAMES.get(arguments) or " | ".join(_choices(type_))
    if origin in (Union, types.UnionType):
        return " | ".join(_members(arguments))
    if origin is tuple:
        item = _expression(arguments[0])
        return f"readonly ({item})[]" if " " in item else f"readonly {item}[]"
    if origin is dict:
        return f"Readonly<Record<string, {_expression(arguments[1])}>>"
    return LEAVES.get(type_) or str(type_.__name__)


def _choices(literal: Any) -> list[str]:
    return [json.dumps(choice) for choice in get_args(literal)]


def _members(arguments: Sequence[Any]) -> list[str]:
    """The members of a union that are written; a named union is replaced by its name."""
    classes = [member for member in arguments if isinstance(member, type) and issubclass(member, Value)]
    if any(issubclass(member, ContentBase) for member in classes):
        return [member.__name__ for member in classes]  # shorthand is read, but never written
    names = [member.__name__ for member in classes]
    union = UNION_NAMES.get(frozenset(names))
    absent = (type(None), UnsetType)
    others = [_expression(member) for member in arguments if member not in (*classes, *absent)]
    return [*([union] if union else names), *others]


if __name__ == "__main__":
    sys.stdout.buffer.write(typescript().encode())
