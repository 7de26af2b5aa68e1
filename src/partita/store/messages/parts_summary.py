"""The column `parts_summary` of a message: its parts in short, if it has calls or reasoning.

A line for each part: its index, its type, its state and the name of its tool. The outline of a thread reads
this instead of the rows of all parts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from partita.views.tool_names import kind_of

WORK: Final = frozenset({"tool-call", "tool-result", "reasoning", "reasoning-file"})
"""The types of parts that are not what a message says, except questions to the user."""


class PartRow(NamedTuple):
    """The row of a part. Its times come from the log of the run."""

    path: str
    type: str
    tool_name: str | None
    call_id: str | None
    state: str | None
    error: str | None
    interruption: str | None = None


def summarize(parts: Iterable[PartRow]) -> str | None:
    """The summary of a message; `None` if it has neither calls nor reasoning."""
    # Parts of sub-agents and of networks have longer paths.
    own = [part for part in parts if part.path.isdecimal() and part.type != "step-start"]
    if WORK.isdisjoint(part.type for part in own):
        return None
    return "\n".join(map(_line, own))


def _line(part: PartRow) -> str:
    type_ = part.type if part.type in WORK else "other"
    failed = "done" if part.error is None else "failed"
    state = "waiting" if part.state == "approval-requested" else failed
    return f"{part.path} {type_} {state} {(part.tool_name or '').replace(chr(10), ' ')}"


class Work(NamedTuple):
    """The calls and the reasoning of a message, and where its texts start and end."""

    reasoning: bool = False
    calls: Mapping[str, int] | None = None  # how many of each kind
    failed: int = 0
    start: int = 0
    end: int | None = None
    before: int = 0
    inside: int = 0


NO_WORK: Final = Work()


@lru_cache(4096)
def work_of(summary: str) -> Work:
    """What a summary says. Most messages have one of few summaries."""
    calls: Counter[str] = Counter()
    failed = 0
    texts: list[int] = []
    others: list[int] = []
    called: list[int] = []
    reasoning = False
    for line in summary.split("\n"):
        index, type_, state, tool = line.split(" ", 3)
        kind = kind_of(tool)
        if type_ == "tool-call":
            calls[kind] += 1
            called.append(int(index))
        failed += state == "failed" and type_ in {"tool-call", "tool-result"}
        reasoning = reasoning or type_ == "reasoning"
        speaks = type_ not in WORK or kind in {"question", "plan"} or state == "waiting"
        (texts if speaks else others).append(int(index))
    if not others:
        start, end = 0, None
    elif not texts:
        start, end = 0, 0
    else:
        start = min(texts) if min(others) < min(texts) else 0
        end = max(texts) + 1 if max(others) > max(texts) else None
    before = sum(index < start for index in called)
    inside = sum(index >= start and (end is None or index < end) for index in called)
    return Work(reasoning, calls or None, failed, start, end, before, inside)
