"""Chat Completions, streamed or whole → chunks.

Servers that speak alike differ in nearly every detail, so nothing is relied on: every field may be missing,
empty, or of another kind. What is not understood is told as `data-NAMESPACE-unknown`; nothing fails.
"""

from typing import Final

from partita.types.chunks import Chunk, DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object

from .answer import Answer
from .deltas import Form, take_choice
from .ending import failures_in
from .looking import items, word
from .usage import usage_in

DONE: Final = "[DONE]"
"""The last record of a stream, which is no JSON."""

SHOWN: Final = 100
"""How many characters of a record that is no JSON its error shows."""


class ChatDecoder:
    """Events in, chunks out. One decoder reads one answer."""

    def __init__(self, namespace: str = "openai") -> None:
        """`namespace` is the server's name in provider metadata; only the caller knows whom it asked."""
        self._answer = Answer(namespace)

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to. A string is a record that was no JSON."""
        outlet = self._answer.outlet
        outlet.begin()
        if isinstance(event, str):
            if event.strip() != DONE:
                outlet.error(f"unparsable record: {event[:SHOWN]}")
        elif not self._take(event, "delta", "message"):
            outlet.emit(DataChunk(f"data-{outlet.namespace}-unknown", event))
        return outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._answer.settle(whole=False)
        return self._answer.outlet.take()

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole answer that was not streamed, or of the body of an error.

        What is neither is kept, and has no end: only who sees the HTTP status knows what it means.
        """
        outlet = self._answer.outlet
        if not self._take(body, "message", "delta"):
            outlet.emit(DataChunk(f"data-{outlet.namespace}-unknown", body))
            if not is_object(body) or not _is_answer(body):
                return outlet.take()
        self._answer.settle(whole=True)
        return outlet.take()

    def _take(self, record: Json, *forms: Form) -> bool:
        """Take a record, or a list of errors as Gemini's endpoint sends it; whether all was understood."""
        if is_array(record) and record and all(is_object(item) and "error" in item for item in record):
            understood = [self._take(item, *forms) for item in record]
            return all(understood)
        if not is_object(record) or not _is_answer(record):
            return False
        self._answer.hear(record)
        choices = record.get("choices")
        taken = [self._take_choice(choice, place, forms) for place, choice in enumerate(items(choices))]
        return all(taken) and (choices is None or is_array(choices))

    def _take_choice(self, choice: Json, place: int, forms: tuple[Form, ...]) -> bool:
        if not is_object(choice):
            return False
        index = choice.get("index")
        if (index if isinstance(index, int) else place) == 0:
            return take_choice(self._answer, choice, forms)
        self._answer.others.append(choice)
        return True


def _is_answer(record: JsonObject) -> bool:
    """Whether a record has anything that an answer, or the failure of one, is known by."""
    named = word(record, "object").startswith("chat.completion")
    return named or "choices" in record or usage_in(record) is not None or bool(failures_in(record))
