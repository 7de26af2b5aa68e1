"""What a failed call is called, whoever failed: a word, and what its provider said of it."""

from collections.abc import Mapping
from typing import Final, Protocol, TypeGuard

from partita.types.json import Json, JsonObject, is_array, is_object

CUT: Final = "cut"
CONNECTION: Final = "connection"
TIMEOUT: Final = "timeout"
FAILED: Final = "provider-error"
"""The name of a failure that nothing more is known of."""

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

BY_WORD: Final[Mapping[str, str]] = {
    # OpenAI, and those who speak like it
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

_REQUEST_ID_HEADERS: Final = ("x-request-id", "request-id", "x-goog-request-id", "apim-request-id", "cf-ray")


class FailedResponse(Protocol):
    """An answer of which only the body of an error is to be had."""

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
        """The body, whole."""
        ...


def response_in(error: BaseException) -> FailedResponse | None:
    """The answer that a vendor's package raised as an error."""
    response: object = getattr(error, "response", None)
    return response if _is_response(response) else None


def is_timeout(error: BaseException) -> bool:
    """Whether an error, or what caused it, is that nothing came in time."""
    import httpx2

    return _is_due_to(error, (TimeoutError, httpx2.TimeoutException))


def is_connection(error: BaseException) -> bool:
    """Whether an error, or what caused it, is that the other side could not be talked to."""
    import httpx2

    return _is_due_to(error, (OSError, httpx2.TransportError))


def error_in(said: Json) -> Json:
    """The error inside a body or an event, else all of it."""
    if is_array(said) and said:
        return error_in(said[0])
    if not is_object(said):
        return said
    response = said.get("response")
    if said.get("error"):
        return said["error"]
    return response["error"] if is_object(response) and response.get("error") else said


def name_of(error: Json, status: int | None = None) -> str:
    """Our name for a provider's error. Its words tell more than numbers, and those more than its type."""
    fields = error if is_object(error) else {}
    words = [word for word in (fields.get("code"), fields.get("status")) if isinstance(word, str)]
    told = [*words, status, fields.get("code"), fields.get("status_code"), fields.get("type")]
    return next((name for word in told if (name := _named(word))), FAILED)


def headers_told(status: int, headers: Mapping[str, str]) -> JsonObject:
    """What the head of a response tells of a call."""
    ids = [headers[name] for name in _REQUEST_ID_HEADERS if name in headers]
    return {"status": status, **({"requestId": ids[0]} if ids else {})}


def retry_after(headers: Mapping[str, str], error: Json) -> float | str | None:
    """When to try again: seconds, or a date as it was sent."""
    if "retry-after-ms" in headers:
        waited = _seconds(headers["retry-after-ms"])
        return waited / 1000 if isinstance(waited, float) else waited
    if "retry-after" in headers:
        return _seconds(headers["retry-after"])
    details: Json = error.get("details") if is_object(error) else None  # Gemini: in the body
    for detail in details if is_array(details) else []:
        if is_object(detail) and isinstance(detail.get("retryDelay"), str):
            return _seconds(detail["retryDelay"].removesuffix("s"))
    return None


def _named(word: Json) -> str | None:
    if isinstance(word, str):
        return BY_WORD.get(word)
    if not isinstance(word, int) or not 400 <= word < 600:
        return None
    return BY_STATUS.get(word, "bad-request" if word < 500 else "server-error")


def _seconds(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _is_due_to(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    return isinstance(error, kinds) or isinstance(error.__cause__, kinds)


def _is_response(value: object) -> TypeGuard[FailedResponse]:
    return all(hasattr(value, name) for name in ("status_code", "headers", "content"))
