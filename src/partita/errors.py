"""Every error raised on purpose.

    PartitaError
    ├── ConfigError      an unknown setting or an invalid value
    ├── DecodeError      bytes or JSON that cannot be decoded as the expected type
    ├── StreamError      a chunk that is invalid at its position, or invalid framing
    ├── ConversionError  a payload that a format cannot read or write
    ├── FormatError      an unknown format, or one that cannot be detected
    ├── AgentError       an unknown agent, or one that cannot be started or failed
    ├── BudgetError      an exhausted budget
    ├── ApprovalError    a response to an approval request that does not exist or has a response
    └── StoreError       a store operation that failed
        ├── NotFoundError     a row that does not exist or belongs to another owner
        ├── ConflictError     an id that exists, a run that has ended, a lease of another process
        │   └── BusyError     a thread with an active run
        └── UnavailableError  a database that is locked, full, damaged or not reachable

Each error has what went wrong, where, and how to fix it, as its text and as attributes.
"""


class PartitaError(Exception):
    """The base class of all errors."""

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f" (at {self.where})" if self.where else ""
        advice = f"; hint: {self.hint}" if self.hint else ""
        return f"{self.what}{place}{advice}"

    @property
    def public_where(self) -> str:
        """`where`, if clients of a server may see it."""
        return self.where


class ConfigError(PartitaError):
    """An unknown setting, a value of the wrong type, or a settings file that cannot be read."""


class DecodeError(PartitaError):
    """Data that is not of the expected type. `where` is a JSON path such as `$.parts[2].text`."""

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", expected: str = "", found: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.expected = expected
        self.found = found


class StreamError(PartitaError):
    """A chunk that is invalid at its position in the stream. It changed nothing."""

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", chunk_type: str = "", chunk_id: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.chunk_type = chunk_type
        self.chunk_id = chunk_id


class ConversionError(PartitaError):
    """A payload that a format cannot read or write at all. Data without an equivalent is a loss instead."""


class FormatError(PartitaError):
    """A format that is not registered, or a payload whose format cannot be detected."""


class AgentError(PartitaError):
    """An agent that is not registered, cannot be started, or failed.

    If a run failed, `run_id` and `status` are set; the messages so far are stored.
    """

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", run_id: str = "", status: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.run_id = run_id
        self.status = status


class BudgetError(PartitaError):
    """The budget of an owner is exhausted for `retry_after` seconds."""

    def __init__(self, what: str, *, where: str = "", hint: str = "", retry_after: float = 1.0) -> None:
        super().__init__(what, where=where, hint=hint)
        self.retry_after = retry_after


class ApprovalError(PartitaError):
    """An approval response without a pending request, or for another call than the stored one."""


class MissingPackageError(PartitaError):
    """A feature whose optional package is not installed. `hint` is the command that installs it."""


class StoreError(PartitaError):
    """A store operation failed. It changed nothing."""

    @property
    def public_where(self) -> str:
        """`where` if it is a JSON path; otherwise it may contain the address of the database."""
        return self.where if self.where.startswith("$") else ""


class NotFoundError(StoreError):
    """The thread, message, run or blob does not exist or belongs to another owner."""


class ConflictError(StoreError):
    """The id already exists, the run has ended, or another process has the lease."""


class BusyError(ConflictError):
    """The thread has an active run: wait for it, stop it, or queue the turn."""


class UnavailableError(StoreError):
    """The database cannot be used: it is locked, full, read-only, damaged, or its server is not reachable."""
