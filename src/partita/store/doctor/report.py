"""The report of the doctor: findings, results of checks, and JSON in strings."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from partita.store.data_migrations.json_strings import Condition, Kind
from partita.types.json import JsonObject

Severity: TypeAlias = Literal["problem", "notice"]
"""A `problem` is damage; a `notice` may be intended."""

BACKUP = "restore it from a backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong or unusual: what, where, and what to do about it."""

    what: str
    hint: str = ""
    severity: Severity = "problem"
    repairable: bool = False
    resource_id: str | None = None
    thread_id: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    keys: tuple[Any, ...] = ()  # the arguments of the repair

    @property
    def where(self) -> str:
        """The ids of the rows that it is about, as text."""
        ids = {
            "owner": self.resource_id,
            "thread": self.thread_id,
            "message": self.message_id,
            "run": self.run_id,
        }
        return ", ".join(f"{name} {text}" for name, text in ids.items() if text)

    def to_json(self) -> JsonObject:
        """The finding as JSON."""
        names = ("what", "hint", "severity", "repairable", "resource_id", "thread_id", "message_id", "run_id")
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "")}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of a check: the first findings, the number of all, and the number of repaired ones."""

    name: str
    title: str
    findings: tuple[Finding, ...] = ()
    problems: int = 0
    notices: int = 0
    repairable: int = 0
    repaired: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One string that holds a structure."""

    thread_id: str
    message_id: str
    path: str
    text: str
    resource_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Strings of one kind: their number, and the migration that parses them."""

    kind: Kind
    condition: Condition
    migration: str | None
    count: int = 0
    messages: int = 0  # that contain them
    samples: tuple[Sample, ...] = ()

    @property
    def is_problem(self) -> bool:
        """Whether there is something to do: a migration parses them, or network results are damaged."""
        return self.migration is not None or self.kind == "network"

    @property
    def advice(self) -> str:
        """What to do about them."""
        if self.migration is not None:
            return f"partita migrate --only {self.migration}"
        if self.condition == "cut off":
            return "no migration: the rest is missing; restore it from the source or a backup"
        if self.kind == "provider metadata":
            return "no migration: providers compare these values byte for byte"
        return "no migration: it may be meant as text"

    def to_json(self) -> JsonObject:
        """The entry as JSON."""
        return {
            "kind": self.kind,
            "condition": self.condition,
            "severity": "problem" if self.is_problem else "notice",
            "count": self.count,
            "messages": self.messages,
            "migration": self.migration,
            "hint": self.advice,
            "samples": [
                {
                    "threadId": sample.thread_id,
                    "messageId": sample.message_id,
                    **({} if sample.resource_id is None else {"resourceId": sample.resource_id}),
                    "path": sample.path,
                    "text": sample.text,
                }
                for sample in self.samples
            ],
        }


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a store."""

    checks: tuple[CheckResult, ...]
    audit: tuple[AuditEntry, ...] | None = None  # if requested

    @property
    def healthy(self) -> bool:
        """Whether there are no problems. Notices do not count."""
        return self.problems == 0

    @property
    def problems(self) -> int:
        """The number of problems, in the audit too."""
        in_audit = sum(entry.count for entry in self.audit or () if entry.is_problem)
        return in_audit + sum(check.problems for check in self.checks)

    @property
    def repaired(self) -> int:
        """The number of repaired findings."""
        return sum(check.repaired for check in self.checks)

    def to_json(self) -> JsonObject:
        """The state as JSON."""
        checks = [
            {
                "name": check.name,
                "title": check.title,
                "problems": check.problems,
                "notices": check.notices,
                "repaired": check.repaired,
                "findings": [finding.to_json() for finding in check.findings],
            }
            for check in self.checks
        ]
        health: JsonObject = {"healthy": self.healthy, "repaired": self.repaired, "checks": checks}
        return health if self.audit is None else {**health, "audit": [one.to_json() for one in self.audit]}
