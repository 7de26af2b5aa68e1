"""Wire types of Google's generateContent API, and the names of their members.

A part has no type: it is what its only content is, a text, a file, a call or a result. Requests may write
names in camelCase or in snake_case, as `model_dump()` of the `google-genai` package does. They are read in
camelCase, and the message notes how its content was written.

Source: https://ai.google.dev/api/caching#Content, and the types of the `google-genai` package.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.core.wire import Codec, Wire
from partita.types.json import Json, JsonObject, is_array, is_object

FORMAT_NAME: Final = "gemini"
NAME: Final = "google"
"""The namespace in provider metadata. The AI SDK uses it too."""


class Blob(Wire, rename="camel"):
    """A file in the request."""

    mime_type: str | UnsetType | None = UNSET
    data: str | UnsetType = UNSET


class FileData(Wire, rename="camel"):
    """A file by its address."""

    file_uri: str
    mime_type: str | UnsetType | None = UNSET


class FunctionCall(Wire, rename="camel"):
    """A call that the client runs. Older models give it no id: results are matched by order."""

    name: str
    id: str | UnsetType | None = UNSET
    args: Json = UNSET
    partial_args: list[Any] | UnsetType | None = UNSET
    will_continue: bool | UnsetType | None = UNSET


class FunctionResponse(Wire, rename="camel"):
    """The result of a call. The response is an object; Gemini 3 takes files beside it, as `parts`."""

    id: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    response: Json = UNSET
    parts: list[Any] | UnsetType | None = UNSET


class ServerCall(Wire, rename="camel"):
    """A call of a tool that Google runs, and its result."""

    tool_type: str | UnsetType | None = UNSET
    id: str | UnsetType | None = UNSET
    args: Json = UNSET
    response: Json = UNSET


class Part(Wire, rename="camel", kw_only=True):
    """What all parts may have beside their content. Others are in `extra`: `videoMetadata` and so on."""

    thought: bool | UnsetType | None = UNSET
    thought_signature: str | UnsetType | None = UNSET


class Text(Part, rename="camel"):
    """A text, or a thought. It is absent from a part that is only a signature."""

    text: str | UnsetType = UNSET


class InlineFile(Part, rename="camel"):
    """A file in the request."""

    inline_data: Blob


class File(Part, rename="camel"):
    """A file by its address."""

    file_data: FileData


class Call(Part, rename="camel"):
    """A call that the client runs."""

    function_call: FunctionCall


class Result(Part, rename="camel"):
    """The result of a call that the client ran."""

    function_response: FunctionResponse


class Code(Part, rename="camel"):
    """Code that Google runs."""

    executable_code: JsonObject


class CodeResult(Part, rename="camel"):
    """The result of code. Code may have several."""

    code_execution_result: JsonObject


class ToolCall(Part, rename="camel"):
    """A call of another tool that Google runs."""

    tool_call: ServerCall


class ToolResponse(Part, rename="camel"):
    """The result of such a call."""

    tool_response: ServerCall


class Content(Wire, rename="camel"):
    """A message of a request or a response."""

    role: str | UnsetType | None = UNSET
    parts: tuple[Any, ...] | UnsetType = UNSET


class Declaration(Wire, rename="camel"):
    """A tool that the client runs. Its schema is JSON schema, or Google's own dialect in `parameters`."""

    name: str
    description: str | UnsetType | None = UNSET
    parameters_json_schema: JsonObject | UnsetType | None = UNSET
    parameters: JsonObject | UnsetType | None = UNSET


CONTENT: Final[Codec[Content]] = Codec(Content)
DECLARATION: Final[Codec[Declaration]] = Codec(Declaration)
PARTS: Final[Mapping[str, Codec[Any]]] = {
    "text": Codec(Text),
    "inlineData": Codec(InlineFile),
    "fileData": Codec(File),
    "functionCall": Codec(Call),
    "functionResponse": Codec(Result),
    "executableCode": Codec(Code),
    "codeExecutionResult": Codec(CodeResult),
    "toolCall": Codec(ToolCall),
    "toolResponse": Codec(ToolResponse),
}
"""The types of parts by the content that they have."""

SIGNATURE: Final = "thoughtSignature"


def parse_part(raw: Json) -> Any:
    """A part; `None` if it is unknown, or has no content or more than one."""
    if not is_object(raw):
        return None
    found = [name for name in raw if name in PARTS and raw[name] is not None and raw[name] != ""]
    if not found and (raw.get("text") == "" or raw.get(SIGNATURE) is not None):
        found = ["text"]  # an empty text, or a signature without a text: the last part of many streams
    if len(found) != 1 or (found == ["text"] and not isinstance(raw.get("text", ""), str)):
        return None
    try:
        return PARTS[found[0]].read(raw)
    except (DecodeError, RecursionError):
        return None


# Names

SNAKE: Final = "snake_case"
CAMEL: Final = "camelCase"

# Notes about a content
NAMES: Final = "names"  # `snake_case`, if its names are written so
NULLS: Final = "null"  # the members that are null in every part that does not set them
FORM: Final = "form"  # `text` for a string instead of a content, `part` for a part instead of a list of them

_CAMEL: Final = re.compile(r"[a-z][A-Za-z0-9]*")
_JOINT: Final = re.compile(r"_([a-z])")
_HUMP: Final = re.compile(r"([A-Z])")

_PART_NAMES: Final = frozenset(
    {*PARTS, SIGNATURE, "mediaResolution", "partMetadata", "videoMetadata", "audioTranscription"}
    | {"mediaProcessing", "speechMetadata"}
)
_HELD_NAMES: Final = frozenset(
    {"displayName", "fileUri", "mimeType", "partialArgs", "toolType", "willContinue"}
)
"""Members of the content of a part. Arguments and results of tools keep their names."""


@lru_cache(512)
def camel(name: str) -> str:
    """A name in camelCase, if the name can be restored from it."""
    found = _JOINT.sub(lambda match: match[1].upper(), name)
    return found if snake(found) == name else name


@lru_cache(512)
def snake(name: str) -> str:
    """A name in snake_case, if it is one in camelCase."""
    if not _CAMEL.fullmatch(name):
        return name
    return _HUMP.sub(lambda match: f"_{match[1].lower()}", name)


def renamed(value: Json, rename: Callable[[str], str]) -> Json:
    """A value of which all names are Google's, with other names."""
    if is_object(value):
        return {rename(key): renamed(inner, rename) for key, inner in value.items()}
    return [renamed(inner, rename) for inner in value] if is_array(value) else value


def _members(value: JsonObject, known: frozenset[str], rename: Callable[[str], str]) -> JsonObject:
    if all(rename(name) == name for name in value):
        return value
    return {rename(name) if camel(name) in known else name: item for name, item in value.items()}


def _rename_part(raw: Json, rename: Callable[[str], str]) -> Json:
    if not is_object(raw):
        return raw
    part = _members(raw, _PART_NAMES, rename)
    for name, held in part.items():
        if is_object(held) and camel(name) in PARTS:
            other = _members(held, _HELD_NAMES, rename)
            for key in ("partialArgs", "partial_args"):
                if is_array(other.get(key)):
                    other = {**other, key: renamed(other[key], rename)}
            files = held.get("parts")
            if camel(name) == "functionResponse" and is_array(files):
                other = {**other, "parts": [_rename_part(file, rename) for file in files]}
            if other is not held:
                part = {**part, name: other}
    return part


def normal_parts(raws: Sequence[Json]) -> tuple[list[Json], JsonObject]:
    """Parts in camelCase without the nulls that all have in common, and the notes to restore them."""
    noted: JsonObject = {}
    nulls = sorted({name for raw in raws if is_object(raw) for name in raw if raw[name] is None})
    parts = list(raws)
    if nulls and all(is_object(raw) and all(name in raw for name in nulls) for raw in raws):
        noted[NULLS] = nulls
        parts = [{name: item for name, item in raw.items() if item is not None} for raw in raws]
    other = [_rename_part(part, camel) for part in parts]
    if any(one is not part for one, part in zip(other, parts, strict=True)) and other != parts:
        noted[NAMES] = SNAKE
    return other, noted


def restore_parts(parts: Sequence[Json], noted: JsonObject) -> list[Json]:
    """Parts as they were written."""
    if noted.get(NAMES) == SNAKE:
        parts = [_rename_part(part, snake) for part in parts]
    nulls = noted.get(NULLS)
    if is_array(nulls):
        parts = [{**dict.fromkeys(nulls), **part} if is_object(part) else part for part in parts]
    return list(parts)
