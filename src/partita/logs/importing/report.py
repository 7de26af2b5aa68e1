"""What an import of logs did."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from partita.formats.log.diagnostics import Finding
from partita.store.imports.report import Counts
from partita.types.json import JsonObject

from .task import Outcome


class Progress(NamedTuple):
    """How far an import has come."""

    files: int
    all_files: int
    bytes: int
    all_bytes: int
    messages: int


Tell: TypeAlias = Callable[[Progress], None]


@dataclass
class LogImportReport:
    """What was found, what was new, what was not understood, what went wrong."""

    files: int = 0
    read: int = 0  # files that had anything new
    bytes: int = 0
    lines: int = 0
    gone: int = 0  # files that were read once and are no more; their threads stay
    counts: Counts = field(default_factory=Counts)
    findings: dict[str, tuple[Finding, ...]] = field(default_factory=dict[str, tuple[Finding, ...]])
    problems: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, outcome: Outcome) -> None:
        """What came of one file."""
        self.bytes += outcome.bytes
        self.lines += outcome.lines
        if outcome.findings:
            self.findings[outcome.path] = outcome.findings
        for problem in outcome.problems:
            self.problem(outcome.path, problem)

    def problem(self, path: str, what: str) -> None:
        """Something went wrong with a file."""
        self.problems.setdefault(path, []).append(what)

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.problems)

    def to_json(self) -> JsonObject:
        """The report as plain JSON."""
        return {
            "files": self.files,
            "read": self.read,
            "bytes": self.bytes,
            "lines": self.lines,
            "gone": self.gone,
            "threads": {"new": self.counts.new_threads},
            "messages": {
                "new": self.counts.new,
                "changed": self.counts.changed,
                "unchanged": self.counts.unchanged,
            },
            "findings": [
                {
                    "file": path,
                    "what": finding.what,
                    "times": finding.times,
                    "lines": [place.line for place in finding.places],
                    "detail": finding.detail,
                }
                for path, findings in sorted(self.findings.items())
                for finding in findings
            ],
            "problems": [
                {"file": path, "what": what} for path, each in sorted(self.problems.items()) for what in each
            ],
        }
