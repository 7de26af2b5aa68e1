"""Chats of older versions, one JSON document each → the records that newer versions write."""

from collections.abc import Iterator

from partita.types.json import JsonObject, is_array, is_object


def records_of(document: JsonObject) -> Iterator[JsonObject]:
    """The header of a chat, then its messages, one by one."""
    messages = document.get("messages")
    if not is_array(messages):
        yield document
        return
    yield {key: value for key, value in document.items() if key != "messages"}
    yield from (message if is_object(message) else {"message": message} for message in messages)
