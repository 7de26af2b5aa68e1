"""What the doctor finds, and says of it."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from partita.store.data.stringified import Condition, Kind
from partita.types.json import JsonObject

Severity: TypeAlias = Literal["problem", "notice"]
"""A `problem` is damage; a `notice` is worth knowing, and may be as it should be."""

KEPT = 100
"""How many findings of a check are kept; all of them are counted."""

Cursor: TypeAlias = tuple[Any, ...]
"""Where a check goes on; empty at the start."""

BACKUP = "take it from a backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is not as it should be: what, where, and what to do about it."""

    what: str
    hint: str = ""
    severity: Severity = "problem"
    repairable: bool = False
    resource_id: str | None = None
    thread_id: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    keys: tuple[Any, ...] = ()  # what the repair needs to know

    @property
    def where(self) -> str:
        """The ids of what it is about, for people."""
        ids = {
            "owner": self.resource_id,
            "thread": self.thread_id,
            "message": self.message_id,
            "run": self.run_id,
        }
        return ", ".join(f"{name} {text}" for name, text in ids.items() if text)

    def to_json(self) -> JsonObject:
        """The finding for programs."""
        names = ("what", "hint", "severity", "repairable", "resource_id", "thread_id", "message_id", "run_id")
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "")}


class Found(NamedTuple):
    """What one step of a check found, and where the next one begins; `None`: that was all."""

    findings: list[Finding]
    next: Cursor | None = None


class Scope(NamedTuple):
    """How much to look at: everything, or every so-many-eth message or blob where looking is slow."""

    full: bool
    every: int = 1
    prefix: str = ""  # of the hashes of the blobs to look into


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found in all, and how much of it was repaired before."""

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
    """Strings of one kind: how many, in how many messages, and the migration that parses them."""

    kind: Kind
    condition: Condition
    migration: str | None
    count: int = 0
    messages: int = 0
    samples: tuple[Sample, ...] = ()

    @property
    def is_problem(self) -> bool:
        """Whether something is to be done: a migration parses them, or a network's result is damaged."""
        return self.migration is not None or self.kind == "network"

    @property
    def advice(self) -> str:
        """What to do about them."""
        if self.migration is not None:
            return f"partita migrate --only {self.migration}"
        if self.condition == "cut off":
            return "no migration: the rest is missing; take it from the source or a backup"
        if self.kind == "provider metadata":
            return "no migration: providers compare these values byte for byte"
        return "no migration: it may be meant as text"

    def to_json(self) -> JsonObject:
        """The entry for programs."""
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
    audit: tuple[AuditEntry, ...] | None = None  # if it was asked for

    @property
    def healthy(self) -> bool:
        """Whether nothing is damaged, and the audit found nothing to do. Notices are no damage."""
        return self.problems == 0

    @property
    def problems(self) -> int:
        """How many problems there are."""
        found = sum(entry.count for entry in self.audit or () if entry.is_problem)
        return found + sum(check.problems for check in self.checks)

    @property
    def repaired(self) -> int:
        """How many findings were repaired."""
        return sum(check.repaired for check in self.checks)

    def to_json(self) -> JsonObject:
        """The state for programs."""
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
