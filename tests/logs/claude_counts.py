"""Counts of a Claude Code log from its messages, with the names of `truth.json` in the corpus."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from partita.formats.log.thread_builder import LogBuilder
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ForeignPart,
    ImagePart,
    ReasoningPart,
)

AGENT = "claudeCode"
TOKENS = ("cache_creation_input_tokens", "cache_read_input_tokens", "input_tokens", "output_tokens")
SYNTHETIC = "<synthetic>"


def record_of(message: Message) -> JsonObject:
    """The first record that a message was made of."""
    metadata = message.content.metadata
    found = metadata.get(AGENT) if is_object(metadata) else None
    return found if is_object(found) else {}


def full_conversation(messages: Iterable[Message], *, progress: bool) -> Iterator[Message]:
    """Messages and those of sub-agents; with or without those known only by their progress."""
    for message in messages:
        if not progress and record_of(message).get("$from") == "progress":
            continue
        yield message
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                yield from full_conversation(part.children, progress=progress)


def counts(messages: Iterable[Message], builder: LogBuilder) -> JsonObject:
    """The counts of one file."""
    found = list(full_conversation(messages, progress=False))
    responses = [one for one in found if isinstance(one, AssistantMessage)]
    real = [one for one in responses if _model(one) != SYNTHETIC]
    calls = [part for one in responses for part in one.parts if isinstance(part, ToolCallPart)]
    ended = [call for call in calls if call.result_provider_metadata is not None]
    failed = [call for call in ended if _is_error(call)]
    thoughts = [part for one in responses for part in one.parts if isinstance(part, ReasoningPart)]
    redacted = [part for part in thoughts if "redactedData" in _anthropic(part)]
    in_message, in_result = _images(found), sum(map(_images_of_call, calls))
    errors = sum(bool(record_of(one).get("isApiErrorMessage")) for one in found)
    models = Counter(dict.fromkeys({_model(one) for one in real}, 0))
    for one in real:
        models[_model(one)] += _records(one)
    again = [record for one in found for record in _duplicates(one)]
    for record in again:
        models[str(record["message"].get("model"))] += 1
    repeated = [block for record in again for block in record["message"].get("content", ())]
    synthetic = len(responses) - len(real) + errors
    if synthetic:
        models[SYNTHETIC] = synthetic
    return {
        "distinct_message_ids": len({one.id.partition("/")[0] for one in real}),
        "tool_use_by_name": dict(
            Counter([call.name for call in calls] + _named(repeated, "tool_use", "name"))
        ),
        "distinct_tool_use_ids": len({call.id for call in calls}),
        "tool_results_ok": len(ended) - len(failed),
        "tool_results_error": len(failed),
        "tool_uses_without_result": len(calls) - len(ended),
        "results_without_tool_use": sum(_orphans(one) for one in found),
        "thinking_blocks": len(thoughts) - len(redacted) + len(_named(repeated, "thinking", "type")),
        "redacted_thinking_blocks": len(redacted),
        "images": {
            **({"in_message": in_message} if in_message else {}),
            **({"in_tool_result": in_result} if in_result else {}),
        },
        "models": dict(models),
        "synthetic_assistant_records": synthetic,
        "api_error_records": errors,
        "first_timestamp": stamp(builder.first_time),
        "last_timestamp": stamp(builder.last_time),
        "tokens": {"max": add_up(tokens_by_response(found))},
    }


def tokens_by_response(messages: Iterable[Message]) -> dict[str, JsonObject]:
    """The usage of every response, by its key, which is the same for repeated responses."""
    found: dict[str, JsonObject] = {}
    for message in messages:
        if isinstance(message, AssistantMessage) and message.content.usage is not None:
            record = record_of(message)
            request = record.get("requestId")
            id_ = message.id.partition("/")[0]
            key = f"{id_}:{request}" if request else id_
            usage = message.content.usage.raw
            known = found.get(key)
            if is_object(usage) and (known is None or _output(usage) >= _output(known)):
                found[key] = usage
    return found


def add_up(usages: dict[str, JsonObject]) -> JsonObject:
    """Tokens, each kind added up."""
    return {name: sum(int(usage.get(name) or 0) for usage in usages.values()) for name in TOKENS}


def totals(files: Iterable[Iterable[Message]]) -> JsonObject:
    """The tokens over all files together, each response once."""
    plain: dict[str, JsonObject] = {}
    every: dict[str, JsonObject] = {}
    for messages in files:
        kept = list(messages)
        _merge(plain, tokens_by_response(full_conversation(kept, progress=False)))
        _merge(every, tokens_by_response(full_conversation(kept, progress=True)))
    return {
        "max": add_up(plain),
        "with_agent_progress": add_up({**every, **plain}),
        "messages": len(plain),
        "messages_only_in_agent_progress": len(every.keys() - plain.keys()),
    }


def stamp(time: datetime | None) -> str | None:
    """A time as the log writes it."""
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _merge(all_: dict[str, JsonObject], more: dict[str, JsonObject]) -> None:
    for key, usage in more.items():
        if key not in all_ or _output(usage) >= _output(all_[key]):
            all_[key] = usage


def _output(usage: JsonObject) -> int:
    return int(usage.get("output_tokens") or 0)


def _model(message: AssistantMessage) -> str:
    metadata = message.content.metadata
    return str(metadata.get("model")) if is_object(metadata) else ""


def _records(message: AssistantMessage) -> int:
    """The number of records of a response: the first, and those whose envelopes are kept with its parts."""
    return 1 + sum(AGENT in (_call_metadata(part) or {}) for part in message.parts)


def _call_metadata(part: object) -> JsonObject | None:
    if isinstance(part, ToolCallPart):
        return part.call_provider_metadata
    found: Json = getattr(part, "provider_metadata", None)
    return found if is_object(found) else None


def _duplicates(message: Message) -> Iterator[JsonObject]:
    """Records of responses that the log has twice; the second one changes nothing and is kept."""
    for part in message.content.parts:
        record = part.data if isinstance(part, DataPart) and part.name == "claude-code-again" else None
        if is_object(record) and record.get("type") == "assistant" and is_object(record.get("message")):
            yield record


def _named(blocks: Iterable[Json], kind: str, name: str) -> list[str]:
    return [str(block.get(name)) for block in blocks if is_object(block) and block.get("type") == kind]


def _anthropic(part: ReasoningPart) -> JsonObject:
    found = (part.provider_metadata or {}).get("anthropic")
    return found if is_object(found) else {}


def _is_error(call: ToolCallPart) -> bool:
    """Whether the log marks the result as an error: refusals and interruptions are marked as errors too."""
    if isinstance(call.output, ErrorTextOutput | ErrorJsonOutput):
        return True
    notes = (call.output.provider_metadata or {}).get("anthropic") if call.output else None
    return call.state != "output-available" and not (is_object(notes) and "isError" in notes)


def _images(messages: Iterable[Message]) -> int:
    return sum(
        isinstance(part, ImagePart) or (isinstance(part, ForeignPart) and _is_image(part.value))
        for one in messages
        if isinstance(one, UserMessage) and "attachment" not in record_of(one)
        for part in one.parts
    )


def _images_of_call(call: ToolCallPart) -> int:
    items = call.output.value if isinstance(call.output, ContentOutput) else ()
    return sum(isinstance(item, ImagePart) for item in items)


def _is_image(value: Json) -> bool:
    return is_object(value) and value.get("type") == "image"


def _orphans(message: Message) -> int:
    return sum(
        isinstance(part, DataPart) and part.name == "claude-code-result" for part in message.content.parts
    )
