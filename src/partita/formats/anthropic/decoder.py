"""Anthropic's stream of events, or its whole answer → chunks. One answer is one step of a message.

What is not understood is told as `data-anthropic-unknown`; nothing makes the decoder fail.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from partita.errors import DecodeError
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, dumps, is_object

from .answer import Answer
from .words import text_of

Take: TypeAlias = Callable[[Answer, JsonObject], bool]
"""Reads an event; whether it was understood."""

UNPARSABLE: Final = "unparsable record"
NO_MESSAGE: Final = "the body is neither a message nor an error"


class AnthropicDecoder:
    """Events in, chunks out. One decoder reads one answer."""

    def __init__(self, known_calls: Iterable[str] = ()) -> None:
        """`known_calls` are the calls of earlier steps, if the answer goes on with a message that holds them.

        The result of a server tool may come an answer later than its call.
        """
        self._answer = Answer(known_calls)

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to. A text is a record that was no JSON."""
        answer = self._answer
        if isinstance(event, str):
            answer.outlet.error(UNPARSABLE)
            answer.puzzle(event)
        elif not self._take(event):
            answer.puzzle(event)
        return answer.outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._answer.end(is_cut=bool(self._answer.failures))
        return self._answer.outlet.take()

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole answer, or of the error that came instead of one."""
        answer = self._answer
        if is_object(body) and body.get("type") == "message":
            answer.begin(body)
        elif not (is_object(body) and "error" in body and _take_error(answer, body)):
            answer.puzzle(body)
            answer.fail(None, NO_MESSAGE)
        answer.end()
        return answer.outlet.take()

    def _take(self, event: Json) -> bool:
        if not is_object(event):
            return False
        kind = event.get("type")
        if kind is None and "error" in event:
            kind = "error"
        take = TAKERS.get(kind) if isinstance(kind, str) else None
        if take is None or self._answer.outlet.is_finished:
            return kind == "ping"
        return take(self._answer, event)


def _take_start(answer: Answer, event: JsonObject) -> bool:
    message = event.get("message")
    if not is_object(message):
        return False
    answer.begin(message)
    answer.hear(event)
    return True


def _take_body(answer: Answer, event: JsonObject) -> bool:
    """A whole answer where a stream was asked for."""
    answer.begin(event)
    answer.end()
    return True


def _take_block_start(answer: Answer, event: JsonObject) -> bool:
    index = index_of(event)
    return index is not None and answer.open(index, event.get("content_block"))


def _take_block_delta(answer: Answer, event: JsonObject) -> bool:
    index, delta = index_of(event), event.get("delta")
    return index is not None and is_object(delta) and answer.grow(index, delta)


def _take_block_stop(answer: Answer, event: JsonObject) -> bool:
    index = index_of(event)
    return index is not None and answer.close(index)


def _take_delta(answer: Answer, event: JsonObject) -> bool:
    delta = event.get("delta")
    if not is_object(delta):
        return False
    answer.hear(delta)
    answer.hear(event)
    return True


def _take_stop(answer: Answer, event: JsonObject) -> bool:
    answer.end(is_cut=bool(answer.failures))
    return True


def _take_error(answer: Answer, event: JsonObject) -> bool:
    answer.fail(event.get("error"), error_text(event.get("error")))
    answer.hear(event)
    return True


def _pass(answer: Answer, event: JsonObject) -> bool:
    """Nothing: it only says that the other side is there."""
    return True


def index_of(event: JsonObject) -> int | None:
    """The number of the block that an event is about."""
    index = event.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def error_text(error: Json) -> str:
    """The words of an error, whatever shape it has."""
    words = text_of(error) or (text_of(error.get("message")) if is_object(error) else None)
    if words is not None:
        return words
    try:
        return dumps(error).decode()
    except DecodeError:
        return "an error without words"


TAKERS: Final[Mapping[str, Take]] = {
    "message_start": _take_start,
    "content_block_start": _take_block_start,
    "content_block_delta": _take_block_delta,
    "content_block_stop": _take_block_stop,
    "message_delta": _take_delta,
    "message_stop": _take_stop,
    "message": _take_body,
    "error": _take_error,
    "ping": _pass,
}
