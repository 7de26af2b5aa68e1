"""Events of reasoning, today's and those from before 1.0."""

from collections.abc import Mapping
from typing import Final

from partita.formats.ag_ui.notes import rest_of
from partita.types.json import JsonObject

from .members import Handler, plain_role, text_in
from .run import BASE, Run
from .words import REASONING


def span_start(run: Run, event: JsonObject) -> None:
    """Reasoning begins: messages of it come, or none."""
    run.settle()
    run.words.start_span(text_in(event, "messageId"), rest_of(event, *BASE, "messageId"))


def span_end(run: Run, event: JsonObject) -> None:
    """Reasoning has ended."""
    id_ = text_in(event, "messageId")
    run.begin_step()
    if left := run.words.end_span(id_, rest_of(event, *BASE, "messageId")):
        run.rest({"type": event["type"], **left})


def thought_start(run: Run, event: JsonObject) -> None:
    """A message of reasoning begins."""
    notes = rest_of(event, *BASE, "messageId", *plain_role(event))
    run.settle()
    run.words.start_reasoning(text_in(event, "messageId"), notes)


def thought(run: Run, event: JsonObject) -> None:
    """The next piece of reasoning."""
    run.words.grow(text_in(event, "messageId"), text_in(event, "delta"), REASONING)
    run.rest(event, "messageId", "delta")


def thought_chunk(run: Run, event: JsonObject) -> None:
    """All of that in one."""
    id_ = event.get("messageId") or run.words.chunked
    if not isinstance(id_, str):
        raise KeyError("messageId")
    if id_ != run.words.chunked:
        run.settle()
        run.words.start_reasoning(id_, {}, chunked=True)
    if event.get("delta"):
        run.words.grow(id_, text_in(event, "delta"))
    run.rest(event, "messageId", "delta")


def sealed(run: Run, event: JsonObject) -> None:
    """What only the agent can read, of a message or a call."""
    entity, value = text_in(event, "entityId"), text_in(event, "encryptedValue")
    run.seal(text_in(event, "subtype"), entity, value)
    run.rest(event, "entityId", "encryptedValue", "subtype")


def thinking_start(run: Run, event: JsonObject) -> None:
    """Reasoning begins."""
    run.settle()
    run.words.start_span(run.words.new_thought(), rest_of(event, *BASE))


def thinking_text_start(run: Run, event: JsonObject) -> None:
    """A message of reasoning begins."""
    run.settle()
    run.words.start_reasoning(run.words.new_thought(), rest_of(event, *BASE))


def thinking_text(run: Run, event: JsonObject) -> None:
    """The next piece of it."""
    delta = text_in(event, "delta")
    run.words.grow(run.words.thought or run.words.new_thought(), delta, REASONING)
    run.rest(event, "delta")


def thinking_text_end(run: Run, event: JsonObject) -> None:
    """It is whole."""
    if not run.words.end(run.words.thought or "", rest_of(event, *BASE)):
        raise KeyError("no reasoning is open")


def thinking_end(run: Run, event: JsonObject) -> None:
    """Reasoning has ended."""
    run.rest({"type": event["type"], **run.words.end_thinking(rest_of(event, *BASE))})


HANDLERS: Final[Mapping[str, Handler]] = {
    "REASONING_START": span_start,
    "REASONING_END": span_end,
    "REASONING_MESSAGE_START": thought_start,
    "REASONING_MESSAGE_CONTENT": thought,
    "REASONING_MESSAGE_CHUNK": thought_chunk,
    "REASONING_ENCRYPTED_VALUE": sealed,
    "THINKING_START": thinking_start,
    "THINKING_END": thinking_end,
    "THINKING_TEXT_MESSAGE_START": thinking_text_start,
    "THINKING_TEXT_MESSAGE_CONTENT": thinking_text,
    "THINKING_TEXT_MESSAGE_END": thinking_text_end,
}
"""What each event tells."""
