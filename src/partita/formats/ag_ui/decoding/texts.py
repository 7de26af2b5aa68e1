"""Events of texts."""

from collections.abc import Mapping
from typing import Final

from partita.formats.ag_ui.notes import rest_of
from partita.types.json import JsonObject

from .members import Handler, text_in
from .run import BASE, Run


def text_start(run: Run, event: JsonObject) -> None:
    """A text begins."""
    id_ = text_in(event, "messageId")
    notes = rest_of(event, *BASE, "messageId", "role")
    run.settle()
    run.words.start(id_, event.get("role") or "assistant", notes)


def text_content(run: Run, event: JsonObject) -> None:
    """The next piece of a text."""
    run.words.grow(text_in(event, "messageId"), text_in(event, "delta"))
    run.rest(event, "messageId", "delta")


def text_end(run: Run, event: JsonObject) -> None:
    """A text or a reasoning is whole."""
    if not run.words.end(text_in(event, "messageId"), rest_of(event, *BASE, "messageId")):
        raise KeyError(event["messageId"])


def text_chunk(run: Run, event: JsonObject) -> None:
    """All of that in one."""
    id_ = event.get("messageId") or run.words.chunked
    if not isinstance(id_, str):
        raise KeyError("messageId")
    read = ["messageId", "delta"]
    if id_ != run.words.chunked:
        run.settle()
        notes = {"name": event["name"]} if "name" in event else {}
        run.words.start(id_, event.get("role") or "assistant", notes, chunked=True)
        read += ["name", "role"]
    if event.get("delta"):
        run.words.grow(id_, text_in(event, "delta"))
    run.rest(event, *read)


HANDLERS: Final[Mapping[str, Handler]] = {
    "TEXT_MESSAGE_START": text_start,
    "TEXT_MESSAGE_CONTENT": text_content,
    "TEXT_MESSAGE_END": text_end,
    "TEXT_MESSAGE_CHUNK": text_chunk,
    "REASONING_MESSAGE_END": text_end,
}
"""What each event tells."""
