"""Log lines with the ids of the request and the run that they belong to.

The fields are attributes of the log record (`extra`), so every formatter can write them. Nothing here
configures logging: `partita serve` does, and an application that mounts the server configures its own.
"""

import logging
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any, Final

FIELDS: Final = ("request_id", "run_id", "thread_id", "agent", "tool", "tool_call_id", "reference")
"""The fields of log records."""

_CURRENT: Final[ContextVar[Mapping[str, str]]] = ContextVar("partita_log_fields")

REFERENCE_LENGTH: Final = 8


def reference_of(id: str) -> str:
    """The reference to a run or a message in error texts and log lines: the end of its id."""
    return id[-REFERENCE_LENGTH:]


class ContextLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger that adds the fields of the current context."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Add the fields to the arguments of a log call."""
        kwargs["extra"] = {**log_fields(), **(kwargs.get("extra") or {})}
        return msg, kwargs


def get_logger(name: str) -> ContextLogger:
    """The logger with that name."""
    return ContextLogger(logging.getLogger(name), {})


def log_fields() -> Mapping[str, str]:
    """The fields of the current context."""
    return _CURRENT.get({})


def set_log_fields(**fields: str | None) -> None:
    """Add fields to the current context, and to all tasks that it starts from now on."""
    _CURRENT.set({**log_fields(), **{name: value for name, value in fields.items() if value is not None}})
