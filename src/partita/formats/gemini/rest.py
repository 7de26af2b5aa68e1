"""What canonical messages say that the contents of a request have no place for."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.losses import Loss
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    Message,
    Part,
    ToolCallPart,
    derive_type,
    text_of,
)
from partita.types.parts import (
    CustomPart,
    FilePart,
    ReasoningPart,
    SteeringMessagePart,
    TextPart,
    UnknownPart,
)
from partita.types.tools import ContentOutput, JsonOutput, TextOutput, ToolOutput, ToolResultPart

from .looking import CALL_ID, NAMESPACE, TOOL_TYPE, text_at
from .server_tools import SERVER_PREFIX
from .turns import marks_in

Lose = Callable[[Loss], None]

NO_PLACE: Final = "a content has no place for it"
NO_ID: Final = "a content has no id"
OTHERS: Final = "Gemini is told nothing of other providers"
NOT_TALK: Final = "it is not talk, and no model is sent it"
BY_ORDER: Final = "Gemini did not give this id: order tells which answer belongs to which call"
FIRST_WORDS: Final = "the words of an input are sent as the value they amount to"
ITSELF: Final = "a tool that Gemini ran gives back an object"


def tell_message(message: Message, path: str, lose: Lose, expected: str | None) -> None:
    """What stands around the parts of a message. `expected` is the id that it will be read with."""
    if message.id != expected:
        lose(Loss.of(f"{path}.id", message.id, NO_ID))
    _tell(
        path,
        lose,
        threadId=message.thread_id,
        createdAt=message.created_at,
        resourceId=message.resource_id,
        parentId=message.parent_id,
        runId=message.run_id,
        seq=message.seq,
        type=None if message.type == derive_type(message.parts) else message.type,
    )
    _extra(message.extra, path, lose)
    content = message.content
    where = f"{path}.content"
    if content.content is not None and content.content != text_of(message):
        lose(Loss.of(f"{where}.content", content.content, NO_PLACE))
    _tell(where, lose, metadata=content.metadata)
    _metadata(content.provider_metadata, f"{where}.providerMetadata", lose)
    _extra(content.extra, where, lose)
    if isinstance(content, AssistantContent):
        _tell(where, lose, usage=content.usage, networkExecution=content.network_execution)


def tell_whole(message: Message, path: str, lose: Lose) -> None:
    """A message that is not sent."""
    lose(Loss.of(path, message, NOT_TALK))


def tell_part(part: Part, path: str, lose: Lose) -> None:
    """What a part that is sent says beyond what is sent of it."""
    if isinstance(part, UnknownPart | ToolResultPart | CustomPart):
        return
    _extra(part.extra, path, lose)
    _metadata(part.provider_metadata, f"{path}.providerMetadata", lose)
    match part:
        case TextPart() | ReasoningPart():
            _tell(path, lose, state=None if part.state == "done" else part.state)
            if isinstance(part, ReasoningPart):
                _tell(path, lose, id=None if _is_count(part) else part.id, tokenCount=part.token_count)
        case FilePart(provider_reference=reference) if reference is not None:
            _tell(f"{path}.providerReference", lose, **{k: v for k, v in reference.items() if k != NAMESPACE})
        case SteeringMessagePart():
            _tell(path, lose, id=part.id)
            for number, item in enumerate(part.parts):
                tell_part(item, f"{path}.parts[{number}]", lose)
        case ToolCallPart():
            _tell_call(part, path, lose)
        case _:
            pass


def _is_count(part: ReasoningPart) -> bool:
    """Whether the id of a thought only counts the parts of an answer of Gemini."""
    return bool(marks_in(part.provider_metadata)) and (part.id or "").isdigit()


def _tell_call(call: ToolCallPart, path: str, lose: Lose) -> None:
    marks = marks_in(call.call_provider_metadata)
    words = marks.get(RAW_INPUT)
    if words is not None:
        lose(Loss.of(f"{path}.callProviderMetadata.{NAMESPACE}.{RAW_INPUT}", words, FIRST_WORDS, "minor"))
    if call.input is not UNSET:
        _tell(path, lose, rawInput=call.raw_input)
    if call.input is None:
        lose(Loss.of(f"{path}.input", None, "an input is an object: it is sent as an empty one", "changed"))
    is_dynamic = call.dynamic and not (call.provider_executed and call.name.startswith(SERVER_PREFIX))
    expected = "input-available" if call.output is None else state_after(call.output)
    _tell(
        path,
        lose,
        state=None if call.state in (expected, "input-available") else call.state,
        inputEncoding=call.input_encoding,
        approval=call.approval,
        title=call.title,
        dynamic=is_dynamic or None,
        unavailable=call.unavailable or None,
        preliminary=call.preliminary,
        toolMetadata=call.tool_metadata,
        children=call.children or None,
        resultMessage=call.result_message,
    )
    _metadata(call.call_provider_metadata, f"{path}.callProviderMetadata", lose)
    _metadata(call.result_provider_metadata, f"{path}.resultProviderMetadata", lose)
    if call.output is not None:
        _tell_output(call.output, f"{path}.output", lose, is_own=text_at(marks, TOOL_TYPE) is not None)


def tell_id(call: ToolCallPart, path: str, lose: Lose, expected: str) -> None:
    """The id of a call, unless Gemini gave it or it will be read with it."""
    told = text_at(marks_in(call.call_provider_metadata), CALL_ID)
    if call.id not in (told, expected):
        lose(Loss.of(f"{path}.id", call.id, BY_ORDER, "minor"))


def _tell_output(output: ToolOutput, path: str, lose: Lose, *, is_own: bool) -> None:
    _extra(output.extra, path, lose)
    _metadata(output.provider_metadata, f"{path}.providerMetadata", lose)
    if is_own and not isinstance(output, JsonOutput | TextOutput):
        lose(Loss.of(path, output, ITSELF, "changed"))
    if isinstance(output, ContentOutput):
        for number, item in enumerate(output.value):
            tell_part(item, f"{path}.value[{number}]", lose)


def _metadata(metadata: JsonObject | None, path: str, lose: Lose) -> None:
    for name, value in (metadata or {}).items():
        if name != NAMESPACE or not is_object(value):
            lose(Loss.of(f"{path}.{name}", value, OTHERS))


def _extra(extra: Any, path: str, lose: Lose) -> None:
    _tell(path, lose, **dict(extra or {}))


def _tell(path: str, lose: Lose, **members: Json) -> None:
    for name, value in members.items():
        if value is not None and value is not UNSET:
            lose(Loss.of(f"{path}.{name}", value, NO_PLACE))


def is_sent(message: Message) -> bool:
    """Whether a message is talk."""
    return not message.internal and message.type != "event"
