"""Parts of Pydantic AI's responses and the outputs of its tools, as the format `pydantic-ai` reads them."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic_ai.messages import (
    BaseToolReturnPart,
    BinaryContent,
    FileUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextContent,
    UploadedFile,
    UserContent,
    UserPromptPart,
)

from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.tool_text import as_text, read_tool_text
from partita.formats.pydantic_ai.format import load
from partita.formats.pydantic_ai.parts import COMPACTION, OUTCOMES
from partita.formats.pydantic_ai.wire import NAME
from partita.runtime.plugged.jsonable import as_json
from partita.types.json import JsonObject, is_array
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ForeignPart, ReasoningPart
from partita.types.tools import ContentOutput, ToolOutput

SHOWN: Final = (str, BinaryContent, FileUrl, TextContent, UploadedFile)
"""What a tool can show a model besides values."""


def part_of(part: Any) -> Any:
    """A part of a response. One that the format does not know is kept whole, as a custom part."""
    if isinstance(part, NativeToolReturnPart):
        return _first(ModelResponse([NativeToolCallPart(part.tool_name, {}, part.tool_call_id), part]))
    read = _first(ModelResponse([part]))
    if isinstance(read, ForeignPart):
        return CustomPart(f"{NAME}.{part.part_kind}", provider_metadata={NAME: read.value})
    return read


def restored(part: AssistantPart) -> AssistantPart:
    """A part as the format writes it: a custom part that was kept whole, as a part of the format."""
    if not isinstance(part, CustomPart) or not part.kind.startswith(f"{NAME}.") or part.kind == COMPACTION:
        return part
    return ForeignPart(NAME, notes(part.provider_metadata, NAME))


def metadata_of(part: Any) -> JsonObject | None:
    """The provider metadata of a part: signatures, ids, and what else only Pydantic AI needs."""
    read = part_of(part)
    if isinstance(read, ToolCallPart):
        is_return = isinstance(part, NativeToolReturnPart)
        return read.result_provider_metadata if is_return else read.call_provider_metadata
    own: JsonObject | None = read.provider_metadata
    if isinstance(read, ReasoningPart) and read.id is not None:
        return add_notes(own, NAME, {"id": read.id})  # a reasoning that is streamed has no id
    return own


def output_of(part: BaseToolReturnPart[Any], more: str | Sequence[UserContent] | None = None) -> ToolOutput:
    """The output that a return is; `more` is what the model is shown beside it."""
    if part.outcome != "success":
        return read_tool_text(OUTCOMES[part.outcome], part.model_response_str(wrap_if_error=False))
    if part.files or more:
        beside = [more] if isinstance(more, str) else list(more or ())
        items = [*(part.content if is_array(part.content) else [part.content]), *beside]
        shown: list[Any] = [item if isinstance(item, SHOWN) else as_text(as_json(item)) for item in items]
        return ContentOutput(_read(ModelRequest([UserPromptPart(shown)])))
    return read_tool_text("success", as_json(part.content))


def _first(message: ModelMessage) -> Any:
    return _read(message)[0]


def _read(message: ModelMessage) -> tuple[Any, ...]:
    (read,) = load(ModelMessagesTypeAdapter.dump_python([message], mode="json")).messages
    return read.parts
