"""The head of a request: bounded, and with each thing said once."""

from typing import Any, Final, NamedTuple

from partita.server.plain import Scope
from partita.server.problems import Problem
from partita.server.settings import Limits

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
WANTED: Final = {
    b"host": "host",
    b"origin": "origin",
    b"sec-fetch-site": "fetch_site",
    b"content-type": "content_type",
    b"content-length": "content_length",
    b"content-encoding": "content_encoding",
    b"transfer-encoding": "transfer_encoding",
    b"access-control-request-method": "wanted_method",
    b"access-control-request-headers": "wanted_headers",
}
"""The headers that decide something here. Said twice, one reader goes by the first, and one by the other."""

LONGEST_LENGTH: Final = 18


class Head(NamedTuple):
    """What a request says before its body."""

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
    wanted_method: bytes | None = None
    wanted_headers: bytes = b""

    @property
    def is_safe(self) -> bool:
        """Whether it only looks."""
        return self.method in SAFE

    @property
    def length(self) -> int:
        """How long the body says it is; 0 when it does not say."""
        if not self.content_length:
            return 0
        if not self.content_length.isdigit() or len(self.content_length) > LONGEST_LENGTH:
            raise Problem(
                400, "the length of the body is no number", where="content-length", hint="send digits"
            )
        return int(self.content_length)

    @property
    def has_body(self) -> bool:
        """Whether it says that a body follows. Without a word one may follow all the same, in HTTP/2."""
        return bool(self.transfer_encoding) or self.length > 0


def read_head(scope: Scope, limits: Limits) -> Head:
    """The head of a request; an error when it is too much, or unclear."""
    path: str = scope["path"]
    _check_target(scope, path, limits)
    headers = scope["headers"]
    if len(headers) > limits.headers:
        raise Problem(431, "there are too many headers", hint=f"at most {limits.headers}")
    size = 0
    found: dict[str, Any] = {}
    for name, value in headers:
        size += len(name) + len(value)
        wanted = WANTED.get(name)
        if wanted is not None:
            if wanted in found:
                raise Problem(
                    400, "a header was sent twice", where=name.decode("latin-1"), hint="send it once"
                )
            found[wanted] = value
    if size > limits.header_bytes:
        raise Problem(431, "the headers are too large", hint=f"at most {limits.header_bytes} bytes")
    version = scope.get("http_version", "1.1")
    return Head(scope["method"], path, scope.get("scheme", "http"), version, **found)


def _check_target(scope: Scope, path: str, limits: Limits) -> None:
    if len(scope.get("raw_path") or path) + len(scope.get("query_string", b"")) > limits.target_bytes:
        raise Problem(
            414, "the target of the request is too long", hint=f"at most {limits.target_bytes} bytes"
        )
    if not path.startswith("/"):  # `GET http://elsewhere/ HTTP/1.1`: whose name counts is unclear
        raise Problem(
            400, "the target of the request is not a path", hint="ask for /…, with the name in Host"
        )
