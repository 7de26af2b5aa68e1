"""Counts of a rollout from its messages, with the names of the corpus."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from partita.formats.log.thread_builder import LogBuilder
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import ContentOutput, DataPart, ImagePart, InterruptedOutput, ReasoningPart, TextPart

TOKENS = (
    "cache_write_input_tokens",
    "cached_input_tokens",
    "input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)


def counts(messages: list[Message], builder: LogBuilder) -> JsonObject:
    """The numbers of a whole file."""
    calls = list(calls_of(messages))
    without = sum(not has_output(call) for call in calls)
    orphans = sum(part.name.endswith("-call-output") for part in notes_of(messages))
    metas = records_of(messages, "codex-session-meta")
    contexts = records_of(messages, "codex-turn-context")
    return {
        "message_roles": dict(sorted(roles_of(messages).items())),
        "tool_calls_by_name": dict(sorted(Counter(call.name for call in calls).items())),
        "tool_outputs": len(calls) - without + orphans,
        "calls_without_output": without,
        "outputs_without_call": orphans,
        "images": sum(1 for _ in images_of(messages)),
        "reasoning_with_encrypted_content": sum(
            bool(own(part.provider_metadata).get("encryptedContent"))
            for message in messages
            for part in message.content.parts
            if isinstance(part, ReasoningPart)
        ),
        "tokens": {"delta_sum": tokens_of(messages)},
        "models_in_turn_context": tally(contexts, "model"),
        "versions": tally(metas, "cli_version"),
        "originators": tally(metas, "originator"),
        "session_ids": [meta["id"] for meta in metas if "cli_version" in meta],
        "first_timestamp": written(builder.first_time),
        "last_timestamp": written(builder.last_time),
    }


def own(metadata: Json) -> JsonObject:
    """The metadata that Codex wrote."""
    inside = metadata.get("codex") if is_object(metadata) else None
    return inside if is_object(inside) else {}


def roles_of(messages: list[Message]) -> Counter[str]:
    """The number of messages of each role; a response counts once for each of its texts."""
    roles: Counter[str] = Counter()
    for message in messages:
        metadata_of_codex = own(message.content.metadata)
        if isinstance(message, UserMessage) and "source" not in metadata_of_codex:
            roles["user"] += 1
        elif isinstance(message, SystemMessage) and "role" in metadata_of_codex:
            roles[metadata_of_codex["role"]] += 1
        elif isinstance(message, AssistantMessage):
            texts = (own(part.provider_metadata) for part in message.parts if isinstance(part, TextPart))
            roles["assistant"] += sum(not ({"continues", "source"} & text.keys()) for text in texts)
    return +roles


def calls_of(messages: list[Message]) -> Iterator[ToolCallPart]:
    """The calls of functions and custom tools."""
    for message in messages:
        for part in message.content.parts:
            if isinstance(part, ToolCallPart) and own(part.tool_metadata).get("type") in (
                None,
                "custom_tool_call",
            ):
                yield part


def has_output(call: ToolCallPart) -> bool:
    """Whether the log has the output of a call."""
    if call.preliminary:
        return False
    output = call.output
    return output is not None and not (isinstance(output, InterruptedOutput) and output.message is None)


def notes_of(messages: list[Message]) -> Iterator[DataPart]:
    """The data parts that hold records."""
    for message in messages:
        if isinstance(message, SystemMessage):
            yield from (part for part in message.parts if isinstance(part, DataPart))


def records_of(messages: list[Message], name: str) -> list[JsonObject]:
    """The records in data parts of a name."""
    return [note.data for note in notes_of(messages) if note.name == name and is_object(note.data)]


def images_of(messages: list[Message]) -> Iterator[ImagePart]:
    """The pictures in prompts and in outputs."""
    for message in messages:
        yield from (part for part in message.content.parts if isinstance(part, ImagePart))
    for call in calls_of(messages):
        if isinstance(call.output, ContentOutput):
            yield from (item for item in call.output.value if isinstance(item, ImagePart))


def tokens_of(messages: list[Message]) -> JsonObject:
    """The usage of all responses, including copied history, as the corpus counts it."""
    sums: Counter[str] = Counter(dict.fromkeys(TOKENS, 0))
    for message in messages:
        if isinstance(message, AssistantMessage):
            usage = message.content.usage
            for raw in (usage.raw if usage else None, own(message.content.metadata).get("copiedUsage")):
                sums.update({name: raw.get(name, 0) for name in TOKENS} if is_object(raw) else {})
    return dict(sums)


def tally(records: list[JsonObject], name: str) -> JsonObject:
    """The number of occurrences of each value under a name."""
    return dict(sorted(Counter(record[name] for record in records if name in record).items()))


def written(time: datetime | None) -> str | None:
    """A time as logs write it."""
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
