"""Reasoning items: summaries or raw words, and the encrypted whole that the next request has to bring."""

from collections.abc import Mapping
from typing import Final

from partita.types.json import JsonObject, is_object

from .answer import Answer
from .fields import ITEM, array, inner, objects, present, rest_of, text, whole

RAW: Final = "reasoning_text"
SUMMARY: Final = "summary_text"

KINDS: Final[Mapping[str, str]] = {
    "response.reasoning_summary_text.delta": SUMMARY,
    "response.reasoning_summary_text.done": SUMMARY,
    "response.reasoning_summary_part.added": SUMMARY,
    "response.reasoning_summary_part.done": SUMMARY,
    "response.reasoning_text.delta": RAW,
    "response.reasoning_text.done": RAW,
    "response.reasoning_part.added": RAW,
    "response.reasoning_part.done": RAW,
    "response.content_part.added": RAW,
    "response.content_part.done": RAW,
}
"""Events inside a reasoning item, and what they are about."""


class Thought:
    """One summary, or one piece of raw reasoning."""

    def __init__(self, id: str, kind: str | None) -> None:
        self.id = id
        self.kind = kind
        """Not known until the first event: an item may stay empty."""
        self.words: list[str] = []


class ReasoningItem:
    """Reasoning. It begins with an empty thought: the item matters even if nothing is said in it."""

    kind = "reasoning"

    def __init__(self, answer: Answer, item: JsonObject) -> None:
        self.is_ended = False
        self._answer = answer
        self._id = text(item, "id") or answer.name("reasoning")
        self._known = present(itemId=text(item, "id"))
        self._encrypted = item.get("encrypted_content")
        self._thoughts: dict[tuple[str | None, int], Thought] = {}
        self._count = 0
        self._last = self._open(None, 0)

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the reasoning."""
        kind = KINDS.get(text(event, "type"))
        if kind is None or self.is_ended:
            return False
        index = whole(event, "summary_index" if kind == SUMMARY else "content_index") or 0
        thought = self._thought(kind, index)
        if "delta" in event:
            self._say(thought, text(event, "delta"))
        elif not thought.words:
            self._say(thought, text(event, "text") or text(inner(event, "part"), "text"))
        return True

    def may_be(self, item: JsonObject) -> bool:
        """Whether a whole item begins with the words that came in pieces."""
        said = "".join(word for thought in self._thoughts.values() for word in thought.words)
        whole_text = "".join(
            text(part, "text") for name in ("summary", "content") for part in objects(item, name)
        )
        return bool(said) and whole_text.startswith(said)

    def end(self, item: JsonObject) -> None:
        """Take the whole item. Its encrypted content counts, not the one it began with."""
        for kind, field in ((SUMMARY, "summary"), (RAW, "content")):
            for index, part in enumerate(array(item, field)):
                thought = self._thought(kind, index)
                if not thought.words:
                    self._say(thought, text(part, "text") if is_object(part) else "")
        self._encrypted = item.get("encrypted_content")
        self._close(rest_of(item, "summary", "content", "encrypted_content", "status"))

    def stop(self, *, whole: bool) -> None:
        """The words so far are all there are."""
        self._close({})

    def _thought(self, kind: str, index: int) -> Thought:
        """The thought that an event is about. A new one ends the one before; the first is already open."""
        thought = self._thoughts.get((kind, index))
        if thought is not None:
            return thought
        first = self._thoughts.pop((None, 0), None)
        if first is not None:
            first.kind = kind
            self._thoughts[kind, index] = first
            return first
        self._answer.outlet.end(self._last.id, self._metadata(self._last))
        self._last = self._open(kind, index)
        return self._last

    def _open(self, kind: str | None, index: int) -> Thought:
        thought = Thought(f"{self._id}:{self._count}", kind)
        self._count += 1
        self._thoughts[kind, index] = thought
        self._answer.outlet.start_reasoning(
            thought.id, self._known | {"reasoningEncryptedContent": self._encrypted}
        )
        return thought

    def _say(self, thought: Thought, words: str) -> None:
        if words:
            thought.words.append(words)
            self._answer.outlet.reasoning(thought.id, words, self._metadata(thought))

    def _metadata(self, thought: Thought) -> JsonObject:
        return self._known | ({"type": RAW} if thought.kind == RAW else {})

    def _close(self, rest: JsonObject) -> None:
        if self.is_ended:
            return
        self.is_ended = True
        for thought in self._thoughts.values():
            metadata = self._metadata(thought) | {"reasoningEncryptedContent": self._encrypted}
            if rest:
                metadata[ITEM] = rest
            self._answer.outlet.end(thought.id, metadata)
