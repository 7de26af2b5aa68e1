"""The HTTP response of a provider: its bytes → events, and how the call ended."""

from collections.abc import AsyncIterator, Mapping
from typing import Final, NamedTuple, Protocol, TypeGuard

from msgspec import UNSET, UnsetType

from partita.formats.call_decoder import CallDecoder
from partita.runtime.run_fold import read_usage
from partita.stream.records import Framing
from partita.types.chunks import (
    AgentStreamEvent,
    ChunkEvent,
    CompleteEvent,
    ErrorChunk,
    ErrorEvent,
    MessageFinish,
)
from partita.types.json import Json, JsonObject, is_array, is_object

# Names of errors: the same for every provider.

CUT: Final = "cut"
CONNECTION: Final = "connection"
TIMEOUT: Final = "timeout"
FAILED: Final = "provider-error"
"""The name of an error about which nothing else is known."""

BY_STATUS: Final[Mapping[int, str]] = {
    400: "bad-request",
    401: "authentication",
    402: "quota",
    403: "permission",
    404: "not-found",
    408: TIMEOUT,
    409: "conflict",
    413: "too-large",
    422: "bad-request",
    429: "rate-limited",
    500: "server-error",
    503: "overloaded",
    504: TIMEOUT,
    529: "overloaded",
}

BY_CODE: Final[Mapping[str, str]] = {
    # OpenAI and compatible servers
    "context_length_exceeded": "too-long",
    "insufficient_quota": "quota",
    "invalid_api_key": "authentication",
    "invalid_request_error": "bad-request",
    "model_not_found": "not-found",
    "rate_limit_exceeded": "rate-limited",
    "server_error": "server-error",
    # Anthropic
    "api_error": "server-error",
    "authentication_error": "authentication",
    "billing_error": "quota",
    "not_found_error": "not-found",
    "overloaded_error": "overloaded",
    "permission_error": "permission",
    "rate_limit_error": "rate-limited",
    "request_too_large": "too-large",
    "timeout_error": TIMEOUT,
    # Gemini
    "DEADLINE_EXCEEDED": TIMEOUT,
    "FAILED_PRECONDITION": "bad-request",
    "INTERNAL": "server-error",
    "INVALID_ARGUMENT": "bad-request",
    "NOT_FOUND": "not-found",
    "PERMISSION_DENIED": "permission",
    "RESOURCE_EXHAUSTED": "rate-limited",
    "UNAUTHENTICATED": "authentication",
    "UNAVAILABLE": "overloaded",
}

REQUEST_ID_HEADERS: Final = ("x-request-id", "request-id", "x-goog-request-id", "apim-request-id", "cf-ray")


def error_in(body: Json) -> Json:
    """The error inside of a body or an event; the whole value if none is found."""
    if is_array(body) and body:
        return error_in(body[0])
    if not is_object(body):
        return body
    response = body.get("response")
    if body.get("error"):
        return body["error"]
    return response["error"] if is_object(response) and response.get("error") else body


def error_name(error: Json, status: int | None = None) -> str:
    """The name of a provider's error. A textual code is more specific than a number, a number than a type."""
    fields = error if is_object(error) else {}
    texts = [code for code in (fields.get("code"), fields.get("status")) if isinstance(code, str)]
    codes = [*texts, status, fields.get("code"), fields.get("status_code"), fields.get("type")]
    return next((name for code in codes if (name := _name_of_code(code))), FAILED)


def _name_of_code(code: Json) -> str | None:
    if isinstance(code, str):
        return BY_CODE.get(code)
    if not isinstance(code, int) or not 400 <= code < 600:
        return None
    return BY_STATUS.get(code, "bad-request" if code < 500 else "server-error")


def retry_after(headers: Mapping[str, str], error: Json) -> float | str | None:
    """When to retry: seconds, or a date as it was sent."""
    if "retry-after-ms" in headers:
        delay = _seconds(headers["retry-after-ms"])
        return delay / 1000 if isinstance(delay, float) else delay
    if "retry-after" in headers:
        return _seconds(headers["retry-after"])
    details: Json = error.get("details") if is_object(error) else None  # Gemini: in the body
    for detail in details if is_array(details) else []:
        if is_object(detail) and isinstance(detail.get("retryDelay"), str):
            return _seconds(detail["retryDelay"].removesuffix("s"))
    return None


def _seconds(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


# Exceptions of vendors' packages.


class Response(Protocol):
    """A response whose body is read while it arrives, such as one of httpx2."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers; case does not matter."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body, piece by piece, without its content encoding."""
        ...

    async def aclose(self) -> None:
        """Close the connection, unless the body was read to its end."""
        ...


class FailedResponse(Protocol):
    """A response that a vendor's package raised as an error, with its whole body."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers; case does not matter."""
        ...

    @property
    def content(self) -> bytes:
        """The whole body."""
        ...


def response_in(error: BaseException) -> FailedResponse | None:
    """The response that an exception of a vendor's package holds."""
    response: object = getattr(error, "response", None)
    return response if _is_response(response) else None


def _is_response(value: object) -> TypeGuard[FailedResponse]:
    return all(hasattr(value, name) for name in ("status_code", "headers", "content"))


def no_response(error: Exception) -> ErrorEvent:
    """The last event of a call that got no response."""
    import httpx2

    cause = error.__cause__ or error
    details: JsonObject = {"error": type(cause).__name__}
    if _is_timeout(error):
        return ErrorEvent(message="no response in time", name=TIMEOUT, details=details)
    if _is_due_to(error, (OSError, httpx2.TransportError)):
        return ErrorEvent(message=f"no connection: {cause}", name=CONNECTION, details=details)
    return ErrorEvent(message=str(error) or type(error).__name__, name=FAILED, details=details)


def _is_timeout(error: BaseException) -> bool:
    import httpx2

    return _is_due_to(error, (TimeoutError, httpx2.TimeoutException))


def _is_due_to(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    return isinstance(error, kinds) or isinstance(error.__cause__, kinds)


# The bytes of a response.

EVENT_STREAM: Final = "text/event-stream"
EVENT_STARTS: Final = (b"[", b":", b"d", b"e", b"i", b"r")  # an array of records; comment, data, event, …

RESULT_FIELDS: Final = ("finishReason", "rawFinishReason", "responseId", "model")
"""Metadata of the message that the result of the call repeats."""

SHOWN: Final = 100
"""How many characters of an unreadable record its error shows."""


def framing_of(status: int, content_type: str, head: bytes) -> Framing:
    """How a response is framed. Proxies mislabel, so its first byte counts more than its content type."""
    start = head.lstrip()[:1]
    if status >= 300 or start == b"{":
        return "body"
    is_stream = content_type.startswith(EVENT_STREAM) or start in EVENT_STARTS
    return "sse" if is_stream else "body"


class Call(NamedTuple):
    """A call of a model: the service, the format of the response, and what its mark in the log records."""

    agent: str
    format_name: str
    facts: JsonObject


class ResponseReader:
    """Reads one response: bytes in, events out. `ending` returns the last event."""

    def __init__(self, call: Call, status: int, headers: Mapping[str, str]) -> None:
        self._call = call
        self._status = status
        self._headers = headers
        self._head = b""  # bytes before the framing is known
        self._framing: Framing | None = None
        self._decoding: CallDecoder | None = None
        self._record: Json | UnsetType = UNSET  # that the last chunks came from
        self._unreadable: str | None = None  # a record that is not JSON
        self._is_cut = False  # the unreadable record is the incomplete end of a stream
        self._error: ErrorChunk | None = None
        self._error_record: Json | UnsetType = UNSET
        self._metadata: JsonObject | None = None  # of the finished message

    def feed(self, data: bytes) -> list[AgentStreamEvent]:
        """The events that these bytes complete."""
        if self._decoding is not None:
            return self._seen(self._decoding.feed(data))
        self._head += data
        return self._start()[1] if self._head.strip() else []

    def finish(self) -> list[AgentStreamEvent]:
        """The events that remain when the bytes end, even if they end early."""
        decoding, events = (self._decoding, []) if self._decoding else self._start()
        return [*events, *self._seen(decoding.finish(), is_remainder=self._framing == "sse")]

    def ending(self, failure: Exception | None = None) -> AgentStreamEvent:
        """The last event; `failure` is why no more bytes came, if the body did not simply end."""
        if self._status >= 300 or (self._error is not None and not isinstance(self._error_record, str)):
            return self._refused()
        is_complete = self._metadata is not None and self._metadata.get("complete") is not False
        if not is_complete or self._is_cut or (self._unreadable is not None and failure is not None):
            return self._cut(failure)
        if self._unreadable is not None:
            message = f"the response has a record that is not JSON: {self._unreadable[:SHOWN]}"
            details = {**self._details(), "body": self._unreadable}
            return ErrorEvent(message=message, name="unparsable", details=details)
        metadata = self._metadata or {}
        result = {name: metadata[name] for name in RESULT_FIELDS if metadata.get(name) is not None}
        return CompleteEvent(
            agent_type=self._call.agent,
            agent_result={**result, **self._details()},
            usage=read_usage(metadata.get("usage")),
        )

    def _start(self) -> tuple[CallDecoder, list[AgentStreamEvent]]:
        self._framing = framing_of(self._status, self._headers.get("content-type", ""), self._head)
        facts = {**self._call.facts, **({"status": self._status} if self._status >= 300 else {})}
        decoding = self._decoding = CallDecoder(self._call.format_name, self._framing, facts)
        return decoding, self._seen([*decoding.start(), *decoding.feed(self._head)])

    def _seen(self, events: list[AgentStreamEvent], *, is_remainder: bool = False) -> list[AgentStreamEvent]:
        """The same events, noted; `is_remainder`: they are what is left of a stream that has ended."""
        for event in events:
            if event.raw_agent_message is not UNSET:
                self._record = event.raw_agent_message
                if isinstance(self._record, str):
                    self._unreadable, self._is_cut = self._record, is_remainder
            chunk = event.chunk if isinstance(event, ChunkEvent) else None
            if isinstance(chunk, ErrorChunk) and self._is_better_error():
                self._error, self._error_record = chunk, self._record
            elif isinstance(chunk, MessageFinish):
                metadata: Json = chunk.message_metadata
                self._metadata = metadata if is_object(metadata) else {}
        return events

    def _is_better_error(self) -> bool:
        """Whether an error is the first, or the first in a readable record."""
        is_unreadable = isinstance(self._error_record, str)
        return self._error is None or (is_unreadable and not isinstance(self._record, str))

    def _details(self) -> JsonObject:
        ids = [self._headers[name] for name in REQUEST_ID_HEADERS if name in self._headers]
        return {"status": self._status, **({"requestId": ids[0]} if ids else {})}

    def _refused(self) -> ErrorEvent:
        record = self._record if self._error is None else self._error_record
        body: Json = None if record is UNSET else record
        error = error_in(body)
        text = self._error.error_text if self._error else _detail(body) or f"HTTP {self._status}"
        details = {**self._details(), "body": body}
        delay = retry_after(self._headers, error)
        if delay is not None:
            details["retryAfter"] = delay
        status = self._status if self._status >= 300 else None
        return ErrorEvent(message=text, name=error_name(error, status), details=details)

    def _cut(self, failure: Exception | None) -> ErrorEvent:
        if failure is not None and _is_timeout(failure):
            message = "the rest of the response did not arrive in time"
            return ErrorEvent(message=message, name=TIMEOUT, details=self._details())
        reason = f": {failure}" if failure is not None and str(failure) else ""
        message = f"the response was cut off{reason}"
        return ErrorEvent(message=message, name=CUT, details=self._details())


def _detail(body: Json) -> str | None:
    """The text of an error in `detail`, as Mistral and many gateways send it."""
    text = body.get("detail") if is_object(body) else None
    return text if isinstance(text, str) and text else None
