"""Problems in the words of OpenAI: an `error` beside what all problems say."""

from collections.abc import Mapping
from typing import Any, Final

from litestar import Request, Response

from partita.server.problems import answer_error, problem_body
from partita.types.json import JsonObject, dumps, is_object, loads

KINDS: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
"""What sort of error a status is; the others below 500 are bad requests."""

CODES: Final[Mapping[int, str]] = {404: "model_not_found"}


def answer_openai_error(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The answer to a request that failed, for clients of OpenAI and for all others."""
    answer = answer_error(request, error)
    said = loads(answer.content)
    if is_object(said):
        answer.content = dumps({**said, "error": _error(answer.status_code or 500, said)})
    return answer


def failure_body(status: int, text: str) -> bytes:
    """The body of an answer that failed while it was made."""
    said: JsonObject = loads(problem_body(status, text))
    return dumps({**said, "error": _error(status, said)})


def _error(status: int, said: JsonObject) -> JsonObject:
    kind = KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    where = said.get("where")
    hint = said.get("hint")
    message = str(said.get("detail", ""))
    return {
        "message": f"{message}; {hint}" if hint else message,
        "type": kind,
        "param": where if isinstance(where, str) else None,
        "code": CODES.get(status),
    }
