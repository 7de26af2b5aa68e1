"""Rows of `agents`, with their stream events and tool calls → prompt and answer of each agent.

The row itself has texts alone, so its messages are marked as reconstructed. Where the stream events are
there, the answer is folded from them and is what it was; a result that they do not tell stands behind them.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.formats.folding import fold
from partita.formats.losses import Loss
from partita.formats.plain import marks, reconstructed
from partita.formats.rows import Row, message_of, unpacked
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantPart, Envelope, Message
from partita.types.parts import DataPart, ForeignPart, TextPart
from partita.types.usage import Usage

from .events import EventDecoder
from .tools import with_rows

FORMAT: Final = "smithers"
ORIGIN: Final = "smithers.agents"
MIRRORS: Final = {"eventType": ("type",), "eventId": ("id", "toolCallId"), "toolName": ("toolName",)}
"""Columns of an event, and the members of its content that they repeat."""


EVENT_COLUMNS: Final = "ids and times of events have no place in a message"


class Agent(NamedTuple):
    """All that is stored of one agent."""

    row: Row
    events: Sequence[Row]
    tool_calls: Sequence[Row]


def load_agent(agent: Agent, index: int, losses: list[Loss]) -> list[Message]:
    """What the agent was told, and what came of it."""
    row = agent.row
    row.unpack("streamSummary")
    id_ = row.take_text("id") or f"agent-{index + 1}"
    run_id = row.take_text("executionId")
    created_at = row.take_moment("createdAt") or row.take_moment("startedAt")

    def envelope(suffix: str) -> Envelope:
        return Envelope(id=id_ + suffix, thread_id=id_, run_id=run_id, created_at=created_at)

    asked: list[Message] = []
    for role, column, suffix in (("system", "systemPrompt", ":system"), ("user", "prompt", ":prompt")):
        if isinstance(row.get(column), str):
            asked.append(reconstructed(row.take(column), role=role, origin=ORIGIN, **envelope(suffix)))
    return [*asked, _answer(agent, envelope(""), losses)]


def _answer(agent: Agent, envelope: Envelope, losses: list[Loss]) -> Message:
    row = agent.row
    result = row.take("result") if isinstance(row.get("result"), str) else None
    behind = [*_structured(row, losses), *_error(row)]
    usage = _usage(row)
    if not agent.events:
        parts: Sequence[AssistantPart] = [*with_rows((), agent.tool_calls), *_text(result), *behind]
        metadata = marks(ORIGIN, row.left, made=True)
        return message_of("assistant", parts, origin=FORMAT, metadata=metadata, usage=usage, **envelope)
    folded, kept = _folded(agent.events, envelope["id"], losses)
    parts = with_rows(folded, agent.tool_calls)
    said = "".join(part.text for part in parts if isinstance(part, TextPart))
    if result is not None and result.strip() not in said:
        parts = [*parts, TextPart(result)]
    parts = [*parts, *(part for part in behind if part not in parts)]
    aside = row.left | ({"events": kept} if kept else {})
    message = message_of(
        "assistant",
        parts,
        origin=FORMAT,
        metadata=marks(ORIGIN, aside, made=False),
        usage=usage or _usage_of_finishes(kept),
        **envelope,
    )
    return message if result is None else replace(message, content=replace(message.content, content=result))


def _text(result: str | None) -> list[TextPart]:
    return [] if result is None else [TextPart(result)]


def _structured(row: Row, losses: list[Loss]) -> list[DataPart | ForeignPart]:
    if "resultStructured" not in row:
        return []
    where, said = row.where("resultStructured"), row.take("resultStructured")
    value = unpacked(said)
    if isinstance(said, str) and value == said:
        losses.append(Loss.of(where, said, "kept as a foreign part, for it is no JSON", "changed"))
        return [ForeignPart(FORMAT, said)]
    return [DataPart("result", value)]


def _error(row: Row) -> list[DataPart]:
    error = row.take("error")
    return [] if error is None else [DataPart("error", error if is_object(error) else {"message": error})]


def _usage(row: Row) -> Usage | None:
    """The counts of the row, which has them too."""
    given, taken = row.get("tokensInput"), row.get("tokensOutput")
    if type(given) is not int and type(taken) is not int:
        return None
    return Usage(given if type(given) is int else None, taken if type(taken) is int else None)


def _usage_of_finishes(kept: Sequence[Json]) -> Usage | None:
    """The sum of what the model calls counted."""
    usages = [part["usage"] for part in kept if is_object(part) and is_object(part.get("usage"))]
    totals: dict[str, int] = {}
    for usage in usages:
        for ours, theirs in (("input_tokens", "inputTokens"), ("output_tokens", "outputTokens")):
            counts = usage.get(theirs)
            if is_object(counts) and type(counts.get("total")) is int:
                totals[ours] = totals.get(ours, 0) + counts["total"]
    return replace(Usage(raw=usages), **totals) if usages else None


# Events


def _folded(
    events: Sequence[Row], message_id: str, losses: list[Loss]
) -> tuple[Sequence[AssistantPart], list[Json]]:
    """The parts that events amount to, and the events that no part can hold."""
    decoder = EventDecoder()
    chunks: list[tuple[str, Chunk]] = []
    columns: list[JsonObject] = []
    for event in in_order(events):
        path = event.where("content")
        content = unpacked(event.take("content"))
        _drop_mirrors(event, content)
        columns.append(event.left)
        if content is not None:
            chunks.extend((path, chunk) for chunk in decoder.feed(content, path))
    folded = fold(chunks, message_id)
    losses.append(Loss.of(events[0].path, columns, EVENT_COLUMNS, "minor"))
    losses.extend([*decoder.losses, *folded.losses])
    return folded.message.parts, decoder.kept


def in_order(events: Sequence[Row]) -> list[Row]:
    """Events as they happened. Smithers hands them out newest first, and some share a millisecond."""
    stamps = [event.get("timestamp") for event in events]
    if not all(type(stamp) is int for stamp in stamps):
        return list(events)
    newest_first = stamps[0] > stamps[-1]
    return sorted(reversed(events) if newest_first else events, key=lambda event: int(event.get("timestamp")))


def _drop_mirrors(event: Row, content: Json) -> None:
    event.take_text("agentId")
    for column, members in MIRRORS.items():
        said = event.get(column)
        if is_object(content) and said is not None and said in [content.get(member) for member in members]:
            event.take(column)
