"""Errors as RFC 9457 problem details: what, where, and how to fix it; never how it looks inside."""

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, ValidationException
from msgspec import DecodeError as MsgspecError

from partita.errors import (
    AgentError,
    ApprovalError,
    BudgetError,
    ConflictError,
    ConversionError,
    DecodeError,
    FormatError,
    NotFoundError,
    PartitaError,
    StoreError,
    StreamError,
    UnavailableError,
)
from partita.runtime.log_context import get_logger
from partita.store.ids import new_id
from partita.types.json import JsonObject, dumps, is_array, is_object

LOG: Final = get_logger("partita.server")

MEDIA_TYPE: Final = "application/problem+json"

STATUS: Final[Mapping[type[PartitaError], int]] = {
    NotFoundError: 404,
    UnavailableError: 503,
    ConflictError: 409,
    ApprovalError: 409,
    AgentError: 409,
    BudgetError: 429,
    DecodeError: 400,
    ConversionError: 400,
    FormatError: 400,
    StreamError: 400,
    StoreError: 400,
    PartitaError: 400,
}
"""What each error is to a client; the narrowest class counts."""

UNREAD: Final = (408, 413)
"""After these, more of a body would come that nobody wants: the connection is of no use any more."""


class Problem(PartitaError):  # noqa: N818 # RFC 9457 calls it that
    """A refusal that has no error of its own in the layers below."""

    def __init__(
        self,
        status: int,
        what: str,
        *,
        where: str = "",
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.status = status
        self.headers = dict(headers or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is pickled: worker processes raise problems too."""
        return type(self), (self.status, self.what), self.__dict__


def problem_body(status: int, detail: str, **more: Any) -> bytes:
    """The details of a problem. What is empty is left out."""
    title = HTTPStatus(status).phrase
    said: JsonObject = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return dumps(said | {key: value for key, value in more.items() if value})


def status_of(error: PartitaError) -> int:
    """The status that an error is answered with."""
    if isinstance(error, Problem):
        return error.status
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def answer_error(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The answer to a request that failed."""
    if isinstance(error, PartitaError):
        return _of_ours(error, request.scope["http_version"])
    if isinstance(error, ValidationException):
        return _of_validation(error)
    if isinstance(error, HTTPException):
        return _response(error.status_code, problem_body(error.status_code, error.detail), error.headers)
    if isinstance(error, RecursionError):
        return _response(400, problem_body(400, "the JSON is nested too deep"))
    if isinstance(error, MsgspecError | UnicodeError):  # half a surrogate pair cannot be made a number either
        return _response(400, problem_body(400, "the body is no JSON of the kind that is expected"))
    return _unexpected(error)


class Told(NamedTuple):
    """An error as it is answered."""

    status: int
    headers: dict[str, str]
    body: bytes


def told(error: PartitaError, version: str) -> Told:
    """What a client of that version of HTTP is told of an error; where the database is, is no part of it."""
    status = status_of(error)
    headers = dict(error.headers) if isinstance(error, Problem) else {}
    if status in UNREAD and version.startswith("1"):
        headers.setdefault("connection", "close")
    if isinstance(error, BudgetError):
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.setdefault("retry-after", "1")
    return Told(status, headers, problem_body(status, error.what, where=error.public_where, hint=error.hint))


def _of_ours(error: PartitaError, version: str) -> Response[bytes]:
    status, headers, body = told(error, version)
    return _response(status, body, headers)


def _of_validation(error: ValidationException) -> Response[bytes]:
    said = error.extra if is_array(error.extra) else []
    errors = [_told(one) for one in said if is_object(one)]
    detail = "; ".join(f"{one['where']}: {one['what']}" for one in errors) or error.detail
    return _response(400, problem_body(400, detail, errors=errors))


def _told(said: JsonObject) -> JsonObject:
    source = getattr(said.get("source"), "value", said.get("source")) or "body"
    head, *rest = str(said.get("key", "")).split("_")
    name = head + "".join(word.capitalize() for word in rest)  # as it stands in the request
    if name == "data":
        return {"what": "a body is missing, or is not JSON", "where": "body"}
    return {"what": str(said.get("message", "")), "where": f"{source} {name}".strip()}


def _unexpected(error: Exception) -> Response[bytes]:
    """The client learns a number, the log the rest."""
    number = new_id()
    LOG.error("unexpected error, problem %s", number, exc_info=error)
    detail = "something went wrong here, not with your request"
    return _response(500, problem_body(500, detail, instance=f"urn:uuid:{number}"))


def _response(
    status: int, body: bytes, headers: Mapping[str, str] | Sequence[Any] | None = None
) -> Response[bytes]:
    said = dict(headers) if isinstance(headers, Mapping) else {}
    return Response(
        body,
        status_code=status,
        media_type=MEDIA_TYPE if body else MediaType.TEXT,
        headers={"cache-control": "no-store", **said},
    )
