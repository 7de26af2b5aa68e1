"""The report of `reproject`: what was found for each run."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from partita.runtime.compare.differences import Difference
from partita.types.json import JsonObject

Outcome: TypeAlias = Literal["unchanged", "changed", "would-lose", "skipped"]


class ChangedMessage(NamedTuple):
    """A message whose rebuilt content differs from the stored one."""

    message_id: str
    differences: tuple[Difference, ...]
    lost: tuple[str, ...] = ()
    """The content of the stored message that the rebuilt one does not have."""

    def to_json(self) -> JsonObject:
        """The change as JSON."""
        members: JsonObject = {
            "messageId": self.message_id,
            "differences": [one.to_json() for one in self.differences],
        }
        return {**members, "lost": list(self.lost)} if self.lost else members


class ReprojectedRun(NamedTuple):
    """The result for one run."""

    run_id: str
    thread_id: str
    outcome: Outcome
    why: str | None = None
    """The reason why it was skipped."""
    messages: tuple[ChangedMessage, ...] = ()
    written: bool = False
    imported: bool = False
    """Whether it was imported from a log of its agent."""

    def to_json(self) -> JsonObject:
        """The result as JSON."""
        members: JsonObject = {"runId": self.run_id, "threadId": self.thread_id, "outcome": self.outcome}
        if self.why is not None:
            members["why"] = self.why
        if self.messages:
            members["messages"] = [one.to_json() for one in self.messages]
        return {**members, "written": self.written, "imported": self.imported}


@dataclass(slots=True)
class ReprojectReport:
    """The results for all runs."""

    runs: list[ReprojectedRun] = field(default_factory=list[ReprojectedRun])

    def of(self, run_id: str) -> ReprojectedRun:
        """The result for a run."""
        return next(one for one in self.runs if one.run_id == run_id)

    @property
    def counts(self) -> Counter[Outcome]:
        """The number of runs by outcome."""
        return Counter(one.outcome for one in self.runs)

    @property
    def imported(self) -> int:
        """The number of runs that were imported from logs of their agents."""
        return sum(one.imported for one in self.runs)
