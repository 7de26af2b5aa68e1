"""Answers of any source → responses as Claude Code writes them: a line a block, results behind."""

from collections.abc import Iterator
from typing import Final, NamedTuple, assert_never

from partita.formats.claude_code.log.answers import SYNTHETIC
from partita.formats.session_losses import NO_PLACE, Losses
from partita.formats.session_names import Names
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    UnknownPart,
)
from partita.types.usage import Usage

from .new_blocks import Call, reasoning_blocks, text_blocks, user_blocks

UNKNOWN_MODEL: Final = "unknown"
NO_FILES: Final = "the API takes no files in an answer"
NO_SOURCES: Final = "a session file tells sources by results alone"


class Response(NamedTuple):
    """One response of a model: its blocks, and the calls among them."""

    blocks: list[JsonObject]
    calls: list[Call]


class Steering(NamedTuple):
    """What the user said while the agent was at work."""

    blocks: list[JsonObject]


def responses_of(
    message: AssistantMessage, path: str, names: Names, losses: Losses
) -> Iterator[Response | Steering]:
    """The responses in an answer: one a step, and a new one after words of the user."""
    response = Response([], [])
    for index, part in enumerate(message.parts):
        where = f"{path}.parts[{index}]"
        if isinstance(part, StepStartPart | SteeringMessagePart) and response.blocks:
            yield response
            response = Response([], [])
        match part:
            case StepStartPart():
                losses.rest(part, where)
            case SteeringMessagePart():
                losses.rest(part, where, "parts")
                yield Steering(user_blocks(part.parts, where, losses))
            case ToolCallPart():
                call = Call(part, names.call(part.id, message.id), where)
                call.tell(losses)
                response.calls.append(call)
                response.blocks.append(call.block)
            case TextPart():
                response.blocks.extend(text_blocks(part, where, losses))
            case ReasoningPart():
                response.blocks.extend(reasoning_blocks(part, where, losses))
            case ImagePart() | FilePart() | ReasoningFilePart():
                losses.whole(part, where, NO_FILES)
            case SourceUrlPart() | SourceDocumentPart():
                losses.whole(part, where, NO_SOURCES)
            case DataPart() | CustomPart() | ForeignPart() | UnknownPart():
                losses.whole(part, where, NO_PLACE)
            case _:
                assert_never(part)
    if response.blocks:
        yield response


def model_of(message: AssistantMessage) -> str:
    """The model that gave an answer."""
    metadata = message.content.metadata
    model = metadata.get("model") if is_object(metadata) else None
    return model if isinstance(model, str) and model not in ("", SYNTHETIC) else UNKNOWN_MODEL


def usage_of(usage: Usage | None) -> JsonObject:
    """What an answer consumed, in the words of the API: there, cached tokens are none of the input's."""
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    read, written = _count(usage.cached_input_tokens), _count(usage.cache_write_tokens)
    counts: JsonObject = {
        "input_tokens": _count(_count(usage.input_tokens) - read - written),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": _count(usage.output_tokens),
    }
    if usage.reasoning_tokens is not None:
        counts["output_tokens_details"] = {"thinking_tokens": _count(usage.reasoning_tokens)}
    return counts


def _count(number: int | None) -> int:
    return max(number or 0, 0)
