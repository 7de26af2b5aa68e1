"""What the model says: texts and reasoning, out of items and of the events that say the same."""

from collections.abc import Sequence
from typing import Final

from partita.types.json import Json, JsonObject, is_object

from .content import blocks_of, text_in, words_of
from .echoes import Echoes, Heard, Kind
from .fields import AGENT, present, text, texts, under_agent
from .prompts import Prompts
from .responses import Response, Responses
from .telling import Telling

MESSAGE: Final = frozenset(
    {"type", "id", "internal_chat_message_metadata_passthrough", "role", "content", "phase", "end_turn"}
)
REASONING: Final = frozenset(
    {"type", "id", "internal_chat_message_metadata_passthrough", "summary", "content", "encrypted_content"}
)
"""The fields of items that are understood, or known to mean nothing to a reader."""


class Answers:
    """The answer at hand."""

    def __init__(self, telling: Telling, prompts: Prompts, responses: Responses) -> None:
        self._telling = telling
        self._prompts = prompts
        self._responses = responses
        self._echoes = Echoes()

    def response(self, record: JsonObject) -> Response:
        """The response that an event is for."""
        if not self._responses.is_open:
            self._prompts.answered()
        return self._responses.at_hand(record)

    def filled(self, item: JsonObject) -> Response:
        """The response that an item is for."""
        kind = item.get("type")
        words = words_of(item.get("content")) if kind == "message" else None
        alone = self._echoes.item(words, is_reasoning=kind == "reasoning")
        response = self.response(alone[0].event if alone else item)
        self._tell_events(alone)
        response.filled = True
        return response

    def hear(self, kind: Kind, words: str, event: JsonObject) -> None:
        """Words of an event. They begin a response, and are told by an item, or else by `speak`."""
        if self._echoes.hear(kind, words, event, self._telling.teller.line):
            self.response(event)

    def speak(self) -> None:
        """Tell what events said and no item has."""
        self._tell_events(self._echoes.give_up())

    def _tell_events(self, events: Sequence[Heard]) -> None:
        for heard in events:
            with self._telling.teller.as_of(heard.line):
                response = self.response(heard.event)
                tell = self._responses.text if heard.kind == "text" else self._responses.reasoning
                tell(response, heard.words, under_agent(source="event"))

    def forget(self) -> None:
        """Another turn begins."""
        self._echoes.forget()

    def text(self, item: JsonObject) -> None:
        """An item with words for the reader: a part for each piece of it."""
        response = self.filled(item)
        content = item.get("content")
        if not self._echoes.tell("text", words_of(content)):
            return
        extra = self._telling.check(item, MESSAGE, "message")
        said = present(id=text(item, "id"), phase=text(item, "phase"), extra=extra)
        for index, block in enumerate(blocks_of(content) or [""]):
            piece = text_in(block)
            if piece is None:
                self._telling.teller.puzzle("unknown content of an answer")
                self._responses.data(response, "content", block)
                continue
            rest = _rest(block) | said | present(continues=index > 0 or None)
            self._responses.text(response, piece, {AGENT: rest} if rest else None)

    def reasoning(self, item: JsonObject) -> None:
        """An item with words the model wrote for itself, and with what only the provider can read."""
        response = self.filled(item)
        summary, content = texts(item, "summary"), texts(item, "content")
        told = [self._echoes.tell("reasoning", words) for words in (*summary, *content)]
        encrypted = item.get("encrypted_content")
        if told and not any(told) and encrypted is None:
            return
        metadata = under_agent(
            id=text(item, "id"),
            encryptedContent=encrypted,
            content=content if summary and content else None,
            extra=self._telling.check(item, REASONING, "reasoning"),
        )
        self._responses.reasoning(response, "\n\n".join(summary or content), metadata)


def _rest(block: Json) -> JsonObject:
    """What a text says beside its words: annotations, for one."""
    if not is_object(block):
        return {}
    return {name: value for name, value in block.items() if name not in ("type", "text") and value}
