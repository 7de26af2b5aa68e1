"""The log of `partita serve`: lines of text or JSON on standard error, and ids of requests.

Only the command writes it. An application that mounts the server configures `logging` itself.
"""

import logging
import re
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final, Literal, TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita.runtime.log_context import FIELDS, ContextLogger, set_log_fields
from partita.store.ids import new_id
from partita.types.json import dumps

LogFormat: TypeAlias = Literal["text", "json"]
FORMATS: Final[tuple[LogFormat, ...]] = ("text", "json")
LOGGERS: Final = ("partita", "uvicorn")
"""The loggers whose lines are written."""

CONTROL: Final = {number: repr(chr(number))[1:-1] for number in (*range(32), 127)}
"""Control characters, escaped: a value must not look like another line."""


class TextFormatter(logging.Formatter):
    """`time LEVEL logger message field=value …`, followed by the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, or lines, of a record."""
        fields = "".join([f" {name}={value}" for name, value in _fields(record).items()])
        line = f"{_time(record)} {record.levelname} {record.name} {record.getMessage()}{fields}"
        return line.translate(CONTROL) + "".join(f"\n{text}" for text in [_traceback(self, record)] if text)


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        members: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if text := _traceback(self, record):
            members["exception"] = text
        return dumps(members).decode()


def _fields(record: logging.LogRecord) -> dict[str, str]:
    return {name: str(record.__dict__[name]) for name in FIELDS if name in record.__dict__}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    if record.exc_info and record.exc_info[0] is not None:
        return formatter.formatException(record.exc_info)
    return ""


@contextmanager
def logging_to_stderr(format: LogFormat = "text", level: str = "warning") -> Generator[None, None, None]:
    """Write log lines to standard error while the block runs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level.upper())
        logger.propagate = False
    try:
        yield
    finally:
        for logger, (old_level, propagates) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old_level)
            logger.propagate = propagates


# Log lines that any caller can cause: at most a few per minute, so that they cannot fill a disk.

PER_MINUTE: Final = 10


class RateLimitedLog:
    """Writes at most `per_minute` lines a minute, and reports how many it left out."""

    def __init__(
        self,
        log: ContextLogger,
        dropped: Callable[[], None],
        *,
        per_minute: int = PER_MINUTE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`dropped` is called for every line that is left out."""
        self._log = log
        self._dropped = dropped
        self._per_minute = per_minute
        self._clock = clock
        self._since = clock()
        self._written = self._omitted = 0

    def warning(self, message: str, *values: Any) -> None:
        """Write a line, unless there were too many in this minute."""
        now = self._clock()
        if now - self._since >= 60:
            omitted, self._since, self._written, self._omitted = self._omitted, now, 0, 0
            if omitted:
                self._log.warning("%d more lines like the next one were left out", omitted)
        if self._written == self._per_minute:
            self._omitted += 1
            self._dropped()
            return
        self._written += 1
        self._log.warning(message, *values)


# The id of a request: taken from `x-request-id` or made, returned with the response, and in log lines.

HEADER: Final = b"x-request-id"
ACCEPTED: Final = re.compile(rb"[A-Za-z0-9._:+/=@-]{1,128}")
"""The ids of clients or proxies that are used in headers and log lines. Any other is replaced."""


class RequestIds:
    """An application whose requests have ids."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request under its id."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_of(scope)
        set_log_fields(request_id=request_id.decode("ascii"))

        def send_with_id(event: Message) -> Awaitable[None]:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event.get("headers", ()), (HEADER, request_id)]}
            return send(event)

        await self._app(scope, receive, send_with_id)


def request_id_of(scope: Scope) -> bytes:
    """The id that the client sent, if it is the only one and can be used; otherwise a new one."""
    sent = [value for name, value in scope["headers"] if name == HEADER]
    if len(sent) == 1 and ACCEPTED.fullmatch(sent[0]):
        return bytes(sent[0])
    return new_id().encode("ascii")
