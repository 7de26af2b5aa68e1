"""Errors as RFC 9457 problem details: what, where, and how to fix it; never how it looks inside."""

import math
import re
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
from partita.server.openai.errors import with_error_object
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


JSON_TYPES: Final[Mapping[str, str]] = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
}
"""Types of Python by their names in JSON; the others have the same name."""

NO_BODY_HINT: Final = "send a JSON object, with the header content-type: application/json"

_BODY_PATH: Final = re.compile(r" - at `\$\.data(?P<path>[^`]*)`$")
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>[^`]+)`")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>[^`]+)`")
_WRONG_TYPE: Final = re.compile(r"Expected `(?P<expected>[^`]+)`, got `(?P<found>[^`]+)`$")
_TYPE_NAME: Final = re.compile(r"`([^`]+)`")


class Problem(PartitaError):  # noqa: N818 # RFC 9457 calls it that
    """A refusal that has no error of its own in the layers below."""

    def __init__(
        self,
        status: int,
        what: str,
        *,
        where: str = "",
        hint: str = "",
        code: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`code` is a short name of the problem, for programs."""
        super().__init__(what, where=where, hint=hint)
        self.status = status
        self.code = code
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
    """The answer to a request that failed, in the shape that clients of its path read."""
    answer = _answer(request, error)
    answer.content = with_error_object(request.scope["path"], answer.content)
    return answer


def _answer(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    if isinstance(error, PartitaError):
        return _of_ours(error, request.scope["http_version"])
    if isinstance(error, ValidationException):
        return _of_validation(error, has_body=_has_body(request))
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
    code = error.code if isinstance(error, Problem) else ""
    body = problem_body(status, error.what, where=error.public_where, hint=error.hint, code=code)
    return Told(status, headers, body)


def _of_ours(error: PartitaError, version: str) -> Response[bytes]:
    status, headers, body = told(error, version)
    return _response(status, body, headers)


def _of_validation(error: ValidationException, *, has_body: bool) -> Response[bytes]:
    said = error.extra if is_array(error.extra) else []
    whole = _BODY_PATH.search(str(error.__cause__))  # with the path inside a list, which `extra` lacks
    errors = [_invalid(one, whole, has_body=has_body) for one in said if is_object(one)]
    detail = "; ".join(f"{one['where']}: {one['what']}" for one in errors) or error.detail
    hint = "" if has_body or not any(one["where"] == "body" for one in errors) else NO_BODY_HINT
    return _response(400, problem_body(400, detail, errors=errors, hint=hint))


def _invalid(said: JsonObject, whole: re.Match[str] | None, *, has_body: bool) -> JsonObject:
    """One thing that is wrong with a request: where, what, and which type was expected and found."""
    source = getattr(said.get("source"), "value", said.get("source")) or "body"
    key, message = str(said.get("key", "")), str(said.get("message", ""))
    if source != "body":
        head, *rest = key.split("_")
        name = head + "".join(word.capitalize() for word in rest)  # as it stands in the request
        return invalid_value(message, f"{source} {name}")
    if not has_body:
        return {"what": "the request has no body", "where": "body"}
    inside = "" if key == "data" else f".{key}"
    return invalid_value(message, "$" + (whole["path"] if whole and not inside else inside))


def invalid_value(message: str, where: str) -> JsonObject:
    """What msgspec reports of a value, in the terms of JSON: `where` is the place of the value."""
    text, _, inside = message.partition(" - at `$")
    where += inside.rstrip("`")
    if missing := _MISSING.match(text):
        return {"what": "required member is missing", "where": f"{where}.{missing['name']}"}
    if unknown := _UNKNOWN.match(text):
        return {"what": "unknown member", "where": f"{where}.{unknown['name']}"}
    if wrong := _WRONG_TYPE.match(text):
        expected, found = _json_types(wrong["expected"]), _json_types(wrong["found"])
        what = f"expected {expected}, found {found}"
        return {"what": what, "where": where, "expected": expected, "found": found}
    return {"what": _TYPE_NAME.sub(lambda name: _json_types(name[1]), text), "where": where}


def _json_types(names: str) -> str:
    return " or ".join(JSON_TYPES.get(name, name) for name in names.split(" | "))


def _has_body(request: Request[Any, Any, Any]) -> bool:
    """Whether a request says that a body follows its head."""
    return "transfer-encoding" in request.headers or request.headers.get("content-length", "0") != "0"


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
