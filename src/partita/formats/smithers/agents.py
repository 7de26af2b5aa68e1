"""Rows of `agents`, with their stream events and tool calls → prompt and response of each agent.

The row itself only has texts, so its messages are marked as reconstructed. If there are stream events, the
response is built from them. A result that they do not contain is appended.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.members import parsed
from partita.formats.event_streams import fold
from partita.formats.losses import UNREAD, Loss
from partita.formats.rows import NOT_JSON, Row, marks, message_of, reconstructed
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object, same_json
from partita.types.messages import AssistantPart, Envelope, Message, ToolCallPart
from partita.types.parts import (
    DataPart,
    ErrorTextOutput,
    ForeignPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolState,
)
from partita.types.usage import Usage

from .events import EventDecoder

NAME: Final = "smithers"
ORIGIN: Final = "smithers.agents"
MIRRORS: Final = {"eventType": ("type",), "eventId": ("id", "toolCallId"), "toolName": ("toolName",)}
"""Columns of an event, and the members of its content that they repeat."""


SUMMARY: Final = "summary"
"""The value of a note: the row only has a summary of the output."""


class Agent(NamedTuple):
    """The rows of one agent."""

    row: Row
    events: Sequence[Row]
    tool_calls: Sequence[Row]


def load_agent(agent: Agent, index: int, losses: list[Loss]) -> list[Message]:
    """Return the prompts of an agent, and its response."""
    row = agent.row
    row.unpack("streamSummary")
    id_ = row.take_text("id") or f"agent-{index + 1}"
    run_id = row.take_text("executionId")
    created_at = row.take_moment("createdAt") or row.take_moment("startedAt")

    def envelope(suffix: str) -> Envelope:
        return Envelope(id=id_ + suffix, thread_id=id_, run_id=run_id, created_at=created_at)

    prompts: list[Message] = []
    for role, column, suffix in (("system", "systemPrompt", ":system"), ("user", "prompt", ":prompt")):
        if isinstance(row.get(column), str):
            prompts.append(reconstructed(row.take(column), role=role, origin=ORIGIN, **envelope(suffix)))
    return [*prompts, _response(agent, envelope(""), losses)]


def _response(agent: Agent, envelope: Envelope, losses: list[Loss]) -> Message:
    row = agent.row
    result = row.take("result") if isinstance(row.get("result"), str) else None
    appended = [*_structured(row, losses), *_error(row)]
    usage = _usage(row)
    if not agent.events:
        parts: Sequence[AssistantPart] = [*_with_calls((), agent.tool_calls), *_text(result), *appended]
        metadata = marks(ORIGIN, row.left, made=True)
        return message_of("assistant", parts, origin=NAME, metadata=metadata, usage=usage, **envelope)
    folded, kept = _folded(agent.events, envelope["id"], losses)
    parts = _with_calls(folded, agent.tool_calls)
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    if result is not None and result.strip() not in text:
        parts = [*parts, TextPart(result)]
    parts = [*parts, *(part for part in appended if part not in parts)]
    extra = row.left | ({"events": kept} if kept else {})
    message = message_of(
        "assistant",
        parts,
        origin=NAME,
        metadata=marks(ORIGIN, extra, made=False),
        usage=usage or _usage_of_finishes(kept),
        **envelope,
    )
    return message if result is None else replace(message, content=replace(message.content, content=result))


def _text(result: str | None) -> list[TextPart]:
    return [] if result is None else [TextPart(result)]


def _structured(row: Row, losses: list[Loss]) -> list[DataPart | ForeignPart]:
    if "resultStructured" not in row:
        return []
    where, stored = row.where("resultStructured"), row.take("resultStructured")
    value = parsed(stored)
    if isinstance(stored, str) and value == stored:
        losses.append(Loss.of(where, stored, NOT_JSON, "changed"))
        return [ForeignPart(NAME, stored)]
    return [DataPart("result", value)]


def _error(row: Row) -> list[DataPart]:
    error = row.take("error")
    return [] if error is None else [DataPart("error", error if is_object(error) else {"message": error})]


def _usage(row: Row) -> Usage | None:
    """Return the counts of the row, which are also kept in the metadata."""
    given, taken = row.get("tokensInput"), row.get("tokensOutput")
    if type(given) is not int and type(taken) is not int:
        return None
    return Usage(given if type(given) is int else None, taken if type(taken) is int else None)


def _usage_of_finishes(kept: Sequence[Json]) -> Usage | None:
    """Return the sum of the counts of all model calls."""
    usages = [part["usage"] for part in kept if is_object(part) and is_object(part.get("usage"))]
    totals: dict[str, int] = {}
    for usage in usages:
        for field, member in (("input_tokens", "inputTokens"), ("output_tokens", "outputTokens")):
            counts = usage.get(member)
            if is_object(counts) and type(counts.get("total")) is int:
                totals[field] = totals.get(field, 0) + counts["total"]
    return replace(Usage(raw=usages), **totals) if usages else None


# Calls


def _with_calls(parts: Sequence[AssistantPart], rows: Iterable[Row]) -> list[AssistantPart]:
    """Return the parts with the calls completed from the rows of `tool_calls`, and calls that only rows have.

    Rows have other ids than the stream: a row belongs to the first call of the same tool with the same input
    that has no row yet.
    """
    result = list(parts)
    unmatched = [index for index, part in enumerate(result) if isinstance(part, ToolCallPart)]
    for row in rows:
        call = _load_call(row)
        place = next((index for index in unmatched if _is_same_call(result[index], call)), None)
        if place is None:
            result.append(call)
        else:
            unmatched.remove(place)
            result[place] = _merged(result[place], call)
    return result


def _load_call(row: Row) -> ToolCallPart:
    """Return the call of a row. Its other columns become tool metadata."""
    row.take_text("agentId")
    id_, name = row.get("id"), row.get("toolName")
    input_ = parsed(row.take("input")) if "input" in row else UNSET
    state, output = _outcome(row)
    if isinstance(name, str):
        row.take("toolName")
    if isinstance(id_, str):
        row.take("id")
    return ToolCallPart(
        id_ if isinstance(id_, str) else row.path,
        name if isinstance(name, str) else "unknown",
        state,
        input_,
        output=output,
        dynamic=True,
        tool_metadata={NAME: row.left} if row.left else None,
    )


def _outcome(row: Row) -> tuple[ToolState, ToolOutput | None]:
    """Return the state of the call, and its output, or the summary that is stored instead of a large one."""
    error, inline, summary = row.get("error"), row.get("outputInline"), row.get("outputSummary")
    if row.get("status") == "failed" or isinstance(error, str):
        return "output-error", ErrorTextOutput(row.take("error") if isinstance(error, str) else "")
    if isinstance(inline, str):
        return "output-available", TextOutput(row.take("outputInline"))
    if isinstance(summary, str):
        mark: JsonObject = {NAME: {"is": SUMMARY}}
        return "output-available", TextOutput(row.take("outputSummary"), provider_metadata=mark)
    return ("output-available" if row.get("status") == "completed" else "input-available"), None


def _is_same_call(part: AssistantPart, call: ToolCallPart) -> bool:
    if not isinstance(part, ToolCallPart):
        return False
    known = UNSET not in (part.input, call.input)
    return part.id == call.id or (part.name == call.name and known and same_json(part.input, call.input))


def _merged(part: AssistantPart, call: ToolCallPart) -> AssistantPart:
    """Return the call of the stream, completed from its row."""
    if not isinstance(part, ToolCallPart):
        return part
    kept: JsonObject = {"id": call.id, **(call.tool_metadata or {}).get(NAME, {})}
    if call.name != part.name:
        kept["toolName"] = call.name
    if call.input is not UNSET and (part.input is UNSET or not same_json(part.input, call.input)):
        kept["input"] = call.input
    if part.output is None and call.output is not None:
        part = replace(part, state=call.state, output=call.output)
    elif call.output is not None and call.output != part.output:
        kept["output"] = to_json(call.output)
    return replace(part, tool_metadata={NAME: kept})


# Events


def _folded(
    events: Sequence[Row], message_id: str, losses: list[Loss]
) -> tuple[Sequence[AssistantPart], list[Json]]:
    """Return the parts of the events, and the events that no part can express."""
    decoder = EventDecoder()
    chunks: list[tuple[str, Chunk]] = []
    columns: list[JsonObject] = []
    for event in in_order(events):
        path = event.where("content")
        content = parsed(event.take("content"))
        _drop_mirrors(event, content)
        columns.append(event.left)
        if content is not None:
            chunks.extend((path, chunk) for chunk in decoder.feed(content, path))
    folded = fold(chunks, message_id)
    losses.append(Loss.of(events[0].path, columns, UNREAD, "minor"))
    losses.extend([*decoder.losses, *folded.losses])
    return folded.message.parts, decoder.kept


def in_order(events: Sequence[Row]) -> list[Row]:
    """Return events by time. Smithers returns the newest first; some have the same time."""
    stamps = [event.get("timestamp") for event in events]
    if not all(type(stamp) is int for stamp in stamps):
        return list(events)
    newest_first = stamps[0] > stamps[-1]
    return sorted(reversed(events) if newest_first else events, key=lambda event: int(event.get("timestamp")))


def _drop_mirrors(event: Row, content: Json) -> None:
    event.take_text("agentId")
    for column, members in MIRRORS.items():
        value = event.get(column)
        if is_object(content) and value is not None and value in [content.get(member) for member in members]:
            event.take(column)
