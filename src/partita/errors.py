"""Every error raised on purpose.

    PartitaError
    ├── ConfigError      a setting that does not exist, or a value that it does not take
    ├── DecodeError      bytes or JSON that are not the value they should be
    ├── StreamError      a chunk that does not fit the stream so far, or broken framing
    ├── ConversionError  a payload that a format cannot read or write
    ├── FormatError      a format that does not exist or cannot be guessed
    ├── AgentError       an agent that does not exist, cannot be started, or failed at its work
    ├── BudgetError      a budget of runs that is used up
    ├── ApprovalError    an approval that was never asked for, was answered before, or does not fit its call
    └── StoreError       something the store cannot do
        ├── NotFoundError     no such row, or none that this owner may see
        ├── ConflictError     an id that is taken, a run that has ended, a lease that is held by another
        │   └── BusyError     a thread that has a run at work
        └── UnavailableError  the database cannot be used: locked, full, damaged, gone

Each says what went wrong, where, and how to fix it, and carries the same as fields.
"""


class PartitaError(Exception):
    """What went wrong, where it went wrong, and what to do about it."""

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
        """`where`, as far as clients of a server may see it."""
        return self.where


class ConfigError(PartitaError):
    """A setting that nobody knows, a value of the wrong kind, or a file of settings that cannot be read."""


class DecodeError(PartitaError):
    """Data that is not the value it should be. `where` is a JSON path such as `$.parts[2].text`."""

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", expected: str = "", found: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.expected = expected
        self.found = found


class StreamError(PartitaError):
    """A chunk that does not fit the stream so far. Nothing was changed by it."""

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", chunk_type: str = "", chunk_id: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.chunk_type = chunk_type
        self.chunk_id = chunk_id


class ConversionError(PartitaError):
    """A payload that a format cannot read or write at all. What it merely cannot carry is a loss."""


class FormatError(PartitaError):
    """A format nobody has registered, or a payload whose format cannot be guessed."""


class AgentError(PartitaError):
    """An agent that is not registered, cannot be started, or failed.

    If a run failed, `run_id` and `status` name it; what it produced until then is stored.
    """

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", run_id: str = "", status: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.run_id = run_id
        self.status = status


class BudgetError(PartitaError):
    """The budget of an owner is used up. `retry_after` says for how many seconds."""

    def __init__(self, what: str, *, where: str = "", hint: str = "", retry_after: float = 1.0) -> None:
        super().__init__(what, where=where, hint=hint)
        self.retry_after = retry_after


class ApprovalError(PartitaError):
    """An answer to a question that was not asked, or that is not about the call that is stored."""


class StoreError(PartitaError):
    """Something the store cannot do. Nothing was changed by it."""

    @property
    def public_where(self) -> str:
        """`where` if it is a JSON path: anything else may be the address of the database."""
        return self.where if self.where.startswith("$") else ""


class NotFoundError(StoreError):
    """No such thread, message, run or blob, or none that this owner may see."""


class ConflictError(StoreError):
    """An id that is taken, a run that has ended, a lease that someone else holds."""


class BusyError(ConflictError):
    """The thread has a run at work: wait for it, stop it, or queue behind it."""


class UnavailableError(StoreError):
    """The database cannot be used now: locked, full, read-only, damaged, or its server is gone."""
