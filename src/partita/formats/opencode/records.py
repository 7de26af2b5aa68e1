"""Exported sessions, one JSON document each → records."""

from collections.abc import Iterator

from partita.types.json import JsonObject, is_array, is_object


def records_of(document: JsonObject) -> Iterator[JsonObject]:
    """What a session says of itself, then its messages, one by one."""
    info = document.get("info")
    yield info if is_object(info) else document
    messages = document.get("messages")
    for message in messages if is_array(messages) else ():
        yield message if is_object(message) else {"message": message}
