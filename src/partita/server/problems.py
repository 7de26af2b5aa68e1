"""Errors as RFC 9457 problem details: what is wrong, where, and how to fix it, without internal details."""

import math
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from msgspec import DecodeError as MsgspecError
from starlette.responses import Response
from starlette.types import Scope

from partita.errors import (
    AgentError,
    ApprovalError,
    BudgetError,
    ConflictError,
    ConversionError,
    DecodeError,
    FormatError,
    MissingPackageError,
    NotFoundError,
    PartitaError,
    StoreError,
    StreamError,
    UnavailableError,
)
from partita.runtime.log_context import get_logger
from partita.store.ids import new_id
from partita.types.json import JsonObject, dumps, is_array, is_object, loads

# OpenAI's `error` object: clients of `/v1` read it, whichever part of the server refuses their request.

ROOT: Final = "/v1"

TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
"""The type of an error by its status. All others below 500 are `invalid_request_error`."""

CODES: Final[Mapping[int, str]] = {
    401: "invalid_api_key",
    403: "insufficient_permissions",
    405: "method_not_allowed",
    413: "request_too_large",
    429: "rate_limit_exceeded",
}
"""The code of an error by its status, for problems without a code."""


def with_error_object(path: str, body: bytes) -> bytes:
    """The body of a problem, with OpenAI's `error` object if the path is below `/v1`."""
    if not (path == ROOT or path.startswith(f"{ROOT}/")):
        return body
    problem = loads(body) if body else None
    return dumps({**problem, "error": _error(problem)}) if is_object(problem) else body


def _error(problem: JsonObject) -> JsonObject:
    status: int = problem["status"]
    hint = problem.get("hint")
    message = str(problem.get("detail", ""))
    return {
        "message": f"{message}; {hint}" if hint else message,
        "type": TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
        "param": _parameter(problem),
        "code": problem.get("code") or CODES.get(status),
    }


def _parameter(problem: JsonObject) -> str | None:
    """The member of the body that is wrong: `messages[0].role`."""
    errors = problem.get("errors")
    first = errors[0] if is_array(errors) and errors else problem
    where = first.get("where") if is_object(first) else None
    return where[2:] if isinstance(where, str) and where.startswith("$.") else None


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
    MissingPackageError: 501,
    PartitaError: 400,
}
"""The status of each error. The narrowest class counts."""

UNREAD_STATUSES: Final = (408, 413)
"""After these, the rest of the body is not read, so the connection cannot be reused."""

JSON_TYPES: Final[Mapping[str, str]] = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
}
"""The JSON names of Python types. All others have the same name."""

NO_BODY_HINT: Final = "send a JSON object, with the header content-type: application/json"

_MISSING: Final = re.compile(r"Object missing required field `(?P<name>[^`]+)`")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>[^`]+)`")
_WRONG_TYPE: Final = re.compile(r"Expected `(?P<expected>[^`]+)`, got `(?P<found>[^`]+)`$")
_TYPE_NAME: Final = re.compile(r"`([^`]+)`")


class Problem(PartitaError):  # noqa: N818 # RFC 9457 calls it that
    """A refusal for which the layers below have no error class."""

    def __init__(
        self,
        status: int,
        what: str,
        *,
        where: str = "",
        hint: str = "",
        code: str = "",
        headers: Mapping[str, str] | None = None,
        errors: Sequence[JsonObject] = (),
    ) -> None:
        """`code` is a short name of the problem, for programs. `errors` are the errors of a request that may
        have several: see `invalid_value`.
        """
        super().__init__(what, where=where, hint=hint)
        self.status = status
        self.code = code
        self.errors = errors
        self.headers = dict(headers or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it: worker processes raise problems too."""
        return type(self), (self.status, self.what), self.__dict__


def problem_body(status: int, detail: str, **more: Any) -> bytes:
    """The problem details as JSON. Empty members are left out."""
    title = HTTPStatus(status).phrase
    body: JsonObject = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return dumps(body | {key: value for key, value in more.items() if value})


def status_of(error: PartitaError) -> int:
    """The status of the response for an error."""
    if isinstance(error, Problem):
        return error.status
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def error_response(error: Exception, scope: Scope) -> Response:
    """The response to a request that failed, in the form that clients of its path expect."""
    if isinstance(error, PartitaError):
        status, body = status_of(error), _details(error)
    elif isinstance(error, RecursionError):
        status, body = 400, problem_body(400, "the JSON is nested too deep")
    elif isinstance(error, MsgspecError | UnicodeError):  # half a surrogate pair cannot be encoded
        status, body = 400, problem_body(400, "the body is not JSON of the expected type")
    else:
        status, body = 500, _internal_error(error)
    headers = {"cache-control": "no-store", **_headers(error, status, scope)}
    return Response(with_error_object(scope["path"], body), status, headers, MEDIA_TYPE)


def _details(error: PartitaError) -> bytes:
    """The problem details of a Partita error. `public_where` does not show where the database is."""
    code, errors = (error.code, error.errors) if isinstance(error, Problem) else ("", ())
    return problem_body(
        status_of(error), error.what, errors=errors, where=error.public_where, hint=error.hint, code=code
    )


def _headers(error: Exception, status: int, scope: Scope) -> dict[str, str]:
    headers = dict(error.headers) if isinstance(error, Problem) else {}
    if status in UNREAD_STATUSES and scope.get("http_version", "").startswith("1"):
        headers.setdefault("connection", "close")
    if isinstance(error, BudgetError):
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.setdefault("retry-after", "1")
    return headers


def _internal_error(error: Exception) -> bytes:
    """Problem details with an id; the log has the error under this id."""
    number = new_id()
    LOG.error("unexpected error, problem %s", number, exc_info=error)
    detail = "internal error, not caused by your request"
    return problem_body(500, detail, instance=f"urn:uuid:{number}")


def invalid_value(message: str, where: str) -> JsonObject:
    """An error message of msgspec in terms of JSON. `where` is the path of the value."""
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
