"""Counts of a chat of Gemini CLI from its messages, with the names of the corpus."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from datetime import datetime

from partita.formats.gemini_cli.chat import GeminiChatDecoder
from partita.formats.log.thread_builder import LogBuilder
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import DataPart, ReasoningPart

NOTICES = {"gemini-info": "info", "gemini-warning": "warning", "gemini-error": "error"}
REMOVALS = ("gemini-compaction", "gemini-rewind")


def read(records: Iterable[JsonObject], looks: Container[int] = ()) -> tuple[dict[str, Message], LogBuilder]:
    """The final messages of a chat by id; messages are also taken after the records in `looks`."""
    builder = LogBuilder("t")
    decoder = GeminiChatDecoder(builder)
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
    """The numbers of a whole chat after its replay."""
    active = [*counting({message.id: message for message in messages}, builder.facts.get("leaf"))]
    types = Counter(type_ for message in active if (type_ := type_of(message)) is not None)
    responses = [message for message in active if isinstance(message, AssistantMessage)]
    calls = [part for message in responses for part in message.parts if isinstance(part, ToolCallPart)]
    times = [message.created_at for message in active if type_of(message) and message.created_at]
    return {
        "session_id": builder.facts.get("sessionId"),
        "kind": kind_of_chat(active),
        "messages_after_replay": types.total(),
        "messages_by_type": dict(types),
        "models": dict(Counter(filter(None, map(model_of, responses)))),
        "thoughts": sum(isinstance(part, ReasoningPart) for message in responses for part in message.parts),
        "tokens_sum": dict(tokens_of(responses)),
        "tool_call_status": dict(Counter(own_of(call)["status"] for call in calls)),
        "tool_calls_by_name": dict(Counter(call.name for call in calls)),
        "first_timestamp": written(min(times, default=None)),
        "last_timestamp": written(max(times, default=None)),
    }


def counting(messages: dict[str, Message], leaf: object) -> Iterator[Message]:
    """The messages on the path to the leaf that no compaction removed."""
    path = path_to(str(leaf), messages) if leaf is not None else messages.keys()
    dropped = {id_ for one in path if one in messages for id_ in dropped_by(messages[one])}
    return (message for id_, message in messages.items() if id_ in path and id_ not in dropped)


def path_to(leaf: str, messages: dict[str, Message]) -> set[str]:
    path: set[str] = set()
    at: str | None = leaf
    while at and at not in path:
        path.add(at)
        at = messages[at].parent_id if at in messages else None
    return path


def dropped_by(message: Message) -> list[str]:
    return [
        id_
        for part in message.parts
        if isinstance(part, DataPart) and part.name in REMOVALS and is_object(part.data)
        for id_ in part.data["dropped"]
    ]


def type_of(message: Message) -> str | None:
    """The type of a message in the chat; `None` for notices that the decoder adds."""
    if isinstance(message, SystemMessage):
        names = [part.name for part in message.parts if isinstance(part, DataPart)]
        return NOTICES.get(names[-1]) if names else None
    return "user" if isinstance(message, UserMessage) else "gemini"


def kind_of_chat(messages: Iterable[Message]) -> object:
    headers = [
        part.data
        for message in messages
        for part in message.parts
        if isinstance(part, DataPart) and part.name == "gemini-header"
    ]
    return headers[-1].get("kind") if headers and is_object(headers[-1]) else None


def model_of(message: AssistantMessage) -> str | None:
    metadata = message.content.metadata
    return metadata.get("model") if is_object(metadata) else None


def tokens_of(responses: Iterable[AssistantMessage]) -> Counter[str]:
    total: Counter[str] = Counter()
    for message in responses:
        raw = message.content.usage.raw if message.content.usage else None
        for key, number in raw.items() if is_object(raw) else ():
            total[key] += number
    return total


def own_of(call: ToolCallPart) -> JsonObject:
    own = (call.tool_metadata or {}).get("geminiCli")
    return own if is_object(own) else {}


def written(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
