"""Message items: words for the reader, or a refusal, with what they cite."""

from collections.abc import Mapping
from typing import Final

from partita.types.chunks import CustomChunk, SourceDocumentChunk, SourceUrlChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import Citation

from .annotations import AT_ONCE, citation_of, source_of
from .answer import Answer
from .fields import ITEM, NAMESPACE, array, inner, objects, present, rest_of, text, whole

KINDS: Final[Mapping[str, str]] = {"output_text": "text", "refusal": "refusal"}
"""Content parts that are words, and the field that holds them."""


class Passage:
    """One content part. Offsets of annotations count from its beginning."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.is_refusal = False
        self.words: list[str] = []
        self.logprobs: list[Json] = []
        self.annotations: list[JsonObject] = []
        self.sources: list[SourceUrlChunk | SourceDocumentChunk] = []
        """Sources to tell once the text is whole."""


class MessageItem:
    """A message of the model. Its first passage has the id of the item, as in the AI SDK."""

    kind = "message"

    def __init__(self, answer: Answer, item: JsonObject) -> None:
        self.is_ended = False
        self._answer = answer
        self._id = text(item, "id") or answer.name("text")
        self._known = present(itemId=text(item, "id"), phase=text(item, "phase"))
        self._passages: dict[int, Passage] = {}
        self._passage(0)

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the message."""
        if self.is_ended:
            return False
        index = whole(event, "content_index") or 0
        match text(event, "type"):
            case "response.output_text.delta" | "response.refusal.delta":
                self._say(self._passage(index), event)
            case "response.output_text.done":
                self._fill(self._passage(index), {**event, "type": "output_text"})
            case "response.refusal.done":
                self._fill(self._passage(index), {**event, "type": "refusal"})
            case "response.output_text.annotation.added":
                self._cite(self._passage(index), event.get("annotation"))
            case "response.content_part.added" | "response.content_part.done":
                return self._take_part(index, inner(event, "part"))
            case _:
                return False
        return True

    def may_be(self, item: JsonObject) -> bool:
        """Whether a whole message begins with the words that came in pieces."""
        said = "".join(word for passage in self._passages.values() for word in passage.words)
        content = [text(part, KINDS.get(text(part, "type"), "")) for part in objects(item, "content")]
        return bool(said) and "".join(content).startswith(said)

    def end(self, item: JsonObject) -> None:
        """Take the whole message: what did not come in pieces comes now."""
        self._known |= present(phase=text(item, "phase"))
        rest = rest_of(item, "content", "role", "status", "phase")
        for index, part in enumerate(array(item, "content")):
            if is_object(part) and not self._take_part(index, part):
                kind = f"{NAMESPACE}.{text(part, 'type') or 'part'}"
                self._answer.outlet.emit(CustomChunk(kind, {NAMESPACE: {**self._known, "part": part}}))
        self._close(rest)

    def stop(self, *, whole: bool) -> None:
        """The words so far are all there are."""
        self._close({})

    def _passage(self, index: int) -> Passage:
        passage = self._passages.get(index)
        if passage is None:
            passage = Passage(f"{self._id}:{index}" if index else self._id)
            self._passages[index] = passage
            self._answer.outlet.start_text(passage.id, self._known)
        return passage

    def _say(self, passage: Passage, event: JsonObject) -> None:
        self._speak(passage, text(event, "delta"), refused=text(event, "type") == "response.refusal.delta")
        passage.logprobs += array(event, "logprobs")

    def _speak(self, passage: Passage, words: str, *, refused: bool) -> None:
        passage.is_refusal |= refused
        self._answer.is_refusal |= refused
        if words:
            passage.words.append(words)
            self._answer.outlet.text(passage.id, words)

    def _fill(self, passage: Passage, part: JsonObject) -> None:
        """Take a content part that is whole. Words that came in pieces are not told again."""
        refused = text(part, "type") == "refusal"
        self._speak(passage, "" if passage.words else text(part, KINDS[text(part, "type")]), refused=refused)
        passage.logprobs = passage.logprobs or [*array(part, "logprobs")]
        for annotation in array(part, "annotations")[len(passage.annotations) :]:
            self._cite(passage, annotation)

    def _take_part(self, index: int, part: JsonObject) -> bool:
        if text(part, "type") not in KINDS:
            return False
        self._fill(self._passage(index), part)
        return True

    def _cite(self, passage: Passage, annotation: Json) -> None:
        if not is_object(annotation):
            return
        passage.annotations.append(annotation)
        source = source_of(annotation, self._answer.source_id())
        if source is not None and text(annotation, "type") in AT_ONCE:
            self._answer.outlet.emit(source)
        elif source is not None:
            passage.sources.append(source)

    def _close(self, rest: JsonObject) -> None:
        if self.is_ended:
            return
        self.is_ended = True
        for passage in self._passages.values():
            metadata = self._known | present(annotations=passage.annotations, logprobs=passage.logprobs)
            if passage.is_refusal:
                metadata["refusal"] = True
            if rest:
                metadata[ITEM] = rest
            self._answer.outlet.end(passage.id, metadata, _citations(passage) or None)
            for source in passage.sources:
                self._answer.outlet.emit(source)


def _citations(passage: Passage) -> tuple[Citation, ...]:
    citations = (citation_of(annotation) for annotation in passage.annotations)
    return tuple(citation for citation in citations if citation is not None)
