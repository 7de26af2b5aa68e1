"""Our messages → a message history of Pydantic AI.

Lost: data, sources, citations, files of a model that are not at hand, calls that another provider ran.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final, assert_never

from msgspec import UNSET
from pydantic import TypeAdapter
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    SystemPromptPart,
    ThinkingPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import FilePart as ModelFilePart
from pydantic_ai.messages import TextPart as ModelTextPart
from pydantic_ai.messages import ToolCallPart as ModelCallPart

from partita.formats.answers.model_view import model_view
from partita.types.json import Json, dumps, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from partita.types.parts import CustomPart, FilePart, ReasoningPart, TextPart
from partita.types.tools import ToolResultPart

from .details import NAMESPACE, details_in
from .media import BASE64, content_of
from .outputs import return_of

KEPT_WHOLE: Final = f"{NAMESPACE}."
"""How the kinds of parts begin that are kept as Pydantic AI has them."""


def history_of(messages: Sequence[Message], pending: Collection[str] = ()) -> list[ModelMessage]:
    """The history; the calls that are `pending` have no results yet."""
    found = [_message(message, pending) for message in model_view(messages).messages]
    return [message for message in found if message is not None]


def _message(message: Message, pending: Collection[str]) -> ModelMessage | None:
    match message:
        case SystemMessage():
            return ModelRequest([SystemPromptPart(text_of(message))])
        case UserMessage():
            content = content_of(message.parts)
            is_text = len(content) == 1 and isinstance(content[0], str)
            return (
                ModelRequest([UserPromptPart(str(content[0]) if is_text else content)]) if content else None
            )
        case AssistantMessage():
            parts = [made for part in message.parts for made in _parts(part)]
            return ModelResponse(parts) if parts else None
        case ToolMessage():
            results = [part for part in message.parts if isinstance(part, ToolResultPart)]
            returns = [_return(part) for part in results if part.id not in pending]
            return ModelRequest(returns) if returns else None
        case _:
            assert_never(message)


def _return(part: ToolResultPart) -> ToolReturnPart[Any]:
    content, outcome = return_of(part.output)
    return ToolReturnPart(part.name, content, part.id, outcome=outcome)


def _parts(part: AssistantPart) -> list[ModelResponsePart]:
    match part:
        case TextPart():
            said = details_in(part.provider_metadata)
            text = ModelTextPart(
                part.text,
                id=said.id,
                provider_name=said.provider_name,
                provider_details=said.provider_details,
            )
            return [text] if part.text else []
        case ReasoningPart():
            said = details_in(part.provider_metadata)
            return [
                ThinkingPart(
                    part.text,
                    id=said.id,
                    signature=said.signature,
                    provider_name=said.provider_name,
                    provider_details=said.provider_details,
                )
            ]
        case ToolCallPart():
            return _native(part) if part.provider_executed else [_call(part)]
        case FilePart() if part.url.startswith("data:") and BASE64 in part.url:
            return [ModelFilePart(BinaryContent.narrow_type(BinaryContent.from_data_uri(part.url)))]
        case CustomPart() if part.kind.startswith(KEPT_WHOLE):
            kept: Json = (part.provider_metadata or {}).get(NAMESPACE)
            return [PART.validate_python(kept)]
        case _:
            return []


PART: Final[TypeAdapter[ModelResponsePart]] = TypeAdapter(ModelResponsePart)


def _call(part: ToolCallPart) -> ModelCallPart[Any]:
    said = details_in(part.call_provider_metadata)
    return ModelCallPart(
        part.name,
        _args(part),
        part.id,
        id=said.id,
        provider_name=said.provider_name,
        provider_details=said.provider_details,
    )


def _native(part: ToolCallPart) -> list[ModelResponsePart]:
    """A call that its provider ran, and what came of it; only that provider understands it."""
    said = details_in(part.call_provider_metadata)
    if said.provider_name is None or part.output is None:
        return []
    content, outcome = return_of(part.output)
    returned = details_in(part.result_provider_metadata)
    return [
        NativeToolCallPart(
            part.name,
            _args(part),
            part.id,
            id=said.id,
            provider_name=said.provider_name,
            provider_details=said.provider_details,
        ),
        NativeToolReturnPart(
            part.name,
            content,
            part.id,
            outcome=outcome,
            provider_name=returned.provider_name or said.provider_name,
            provider_details=returned.provider_details,
        ),
    ]


def _args(part: ToolCallPart) -> str | dict[str, Any] | None:
    given: Json = part.input if part.raw_input is UNSET else part.raw_input
    if given is UNSET or given is None:
        return None
    return given if is_object(given) or isinstance(given, str) else dumps(given).decode()
