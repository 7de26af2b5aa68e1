"""Exceptions of agents and tools: each is logged once with its traceback, and kept for `on_error`."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from partita.errors import PartitaError

from .log_context import get_logger, reference_of

if TYPE_CHECKING:
    from .adapters.agent_request import AgentRequest

LOG: Final = get_logger("partita.run")

FailureKind: TypeAlias = Literal["agent", "tool", "store", "lease"]
"""What failed: an agent, a tool, the store, or the renewal of a lease."""

OnError: TypeAlias = Callable[[BaseException, "AgentRequest"], str | Awaitable[str | None] | None]
"""Returns the error text that end users see, or `None` for the default text with a reference."""


class RunCounts:
    """Failures by kind, and runs that were recovered."""

    def __init__(self) -> None:
        self.failures: Counter[FailureKind] = Counter()
        self.recovered = 0
        """Runs of processes that ended without releasing them."""

    def add(self, kind: FailureKind) -> None:
        """Count a failure."""
        self.failures[kind] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailures:
    """The failures of one run."""

    run_id: str
    agent: str
    message_id: Callable[[], str]
    """The id of the current message."""
    count: Callable[[FailureKind], None]
    exceptions: dict[str, BaseException] = field(default_factory=dict[str, BaseException])
    """By the id of the tool call, or of the run."""

    def report(self, error: BaseException, call_id: str | None = None, tool: str = "") -> None:
        """Log an exception of the agent, or of a tool that it called."""
        if any(error is known for known in self.exceptions.values()):
            return
        self.exceptions[call_id or self.run_id] = error
        if call_id is None:
            self._log(logging.ERROR, f"agent {self.agent!r} failed", self.run_id, error)
            self.count("agent")
            return
        fields = {"tool": tool, "tool_call_id": call_id}
        self._log(logging.WARNING, f"tool {tool!r} failed", self.message_id(), error, **fields)
        self.count("tool")

    def report_text(self, text: str) -> None:
        """Log a failure that the agent reported, unless its exception was logged."""
        if self.run_id not in self.exceptions:
            self._log(logging.ERROR, f"agent {self.agent!r} failed: {text}", self.run_id, None)
            self.count("agent")

    def _log(self, level: int, what: str, id: str, error: BaseException | None, **fields: str) -> None:
        reference = reference_of(id)
        LOG.log(
            level,
            "%s (reference %s, run %s)",
            what,
            reference,
            self.run_id,
            exc_info=error,
            extra={"reference": reference, "run_id": self.run_id, "agent": self.agent, **fields},
        )


def error_description(error: BaseException) -> str:
    """The text of an exception as a run stores it, without the URL of a database."""
    try:
        text = str(error)
    except Exception:  # an exception whose own text fails still has a name
        text = ""
    if isinstance(error, PartitaError):
        return str(PartitaError(error.what, where=error.public_where, hint=error.hint))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


CURRENT: Final[ContextVar[RunFailures | None]] = ContextVar("partita_run_failures", default=None)
"""The run that the current task works on."""


def report_failure(error: BaseException, *, call_id: str | None = None, tool: str = "") -> None:
    """Report an exception that an agent or a tool raised. Outside of a run its caller receives it instead."""
    failures = CURRENT.get()
    if failures is not None:
        failures.report(error, call_id, tool)


async def public_text(on_error: OnError, request: "AgentRequest", error: BaseException) -> str | None:
    """The text that `on_error` returns for an exception. If it fails itself, that is logged."""
    try:
        text = on_error(error, request)
        if isawaitable(text):
            text = await text
    except Exception:
        LOG.exception("on_error failed; the default text is sent")
        return None
    return text if isinstance(text, str) else None
