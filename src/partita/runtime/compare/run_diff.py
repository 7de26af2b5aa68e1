"""Compare two runs: their parts, their usage and duration, and how they ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.runtime.replay.message_chunks import call_times, is_imported, messages_of_run
from partita.runtime.replay.model_calls import unwrapped
from partita.runtime.replay.recorded_run import (
    RecordedRun,
    continued_message,
    get_run,
    read_recorded_run,
)
from partita.store.logs.timings import timings
from partita.store.store import Store
from partita.types.chunks import Chunk, MessageFinish, ReasoningDelta, TextDelta
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
from partita.views.notices import notices

from .differences import (
    Difference,
    Shortener,
    TextPiece,
    diff_words,
    differences,
    format_pieces,
    is_id_or_time,
)

# The parts of two conversations, aligned by their labels, and how each pair differs

Kind: TypeAlias = Literal["same", "changed", "removed", "added"]

NOT_COMPARED: Final = frozenset({"id", "sourceId", "state", "providerMetadata"})
"""Members of a part that differ in every run."""

CALL: Final = "tool call "
"""The prefix of the labels of tool calls, before the name of the tool."""

NESTED: Final = "› "
"""The prefix of the labels of a sub-agent's parts, once for each level."""


class LabelledPart(NamedTuple):
    """A part, and the label by which it is aligned; no part where a step or a message starts."""

    label: str
    part: Part | None
    duration: timedelta | None = None


class PartDiff(NamedTuple):
    """A part of one conversation, and the aligned part of the other."""

    kind: Kind
    label: str
    a: Part | None
    b: Part | None
    text_diff: tuple[TextPiece, ...] = ()
    """Of texts, reasoning, and outputs that are text."""
    differences: tuple[Difference, ...] = ()
    """Of inputs, other outputs, and all other members."""
    durations: tuple[timedelta | None, timedelta | None] = (None, None)


def labelled(messages: Iterable[Message], durations: Mapping[str, timedelta]) -> list[LabelledPart]:
    """The parts of messages in order, those of sub-agents after the calls that started them."""
    found: list[LabelledPart] = []
    stack: list[Iterator[LabelledPart | Sequence[Message]]] = [_items(messages, durations)]
    while stack:  # no recursion: sub-agents may be nested deeply
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, LabelledPart):
            found.append(item._replace(label=NESTED * (len(stack) - 1) + item.label))
        else:
            stack.append(_items(item, durations))
    return found


def _items(
    messages: Iterable[Message], durations: Mapping[str, timedelta]
) -> Iterator[LabelledPart | Sequence[Message]]:
    for message in messages:
        if message.internal:
            continue
        yield LabelledPart(f"{message.__struct_config__.tag} message", None)
        found = notices(message)
        for place, part in enumerate(message.content.parts):
            if (notice := found.get(place)) is not None:
                if not notice.hidden:
                    text = f"{notice.label}\n{notice.text}".strip()
                    yield LabelledPart("notice", TextPart(text))
                continue
            match part:
                case StepStartPart():
                    yield LabelledPart("step", None)
                case ToolCallPart(name=name, children=children):
                    yield LabelledPart(f"{CALL}{name}", part, durations.get(part.id))
                    yield children
                case _:
                    yield LabelledPart(str(part.__struct_config__.tag), part)
        network = message.content.network_execution if isinstance(message, AssistantMessage) else None
        if network is not None:
            yield LabelledPart(f"{network.primitive_type} {network.primitive_id}", None)
            yield () if network.final_result is None else network.final_result.messages


def diff_parts(old: Sequence[LabelledPart], new: Sequence[LabelledPart]) -> Iterator[PartDiff]:
    """All parts of both: calls of the same tool are compared with each other, texts with texts."""
    matcher = SequenceMatcher(None, [one.label for one in old], [one.label for one in new], autojunk=False)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            yield from map(_compared, old[old_start:old_end], new[new_start:new_end])
            continue
        for one in old[old_start:old_end]:
            yield PartDiff("removed", one.label, one.part, None, durations=(one.duration, None))
        for one in new[new_start:new_end]:
            yield PartDiff("added", one.label, None, one.part, durations=(None, one.duration))


def _compared(one: LabelledPart, other: LabelledPart) -> PartDiff:
    old, new = one.part, other.part
    before, after = _text(old), _text(new)
    is_text = before is not None and after is not None
    pieces = diff_words(before or "", after or "") if is_text else ()
    members = differences(_members(old, is_text), _members(new, is_text))
    found = tuple(one for one in members if not is_id_or_time(one))
    is_same = not found and all(piece.mark == "=" for piece in pieces)
    kind: Kind = "same" if is_same else "changed"
    return PartDiff(kind, one.label, old, new, pieces, found, (one.duration, other.duration))


def _text(part: Part | None) -> str | None:
    """The text of a part that is compared word by word; `None` if it has none."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return text
        case ToolCallPart(output=output):
            return text_of(output)
        case _:
            return None


def text_of(output: ToolOutput | None) -> str | None:
    """The text of an output; `None` if it is not a text."""
    return output.value if isinstance(output, TextOutput | ErrorTextOutput) else None


def _members(part: Part | None, is_text: bool) -> JsonObject:
    """The members of a part that are compared as JSON."""
    if part is None:
        return {}
    members: JsonObject = to_json(part)
    if isinstance(part, ToolCallPart):
        approved = None if part.approval is None else part.approval.approved
        compared = {"input", "state"} if is_text else {"input", "state", "output"}
        kept = {key: value for key, value in members.items() if key in compared}
        return kept if approved is None else {**kept, "approved": approved}
    if is_text:
        return {}
    return {key: value for key, value in members.items() if key not in NOT_COMPARED}


USAGE: Final = {
    "input_tokens": "input tokens",
    "cached_input_tokens": "cached input tokens",
    "output_tokens": "output tokens",
    "reasoning_tokens": "reasoning tokens",
}

MAX_CHARACTERS: Final = 4_000_000
"""How many characters of parts a diff has in total as JSON, besides the differences."""


class RunFact(NamedTuple):
    """A text or a number that is known of each of two runs."""

    name: str
    a: str | float | None
    b: str | float | None


class RunDiff(NamedTuple):
    """The differences of two runs."""

    a: Run
    b: Run
    facts: tuple[RunFact, ...]
    parts: tuple[PartDiff, ...]

    @property
    def same(self) -> bool:
        """Whether all parts are the same, except for ids and times. The usage and the duration may differ."""
        return all(part.kind == "same" for part in self.parts)

    def __str__(self) -> str:
        return "\n".join(plain_lines(self))


class _ComparedRun(NamedTuple):
    run: Run
    parts: Sequence[LabelledPart]
    messages: int
    chunks: Sequence[Chunk]
    first_text: timedelta | None


async def diff_runs(store: Store, a: str, b: str) -> RunDiff:
    """Compare two runs. If a run continued a message, the whole message is compared."""
    one, other = await _compared_run(store, a), await _compared_run(store, b)
    parts = tuple(diff_parts(one.parts, other.parts))
    return RunDiff(one.run, other.run, tuple(_facts(one, other)), parts)


async def _compared_run(store: Store, run_id: str) -> _ComparedRun:
    run = await get_run(store, run_id)
    recorded = await read_recorded_run(store, run)
    messages = await _messages(store, recorded)
    parts = labelled(messages, await _durations(store, recorded))
    visible = sum(not message.internal for message in messages)
    return _ComparedRun(run, parts, visible, recorded.chunks, _time_to_first_text(recorded))


async def _durations(store: Store, recorded: RecordedRun) -> dict[str, timedelta]:
    """The durations of the calls of a run, by id."""
    if is_imported(recorded.run):
        times = await call_times(store, recorded.run.thread_id)
        known = {call: timing for (_, call), timing in times.items()}
    else:
        chunks = [(record.time, record.chunk) for record in recorded.records if record.chunk is not None]
        known = {path[-1]: timing for path, timing in timings(chunks).items()}
    return {
        call: timing.ended - timing.started
        for call, timing in known.items()
        if timing.started is not None and timing.ended is not None
    }


async def _messages(store: Store, recorded: RecordedRun) -> Sequence[Message]:
    if recorded.chunks:
        return recorded.fold(recorded.chunks, await continued_message(store, recorded.run))
    # An imported run has stored messages only.
    return [one.message for one in await messages_of_run(store, recorded.run)]


def _time_to_first_text(recorded: RecordedRun) -> timedelta | None:
    started = recorded.run.started_at or recorded.run.created_at
    for record in recorded.records:
        chunk = None if record.chunk is None else unwrapped(record.chunk)[1]
        if started is not None and isinstance(chunk, TextDelta | ReasoningDelta):
            return record.time - started
    return None


def _facts(a: _ComparedRun, b: _ComparedRun) -> Iterator[RunFact]:
    one, other = a.run, b.run
    yield RunFact("status", one.status, other.status)
    yield RunFact("agent", one.agent, other.agent)
    yield RunFact("model", one.model, other.model)
    yield RunFact("error", one.error, other.error)
    yield RunFact("finish reason", _finish_reason(a), _finish_reason(b))
    yield RunFact("messages", a.messages, b.messages)
    yield RunFact("steps", _count(a, "step"), _count(b, "step"))
    yield RunFact("tool calls", _count(a, CALL), _count(b, CALL))
    for field, name in USAGE.items():
        yield RunFact(name, getattr(one.usage, field, None), getattr(other.usage, field, None))
    yield RunFact("cost", one.cost, other.cost)
    yield RunFact("duration (s)", _duration(one), _duration(other))
    yield RunFact("time to first token (s)", _seconds(a.first_text), _seconds(b.first_text))


def _finish_reason(side: _ComparedRun) -> str | None:
    ends = [chunk.finish_reason for chunk in side.chunks if isinstance(chunk, MessageFinish)]
    return ends[-1] if ends else None


def _count(side: _ComparedRun, label: str) -> int:
    return sum(one.label.startswith(label) for one in side.parts)


def _duration(run: Run) -> float | None:
    return _seconds(run.finished_at - run.started_at) if run.finished_at and run.started_at else None


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else round(duration.total_seconds(), 3)


# As text and as JSON


def plain_lines(diff: RunDiff) -> Iterator[str]:
    """A diff as lines: `=` the same, `~` different, `-` and `+` only in one run."""
    yield f"- {diff.a.id}"
    yield f"+ {diff.b.id}"
    for name, a, b in diff.facts:
        if a is not None or b is not None:
            yield f"= {name}: {a}" if a == b else f"~ {name}: {a} → {b}"
    for part in diff.parts:
        mark = {"same": "=", "changed": "~", "removed": "-", "added": "+"}[part.kind]
        yield f"{mark} {part.label}"
        if part.kind == "changed":
            yield from (f"    {line}" for line in format_pieces(part.text_diff).splitlines())
            yield from (f"    {one}" for one in part.differences)


def to_object(diff: RunDiff) -> JsonObject:
    """A diff as JSON. Long texts of parts are truncated."""
    shortener = Shortener(MAX_CHARACTERS)
    return {
        "a": diff.a.id,
        "b": diff.b.id,
        "same": diff.same,
        "facts": [{"name": name, "a": a, "b": b} for name, a, b in diff.facts if (a, b) != (None, None)],
        "parts": [_part(part, shortener) for part in diff.parts],
    }


def _part(part: PartDiff, shortener: Shortener) -> JsonObject:
    members: JsonObject = {"kind": part.kind, "label": part.label}
    if part.kind == "changed":
        words: Json = [{"mark": piece.mark, "text": piece.text} for piece in part.text_diff]
        members |= {"words": words, "differences": [one.to_json() for one in part.differences]}
    sides = {"a": part.a, "b": None if part.kind == "same" else part.b}
    members |= {side: shortener(_without_nested(one)) for side, one in sides.items() if one is not None}
    seconds: JsonObject = {side: _seconds(one) for side, one in zip("ab", part.durations, strict=True) if one}
    return {**members, "seconds": seconds} if seconds else members


def _without_nested(part: Part) -> JsonObject:
    """A part without the messages of a sub-agent: their parts are listed by themselves."""
    return {key: value for key, value in to_json(part).items() if key not in ("children", "resultMessage")}
