"""Responses of Gemini's `streamGenerateContent` and `generateContent` → chunks.

Each event is a response with the next parts of the answer; there is no mark of the end, so the answer is
finished only when the stream is. Of several candidates the first is the answer, and the others are kept as
data, as is whatever is not understood. Nothing makes the decoder fail.
"""

from typing import Final

from partita.formats.answers.outlet import Outlet
from partita.types.chunks import Chunk, DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object

from .ending import NO_BLOCK, STOP, Ending
from .ids import CallIds
from .looking import NAMESPACE, count_at, items_at, object_at, text_at, written
from .parts import Parts

CANDIDATE: Final = "data-google-candidate"
UNPARSABLE: Final = "unparsable record"

RESPONSE: Final = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "error"})
"""Members of a response that have a place of their own. Others are kept in the metadata."""

SIGNS: Final = RESPONSE | {"promptFeedback"}
"""Members by one of which a response is known."""

JOINED: Final = frozenset({"citationMetadata", "urlContextMetadata", "logprobsResult"})
"""Members of a candidate whose lists go on from event to event."""


class GeminiDecoder:
    """Responses in, chunks out. One decoder reads one answer."""

    def __init__(self, id_prefix: str = "gemini") -> None:
        """`id_prefix` begins the ids of calls that have none, in an answer that has none either."""
        self._outlet = Outlet(NAMESPACE)
        self._ids = CallIds(id_prefix)
        self._parts = Parts(self._outlet, self._ids)
        self._ending = Ending()
        self._model: str | None = None
        self._said: JsonObject = {}

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to; an array holds several."""
        for response in event if is_array(event) else [event]:
            self._take(response)
        return self._outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends, and tell why it did."""
        if not self._outlet.is_finished:
            if self._ending.reason == STOP:
                self._parts.calls.end()
            self._parts.words.close(is_last=True)
            reason = self._ending.unified(has_calls=self._parts.calls.is_any)
            self._outlet.finish(reason, self._ending.raw, self._ending.usage, self._more())
        return self._outlet.take()

    def expect_whole_parts(self) -> None:
        """The answer comes whole: each of its parts is one, and no piece of another."""
        self._parts.words.parts_are_whole = True

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of an answer that came whole, or of an error that came instead."""
        self._parts.words.parts_are_whole = is_object(body)
        return [*self.feed(body), *self.finish()]

    def _take(self, response: Json) -> None:
        if isinstance(response, str):
            self._outlet.error(UNPARSABLE)
        if not is_object(response) or not response.keys() & SIGNS:
            self._parts.puzzle(response)
            return
        self._outlet.begin()
        self._ids.response_id = text_at(response, "responseId") or self._ids.response_id
        self._model = text_at(response, "modelVersion") or self._model
        self._ending.take_usage(response.get("usageMetadata"))
        block = text_at(object_at(response, "promptFeedback"), "blockReason")
        if block is not None and block not in NO_BLOCK:
            self._ending.block = block
        self._keep(response, RESPONSE)
        for place, candidate in enumerate(items_at(response, "candidates")):
            self._take_candidate(candidate, place)
        if response.get("error") is not None:
            self._fail(response["error"])

    def _take_candidate(self, candidate: Json, place: int) -> None:
        index = count_at(candidate, "index")
        if not is_object(candidate) or (place if index is None else index) != 0:
            self._outlet.emit(DataChunk(CANDIDATE, candidate))
            return
        self._keep(candidate, {"content", "finishReason", "index"})
        self._parts.sources.take_grounding(object_at(candidate, "groundingMetadata"))
        self._parts.sources.take_citations(object_at(candidate, "citationMetadata"))
        content = object_at(candidate, "content")
        for part in items_at(content, "parts"):
            self._parts.take(part)
        unknown = {key: value for key, value in content.items() if key not in ("role", "parts")}
        if unknown:
            self._parts.puzzle(unknown)
        self._ending.reason = text_at(candidate, "finishReason") or self._ending.reason

    def _fail(self, error: Json) -> None:
        """An error in place of an answer, or of the rest of one."""
        self._ending.failed = True
        self._said["error"] = error
        text = error if isinstance(error, str) else text_at(error, "message") or text_at(error, "status")
        self._outlet.error(text or written(error) or "an error without words")

    def _keep(self, members: JsonObject, known: frozenset[str] | set[str]) -> None:
        """Keep what is said about the answer, not in it. The last word counts, but nothing unsays it."""
        for key, value in members.items():
            if key in known or value is None or value in ({}, []):
                continue
            if is_object(value) and (key in JOINED or key == "groundingMetadata"):
                before = self._said.get(key)
                self._said[key] = _joined(before, value, key in JOINED) if is_object(before) else value
            else:
                self._said[key] = value

    def _more(self) -> JsonObject:
        more: JsonObject = {
            "model": self._model,
            "responseId": self._ids.response_id,
            "complete": None if self._ending.is_complete else False,
            NAMESPACE: self._said or None,
        }
        return {key: value for key, value in more.items() if value is not None}


def _joined(known: JsonObject, more: JsonObject, lists_go_on: bool) -> JsonObject:
    """What is known, and more of it: the last word counts, lists may go on."""
    joined = {**known, **more}
    for key, value in more.items():
        before = known.get(key)
        if lists_go_on and is_array(value) and is_array(before):
            joined[key] = [*before, *value]
    return joined
