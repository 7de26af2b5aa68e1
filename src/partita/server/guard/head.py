"""The head of a request: within limits, and with each relevant header sent once."""

from typing import Any, Final, NamedTuple

from starlette.types import Scope

from partita.server.problems import Problem
from partita.server.settings import Limits

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
RELEVANT: Final = {
    b"host": "host",
    b"origin": "origin",
    b"sec-fetch-site": "fetch_site",
    b"content-type": "content_type",
    b"content-length": "content_length",
    b"content-encoding": "content_encoding",
    b"transfer-encoding": "transfer_encoding",
    b"access-control-request-method": "requested_method",
    b"access-control-request-headers": "requested_headers",
}
"""The headers that the guard uses. Of repeated ones, a proxy might use the first and the server the last."""

MAX_LENGTH_DIGITS: Final = 18


class Head(NamedTuple):
    """The relevant members of a request's head."""

    method: str
    path: str
    scheme: str
    version: str
    host: bytes = b""
    origin: bytes | None = None
    fetch_site: bytes = b""
    content_type: bytes = b""
    content_length: bytes = b""
    content_encoding: bytes = b""
    transfer_encoding: bytes = b""
    requested_method: bytes | None = None
    requested_headers: bytes = b""

    @property
    def is_safe(self) -> bool:
        """Whether the method only reads."""
        return self.method in SAFE

    @property
    def length(self) -> int:
        """The declared length of the body; 0 if none is declared."""
        if not self.content_length:
            return 0
        if not self.content_length.isdigit() or len(self.content_length) > MAX_LENGTH_DIGITS:
            raise Problem(
                400, "the length of the body is not a number", where="content-length", hint="send digits"
            )
        return int(self.content_length)

    @property
    def has_body(self) -> bool:
        """Whether a body is declared. In HTTP/2, one may follow without."""
        return bool(self.transfer_encoding) or self.length > 0


def read_head(scope: Scope, limits: Limits) -> Head:
    """The head of a request; an error if it exceeds limits or is ambiguous."""
    path: str = scope["path"]
    _check_target(scope, path, limits)
    headers = scope["headers"]
    if len(headers) > limits.headers:
        raise Problem(431, "there are too many headers", hint=f"at most {limits.headers}")
    size = 0
    members: dict[str, Any] = {}
    for name, value in headers:
        size += len(name) + len(value)
        member = RELEVANT.get(name)
        if member is not None:
            if member in members:
                raise Problem(
                    400, "a header was sent twice", where=name.decode("latin-1"), hint="send it once"
                )
            members[member] = value
    if size > limits.header_bytes:
        raise Problem(431, "the headers are too large", hint=f"at most {limits.header_bytes} bytes")
    version = scope.get("http_version", "1.1")
    return Head(scope["method"], path, scope.get("scheme", "http"), version, **members)


def _check_target(scope: Scope, path: str, limits: Limits) -> None:
    if len(scope.get("raw_path") or path) + len(scope.get("query_string", b"")) > limits.target_bytes:
        raise Problem(
            414, "the target of the request is too long", hint=f"at most {limits.target_bytes} bytes"
        )
    if not path.startswith("/"):  # `GET http://other/ HTTP/1.1` names a second host
        raise Problem(
            400, "the target of the request is not a path", hint="request /…, and send the name in Host"
        )
