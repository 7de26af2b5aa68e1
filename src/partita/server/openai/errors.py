"""OpenAI's `error` object: clients of `/v1` read it, whatever part of the server refuses their request."""

from collections.abc import Mapping
from typing import Final

from partita.types.json import JsonObject, dumps, is_array, is_object, loads

ROOT: Final = "/v1"

TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
"""The type of an error by its status; the others below 500 are `invalid_request_error`."""

CODES: Final[Mapping[int, str]] = {
    401: "invalid_api_key",
    403: "insufficient_permissions",
    405: "method_not_allowed",
    413: "request_too_large",
    429: "rate_limit_exceeded",
}
"""The code of an error by its status, for problems that have none of their own."""


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
