"""Two runs side by side: what they said and did, what they took, how they ended."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from partita.store.facade.store import Store
from partita.store.log.timings import timings
from partita.types.chunks import ChildChunk, Chunk, MessageFinish, ReasoningDelta, TextDelta
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, Part
from partita.types.runs import Run

from .differences import Difference
from .lineage import Recorded, fold_recorded, get_run, recorded, seed_of
from .part_diff import Labelled, PartDiff, diff_parts, labelled
from .retelling import call_times, is_imported, stored_messages
from .shortening import Shortener
from .words import plainly

USAGE: Final = {
    "input_tokens": "input tokens",
    "cached_input_tokens": "cached input tokens",
    "output_tokens": "output tokens",
    "reasoning_tokens": "reasoning tokens",
}

SHOWN: Final = 4_000_000
"""How many characters of parts a diff tells in all, beside what differs."""


class Fact(NamedTuple):
    """Something that is known of each of two runs: a word, a number of things, or one of seconds."""

    name: str
    a: str | float | None
    b: str | float | None


class RunDiff(NamedTuple):
    """How two runs compare."""

    a: Run
    b: Run
    facts: tuple[Fact, ...]
    parts: tuple[PartDiff, ...]

    @property
    def same(self) -> bool:
        """Whether both said and did the same, whatever they took."""
        return all(part.kind == "same" for part in self.parts)

    def __str__(self) -> str:
        return "\n".join(plain_lines(self))


class _Side(NamedTuple):
    run: Run
    parts: Sequence[Labelled]
    messages: int
    chunks: Sequence[Chunk]
    first_word: timedelta | None


async def diff_runs(store: Store, a: str, b: str) -> RunDiff:
    """Two runs compared. Of runs that went on with a message, all of it is."""
    one, other = await _side(store, a), await _side(store, b)
    parts = tuple(diff_parts(one.parts, other.parts))
    return RunDiff(one.run, other.run, tuple(_facts(one, other)), parts)


async def _side(store: Store, run_id: str) -> _Side:
    run = await get_run(store, run_id)
    log = await recorded(store, run)
    messages = await _messages(store, log)
    took = await _durations(store, log)
    return _Side(run, labelled(messages, took), len(messages), log.chunks, _first_word(log))


async def _durations(store: Store, log: Recorded) -> dict[str, timedelta]:
    """How long the calls of a run took."""
    if is_imported(log.run):
        known = {call: timing for (_, call), timing in (await call_times(store, log.run.thread_id)).items()}
    else:
        told = [(record.time, record.chunk) for record in log.records if record.chunk is not None]
        known = {path[-1]: timing for path, timing in timings(told).items()}
    return {
        call: timing.ended - timing.started
        for call, timing in known.items()
        if timing.started is not None and timing.ended is not None
    }


async def _messages(store: Store, log: Recorded) -> Sequence[Message]:
    if log.chunks:
        return fold_recorded(log, log.chunks, await seed_of(store, log))
    # Of an imported run, the stored messages are all there is.
    return [one.message for one in await stored_messages(store, log.run)]


def _first_word(log: Recorded) -> timedelta | None:
    began = log.run.started_at or log.run.created_at
    for record in log.records:
        chunk = record.chunk
        while isinstance(chunk, ChildChunk):
            chunk = chunk.chunk
        if began is not None and isinstance(chunk, TextDelta | ReasoningDelta):
            return record.time - began
    return None


def _facts(a: _Side, b: _Side) -> Iterator[Fact]:
    one, other = a.run, b.run
    yield Fact("status", one.status, other.status)
    yield Fact("agent", one.agent, other.agent)
    yield Fact("model", one.model, other.model)
    yield Fact("error", one.error, other.error)
    yield Fact("finish reason", _finish_reason(a), _finish_reason(b))
    yield Fact("messages", a.messages, b.messages)
    yield Fact("steps", _count(a, "step"), _count(b, "step"))
    yield Fact("calls", _count(a, "call of "), _count(b, "call of "))
    for field, name in USAGE.items():
        yield Fact(name, getattr(one.usage, field, None), getattr(other.usage, field, None))
    yield Fact("cost", one.cost, other.cost)
    yield Fact("seconds", _took(one), _took(other))
    yield Fact("seconds to the first word", _seconds(a.first_word), _seconds(b.first_word))


def _finish_reason(side: _Side) -> str | None:
    ends = [chunk.finish_reason for chunk in side.chunks if isinstance(chunk, MessageFinish)]
    return ends[-1] if ends else None


def _count(side: _Side, label: str) -> int:
    return sum(one.label.startswith(label) for one in side.parts)


def _took(run: Run) -> float | None:
    return _seconds(run.finished_at - run.started_at) if run.finished_at and run.started_at else None


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else round(duration.total_seconds(), 3)


# As text and as JSON


def plain_lines(diff: RunDiff) -> Iterator[str]:
    """A diff as lines: `=` what is the same, `~` what differs, `-` and `+` what only one run has."""
    yield f"- {diff.a.id}"
    yield f"+ {diff.b.id}"
    for name, a, b in diff.facts:
        if a is not None or b is not None:
            yield f"= {name}: {a}" if a == b else f"~ {name}: {a} → {b}"
    for part in diff.parts:
        mark = {"same": "=", "changed": "~", "removed": "-", "added": "+"}[part.kind]
        yield f"{mark} {part.label}"
        if part.kind == "changed":
            yield from (f"    {line}" for line in plainly(part.words).splitlines())
            yield from (f"    {one}" for one in part.differences)


def to_object(diff: RunDiff) -> JsonObject:
    """A diff as JSON. Parts are told as far as they can be shown: long texts are cut."""
    shortener = Shortener(SHOWN)
    return {
        "a": diff.a.id,
        "b": diff.b.id,
        "same": diff.same,
        "facts": [{"name": name, "a": a, "b": b} for name, a, b in diff.facts if (a, b) != (None, None)],
        "parts": [_part(part, shortener) for part in diff.parts],
    }


def _part(part: PartDiff, shortener: Shortener) -> JsonObject:
    said: JsonObject = {"kind": part.kind, "label": part.label}
    if part.kind == "changed":
        words: Json = [{"mark": piece.mark, "text": piece.text} for piece in part.words]
        inner: tuple[Difference, ...] = part.differences
        said |= {"words": words, "differences": [one.to_json() for one in inner]}
    sides = {"a": part.a, "b": None if part.kind == "same" else part.b}
    said |= {side: shortener(_alone(own)) for side, own in sides.items() if own is not None}
    took: JsonObject = {side: _seconds(one) for side, one in zip("ab", part.took, strict=True) if one}
    return {**said, "seconds": took} if took else said


def _alone(part: Part) -> JsonObject:
    """A part without the messages of a sub-agent: these have rows of their own."""
    return {key: value for key, value in to_json(part).items() if key not in ("children", "resultMessage")}
