"""What came of reading runs anew, run by run."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from partita.runtime.compare.differences import Difference
from partita.types.json import JsonObject

Outcome: TypeAlias = Literal["unchanged", "changed", "would-lose", "skipped"]


class Changed(NamedTuple):
    """A message that comes out otherwise than it is stored."""

    message_id: str
    differences: tuple[Difference, ...]
    lost: tuple[str, ...] = ()
    """What the stored one has and the new one has not."""

    def to_json(self) -> JsonObject:
        """As JSON."""
        said: JsonObject = {
            "messageId": self.message_id,
            "differences": [one.to_json() for one in self.differences],
        }
        return {**said, "lost": list(self.lost)} if self.lost else said


class Reprojected(NamedTuple):
    """One run."""

    run_id: str
    thread_id: str
    outcome: Outcome
    why: str | None = None
    messages: tuple[Changed, ...] = ()
    written: bool = False
    imported: bool = False
    """Whether it was read from a log of its agent."""

    def to_json(self) -> JsonObject:
        """As JSON."""
        said: JsonObject = {"runId": self.run_id, "threadId": self.thread_id, "outcome": self.outcome}
        if self.why is not None:
            said["why"] = self.why
        if self.messages:
            said["messages"] = [one.to_json() for one in self.messages]
        return {**said, "written": self.written, "imported": self.imported}


@dataclass(slots=True)
class ReprojectReport:
    """All runs that were looked at."""

    runs: list[Reprojected] = field(default_factory=list[Reprojected])

    def of(self, run_id: str) -> Reprojected:
        """What came of a run."""
        return next(one for one in self.runs if one.run_id == run_id)

    @property
    def counts(self) -> Counter[Outcome]:
        """How many runs came out in which way."""
        return Counter(one.outcome for one in self.runs)

    @property
    def imported(self) -> int:
        """How many runs were read from logs of their agents; the others are of our own runtime."""
        return sum(one.imported for one in self.runs)
