"""Notes: the members of provider metadata under the namespace of a format, or under Partita's own.

A format keeps in notes what canonical fields do not express: the residue of a block (see `wire`), the form in
which something was written, its position. The functions here read notes of parts and messages, and add them.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import ToolCallPart

T = TypeVar("T")

KEY: Final = "partita"
"""Partita's own namespace, and the member of other metadata with Partita's own values."""

SERVER_CALLS: Final = "serverCalls"
"""The metadata member with the ids of calls without an output that the agent, not its client, will run."""

NETWORK_PATH: Final = "networkPath"
"""The member of Partita's own notes about a call with the ids of the calls that lead to the original."""

RAW_INPUT: Final = "rawInput"
"""The note with the text of an input, where writing the input's value would give another text."""

FIELDS: Final = "fields"
"""The note that holds a residue, in namespaces that others use too."""

KIND: Final = "kind"
"""The note of a block's kind, where the part would otherwise be written as another kind of block."""

INDEX: Final = "index"
"""The note of the position that a value had."""

NO_NOTES: JsonObject = {}
"""The notes where there are none. It must not be changed."""


def notes(metadata: JsonObject | None, namespace: str) -> JsonObject:
    """Return the notes of a format in provider metadata."""
    own = metadata.get(namespace) if metadata else None
    return own if type(own) is dict else NO_NOTES


def add_notes(metadata: JsonObject | None, namespace: str, more: Mapping[str, Any]) -> JsonObject | None:
    """Return provider metadata with more notes of a format."""
    if not more:
        return metadata
    return {**(metadata or {}), namespace: {**notes(metadata, namespace), **more}}


def without_notes(metadata: JsonObject | None, namespace: str) -> JsonObject | None:
    """Return provider metadata without the notes of a format, or `None` if it had nothing else."""
    if not metadata or namespace not in metadata:
        return metadata
    return {name: value for name, value in metadata.items() if name != namespace} or None


def metadata_field(part: Any) -> str:
    """Return the field of a part that holds its notes."""
    return "call_provider_metadata" if type(part) is ToolCallPart else "provider_metadata"


def part_notes(part: Any, namespace: str) -> JsonObject:
    """Return the notes of a format about a part."""
    return notes(getattr(part, metadata_field(part), None), namespace)


def with_part_notes(part: Any, namespace: str, more: Mapping[str, Any]) -> Any:
    """Return a part with more notes of a format."""
    field = metadata_field(part)
    return replace(part, **{field: add_notes(getattr(part, field), namespace, more)}) if more else part


def message_notes(message: Any, namespace: str) -> JsonObject:
    """Return the notes of a format about a message."""
    return notes(message.content.provider_metadata, namespace)


def with_message_notes(message: T, namespace: str, more: Mapping[str, Any]) -> T:
    """Return a message with more notes of a format."""
    if not more:
        return message
    content: Any = message.content  # type: ignore[attr-defined] # T is a message
    metadata = add_notes(content.provider_metadata, namespace, more)
    changed: Any = replace(message, content=replace(content, provider_metadata=metadata))  # type: ignore[type-var] # T is a message
    return changed  # type: ignore[no-any-return] # of the type it had


def server_calls(metadata: Json) -> frozenset[str]:
    """Return the ids of calls that the agent itself will run, by the metadata of their message."""
    ids: Json = metadata.get(SERVER_CALLS) if is_object(metadata) else None
    return frozenset(str(id_) for id_ in ids) if is_array(ids) else frozenset()


def network_path(metadata: JsonObject | None) -> tuple[str, ...]:
    """Return the path to the original of a call that a network repeats for its client, else an empty one."""
    path: Json = notes(metadata, KEY).get(NETWORK_PATH)
    return tuple(str(step) for step in path) if is_array(path) else ()
