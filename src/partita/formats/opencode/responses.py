"""Responses of models: what is new in them, what they consumed, how they ended."""

from datetime import datetime
from typing import Final, NamedTuple

from partita.formats.transcript import Consumption, Teller
from partita.types.chunks import Chunk, MessageMetadata, ToolOutputChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantContent, AssistantMessage
from partita.types.tools import InterruptedOutput

from .content import KEY, STEPS, grown, part_chunks, step_of, text_or, without
from .second import GENERATION, response_names
from .spots import Spots
from .times import time_in
from .tools import STATUSES, call_of, child_of, output_of, state_of, tool_chunks
from .usage import cost_of, key_of, sum_of, tokens_of, usage_of

ABORTED: Final = frozenset({"MessageAbortedError", "aborted"})
"""How an error is called that somebody made on purpose, by version 1 and by version 2."""

GOES_ON: Final = frozenset({"tool-calls", "unknown"})
"""Why a response ended, when it is not the last of its turn."""


class Told(NamedTuple):
    """The response that is open, as far as it was told."""

    id: str
    parts: list[JsonObject]
    metadata: JsonObject


class Failure(NamedTuple):
    """Why a response broke off."""

    error: Json
    words: str


class Responses:
    """Tells responses: one that is open by what is new in it, any other whole."""

    def __init__(self, teller: Teller, spots: Spots) -> None:
        self._teller = teller
        self._spots = spots
        self._told: Told | None = None
        self._due: tuple[Consumption, int] | None = None  # and the line that says so

    def let_go(self, id_: str | None = None) -> None:
        """No response is open any more, or not this one."""
        self._settle()
        if self._told is not None and id_ in (None, self._told.id):
            self._told = None

    def _settle(self) -> None:
        """Tell what the open response consumed. While it grows that may change, and its key with it."""
        if self._due is not None:
            consumption, line = self._due
            self._due = None
            with self._teller.as_of(line):
                self._teller.consume(consumption)

    def count(self, id_: str, record: JsonObject, time: datetime | None) -> None:
        """What something that is no response consumed."""
        model = record.get("model")
        info = {**response_names(model if is_object(model) else {}), **record, GENERATION: 2}
        consumption = _consumption(id_, info, [], time)
        if consumption is not None:
            self._teller.consume(consumption)

    def tell(
        self, id_: str, info: JsonObject, parts: list[JsonObject], time: datetime | None
    ) -> Failure | None:
        """A response as it is now; why it broke off, if it did."""
        told = self._told if self._told is not None and self._told.id == id_ else None
        if told is None:
            self._settle()
        is_last = told is not None or id_ not in self._spots
        metadata = _metadata(info, parts)
        names = _names(id_, parts)
        news = None if told is None else _news(told.parts, parts, names)
        if told is None or news is None:
            content = AssistantContent(parts=(), metadata=metadata)
            self._teller.open(AssistantMessage(content=content, **self._spots.envelope(id_, time)))
            news = [_whole(part, str(number), names[number]) for number, part in enumerate(parts)]
        elif metadata != told.metadata:
            self._teller.grow(id_, MessageMetadata(metadata))
        self._told = Told(id_, parts, metadata)
        for part, name, chunks in zip(parts, names, news, strict=True):
            if chunks and part.get("type") == "tool":
                self._call(id_, name, part, chunks)
            elif chunks:
                self._teller.grow(id_, *chunks)
        self._learn(info)
        consumption = _consumption(id_, info, parts, time)
        self._due = None if consumption is None else (consumption, self._teller.line)
        return self._end(id_, info, parts, names, is_last)

    def _call(self, id_: str, call_id: str, part: JsonObject, chunks: list[Chunk]) -> None:
        """A call. The times of its chunks are those of its beginning and its end."""
        state = state_of(part)
        for chunk in chunks:
            time = time_in(state, "end" if isinstance(chunk, ToolOutputChunk) else "start")
            if time is not None:
                self._teller.tick(time)
            self._teller.grow(id_, chunk)
        status = state.get("status")
        if not isinstance(status, str) or status not in STATUSES:
            self._teller.puzzle(f"unknown state {status!r:.80} of a call")
        if (child := child_of(part)) is not None:
            self._teller.link(child, call_id)

    def _learn(self, info: JsonObject) -> None:
        if isinstance(model := info.get("modelID"), str):
            self._teller.learn("model", model)
        if isinstance(provider := info.get("providerID"), str):
            self._teller.learn("provider", provider)
        if isinstance(agent := info.get("agent", info.get("mode")), str):
            self._teller.learn("agentName", agent)

    def _end(
        self, id_: str, info: JsonObject, parts: list[JsonObject], names: list[str], is_last: bool
    ) -> Failure | None:
        """How a response ended, and its turn with it."""
        completed = time_in(info, "completed")
        if completed is not None:
            self._teller.tick(completed)
            self.let_go()
            self._teller.close(id_)
        error = info.get("error")
        if error is not None:
            failure = Failure(error, error_words(error))
            aborted = is_object(error) and error.get("name", error.get("type")) in ABORTED
            if aborted:
                self._stop(id_, parts, names)
            if is_last:
                self._teller.end_turn("interrupted" if aborted else "failed", failure.words or None)
            return failure
        finish = info.get("finish")
        if is_last and isinstance(finish, str) and finish not in GOES_ON and info.get("summary") is not True:
            self._teller.end_turn("completed")
        return None

    def _stop(self, id_: str, parts: list[JsonObject], names: list[str]) -> None:
        """Whoever stops a response stops the calls that run in it."""
        for part, name in zip(parts, names, strict=True):
            if part.get("type") == "tool" and output_of(part) is None:
                self._teller.grow(id_, ToolOutputChunk(name, InterruptedOutput("aborted")))


def _consumption(
    id_: str, info: JsonObject, parts: list[JsonObject], time: datetime | None
) -> Consumption | None:
    """What a response consumed: as its message says, or as its steps say when the message does not."""
    raw, cost = info.get("tokens"), cost_of(info.get("cost"))
    apart = info.get(GENERATION) == 2
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
    """An id for every part that is a call: its own, unless another part has it too."""
    names: list[str] = []
    for number, part in enumerate(parts):
        name = call_of(part, f"{id_}-{number}")
        names.append(f"{name}-{number}" if name in names else name)
    return names


def _whole(part: JsonObject, block: str, name: str) -> list[Chunk]:
    return [*(tool_chunks(name, part) if part.get("type") == "tool" else part_chunks(part, block))]


def _news(old: list[JsonObject], new: list[JsonObject], names: list[str]) -> list[list[Chunk]] | None:
    """The chunks that make `new` of what was told as `old`, by part; nothing if that cannot be done."""
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
            chunks = grown(old[number], part, block)
        if chunks is None:
            return None
        news.append(chunks)
    return news


def _is_same_call(old: JsonObject, new: JsonObject) -> bool:
    """Whether a call only went on. A title and what providers left cannot be taken back by a chunk."""
    lost = bool(state_of(old).get("title")) > bool(state_of(new).get("title"))
    lost = lost or bool(old.get("metadata")) > bool(new.get("metadata"))
    return not lost and all(old.get(key) == new.get(key) for key in ("type", "id", "callID", "tool"))


def _metadata(info: JsonObject, parts: list[JsonObject]) -> JsonObject:
    """What a response holds besides its parts: the model, and what OpenCode says of it and of its steps."""
    own = without(info, "id", "sessionID", "role", "modelID", "tokens")
    steps = [step_of(part) for part in parts if part.get("type") in STEPS and len(part) > 1]
    if steps:
        own["steps"] = steps
    model = info.get("modelID")
    return {"model": model, KEY: own} if isinstance(model, str) else {KEY: own}


def error_words(error: Json) -> str:
    """What an error says."""
    if not is_object(error):
        return text_or(error, "")
    data = error.get("data")
    message = data.get("message") if is_object(data) else error.get("message")
    return ": ".join(
        text for text in (error.get("name", error.get("type")), message) if isinstance(text, str) and text
    )
