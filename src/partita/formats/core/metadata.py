"""Notes of a format: what provider metadata holds under the format's namespace. Some notes are Partita's own.

Two of these are about calls without an output: whether the agent or its client runs the call.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import ToolCallPart

T = TypeVar("T")

KEY: Final = "partita"
"""Partita's own namespace, and the name of its member in metadata of others."""

SERVER_CALLS: Final = "serverCalls"
"""The member of the metadata of a message with the ids of calls without an output that its agent will run."""

NETWORK_PATH: Final = "networkPath"
"""The member of Partita's own metadata of a call with the ids of the calls that lead to the original."""

RAW_INPUT: Final = "rawInput"
"""The note of the text of an input, if it is not the JSON that is written for its value."""

FIELDS: Final = "fields"
"""The note of a residue, in namespaces that others use too."""

KIND: Final = "kind"
"""The note of a block's kind, where the part alone would be written as a block of another kind."""

INDEX: Final = "index"
"""The note of the position that something had among others."""

NO_NOTES: JsonObject = {}
"""What `notes` returns for metadata without the namespace. It must not be changed."""


def notes(metadata: JsonObject | None, namespace: str) -> JsonObject:
    """The notes of a format in provider metadata."""
    own = metadata.get(namespace) if metadata else None
    return own if type(own) is dict else NO_NOTES


def add_notes(metadata: JsonObject | None, namespace: str, more: Mapping[str, Any]) -> JsonObject | None:
    """Provider metadata with more notes of a format."""
    if not more:
        return metadata
    return {**(metadata or {}), namespace: {**notes(metadata, namespace), **more}}


def without_notes(metadata: JsonObject | None, namespace: str) -> JsonObject | None:
    """Provider metadata without the notes of a format; `None` if there were only notes."""
    if not metadata or namespace not in metadata:
        return metadata
    return {name: value for name, value in metadata.items() if name != namespace} or None


def metadata_field(part: Any) -> str:
    """The field of a part with the provider metadata that notes are in."""
    return "call_provider_metadata" if type(part) is ToolCallPart else "provider_metadata"


def part_notes(part: Any, namespace: str) -> JsonObject:
    """The notes of a format about a part."""
    return notes(getattr(part, metadata_field(part), None), namespace)


def with_part_notes(part: Any, namespace: str, more: Mapping[str, Any]) -> Any:
    """A part with more notes of a format."""
    field = metadata_field(part)
    return replace(part, **{field: add_notes(getattr(part, field), namespace, more)}) if more else part


def message_notes(message: Any, namespace: str) -> JsonObject:
    """The notes of a format about a message."""
    return notes(message.content.provider_metadata, namespace)


def with_message_notes(message: T, namespace: str, more: Mapping[str, Any]) -> T:
    """A message with more notes of a format."""
    if not more:
        return message
    content: Any = message.content  # type: ignore[attr-defined] # T is a message
    metadata = add_notes(content.provider_metadata, namespace, more)
    changed: Any = replace(message, content=replace(content, provider_metadata=metadata))  # type: ignore[type-var] # T is a message
    return changed  # type: ignore[no-any-return] # of the type it had


def server_calls(metadata: Json) -> frozenset[str]:
    """The ids of calls without an output that the agent itself will run, by the metadata of its message."""
    ids: Json = metadata.get(SERVER_CALLS) if is_object(metadata) else None
    return frozenset(str(id_) for id_ in ids) if is_array(ids) else frozenset()


def network_path(metadata: JsonObject | None) -> tuple[str, ...]:
    """The path to the original of a call that a network repeats for its client; empty for any other call."""
    path: Json = notes(metadata, KEY).get(NETWORK_PATH)
    return tuple(str(step) for step in path) if is_array(path) else ()
