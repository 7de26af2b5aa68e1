"""Wire types of Google's generateContent API, and the names of their members.

A part has no type: it is what its only content is, a text, a file, a call or a result. Requests may write
names in camelCase or in snake_case (https://protobuf.dev/programming-guides/json/), as `model_dump()` of the
`google-genai` package does. They are read in camelCase, and the message notes how its content was written.

Source: https://ai.google.dev/api/caching#Content, and the types of the `google-genai` package.
"""

import re
from collections.abc import Mapping, Sequence
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
    """A call that the client runs. Older models give it no id: results are matched by order.

    https://ai.google.dev/api/caching#FunctionCall. Vertex streams arguments: `partialArgs`, `willContinue`.
    """

    name: str
    id: str | UnsetType | None = UNSET
    args: Json = UNSET
    partial_args: list[Any] | UnsetType | None = UNSET
    will_continue: bool | UnsetType | None = UNSET


class FunctionResponse(Wire, rename="camel"):
    """The result of a call. The response is an object; Gemini 3 also takes files, as `parts`.

    https://ai.google.dev/gemini-api/docs/function-calling (multimodal function responses)
    """

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
    """What all parts may have besides their content. Other members are in `extra`: `videoMetadata` …"""

    thought: bool | UnsetType | None = UNSET
    thought_signature: str | UnsetType | None = UNSET


class Text(Part, rename="camel"):
    """A text, or a thought. It is absent from a part that is only a signature.

    https://ai.google.dev/gemini-api/docs/thought-signatures
    """

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
    """The result of code. It follows the code, and the API does not limit their number.

    https://ai.google.dev/gemini-api/docs/code-execution
    """

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
    """A tool that the client runs. Its schema is JSON schema, or Google's own dialect in `parameters`.

    https://ai.google.dev/api/caching#FunctionDeclaration
    """

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
        # An empty text, or only a signature: the last part of many streams (seen in recordings)
        found = ["text"]
    if len(found) != 1 or (found == ["text"] and not isinstance(raw.get("text", ""), str)):
        return None
    try:
        return PARTS[found[0]].read(raw)
    except (DecodeError, RecursionError):
        return None


# Names

# Notes about a content
NAMES: Final = "names"  # the names that are in snake_case
NULLS: Final = "null"  # the members that are null in every part that does not set them
FORM: Final = "form"  # `text` for a string instead of a content, `part` for a part instead of a list of them

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
    found = _JOINT.sub(lambda match: match[1].upper(), name) if "_" in name else name
    return found if _HUMP.sub(lambda match: f"_{match[1].lower()}", found) == name else name


class Names:
    """Renames members to camelCase, and collects the names in snake_case; or the other way round."""

    def __init__(self, noted: Json = None) -> None:
        """`noted`: the names to restore; `None` to read."""
        self.found: set[str] = set()
        self._is_reading = noted is None
        self._snakes = (
            {camel(name): name for name in noted if isinstance(name, str)} if is_array(noted) else {}
        )

    def members(self, value: JsonObject, known: frozenset[str] | None) -> JsonObject:
        """An object with its known members renamed; `None`: with all of them."""
        if self._is_reading:
            names = {name: camel(name) for name in value if "_" in name}
            names = {one: other for one, other in names.items() if one != other and _is_in(other, known)}
            self.found |= names.keys()
        else:
            names = {
                name: self._snakes[name] for name in value if name in self._snakes and _is_in(name, known)
            }
        return {names.get(name, name): item for name, item in value.items()} if names else value

    def deep(self, value: Json) -> Json:
        """A value of which all names are Google's, with them renamed."""
        if is_object(value):
            return {name: self.deep(item) for name, item in self.members(value, None).items()}
        return [self.deep(item) for item in value] if is_array(value) else value

    def part(self, raw: Json) -> Json:
        """A part with its names renamed, and those of its content."""
        if not is_object(raw):
            return raw
        part = self.members(raw, _PART_NAMES)
        for name, held in part.items():
            if is_object(held) and camel(name) in PARTS:
                other = {
                    key: self.deep(item)
                    if camel(key) == "partialArgs"
                    else [self.part(file) for file in item]
                    if key == "parts" and is_array(item)
                    else item
                    for key, item in self.members(held, _HELD_NAMES).items()
                }
                part = {**part, name: other}
        return part


def _is_in(name: str, known: frozenset[str] | None) -> bool:
    return known is None or name in known


def normal_parts(raws: Sequence[Json]) -> tuple[list[Json], JsonObject]:
    """Parts in camelCase without the nulls that all have in common, and the notes to restore them."""
    noted: JsonObject = {}
    nulls = sorted({name for raw in raws if is_object(raw) for name in raw if raw[name] is None})
    if nulls and all(is_object(raw) and all(name in raw for name in nulls) for raw in raws):
        noted[NULLS] = nulls
        raws = [{name: item for name, item in raw.items() if item is not None} for raw in raws]
    names = Names()
    parts = [names.part(raw) for raw in raws]
    return parts, {**noted, NAMES: sorted(names.found)} if names.found else noted


def restore_parts(parts: Sequence[Json], noted: JsonObject) -> list[Json]:
    """Parts as they were written."""
    if NAMES in noted:
        names = Names(noted[NAMES])
        parts = [names.part(part) for part in parts]
    nulls = noted.get(NULLS)
    if is_array(nulls):
        parts = [{**dict.fromkeys(nulls), **part} if is_object(part) else part for part in parts]
    return list(parts)
