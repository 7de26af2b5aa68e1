"""How a call ended, told from what came of it."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET, UnsetType

from partita.runtime.folding import read_usage
from partita.types.chunks import ErrorChunk, MessageFinish
from partita.types.events import AgentStreamEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import Json, JsonObject, is_object

from .failures import (
    CONNECTION,
    CUT,
    FAILED,
    TIMEOUT,
    error_in,
    headers_told,
    is_connection,
    is_timeout,
    name_of,
    retry_after,
)

SHOWN: Final = 100
"""How many characters of what nobody can read its error shows."""

RESULT_FIELDS: Final = ("finishReason", "rawFinishReason", "responseId", "model")


class Ending:
    """Watches the events of a call and says how it ended."""

    def __init__(self, agent: str, status: int, headers: Mapping[str, str]) -> None:
        self._agent = agent
        self._headers = headers
        self._told = headers_told(status, headers)
        self._status = status
        self._said: Json | UnsetType = UNSET  # by the record that the last chunks came from
        self._unread: str | None = None  # a record that was no JSON
        self._is_torn = False  # it is the rest of a stream, so it was to become one
        self._error: ErrorChunk | None = None
        self._error_said: Json | UnsetType = UNSET
        self._metadata: JsonObject | None = None

    def see(self, event: AgentStreamEvent, *, is_rest: bool = False) -> None:
        """Take note of an event; `is_rest` if it is of a record that a stream broke off."""
        if event.raw_agent_message is not UNSET:
            self._said = event.raw_agent_message
            if isinstance(self._said, str):
                self._unread, self._is_torn = self._said, is_rest
        if not isinstance(event, ChunkEvent):
            return
        if isinstance(event.chunk, ErrorChunk) and self._tells_more():
            self._error, self._error_said = event.chunk, self._said
        elif isinstance(event.chunk, MessageFinish):
            metadata = event.chunk.message_metadata
            self._metadata = metadata if is_object(metadata) else {}

    def event(self, failure: Exception | None = None) -> AgentStreamEvent:
        """The last event; `failure` is why no more bytes came, if they did not simply end."""
        if self._status >= 300 or (self._error is not None and not isinstance(self._error_said, str)):
            return self._refused()
        is_whole = self._metadata is not None and self._metadata.get("complete") is not False
        if not is_whole or self._is_torn or (self._unread is not None and failure is not None):
            return self._cut(failure)
        return self._complete(self._metadata or {}) if self._unread is None else self._puzzled(self._unread)

    def _tells_more(self) -> bool:
        """Whether an error tells more than the one before: what could be read, than what could not."""
        return self._error is None or (isinstance(self._error_said, str) and not isinstance(self._said, str))

    def _refused(self) -> ErrorEvent:
        said = self._said if self._error is None else self._error_said
        error = error_in(None if said is UNSET else said)
        text = self._error.error_text if self._error else _words_of(said) or f"HTTP {self._status}"
        details = {**self._told, "body": None if said is UNSET else said}
        wait = retry_after(self._headers, error)
        if wait is not None:
            details["retryAfter"] = wait
        status = self._status if self._status >= 300 else None
        return ErrorEvent(message=text, name=name_of(error, status), details=details)

    def _cut(self, failure: Exception | None) -> ErrorEvent:
        if failure is not None and is_timeout(failure):
            return ErrorEvent(message="no more of the answer came in time", name=TIMEOUT, details=self._told)
        why = f": {failure}" if failure is not None and str(failure) else ""
        return ErrorEvent(message=f"the answer was cut{why}", name=CUT, details=self._told)

    def _puzzled(self, words: str) -> ErrorEvent:
        message = f"what nobody can read was sent: {words[:SHOWN]}"
        return ErrorEvent(message=message, name="unparsable", details={**self._told, "body": words})

    def _complete(self, metadata: JsonObject) -> CompleteEvent:
        result = {name: metadata[name] for name in RESULT_FIELDS if metadata.get(name) is not None}
        return CompleteEvent(
            agent_type=self._agent,
            agent_result={**result, **self._told},
            usage=read_usage(metadata.get("usage")),
        )


def _words_of(said: Json | UnsetType) -> str | None:
    """What a refusal says that its family has no word for: Mistral and many a gateway call it `detail`."""
    words = said.get("detail") if is_object(said) else None
    return words if isinstance(words, str) and words else None


def never_answered(error: Exception) -> ErrorEvent:
    """The last event of a call that got no answer at all."""
    cause = error.__cause__ or error
    details: JsonObject = {"error": type(cause).__name__}
    if is_timeout(error):
        return ErrorEvent(message="no answer came in time", name=TIMEOUT, details=details)
    if is_connection(error):
        return ErrorEvent(message=f"no connection: {cause}", name=CONNECTION, details=details)
    return ErrorEvent(message=str(error) or type(error).__name__, name=FAILED, details=details)
