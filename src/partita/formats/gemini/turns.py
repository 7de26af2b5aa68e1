"""What a model said and called, as the parts of a content."""

from typing import Final, assert_never

from msgspec import UNSET

from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, Part, ToolCallPart
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
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .looking import (
    APART,
    CALL_ID,
    CUSTOM,
    FORMAT,
    NAME,
    NAMESPACE,
    RESPONSE,
    ROLE,
    SIGNATURE,
    THOUGHT,
    TOOL_TYPE,
    UNTYPED,
    object_at,
    text_at,
)
from .media import media_of
from .names import tool_name
from .outputs import NO_ADDRESS, NOT_SENT, Lose
from .server_tools import CODE_TYPE, RESULTS

PLACEHOLDER: Final = "skip_thought_signature_validator"
"""The signature of a call that no Gemini signed, as documented for histories of other models."""

HELD: Final = ("functionCall", "functionResponse", "toolCall", "toolResponse", "inlineData", "fileData")
"""Where the metadata of a part keeps what the object that it holds said beyond what is known."""

OUR_OWN: Final = frozenset(
    {
        *HELD,
        *(CALL_ID, TOOL_TYPE, "serverToolCallId", RAW_INPUT, RESULTS, "output"),
        *(THOUGHT, UNTYPED, APART, ROLE, NAME, RESPONSE),
    }
)
"""Marks that are not members of a part. All others came with one, and go back on it."""

FOREIGN_THOUGHT: Final = "what another model thought means nothing to Gemini"
FOREIGN_TOOL: Final = "a tool that another provider ran has no place here"
NO_CITATIONS: Final = "Gemini cannot be sent citations"
NO_ARGUMENTS: Final = "the input is no object, so it is sent as a member of one"


def part_of(part: AssistantPart, path: str, lose: Lose) -> list[JsonObject]:
    """The parts that one part of an answer is sent as."""
    match part:
        case TextPart():
            return _text(part, path, lose)
        case ReasoningPart():
            return _reasoning(part, path, lose)
        case ToolCallPart(provider_executed=True):
            return _server_call(part, path, lose)
        case ToolCallPart():
            return [_call(part, path, lose)]
        case ImagePart() | FilePart() | ReasoningFilePart():
            return file_of(part, path, lose)
        case StepStartPart():
            return []
        case (
            SourceUrlPart()
            | SourceDocumentPart()
            | DataPart()
            | CustomPart()
            | SteeringMessagePart()
            | ForeignPart()
            | UnknownPart()
        ):
            return kept_part(part, path, lose)
        case _:
            assert_never(part)


def kept_part(part: Part, path: str, lose: Lose) -> list[JsonObject]:
    """A part of Gemini's own that was kept whole; others are lost."""
    match part:
        case ForeignPart(format=name, value=value) if name == FORMAT:
            kept: Json = value
        case CustomPart(kind=name, provider_metadata=metadata) if name == CUSTOM:
            kept = marks_in(metadata).get("part")
        case _:
            kept = None
    if is_object(kept) and kept:
        return [kept]
    lose(Loss.of(path, part, NOT_SENT))
    return []


def beside(marks: JsonObject) -> JsonObject:
    """What a part says beside its content: its signature, how to look at it, and what nobody knows."""
    if not marks:
        return {}
    return {key: value for key, value in marks.items() if key not in OUR_OWN}


def _more(marks: JsonObject, held: str) -> JsonObject:
    return object_at(marks, held)


def marks_in(metadata: JsonObject | None) -> JsonObject:
    """Our own part of some provider metadata."""
    return {} if metadata is None else object_at(metadata, NAMESPACE)


def file_of(part: ImagePart | FilePart | ReasoningFilePart, path: str, lose: Lose) -> list[JsonObject]:
    """A file, in a turn of whomever."""
    marks = marks_in(part.provider_metadata)
    if isinstance(part, ReasoningFilePart) and marks.get(THOUGHT) is not True:
        lose(Loss.of(path, part, FOREIGN_THOUGHT))
        return []
    media = media_of(part)
    if media is None:
        lose(Loss.of(path, part, NO_ADDRESS))
        return []
    name = part.name if isinstance(part, ImagePart) else part.filename
    if name is not None:
        lose(Loss(path, f"the name {name!r}", "Gemini is not told the names of files"))
    return [{**media, **beside(marks), **_thought(marks)}]


def _text(part: TextPart, path: str, lose: Lose) -> list[JsonObject]:
    """A text. Gemini refuses an empty one, unless it is there to be signed."""
    if part.citations:
        lose(Loss.of(f"{path}.citations", to_json(part)["citations"], NO_CITATIONS))
    marks = marks_in(part.provider_metadata)
    return (
        [{"text": part.text, **beside(marks), **_thought(marks)}] if part.text or SIGNATURE in marks else []
    )


def _reasoning(part: ReasoningPart, path: str, lose: Lose) -> list[JsonObject]:
    marks = marks_in(part.provider_metadata)
    if marks.get(THOUGHT) is not True and SIGNATURE not in marks:
        if part.text or part.provider_metadata:
            lose(Loss.of(path, part.text, FOREIGN_THOUGHT))
        return []
    return [{"text": part.text, THOUGHT: True, **beside(marks)}]


def _call(call: ToolCallPart, path: str, lose: Lose) -> JsonObject:
    marks = marks_in(call.call_provider_metadata)
    name = tool_name(call.name)
    if name != call.name:
        why = f"Gemini does not allow it: it is sent as {name!r}"
        lose(Loss(f"{path}.name", call.name, why, "repaired"))
    more = _more(marks, "functionCall")
    content = {**_id(marks), "name": name, "args": _arguments(call, path, lose), **more}
    return {"functionCall": content, **beside(marks), **_thought(marks)}


def _arguments(call: ToolCallPart, path: str, lose: Lose) -> JsonObject:
    given: Json = call.raw_input if call.input is UNSET else call.input
    if given is UNSET or given is None:
        return {}
    if is_object(given):
        return given
    lose(Loss.of(f"{path}.input", given, NO_ARGUMENTS, "changed"))
    return {"input": given}


def _server_call(call: ToolCallPart, path: str, lose: Lose) -> list[JsonObject]:
    """A call that Gemini ran itself and what came of it. They must be sent as they came."""
    marks = marks_in(call.call_provider_metadata)
    kind = text_at(marks, TOOL_TYPE)
    if kind is None:
        lose(Loss.of(path, call, FOREIGN_TOOL))
        return []
    given: JsonObject = call.input if is_object(call.input) else {}
    if kind == CODE_TYPE:
        asked: JsonObject = {"executableCode": {**given, **_id(marks)}}
    else:
        asked = {"toolCall": {"toolType": kind, **_args(given), **_id(marks), **_more(marks, "toolCall")}}
    return [{**asked, **beside(marks), **_thought(marks)}, *_server_results(call, kind)]


def _server_results(call: ToolCallPart, kind: str) -> list[JsonObject]:
    if call.output is None:
        return []
    marks = marks_in(call.result_provider_metadata)
    several = marks.get(RESULTS)
    results: list[Json] = several if is_array(several) else [{**marks, "output": _bare(call.output)}]
    return [_server_result(result, kind) for result in results if is_object(result)]


def _server_result(result: JsonObject, kind: str) -> JsonObject:
    output: Json = result.get("output")
    if kind == CODE_TYPE:
        content: JsonObject = (
            output if is_object(output) else {"outcome": "OUTCOME_OK", "output": str(output)}
        )
        return {"codeExecutionResult": {**content, **_id(result)}, **beside(result), **_thought(result)}
    response: JsonObject = {"response": output} if output != {} else {}
    content = {"toolType": kind, **response, **_id(result), **_more(result, "toolResponse")}
    return {"toolResponse": content, **beside(result), **_thought(result)}


def _bare(output: ToolOutput) -> Json:
    match output:
        case TextOutput(value=value) | JsonOutput(value=value):
            return value
        case ErrorTextOutput(value=value) | ErrorJsonOutput(value=value):
            return {"outcome": "OUTCOME_FAILED", "output": str(value)}
        case ExecutionDeniedOutput() | InterruptedOutput() | ContentOutput():
            return {}
        case _:
            assert_never(output)


def _id(marks: JsonObject) -> JsonObject:
    """The id that the provider gave. Ids that others gave or we made up are not sent: order tells."""
    told = text_at(marks, CALL_ID)
    return {} if told is None else {"id": told}


def _args(given: JsonObject) -> JsonObject:
    return {"args": given} if given else {}


def _thought(marks: JsonObject) -> JsonObject:
    return {THOUGHT: True} if marks.get(THOUGHT) is True else {}
