"""The messages of an OpenCode session: their changes, their token usage, and how they ended."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from partita.formats.core.members import text_or, without
from partita.formats.log.message_tree import MessageTree
from partita.formats.log.sink import Consumption, LogSink
from partita.types.chunks import Chunk, MessageMetadata, ToolOutputChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    SystemContent,
    SystemMessage,
    SystemPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import DataPart, InterruptedOutput, TextPart
from partita.types.usage import Usage

from .parts import (
    KEY,
    KINDS,
    STATUSES,
    STEPS,
    call_of,
    change_chunks,
    child_of,
    is_injected,
    kind_of_part,
    output_of,
    part_chunks,
    state_of,
    step_of,
    time_in,
    tool_chunks,
    user_part,
)
from .version_2 import ENDS, VERSION_KEY, response_names

# Token counts


class Tokens(NamedTuple):
    """The token counts of OpenCode. `input` does not include the cache."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    read: int = 0
    write: int = 0
    total: int | None = None
    apart: bool = False  # `output` does not include reasoning

    @property
    def prompt(self) -> int:
        """All input tokens."""
        return self.input + self.read + self.write

    @property
    def written(self) -> int:
        """All output tokens, including reasoning.

        In version 1.2 `output` includes reasoning, in later ones it does not; the total shows which. Without
        a total it is an old version, or version 2. Seen in recordings.
        """
        if self.apart:
            return self.output + self.reasoning
        if self.total is None:
            return self.output if self.reasoning <= self.output else self.output + self.reasoning
        inside = self.prompt + self.output == self.total
        return self.output if inside else self.output + self.reasoning


def tokens_of(raw: Json, *, apart: bool = False) -> Tokens | None:
    """Return the counts; `None` if all are 0, as those of a message that is not a response."""
    if not is_object(raw):
        return None
    cache = raw.get("cache")
    cached: JsonObject = cache if is_object(cache) else {}
    tokens = Tokens(
        input=_count(raw.get("input")),
        output=_count(raw.get("output")),
        reasoning=_count(raw.get("reasoning")),
        read=_count(cached.get("read")),
        write=_count(cached.get("write")),
        total=_count(raw.get("total")) or None,
        apart=apart,
    )
    return tokens if any(tokens[:5]) else None


def usage_of(tokens: Tokens, raw: Json) -> Usage:
    """Return the usage of a response."""
    return Usage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.written,
        total_tokens=tokens.prompt + tokens.written if tokens.total is None else tokens.total,
        reasoning_tokens=tokens.reasoning,
        cached_input_tokens=tokens.read,
        cache_write_tokens=tokens.write,
        raw=raw,
    )


def key_of(info: JsonObject, tokens: Tokens) -> str:
    """Return the key of a response. A fork copies it with another id, but the same time, model and counts."""
    time = info.get("time")
    created = time.get("created") if is_object(time) else None
    counters = "-".join(str(number) for number in tokens[:5])
    return f"opencode:{created}:{info.get('providerID')}/{info.get('modelID')}:{counters}"


def sum_of(steps: Iterable[JsonObject]) -> JsonObject | None:
    """The sum of the counts of steps, as OpenCode writes it."""
    found = [tokens for step in steps if (tokens := tokens_of(step.get("tokens"))) is not None]
    if not found:
        return None
    totals = [tokens.total for tokens in found if tokens.total is not None]
    return {
        "input": sum(tokens.input for tokens in found),
        "output": sum(tokens.output for tokens in found),
        "reasoning": sum(tokens.reasoning for tokens in found),
        "cache": {"read": sum(t.read for t in found), "write": sum(t.write for t in found)},
        **({"total": sum(totals)} if len(totals) == len(found) else {}),
    }


def cost_of(value: Json) -> float | None:
    """Return a cost in dollars, if the value is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _count(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


# Responses

ABORTED: Final = frozenset({"MessageAbortedError", "aborted"})
"""The name of the error of a stopped response, in version 1 and in version 2."""

CONTINUING: Final = frozenset({"tool-calls", "unknown"})
"""The finish reasons of responses that are not the last of their turn."""


class OpenResponse(NamedTuple):
    """The response that may still change, as it was last read."""

    id: str
    parts: list[JsonObject]
    metadata: JsonObject


class Failure(NamedTuple):
    """Why a response failed."""

    error: Json
    text: str


class Responses:
    """Adds responses: of the open one its changes, others as a whole."""

    def __init__(self, sink: LogSink, tree: MessageTree) -> None:
        self._sink = sink
        self._tree = tree
        self._open: OpenResponse | None = None
        self._due: tuple[Consumption, int] | None = None  # and its line

    def close(self, id_: str | None = None) -> None:
        """Close the open response, if it has that id or no id is given."""
        self._add_usage()
        if self._open is not None and id_ in (None, self._open.id):
            self._open = None

    def _add_usage(self) -> None:
        """Add the usage of the open response. While it changes, its usage and its key may change too."""
        if self._due is not None:
            consumption, line = self._due
            self._due = None
            with self._sink.from_lines(line):
                self._sink.add_consumption(consumption)

    def count(self, id_: str, record: JsonObject, time: datetime | None) -> None:
        """Add the usage of a record that is not a response."""
        model = record.get("model")
        info = {**response_names(model if is_object(model) else {}), **record, VERSION_KEY: 2}
        consumption = _consumption(id_, info, [], time)
        if consumption is not None:
            self._sink.add_consumption(consumption)

    def add(
        self, id_: str, info: JsonObject, parts: list[JsonObject], time: datetime | None
    ) -> Failure | None:
        """Add the current state of a response; return why it failed, if it did."""
        before = self._open if self._open is not None and self._open.id == id_ else None
        if before is None:
            self._add_usage()
        is_last = before is not None or id_ not in self._tree
        metadata = _metadata(info, parts)
        names = _names(id_, parts)
        news = None if before is None else _changes(before.parts, parts, names)
        if before is None or news is None:
            content = AssistantContent(parts=(), metadata=metadata)
            self._sink.open(AssistantMessage(content=content, **self._tree.envelope(id_, time)))
            news = [_whole(part, str(number), names[number]) for number, part in enumerate(parts)]
        elif metadata != before.metadata:
            self._sink.append(id_, MessageMetadata(metadata))
        self._open = OpenResponse(id_, parts, metadata)
        for part, name, chunks in zip(parts, names, news, strict=True):
            if chunks and part.get("type") == "tool":
                self._call(id_, name, part, chunks)
            elif chunks:
                self._sink.append(id_, *chunks)
        self._set_facts(info)
        consumption = _consumption(id_, info, parts, time)
        self._due = None if consumption is None else (consumption, self._sink.line)
        return self._end(id_, info, parts, names, is_last)

    def _call(self, id_: str, call_id: str, part: JsonObject, chunks: list[Chunk]) -> None:
        """Add the chunks of a call, with the times of its start and its end."""
        state = state_of(part)
        for chunk in chunks:
            time = time_in(state, "end" if isinstance(chunk, ToolOutputChunk) else "start")
            if time is not None:
                self._sink.set_time(time)
            self._sink.append(id_, chunk)
        status = state.get("status")
        if not isinstance(status, str) or status not in STATUSES:
            self._sink.report_unknown(f"unknown state {status!r:.80} of a call")
        if (child := child_of(part)) is not None:
            self._sink.link_agent(child, call_id)

    def _set_facts(self, info: JsonObject) -> None:
        if isinstance(model := info.get("modelID"), str):
            self._sink.set_fact("model", model)
        if isinstance(provider := info.get("providerID"), str):
            self._sink.set_fact("provider", provider)
        if isinstance(agent := info.get("agent", info.get("mode")), str):
            self._sink.set_fact("agentName", agent)

    def _end(
        self, id_: str, info: JsonObject, parts: list[JsonObject], names: list[str], is_last: bool
    ) -> Failure | None:
        """End a response, and its turn if it is the last response."""
        completed = time_in(info, "completed")
        if completed is not None:
            self._sink.set_time(completed)
            self.close()
            self._sink.close(id_)
        error = info.get("error")
        if error is not None:
            failure = Failure(error, error_text(error))
            aborted = is_object(error) and error.get("name", error.get("type")) in ABORTED
            if aborted:
                self._stop(id_, parts, names)
            if is_last:
                self._sink.end_turn("interrupted" if aborted else "failed", failure.text or None)
            return failure
        finish = info.get("finish")
        if (
            is_last
            and isinstance(finish, str)
            and finish not in CONTINUING
            and info.get("summary") is not True
        ):
            self._sink.end_turn("completed")
        return None

    def _stop(self, id_: str, parts: list[JsonObject], names: list[str]) -> None:
        """Stop the running calls of a stopped response."""
        for part, name in zip(parts, names, strict=True):
            if part.get("type") == "tool" and output_of(part) is None:
                self._sink.append(id_, ToolOutputChunk(name, InterruptedOutput("aborted")))


def _consumption(
    id_: str, info: JsonObject, parts: list[JsonObject], time: datetime | None
) -> Consumption | None:
    """Return the usage of a response: the counts of its message, else those of its steps."""
    raw, cost = info.get("tokens"), cost_of(info.get("cost"))
    apart = info.get(VERSION_KEY) == 2
    tokens = tokens_of(raw, apart=apart)
    if tokens is None:
        steps = [part for part in parts if part.get("type") == "step-finish"]
        raw = sum_of(steps)
        tokens = tokens_of(raw)
        cost = sum(cost_of(step.get("cost")) or 0.0 for step in steps)
    if tokens is None:
        return None
    model, provider = text_or(info.get("modelID"), "") or None, text_or(info.get("providerID"), "") or None
    return Consumption(key_of(info, tokens), id_, model, usage_of(tokens, raw), time, provider, cost)


def _names(id_: str, parts: list[JsonObject]) -> list[str]:
    """Return an id for every part that is a call: its own, unless another part has the same."""
    names: list[str] = []
    for number, part in enumerate(parts):
        name = call_of(part, f"{id_}-{number}")
        names.append(f"{name}-{number}" if name in names else name)
    return names


def _whole(part: JsonObject, block: str, name: str) -> list[Chunk]:
    return [*(tool_chunks(name, part) if part.get("type") == "tool" else part_chunks(part, block))]


def _changes(old: list[JsonObject], new: list[JsonObject], names: list[str]) -> list[list[Chunk]] | None:
    """Return the chunks that change `old` to `new`, by part; `None` if no chunks can do so."""
    if len(new) < len(old):
        return None
    news: list[list[Chunk]] = []
    for number, part in enumerate(new):
        block, name = str(number), names[number]
        if number >= len(old):
            chunks: list[Chunk] | None = _whole(part, block, name)
        elif part == old[number]:
            chunks = []
        elif part.get("type") == "tool" and _is_same_call(old[number], part):
            chunks = _whole(part, block, name)
        else:
            chunks = change_chunks(old[number], part, block)
        if chunks is None:
            return None
        news.append(chunks)
    return news


def _is_same_call(old: JsonObject, new: JsonObject) -> bool:
    """Whether a call only continued: chunks cannot remove a title or metadata of providers."""
    lost = bool(state_of(old).get("title")) > bool(state_of(new).get("title"))
    lost = lost or bool(old.get("metadata")) > bool(new.get("metadata"))
    return not lost and all(old.get(key) == new.get(key) for key in ("type", "id", "callID", "tool"))


def _metadata(info: JsonObject, parts: list[JsonObject]) -> JsonObject:
    """The metadata of a response: the model, and the other members of it and of its steps."""
    own = without(info, "id", "sessionID", "role", "modelID", "tokens")
    steps = [step_of(part) for part in parts if part.get("type") in STEPS and len(part) > 1]
    if steps:
        own["steps"] = steps
    model = info.get("modelID")
    return {"model": model, KEY: own} if isinstance(model, str) else {KEY: own}


def error_text(error: Json) -> str:
    """The text of an error."""
    if not is_object(error):
        return text_or(error, "")
    data = error.get("data")
    message = data.get("message") if is_object(data) else error.get("message")
    return ": ".join(
        text for text in (error.get("name", error.get("type")), message) if isinstance(text, str) and text
    )


# Messages


COMMON: Final = frozenset(
    {"id", "sessionID", "role", "time", "agent", "path", "summary", "system", "variant", "error"}
)
SECOND: Final = frozenset({VERSION_KEY, "metadata"})
FIELDS: Final = {
    "user": COMMON | SECOND | {"model", "tools", "format", "fallbackModels", "skill", "name", "description"},
    "assistant": COMMON
    | SECOND
    | {"parentID", "modelID", "providerID", "mode", "cost", "tokens", "finish", "structured"}
    | {"rawFinish", "snapshot", "providerState", "retry"},
}
"""The known members of a message, by its role."""


class Messages:
    """Adds messages at their positions, and updates repeated ones."""

    def __init__(self, sink: LogSink, tree: MessageTree) -> None:
        self._sink = sink
        self._tree = tree
        self._responses = Responses(sink, tree)

    def finish(self) -> None:
        """Close the open response. If it is repeated, it replaces the last one."""
        self._responses.close()

    def message(self, id_: str, info: JsonObject, parts: list[JsonObject]) -> None:
        """Add a new message, or update a known one."""
        role = info.get("role")
        time = time_in(info, "created")
        if time is not None:
            self._sink.set_time(time)
        for part in parts:
            if kind_of_part(part) not in KINDS:
                self._sink.report_unknown(f"unknown part type {part.get('type')!r:.80}")
        if role != "assistant":
            self._responses.close(id_)
        if not isinstance(role, str) or role not in FIELDS:
            self._sink.report_unknown(f"unknown message role {role!r:.80}")
            self.event(id_, "opencode-message", {"info": info, "parts": parts}, time=time, internal=True)
            return
        for field in info:
            if field not in FIELDS[role]:
                self._sink.report_unknown(f"unknown field {field!r} of a message")
        if role == "user":
            self._user(id_, info, parts, time)
        elif (failure := self._responses.add(id_, info, parts, time)) is not None:
            self.event(f"{id_}-error", "opencode-error", failure.error, text=failure.text)

    def add_event(self, id_: str, kind: str, record: JsonObject, text: str) -> None:
        """Add an event that is not a message: a command of the user, a compaction, the end of a turn."""
        time = time_in(record, "created")
        if time is not None:
            self._sink.set_time(time)
        self.event(id_, f"opencode-{kind}", record, text=text, time=time, internal=kind == "idle")
        if kind == "compaction":
            self._responses.count(id_, record, time)
        elif kind == "idle" and (end := ENDS.get(str(record.get("outcome")))) is not None:
            self._responses.close()
            self._sink.end_turn(end, error_text(record.get("error")) or None)

    def event(
        self,
        id_: str,
        name: str,
        data: Json,
        *,
        text: str = "",
        time: datetime | None = None,
        internal: bool = False,
    ) -> None:
        """Add a notice after the last message."""
        parts: tuple[SystemPart, ...] = (DataPart(name, data),)
        if text:
            parts = (TextPart(text), *parts)
        envelope = self._tree.envelope(id_, time or self._sink.time, internal=internal)
        envelope["type"] = "event"
        self._sink.add_message(SystemMessage(content=SystemContent(parts=parts), **envelope))

    def _user(self, id_: str, info: JsonObject, parts: list[JsonObject], time: datetime | None) -> None:
        is_notice = bool(parts) and all(part.get("type") == "compaction" for part in parts)
        internal = bool(parts) and all(is_injected(part) for part in parts)
        if id_ not in self._tree and not internal and not is_notice:
            self._begin_turn(parts)
        model = info.get("model")
        name = model.get("modelID") if is_object(model) else None
        metadata: JsonObject = {"model": name} if isinstance(name, str) else {}
        metadata[KEY] = without(info, "id", "sessionID", "role")
        content = UserContent(parts=tuple(user_part(part) for part in parts), metadata=metadata)
        envelope = self._tree.envelope(id_, time, internal=internal)
        if internal or is_notice:
            envelope["type"] = "event"
        self._sink.add_message(UserMessage(content=content, **envelope))

    def _begin_turn(self, parts: list[JsonObject]) -> None:
        self._responses.close()
        self._sink.start_turn()
        texts = [part.get("text") for part in parts if not is_injected(part)]
        self._sink.set_fact("prompt", "\n".join(text for text in texts if isinstance(text, str)))
