"""Counts of a session of OpenCode from its messages, with the names of the corpus."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from datetime import UTC, datetime, timedelta

from partita.formats.log.thread_builder import LogBuilder
from partita.formats.opencode.session import OpenCodeDecoder
from partita.types.json import JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart, UserMessage
from partita.types.parts import DataPart, FilePart, ImagePart, ReasoningPart, StepStartPart, TextPart

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KINDS: dict[type, str] = {
    TextPart: "text",
    ReasoningPart: "reasoning",
    ToolCallPart: "tool",
    StepStartPart: "step-start",
    FilePart: "file",
    ImagePart: "file",
}


def read(records: Iterable[JsonObject], looks: Container[int] = ()) -> tuple[dict[str, Message], LogBuilder]:
    """The final messages of a session by id; messages are also taken after the records in `looks`."""
    builder = LogBuilder("t")
    decoder = OpenCodeDecoder(builder)
    messages: list[Message] = []
    for number, record in enumerate(records):
        builder.line, builder.offset = number + 1, number
        decoder.feed(record)
        if number in looks:
            messages += builder.take()
    decoder.finish()
    messages += builder.finish()
    return {message.id: message for message in messages}, builder


def counts(messages: Iterable[Message], builder: LogBuilder) -> JsonObject:
    """The numbers of a whole session."""
    known = {message.id: message for message in messages}.values()
    conversation = [message for message in known if isinstance(message, UserMessage | AssistantMessage)]
    responses = [message for message in conversation if isinstance(message, AssistantMessage)]
    calls = [part for message in responses for part in message.parts if isinstance(part, ToolCallPart)]
    times = [to_milliseconds(message.created_at) for message in conversation if message.created_at]
    return {
        "session_id": builder.facts.get("sessionId"),
        "parent_id": builder.facts.get("parentSessionId"),
        "version": builder.facts.get("version"),
        "messages": len(conversation),
        "messages_by_role": dict(
            Counter("user" if isinstance(message, UserMessage) else "assistant" for message in conversation)
        ),
        "models": dict(
            Counter(model for message in responses if (model := metadata_of(message).get("model")))
        ),
        "message_errors": dict(
            Counter(error["name"] for message in responses if (error := error_of(message)))
        ),
        "parts_by_type": dict(parts_of(conversation)),
        "tokens": tokens_of(responses),
        "cost": round(sum(own_of(message).get("cost", 0) for message in responses), 8),
        "tool_status": dict(Counter(state_of(call).get("status") for call in calls)),
        "tools_by_name": dict(Counter(call.name for call in calls)),
        "first_ms": min(times, default=None),
        "last_ms": max(times, default=None),
    }


def metadata_of(message: Message) -> JsonObject:
    metadata = message.content.metadata
    return metadata if is_object(metadata) else {}


def own_of(message: Message) -> JsonObject:
    own = metadata_of(message).get("openCode")
    return own if is_object(own) else {}


def error_of(message: Message) -> JsonObject | None:
    error = own_of(message).get("error")
    return error if is_object(error) else None


def state_of(call: ToolCallPart) -> JsonObject:
    own = (call.tool_metadata or {}).get("openCode")
    return own if is_object(own) else {}


def parts_of(messages: Iterable[Message]) -> Counter[str]:
    found: Counter[str] = Counter()
    for message in messages:
        found.update(filter(None, map(kind_of, message.parts)))
        found.update(step["type"] for step in steps_of(message) if step["type"] == "step-finish")
    return found


def kind_of(part: Part) -> str | None:
    return part.name.removeprefix("opencode-") if isinstance(part, DataPart) else KINDS.get(type(part))


def steps_of(message: Message) -> Iterator[JsonObject]:
    steps = own_of(message).get("steps")
    return iter(steps if is_array(steps) else [])


def tokens_of(responses: Iterable[AssistantMessage]) -> JsonObject:
    """The sum of the token counts that OpenCode recorded."""
    total: Counter[str] = Counter(
        dict.fromkeys(("input", "output", "reasoning", "cache_read", "cache_write"), 0)
    )
    for message in responses:
        raw = message.content.usage.raw if message.content.usage else None
        if is_object(raw):
            total.update({name: raw[name] for name in ("input", "output", "reasoning")})
            total.update({f"cache_{name}": number for name, number in raw["cache"].items()})
    return dict(total)


def to_milliseconds(time: datetime) -> int:
    return (time - EPOCH) // timedelta(milliseconds=1)
