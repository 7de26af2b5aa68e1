"""Results of server tools as outputs, and citations with their sources.

Outputs and metadata use the names that the AI SDK uses (`@ai-sdk/anthropic`), in camelCase; each renaming is
undone on write, because what a server tool returned must go back to the API unchanged. Messages and the
stream read them with the same functions.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from partita.errors import DecodeError
from partita.formats.core.codec import behind_note, with_result
from partita.formats.core.members import inverse, nonempty_text, renamed, text_in
from partita.formats.core.metadata import FIELDS, notes
from partita.formats.core.sources import citation
from partita.formats.core.tool_text import as_text, read_tool_text
from partita.types.data_url import PLAIN
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    Citation,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    SourceDocumentPart,
    SourceUrlPart,
    TextOutput,
)

from .wire import MCP_RESULT, NAME, RESULT

# Notes in the provider metadata of calls and results
RESULT_TYPE: Final = "resultType"  # the type of a result, if it does not follow from the name of its call
MCP: Final = "mcp-tool-use"  # the `type` of calls of MCP servers, as in the AI SDK
SERVED: Final = "serverTool"  # `true` for calls that Anthropic runs

CALLER: Final[Mapping[str, str]] = {"tool_id": "toolId"}

SEARCH: Final = "tool_search_tool"
FOUND: Final = "tool_search_tool_search_result"

# The AI SDK returns these errors as outputs, not as errors.
ERRORS_AS_OUTPUTS: Final = ("bash_code_execution_tool_result", "text_editor_code_execution_tool_result")

_ERROR: Final = {"error_code": "errorCode"}
_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "web_search_result": {"page_age": "pageAge", "encrypted_content": "encryptedContent"},
    "web_search_tool_result_error": _ERROR,
    "web_fetch_result": {"retrieved_at": "retrievedAt"},
    "web_fetch_tool_result_error": _ERROR,
    "code_execution_tool_result_error": _ERROR,
    "tool_reference": {"tool_name": "toolName"},
    "tool_search_tool_result_error": _ERROR,
    "advisor_result": {"stop_reason": "stopReason"},
    "advisor_redacted_result": {"encrypted_content": "encryptedContent", "stop_reason": "stopReason"},
    "advisor_tool_result_error": _ERROR,
}
"""By the `type` of a value: its members on the wire, and their names in an output."""

_SOURCE: Final[Mapping[str, str]] = {"media_type": "mediaType"}


# Results


class ServerResult(NamedTuple):
    """What a result block contains: a value, the text of an error if it is one, and metadata."""

    value: Json
    error: str | None
    metadata: JsonObject


def is_result(block: JsonObject) -> bool:
    """Whether a block is the result of a server tool."""
    kind = block.get("type")
    return isinstance(kind, str) and kind.endswith(RESULT) and isinstance(block.get("tool_use_id"), str)


def read_server_result(block: JsonObject, behind: int) -> ServerResult:
    """The result of a server tool. `behind`: how many blocks are between it and its call."""
    kind, content, caller = str(block["type"]), block.get("content"), block.get("caller")
    known = {"type", "tool_use_id", "content"} | ({"caller"} if is_object(caller) else set[str]())
    fields = {key: item for key, item in block.items() if key not in known}
    metadata: JsonObject = {**behind_note(behind), **({FIELDS: fields} if fields else {})}
    if is_object(caller):
        metadata["caller"] = renamed(caller, CALLER)
    if is_object(content) and content.keys() == {"type", "tool_references"} and content["type"] == FOUND:
        content = content["tool_references"]
    value = [_read_item(item) for item in content] if is_array(content) else _read_item(content)
    return ServerResult(value, as_text(value) if _is_error(kind, block) else None, metadata)


def add_result(call: ToolCallPart, block: JsonObject, behind: int) -> ToolCallPart:
    """A call with its result. `behind`: how many blocks are between them."""
    result = read_server_result(block, behind)
    output = (
        read_tool_text("success", result.value) if result.error is None else ErrorTextOutput(result.error)
    )
    own = {**_of_server(call, block), **result.metadata}
    if block["type"] != result_type(call.name, own):
        own[RESULT_TYPE] = block["type"]
    return with_result(call, output, {NAME: own} if own else None)


def _of_server(call: ToolCallPart, block: JsonObject) -> JsonObject:
    if block["type"] != MCP_RESULT:
        return {}
    return {"type": MCP, "serverName": notes(call.call_provider_metadata, NAME).get("serverName")}


def write_server_result(call: ToolCallPart, call_id: str) -> JsonObject | None:
    """The block of a server tool's result; `None` if no server tool returns such an output."""
    match call.output:
        case TextOutput() | JsonOutput() | ErrorJsonOutput():
            value = call.output.value
        case ErrorTextOutput(value=text):
            try:
                value = loads(text)
            except DecodeError:
                value = text
        case _:
            return None
    own = {**notes(call.result_provider_metadata, NAME)}
    if notes(call.call_provider_metadata, NAME).get("type") == MCP:
        own["type"] = MCP
    content: Json = [_write_item(item) for item in value] if is_array(value) else _write_item(value)
    if is_array(content) and call.name.startswith(SEARCH):
        content = {"type": FOUND, "tool_references": content}
    block: JsonObject = {"type": result_type(call.name, own), "tool_use_id": call_id, "content": content}
    if "caller" in own:
        block["caller"] = renamed(own["caller"], inverse(CALLER))
    fields = own.get(FIELDS)
    return {**fields, **block} if is_object(fields) else block


def result_type(call_name: str, own: JsonObject) -> str:
    """The type of the block with the result of a call."""
    if isinstance(own.get(RESULT_TYPE), str):
        return str(own[RESULT_TYPE])
    if own.get("type") == MCP:
        return MCP_RESULT
    return f"{SEARCH}_result" if call_name.startswith(SEARCH) else f"{call_name}{RESULT}"


def _is_error(kind: str, block: JsonObject) -> bool:
    if kind == MCP_RESULT:
        return block.get("is_error") is True
    content = block.get("content")
    inner = content.get("type") if is_object(content) else None
    return isinstance(inner, str) and inner.endswith("_error") and kind not in ERRORS_AS_OUTPUTS


def _read_item(item: Json) -> Json:
    kind = item.get("type") if is_object(item) else None
    value = renamed(item, _NAMES.get(kind, {})) if isinstance(kind, str) else item
    return _with_source(value, _SOURCE) if kind == "web_fetch_result" else value


def _write_item(item: Json) -> Json:
    kind = item.get("type") if is_object(item) else None
    value = renamed(item, inverse(_NAMES.get(kind, {}))) if isinstance(kind, str) else item
    return _with_source(value, inverse(_SOURCE)) if kind == "web_fetch_result" else value


def _with_source(result: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """A fetched page with the source of its document renamed."""
    document = result.get("content")
    if not is_object(document) or "source" not in document:
        return result
    return {**result, "content": {**document, "source": renamed(document["source"], names)}}


# Citations and sources

_MEDIA_TYPES: Final[Mapping[str, str]] = {"page_location": "application/pdf"}
"""The media type of a document by the type of a location in it."""

_LOCATION: Final[Mapping[str, str]] = {
    "cited_text": "citedText",
    "encrypted_index": "encryptedIndex",
    "start_page_number": "startPageNumber",
    "end_page_number": "endPageNumber",
    "start_char_index": "startCharIndex",
    "end_char_index": "endCharIndex",
    "start_block_index": "startBlockIndex",
    "end_block_index": "endBlockIndex",
}
"""Members of a citation that say where it is in its source, and their names in the metadata of a source."""


class Fetched(NamedTuple):
    """A document that a server tool fetched."""

    title: str
    media_type: str


class Sources:
    """The documents and web pages that a response has found so far. Its citations refer to them."""

    def __init__(self, response: str) -> None:
        """`response` is the id of the response, for the ids of sources."""
        self.response = response
        self._documents: list[Fetched] = []
        self._pages: set[str] = set()
        self._cited: list[JsonObject] = []

    def add_result(self, block: JsonObject) -> list[SourceUrlPart]:
        """The web pages that a result contains."""
        match block.get("content"):
            case {"type": "web_fetch_result", "content": {"source": {**source}, **document}, **result}:
                title = nonempty_text(document.get("title")) or nonempty_text(result.get("url"))
                self._documents.append(Fetched(title or "", nonempty_text(source.get("media_type")) or PLAIN))
            case _:
                pass
        content, call_id = block.get("content"), block.get("tool_use_id")
        items: list[Json] = content if is_array(content) else [content]
        pages: list[SourceUrlPart] = []
        for item in items:
            match item:
                case {"type": "web_search_result", "url": str(url)}:
                    about, title = {"pageAge": item.get("page_age")}, item.get("title")
                case {"type": "web_fetch_result", "url": str(url), "content": {**document}}:
                    about, title = {"retrievedAt": item.get("retrieved_at")}, document.get("title")
                case _:
                    continue
            self._pages.add(url)
            pages.append(
                SourceUrlPart(
                    f"{call_id}-{len(pages)}", url, nonempty_text(title), provider_metadata={NAME: about}
                )
            )
        return pages

    def citation(self, raw: JsonObject) -> Citation | None:
        """A citation; `None` if it names no source."""
        url, name, title = text_in(raw, "url"), text_in(raw, "source"), text_in(raw, "title")
        if url:
            self._cited.append(raw)
        number, cited = raw.get("document_index"), text_in(raw, "cited_text")
        if "://" in (url or name):
            return citation(NAME, raw, id_="", title=title, url=url or name, cited_text=cited)
        if type(number) is not int:
            return citation(NAME, raw, id_=name, title=title or name, cited_text=cited) if name else None
        title = text_in(raw, "document_title") or f"Document {number}"
        known = self._fetched(raw) or Fetched(title, _MEDIA_TYPES.get(text_in(raw, "type"), PLAIN))
        id_ = text_in(raw, "file_id") or str(number)
        return citation(NAME, raw, id_=id_, title=known.title, media_type=known.media_type, cited_text=cited)

    def cited_document(self, raw: JsonObject, block: int, number: int) -> SourceDocumentPart | None:
        """The fetched document that a citation refers to. Documents of the request need no source."""
        document = self._fetched(raw)
        if document is None:
            return None
        id_ = f"{self.response}-{block}-{number}"
        return SourceDocumentPart(id_, document.media_type, document.title, provider_metadata=_location(raw))

    def cited_pages(self) -> list[SourceUrlPart]:
        """The cited web pages that no search of this response found: an earlier one did."""
        return [
            SourceUrlPart(
                f"{self.response}-cited-{number}",
                raw["url"],
                nonempty_text(raw.get("title")),
                provider_metadata=_location(raw),
            )
            for number, raw in enumerate(self._cited)
            if raw["url"] not in self._pages
        ]

    def _fetched(self, raw: JsonObject) -> Fetched | None:
        """The fetched document that a citation refers to. Documents of the request are counted as well."""
        number = raw.get("document_index")
        if type(number) is not int or not 0 <= number < len(self._documents):
            return None
        known = self._documents[number]
        return known if nonempty_text(raw.get("document_title")) in (None, known.title) else None


def _location(raw: JsonObject) -> JsonObject:
    return {NAME: {name: raw[key] for key, name in _LOCATION.items() if raw.get(key) is not None}}
