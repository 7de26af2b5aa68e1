"""Content, tool calls and token counts of Gemini CLI → parts, chunks and usage.

Content is that of the Gemini API: a text, a part, or a list of both (https://ai.google.dev/api/caching#Part).
Calls and tokens are those of `packages/core/src/services/chatRecordingService.ts` in
https://github.com/google-gemini/gemini-cli.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from partita.formats.core.members import text_or, without
from partita.types.chunks import Chunk, ToolApprovalRequest, ToolInputAvailable, ToolOutputChunk
from partita.types.data_url import OCTETS, data_url, media_kind
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import (
    ContentItem,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.usage import Usage

KEY: Final = "geminiCli"
"""The namespace in metadata."""

Shown: TypeAlias = TextPart | ImagePart | FilePart


def items_of(content: Json) -> Iterator[Json]:
    """The parts of a content, without empty texts."""
    for item in content if is_array(content) else [content]:
        if item is not None and item != "":
            yield {"text": item} if isinstance(item, str) else item


def read_content(item: Json) -> Shown | None:
    """A text or a file; `None` for other parts."""
    if not is_object(item):
        return None
    if isinstance(text := item.get("text"), str):
        return TextPart(text, provider_metadata=other_members(without(item, "text")))
    if is_object(blob := item.get("inlineData")) and isinstance(data := blob.get("data"), str):
        media_type = text_or(blob.get("mimeType"), OCTETS)
        rest = without(item, "inlineData")
        return _file(data_url(data, media_type), media_type, without(blob, "data"), rest)
    if is_object(blob := item.get("fileData")) and isinstance(uri := blob.get("fileUri"), str):
        media_type = text_or(blob.get("mimeType"), OCTETS)
        return _file(uri, media_type, without(blob, "fileUri"), without(item, "fileData"))
    return None


def response_of(item: Json) -> JsonObject | None:
    """The response of a tool; `None` for other parts."""
    response = item.get("functionResponse") if is_object(item) else None
    return response if is_object(response) else None


def call_of(item: Json) -> JsonObject | None:
    """The call of a tool; `None` for other parts."""
    call = item.get("functionCall") if is_object(item) else None
    return call if is_object(call) else None


def kept_part(item: Json) -> DataPart:
    """Return a part that is kept as it is."""
    return DataPart("gemini-part", item)


def other_members(fields: JsonObject) -> JsonObject | None:
    """Return members that parts have no field for, as metadata."""
    return {KEY: fields} if fields else None


def joined_text(content: Json) -> str:
    """The texts of a content, joined by line ends."""
    texts = [item.get("text") for item in items_of(content) if is_object(item)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _file(url: str, media_type: str, blob: JsonObject, rest: JsonObject) -> ImagePart | FilePart:
    name = blob.get("displayName")
    name = name if isinstance(name, str) else None
    metadata = other_members({**without(blob, "mimeType", "displayName"), **rest})
    if media_kind(media_type) == "image":
        return ImagePart(url, media_type, name, provider_metadata=metadata)
    return FilePart(url, media_type, name, provider_metadata=metadata)


# Tool calls

RUNNING: Final = ("validating", "scheduled", "executing", "awaiting_approval")
ENDED: Final = ("success", "error", "cancelled")

CANCELLED: Final = "[Operation Cancelled] Reason: "
DENIAL_PREFIXES: Final = ("User did not allow", "User denied")
"""Prefixes of the reasons of calls that the user denied."""

SHELL: Final = "run_shell_command"
EXIT_CODE: Final = "\nExit Code: "

CALL_FIELDS: Final = frozenset({"id", "name", "args", "result", "displayName", "resultDisplay"})


def call_chunks(call_id: str, call: JsonObject) -> Iterator[Chunk]:
    """A call: its input, and its output if there is one."""
    output = output_of(call)
    yield ToolInputAvailable(
        call_id,
        text_or(call.get("name"), "unknown"),
        call.get("args"),
        title=text_or(call.get("displayName"), "") or None,
        tool_metadata={KEY: _metadata(call, output)},
    )
    if output is not None:
        yield ToolOutputChunk(call_id, output)
    elif call.get("status") == "awaiting_approval":
        yield ToolApprovalRequest(call_id, call_id)


def output_of(call: JsonObject) -> ToolOutput | None:
    """The output of a call, if it has ended."""
    status, result = call.get("status"), call.get("result")
    if status == "cancelled":
        return _stopped(_result_text(result))
    if status in RUNNING or (status not in ENDED and result is None):
        return None
    if result is None:
        display = call.get("resultDisplay")
        output: ToolOutput = TextOutput(display if isinstance(display, str) else "")
    else:
        output = result_of(result)
    return _failed(output) if status == "error" else output


def result_of(result: Json) -> ToolOutput:
    """The output that a tool returned: the parts of its response."""
    items = list(items_of(result))
    if len(items) == 1 and (response := response_of(items[0])) is not None and not response.get("parts"):
        return _bare(response.get("response"))
    return ContentOutput(tuple(part for item in items for part in _content_items(item)))


def _bare(response: Json) -> ToolOutput:
    match response:
        case {"output": str(text), **rest} if not rest:
            return TextOutput(text)
        case {"error": str(text), **rest} if not rest:
            return ErrorTextOutput(text)
        case {"error": error} if error:
            return ErrorJsonOutput(response)
        case str():
            return TextOutput(response)
        case _:
            return JsonOutput(response)


def _content_items(item: Json) -> Iterator[ContentItem]:
    response = response_of(item)
    if response is None:
        yield read_content(item) or ForeignPart(KEY, item)
        return
    output = _bare(response.get("response"))
    if isinstance(output, TextOutput | ErrorTextOutput):
        yield TextPart(output.value)
    elif response.get("response") is not None:
        yield ForeignPart(KEY, response["response"])
    inner = response.get("parts")
    for part in inner if is_array(inner) else ():
        yield read_content(part) or ForeignPart(KEY, part)


def _failed(output: ToolOutput) -> ToolOutput:
    match output:
        case TextOutput(value=text):
            return ErrorTextOutput(text)
        case JsonOutput(value=value):
            return ErrorJsonOutput(value)
        case _:
            return output


def _stopped(text: str) -> ToolOutput:
    """A call that was denied or stopped."""
    reason = text.removeprefix(CANCELLED)
    if reason.startswith(DENIAL_PREFIXES):
        return ExecutionDeniedOutput(reason)
    return InterruptedOutput("aborted", reason or None)


def _result_text(result: Json) -> str:
    """The text of a result; empty if it has none."""
    output = None if result is None else result_of(result)
    return output.value if isinstance(output, TextOutput | ErrorTextOutput) else ""


def _metadata(call: JsonObject, output: ToolOutput | None) -> JsonObject:
    metadata: JsonObject = {key: value for key, value in call.items() if key not in CALL_FIELDS}
    text = output.value if isinstance(output, TextOutput | ErrorTextOutput) else None
    display = call.get("resultDisplay")
    if display is not None and display != text:
        metadata["resultDisplay"] = display
    if call.get("name") == SHELL and text is not None:
        code = _exit_code(text)
        if code is not None:
            metadata["exitCode"] = code
    return metadata


def _exit_code(text: str) -> int | None:
    """The exit code that the text of a shell command ends with, which a successful one does not."""
    place = text.rfind(EXIT_CODE)
    digits = "" if place < 0 else text[place + len(EXIT_CODE) :].partition("\n")[0].strip()
    return int(digits) if digits.removeprefix("-").isdecimal() and len(digits) < 12 else None


def agent_of(call: JsonObject) -> str | None:
    """The sub-agent that a call started."""
    agent = call.get("agentId")
    return agent if isinstance(agent, str) and agent else None


def calls_of(record: JsonObject) -> list[JsonObject]:
    """Return the calls in a response."""
    calls = record.get("toolCalls")
    return [call for call in calls if is_object(call)] if is_array(calls) else []


# Token counts


def usage_of(tokens: Json) -> Usage | None:
    """Return the usage of a response.

    `input` includes the cached tokens. `output` does not include `thoughts`, which are billed like it; `tool`
    counts what tools of the API itself added to the prompt (`UsageMetadata` of the Gemini API).
    """
    if not is_object(tokens):
        return None
    read, tool = _count(tokens.get("input")), _count(tokens.get("tool"))
    written, thoughts = _count(tokens.get("output")), _count(tokens.get("thoughts"))
    return Usage(
        input_tokens=_sum(read, tool),
        output_tokens=_sum(written, thoughts),
        total_tokens=_count(tokens.get("total")),
        reasoning_tokens=thoughts,
        cached_input_tokens=_count(tokens.get("cached")),
        raw=tokens,
    )


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
