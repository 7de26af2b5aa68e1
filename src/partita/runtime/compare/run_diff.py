"""Two runs side by side: what they said and did, what they took, how they ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.runtime.replay.message_chunks import call_times, is_imported, stored_messages
from partita.runtime.replay.recorded_run import Recorded, fold_recorded, get_run, recorded, seed_of
from partita.store.logs.timings import timings
from partita.store.store import Store
from partita.types.chunks import ChildChunk, Chunk, MessageFinish, ReasoningDelta, TextDelta
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart
from partita.types.parts import (
    ErrorTextOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.threads import Run

from .differences import Difference, Piece, Shortener, diff_words, differences, format_pieces

# The parts of two talks, aligned by what they are, and how each pair differs.

Kind: TypeAlias = Literal["same", "changed", "removed", "added"]

EVERY_RUNS_OWN: Final = frozenset({"id", "sourceId", "state", "providerMetadata"})
"""Members of a part that every run makes anew: that they differ says nothing."""

BELOW: Final = "› "
"""Stands before the label of a part once for every sub-agent around it."""


class Labelled(NamedTuple):
    """A part, and what makes it comparable with another; without one where a step or a message begins."""

    label: str
    part: Part | None
    took: timedelta | None = None


class PartDiff(NamedTuple):
    """A part of one talk beside that of the other."""

    kind: Kind
    label: str
    a: Part | None
    b: Part | None
    words: tuple[Piece, ...] = ()
    """Of texts, of reasoning, and of outputs that are text."""
    differences: tuple[Difference, ...] = ()
    """Of inputs, of other outputs, and of all else."""
    took: tuple[timedelta | None, timedelta | None] = (None, None)


def labelled(messages: Iterable[Message], durations: Mapping[str, timedelta]) -> list[Labelled]:
    """The parts of messages in order, those of sub-agents behind the calls that started them."""
    found: list[Labelled] = []
    stack: list[Iterator[Labelled | Sequence[Message]]] = [_items(messages, durations)]
    while stack:  # no recursion: sub-agents nest at will
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, Labelled):
            found.append(item._replace(label=BELOW * (len(stack) - 1) + item.label))
        else:
            stack.append(_items(item, durations))
    return found


def _items(
    messages: Iterable[Message], durations: Mapping[str, timedelta]
) -> Iterator[Labelled | Sequence[Message]]:
    for message in messages:
        yield Labelled(f"message of {message.__struct_config__.tag}", None)
        for part in message.content.parts:
            match part:
                case StepStartPart():
                    yield Labelled("step", None)
                case ToolCallPart(name=name, children=children):
                    yield Labelled(f"call of {name}", part, durations.get(part.id))
                    yield children
                case _:
                    yield Labelled(str(part.__struct_config__.tag), part)
        network = message.content.network_execution if isinstance(message, AssistantMessage) else None
        if network is not None:
            yield Labelled(f"choice of {network.primitive_type} {network.primitive_id}", None)
            yield () if network.final_result is None else network.final_result.messages


def diff_parts(old: Sequence[Labelled], new: Sequence[Labelled]) -> Iterator[PartDiff]:
    """All parts of both: a call of a tool beside a call of the same tool, a text beside a text."""
    matcher = SequenceMatcher(None, [one.label for one in old], [one.label for one in new], autojunk=False)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            yield from map(_compared, old[old_start:old_end], new[new_start:new_end])
            continue
        for one in old[old_start:old_end]:
            yield PartDiff("removed", one.label, one.part, None, took=(one.took, None))
        for one in new[new_start:new_end]:
            yield PartDiff("added", one.label, None, one.part, took=(None, one.took))


def _compared(one: Labelled, other: Labelled) -> PartDiff:
    old, new = one.part, other.part
    before, after = _text(old), _text(new)
    is_text = before is not None and after is not None
    words = diff_words(before or "", after or "") if is_text else ()
    found = tuple(differences(_rest(old, is_text), _rest(new, is_text)))
    is_same = not found and all(piece.mark == "=" for piece in words)
    kind: Kind = "same" if is_same else "changed"
    return PartDiff(kind, one.label, old, new, words, found, (one.took, other.took))


def _text(part: Part | None) -> str | None:
    """The words of a part that are compared word by word, if it has such."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return text
        case ToolCallPart(output=output):
            return text_of(output)
        case _:
            return None


def text_of(output: ToolOutput | None) -> str | None:
    """The words of an output that is text."""
    return output.value if isinstance(output, TextOutput | ErrorTextOutput) else None


def _rest(part: Part | None, is_text: bool) -> JsonObject:
    """What of a part is compared member by member."""
    if part is None:
        return {}
    whole: JsonObject = to_json(part)
    if isinstance(part, ToolCallPart):
        approved = None if part.approval is None else part.approval.approved
        wanted = {"input", "state"} if is_text else {"input", "state", "output"}
        kept = {key: value for key, value in whole.items() if key in wanted}
        return kept if approved is None else {**kept, "approved": approved}
    if is_text:
        return {}
    return {key: value for key, value in whole.items() if key not in EVERY_RUNS_OWN}


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
            yield from (f"    {line}" for line in format_pieces(part.words).splitlines())
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
