"""Codecs for the parts of contents.

What a part has besides its content (`thoughtSignature`, `videoMetadata` …) is in the namespace of its
metadata, under its own name, as the AI SDK has it. Unknown members of its content are there too, under the
name of the content. The residue is in `fields`.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.core.codec import (
    BEHIND,
    MessageBlocks,
    PartCodec,
    PartCodecs,
    behind_note,
    with_result,
)
from partita.formats.core.files import FILES, AnyFile
from partita.formats.core.members import nonempty_text
from partita.formats.core.metadata import FIELDS, INDEX, RAW_INPUT, notes, with_part_notes
from partita.formats.core.rules import Alphabet
from partita.formats.core.tool_text import as_text, object_input, read_tool_text, write_tool_text
from partita.formats.core.turns import ReadPart
from partita.formats.core.wire import residue, restore, to_json
from partita.types.data_url import OCTETS, data_url, parse_data_url
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentItem,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from partita.types.value import Extra

from . import wire
from .arguments import read_arguments
from .wire import FORMAT_NAME, NAME, SIGNATURE, parse_part

# A letter or `_` first, 128 characters at most: https://ai.google.dev/api/caching#FunctionDeclaration
TOOL_NAME: Final = Alphabet(re.compile(r"[^A-Za-z0-9_.:-]|^(?![A-Za-z_])"), 128)

# Notes in the provider metadata of parts
THOUGHT: Final = "thought"
CALL_ID: Final = "callId"  # the id that Google gave a call; ids of others are not sent
TOOL_TYPE: Final = "serverToolType"  # the type of a tool that Google runs, as in the AI SDK
SERVER_CALL_ID: Final = "serverToolCallId"  # the id of such a call, as in the AI SDK
RESULTS: Final = "results"  # all results of a call that has more than one
UNTYPED: Final = "untyped"  # the file had no media type: the one that it has here is assumed
RESPONSE: Final = "response"  # the response that a text was made of
NAME_NOTE: Final = "name"  # the name in a result, where it differs from its call; older versions wrote it
CONTENT_NOTE: Final = "content"  # on the first result of a content that has only results: its notes

UNKNOWN: Final = "google-unknown"
"""The name of a data part that has a part of a response that is not understood."""

_NOT_MEMBERS: Final = frozenset(
    {
        *wire.PARTS,
        FIELDS,
        THOUGHT,
        SIGNATURE,
        CALL_ID,
        TOOL_TYPE,
        SERVER_CALL_ID,
        RESULTS,
        INDEX,
        BEHIND,
        UNTYPED,
    }
    | {RESPONSE, NAME_NOTE, CONTENT_NOTE, RAW_INPUT, "output", "apart", "role"}
)
"""Notes that are not members of a part. All others are."""

CODE_EXECUTION: Final = "code_execution"
CODE_TYPE: Final = "CODE_EXECUTION"
SERVER_PREFIX: Final = "server:"


def own_notes(block: wire.Part, held: str = "", extra: Mapping[str, Json] | None = None) -> JsonObject:
    """The notes about a part: its members besides its content, and unknown members of the content."""
    own: JsonObject = {}
    if block.extra:
        own = {
            name: item for name, item in block.extra.items() if item is not None and name not in wire.PARTS
        }
    if block.thought is True:
        own[THOUGHT] = True
    if isinstance(block.thought_signature, str):
        own[SIGNATURE] = block.thought_signature
    more = {name: item for name, item in extra.items() if item is not None} if extra else {}
    return {**own, held: more} if more else own


def _noted(own: JsonObject) -> JsonObject | None:
    return {NAME: own} if own else None


def _members_of(own: JsonObject) -> Any:
    """The members of a part besides its content, as arguments of its type."""
    if not own:
        return {}
    signature = own.get(SIGNATURE)
    extra = {name: item for name, item in own.items() if name not in _NOT_MEMBERS}
    return {
        "thought": True if own.get(THOUGHT) is True else UNSET,
        "thought_signature": signature if isinstance(signature, str) else UNSET,
        "extra": Extra(extra) if extra else None,
    }


def _extra(own: JsonObject, held: str) -> Extra | None:
    more = own.get(held)
    return Extra(more) if is_object(more) and more else None


# Ids


class CallIds:
    """Gives each call of a response an id: the one that Google gave it, or one that is always the same."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._made = 0
        self._used: set[str] = set()

    def next(self, given: Json = None) -> str:
        """The given id if it is one and no other call has it, or else a new one."""
        id_ = nonempty_text(given)
        while id_ is None or id_ in self._used:
            id_ = f"{self.prefix}-{self._made}"
            self._made += 1
        self._used.add(id_)
        return id_


# Text and reasoning


def read_user_text(block: wire.Text, ids: CallIds | None) -> TextPart:
    return TextPart(block.text or "", provider_metadata=_noted(own_notes(block)))


def read_text(block: wire.Text, ids: CallIds) -> TextPart | ReasoningPart:
    part = ReasoningPart if block.thought is True else TextPart
    return part(block.text or "", provider_metadata=_noted(own_notes(block)))


def write_text(part: TextPart | ReasoningPart) -> wire.Text | None:
    own = notes(part.provider_metadata, NAME)
    if type(part) is TextPart:
        return wire.Text(text=part.text, **_members_of(own))
    if own.get(THOUGHT) is not True and SIGNATURE not in own:
        return None  # the reasoning of another model
    return wire.Text(text=part.text, **_members_of({**own, THOUGHT: True}))


# Files

ADDRESSES: Final = ("https://", "http://", "gs://")
# A media type must be complete: https://ai.google.dev/api/caching#Blob
_COMPLETE: Final = {"image": "image/jpeg", "image/*": "image/jpeg"}


def read_user_file(block: wire.InlineFile | wire.File, ids: CallIds | None) -> FilePart | None:
    if isinstance(block, wire.InlineFile):
        blob = block.inline_data
        if blob.extra and "data" in blob.extra:
            return None  # it is not a text
        media_type, more = nonempty_text(blob.mime_type), own_notes(block, "inlineData", blob.extra)
        url = data_url(blob.data or "", media_type or OCTETS)
    else:
        file = block.file_data
        media_type, more = nonempty_text(file.mime_type), own_notes(block, "fileData", file.extra)
        url = file.file_uri
    own = more if media_type else {**more, UNTYPED: True}
    return FilePart(url, media_type or OCTETS, provider_metadata=_noted(own))


def read_file(block: wire.InlineFile | wire.File, ids: CallIds) -> FilePart | ReasoningFilePart | None:
    file = read_user_file(block, ids)
    if block.thought is not True or file is None:
        return file
    return ReasoningFilePart(file.url, file.media_type, provider_metadata=file.provider_metadata)


def write_file(part: AnyFile) -> wire.InlineFile | wire.File | None:
    own = notes(part.provider_metadata, NAME)
    if isinstance(part, ReasoningFilePart) and own.get(THOUGHT) is not True:
        return None  # the reasoning of another model
    media_type = None if own.get(UNTYPED) is True else part.media_type
    media_type = _COMPLETE.get(media_type or "", media_type)
    reference = part.provider_reference if isinstance(part, FilePart) else None
    url = part.url if reference is None else reference.get(NAME, part.url)
    inline = parse_data_url(url)
    if inline is not None:
        default = _COMPLETE["image"] if isinstance(part, ImagePart) else OCTETS
        media_type = media_type or inline.media_type or default
        blob = wire.Blob(media_type, inline.in_base64(), extra=_extra(own, "inlineData"))
        return wire.InlineFile(inline_data=blob, **_members_of(own))
    if not url.startswith(ADDRESSES):
        return None
    file = wire.FileData(url, media_type or UNSET, extra=_extra(own, "fileData"))
    return wire.File(file_data=file, **_members_of(own))


# Calls


def read_call(block: wire.Call, ids: CallIds) -> ToolCallPart | None:
    call = block.function_call
    if not call.name:
        return None
    own = own_notes(block, "functionCall", call.extra)
    if nonempty_text(call.id):
        own[CALL_ID] = call.id
    given: Json = call.args
    if isinstance(given, str):
        with suppress(DecodeError):
            given = loads(given)
    elif given is UNSET or given is None:
        given = read_arguments(call.partial_args) if is_array(call.partial_args) else {}
    return ToolCallPart(
        ids.next(call.id), call.name, "input-available", given, call_provider_metadata=_noted(own)
    )


def write_call(part: ToolCallPart) -> wire.Call | None:
    if part.provider_executed:
        return None
    own = notes(part.call_provider_metadata, NAME)
    name, args = TOOL_NAME.fit(part.name), object_input(part)
    call = wire.FunctionCall(name, _id(own), args, extra=_extra(own, "functionCall"))
    return wire.Call(function_call=call, **_members_of(own))


def _id(own: JsonObject) -> str | UnsetType:
    return nonempty_text(own.get(CALL_ID)) or UNSET


def read_server_call(block: wire.Code | wire.ToolCall, ids: CallIds) -> ToolCallPart:
    if isinstance(block, wire.Code):
        own, kind, google_id = own_notes(block), CODE_TYPE, nonempty_text(block.executable_code.get("id"))
        given: Json = {key: item for key, item in block.executable_code.items() if key != "id"}
    else:
        call = block.tool_call
        own, kind, google_id = (
            own_notes(block, "toolCall", call.extra),
            call.tool_type or "",
            nonempty_text(call.id),
        )
        given = {} if call.args is UNSET or call.args is None else call.args
    id_ = ids.next(google_id)
    is_code = kind == CODE_TYPE
    return ToolCallPart(
        id_,
        CODE_EXECUTION if is_code else f"{SERVER_PREFIX}{kind}",
        "input-available",
        given,
        provider_executed=True,
        dynamic=not is_code,
        call_provider_metadata={NAME: {**own, TOOL_TYPE: kind, **_id_notes(kind, google_id, id_)}},
    )


def _id_notes(kind: str, google_id: str | None, id_: str) -> JsonObject:
    given: JsonObject = {} if google_id is None else {CALL_ID: google_id}
    return given if kind == CODE_TYPE else {SERVER_CALL_ID: google_id or id_, **given}


def write_server_call(part: ToolCallPart) -> wire.Code | wire.ToolCall | None:
    own = notes(part.call_provider_metadata, NAME)
    kind = own.get(TOOL_TYPE)
    if not part.provider_executed or not isinstance(kind, str):
        return None  # a tool of another provider
    given: JsonObject = part.input if is_object(part.input) else {}
    if kind == CODE_TYPE:
        named = {"id": own[CALL_ID]} if nonempty_text(own.get(CALL_ID)) else {}
        return wire.Code(executable_code={**given, **named}, **_members_of(own))
    call = wire.ServerCall(kind, _id(own), given or UNSET, extra=_extra(own, "toolCall"))
    return wire.ToolCall(tool_call=call, **_members_of(own))


# Results of tools that Google runs


class ServerResult(NamedTuple):
    """The result of a tool that Google runs: the type of the tool, the id of the call, output and notes."""

    kind: str
    google_id: str | None
    output: Json
    own: JsonObject


def read_server_result(block: wire.CodeResult | wire.ToolResponse) -> ServerResult:
    """The result of a tool that Google runs."""
    output: Json
    if isinstance(block, wire.CodeResult):
        own, raw, kind = own_notes(block), block.code_execution_result, CODE_TYPE
        google_id = nonempty_text(raw.get("id"))
        more = {key: item for key, item in raw.items() if key not in ("id", "outcome", "output")}
        output = {"outcome": raw.get("outcome"), "output": raw.get("output") or "", **more}
    else:
        response = block.tool_response
        own, kind = own_notes(block, "toolResponse", response.extra), response.tool_type or ""
        google_id = nonempty_text(response.id)
        output = {} if response.response is UNSET or response.response is None else response.response
    own |= {TOOL_TYPE: kind, **({} if google_id is None else {CALL_ID: google_id})}
    kept = residue(_server_result(own, output), block)
    return ServerResult(kind, google_id, output, {**own, FIELDS: kept} if kept else own)


def _server_result(own: JsonObject, output: Json) -> wire.CodeResult | wire.ToolResponse:
    if own.get(TOOL_TYPE) == CODE_TYPE:
        result = output if is_object(output) else {"outcome": "OUTCOME_OK", "output": as_text(output)}
        named = {"id": own[CALL_ID]} if nonempty_text(own.get(CALL_ID)) else {}
        return wire.CodeResult(code_execution_result={**result, **named}, **_members_of(own))
    kind: Any = own.get(TOOL_TYPE)
    response = wire.ServerCall(
        kind, _id(own), response=UNSET if output == {} else output, extra=_extra(own, "toolResponse")
    )
    return wire.ToolResponse(tool_response=response, **_members_of(own))


def add_server_result(results: list[JsonObject], result: ServerResult, call_id: str) -> JsonObject:
    """Add a result to those of a call; the notes about all of them."""
    named = {SERVER_CALL_ID: result.google_id or call_id} if result.kind != CODE_TYPE else {}
    own = {**result.own, **named}
    results.append({"output": result.output, **own})
    return {**own, RESULTS: list(results)} if len(results) > 1 else own


def _server_results(call: ToolCallPart) -> list[tuple[Json, JsonObject]]:
    """The results of a call as parts, and the notes about them."""
    assert call.output is not None
    own = notes(call.result_provider_metadata, NAME)
    kind = notes(call.call_provider_metadata, NAME).get(TOOL_TYPE)
    several = own.get(RESULTS)
    entries: Sequence[Json] = several if is_array(several) else [{**own, "output": _value(call.output)}]
    found: list[tuple[Json, JsonObject]] = []
    for entry in entries:
        if is_object(entry):
            written = _server_result({**entry, TOOL_TYPE: kind}, entry.get("output"))
            found.append((restore(written, notes(entry, FIELDS)), entry))
    return found


def _value(output: ToolOutput) -> Json:
    match output:
        case TextOutput() | JsonOutput():
            return output.value
        case ErrorTextOutput() | ErrorJsonOutput():
            return {"outcome": "OUTCOME_FAILED", "output": as_text(output.value)}
        case _:
            return {}


# Results of the client


class OpenCall(NamedTuple):
    """A call without a result: its id here, its name, the id that Google gave it, and its message."""

    id: str
    name: str
    google_id: str | None
    message_id: str = ""


def open_call(call: ToolCallPart, message_id: str = "") -> OpenCall:
    """A call of a message."""
    google_id = nonempty_text(notes(call.call_provider_metadata, NAME).get(CALL_ID))
    return OpenCall(call.id, call.name, google_id, message_id)


def read_result(block: wire.Result, call: OpenCall) -> ToolResultPart:
    """The result of a call."""
    result = block.function_response
    response = {} if result.response is UNSET else result.response
    files = result.parts if is_array(result.parts) else []
    own = own_notes(block, "functionResponse", result.extra)
    part = ToolResultPart(call.id, call.name, _output(response, files), _noted(own))
    kept = residue(_result(part, call), block)
    return with_part_notes(part, NAME, {FIELDS: kept} if kept else {})


def write_result(part: ToolResultPart, call: OpenCall) -> wire.Result:
    """The result of a call, with its residue."""
    return restore(_result(part, call), notes(notes(part.provider_metadata, NAME), FIELDS))


def _result(part: ToolResultPart, call: OpenCall) -> wire.Result:
    own = notes(part.provider_metadata, NAME)
    outcome, value, items = write_tool_text(part.output)
    files: list[Json] = []
    if items is not None:
        response, files = _content(items)
    elif outcome != "success":
        response = {"error": value}
    else:
        # `output` and `error` are the keys of a result: https://ai.google.dev/api/caching#FunctionResponse
        response = value if is_object(value) else {"output": value}
    name = nonempty_text(own.get(NAME_NOTE)) or TOOL_NAME.fit(call.name)
    id_ = nonempty_text(own.get(CALL_ID)) or call.google_id or UNSET
    extra = _extra(own, "functionResponse")
    result = wire.FunctionResponse(id_, name, response, files or UNSET, extra=extra)
    return wire.Result(function_response=result, **_members_of(own))


def _output(response: Json, files: Sequence[Json]) -> ToolOutput:
    if files:
        return ContentOutput((*_texts(response), *(read_part(USER, file, None) for file in files)))
    match response:
        case {"error": error} if len(response) == 1:
            return read_tool_text("failed", error)
        case {"output": value} if len(response) == 1 and not is_object(value):
            return read_tool_text("success", value)
        case _:
            return read_tool_text("success", response)


def _texts(response: Json) -> list[ContentItem]:
    if response is None or response == {}:
        return []
    match response:
        case {"output": str(text)} if len(response) == 1:
            return [TextPart(text)]
        case _:
            return [TextPart(as_text(response), provider_metadata={NAME: {RESPONSE: response}})]


def _content(items: Sequence[ContentItem]) -> tuple[JsonObject, list[Json]]:
    """The response and the files of content."""
    texts: list[str] = []
    files: list[Json] = []
    response: JsonObject | None = None
    for item in items:
        if not isinstance(item, TextPart):
            block = PARTS.write(item, "user")
            files += [] if block is None else [to_json(block)]
            continue
        whole = notes(item.provider_metadata, NAME).get(RESPONSE)
        if is_object(whole) and response is None:
            response = whole
        else:
            texts.append(item.text)
    return {**(response or {}), **({"output": "\n".join(texts)} if texts else {})}, files


# The tables

USER: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    PartCodec(wire.Text, TextPart, read_user_text, write_text),
    PartCodec((wire.InlineFile, wire.File), FILES, read_user_file, write_file),
    member=FIELDS,
)
MODEL: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    PartCodec(wire.Text, (TextPart, ReasoningPart), read_text, write_text),
    PartCodec((wire.InlineFile, wire.File), FILES, read_file, write_file),
    PartCodec(wire.Call, ToolCallPart, read_call, write_call, metadata="call_provider_metadata"),
    PartCodec(
        (wire.Code, wire.ToolCall),
        ToolCallPart,
        read_server_call,
        write_server_call,
        metadata="call_provider_metadata",
    ),
    member=FIELDS,
)


def read_part(codecs: PartCodecs[Any], raw: Json, ids: CallIds | None) -> Any:
    """A part. One that is unknown is kept whole."""
    block = parse_part(raw)
    part = None if block is None else codecs.read(block, ids)
    return ForeignPart(FORMAT_NAME, raw) if part is None or isinstance(part, ForeignPart) else part


class _Parts(MessageBlocks):
    """The parts of contents."""

    def write(self, part: Any, role: str) -> Any:
        if isinstance(part, ForeignPart):
            return part.value if part.format == FORMAT_NAME and is_object(part.value) and part.value else None
        if isinstance(part, DataPart):
            return part.data if part.name == UNKNOWN and is_object(part.data) and part.data else None
        return super().write(part, role)

    def write_server_results(self, call: ToolCallPart) -> Sequence[tuple[Json, JsonObject]]:
        return _server_results(call)


PARTS: Final = _Parts(USER, MODEL, None, lambda text: wire.Text(text=text))


# The parts of the model


class ServerCalls:
    """Calls that Google runs, by which their results are found: by id, or else by order."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._named: dict[tuple[str, str | None], Any] = {}

    def add(self, call: ToolCallPart, key: Any) -> None:
        """Remember a call by a key."""
        own = notes(call.call_provider_metadata, NAME)
        kind = str(own.get(TOOL_TYPE))
        self._last[kind] = self._named[kind, nonempty_text(own.get(CALL_ID))] = key

    def find(self, result: ServerResult) -> Any:
        """The key of the call of a result; `None` if there is none."""
        named = None if result.google_id is None else self._named.get((result.kind, result.google_id))
        return self._last.get(result.kind) if named is None else named


def read_parts(raws: Sequence[Json], prefix: str) -> list[ReadPart]:
    """The parts of a content of the model. `prefix` begins the ids of calls that have none."""
    ids, calls = CallIds(prefix), ServerCalls()
    found: list[ReadPart] = []
    results: dict[int, list[JsonObject]] = {}  # by the position of the call in `found`
    ends: dict[int, int] = {}  # the position of the last part of each call
    for index, raw in enumerate(raws):
        block = parse_part(raw)
        if isinstance(block, wire.CodeResult | wire.ToolResponse):
            result = read_server_result(block)
            at = calls.find(result)
            if at is not None:
                result.own.update(behind_note(index - ends[at] - 1))
                ends[at] = index
                call = found[at].part
                own = add_server_result(results.setdefault(at, []), result, call.id)
                output = read_tool_text("success", result.output)
                found[at] = found[at]._replace(part=with_result(call, output, {NAME: own}))
                continue
            block = None
        part = None if block is None else MODEL.read(block, ids)
        if part is None or isinstance(part, ForeignPart):
            part = ForeignPart(FORMAT_NAME, raw)
        elif type(part) is ToolCallPart and part.provider_executed:
            calls.add(part, len(found))
            ends[len(found)] = index
        found.append(ReadPart(part, index))
    return found
