"""How `partita serve` writes its log: lines of text or of JSON, to standard error.

Only the command does this. An application that mounts the server has its own configuration of `logging`.
"""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from partita.runtime.log_context import FIELDS
from partita.types.json import dumps

LogFormat: TypeAlias = Literal["text", "json"]
FORMATS: Final[tuple[LogFormat, ...]] = ("text", "json")
LEVELS: Final = ("debug", "info", "warning", "error")
LOGGERS: Final = ("partita", "uvicorn")
"""The loggers whose lines are written."""

CONTROL: Final = {number: repr(chr(number))[1:-1] for number in (*range(32), 127)}
"""Control characters as they are written: a value must not look like another line."""


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
    """Write log lines to standard error while the block lasts."""
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
