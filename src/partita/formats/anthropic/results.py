"""Results of server tools: blocks → outputs of calls, and outputs back to the very same blocks."""

from collections.abc import Mapping
from typing import Final, NamedTuple, assert_never

from partita.errors import DecodeError
from partita.types.chunks import SourceUrlChunk
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
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

from .citations import PLAIN, Document
from .words import ANTHROPIC, CALLER, INDEX, RESULT_TYPE, fields_of, renamed, rest_of, text_of, turned

RESULT: Final = "_tool_result"
"""How the type of a result of a server tool ends."""

MCP_CALL: Final = "mcp_tool_use"
MCP_RESULT: Final = "mcp_tool_result"
MCP_MARK: Final = "mcp-tool-use"
"""The `type` in the metadata of a call of a remote MCP server."""

SEARCH: Final = "tool_search_tool"
FOUND: Final = "tool_search_tool_search_result"

ERRORS_AS_OUTPUTS: Final = ("bash_code_execution_tool_result", "text_editor_code_execution_tool_result")
"""Results whose errors are outputs like others: the AI SDK tells them so, and people match on them."""

_ERROR: Final = {"error_code": "errorCode"}
NAMES: Final[Mapping[str, Mapping[str, str]]] = {
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
"""By the type of a value, what its keys are called in an output. The other types keep theirs."""

SOURCE_NAMES: Final[Mapping[str, str]] = {"media_type": "mediaType"}


class Told(NamedTuple):
    """What a result block says: a value, or the words of an error, and what stands beside them."""

    value: Json
    error: str | None
    metadata: JsonObject


def told(block: JsonObject, index: int) -> Told:
    """A result block as the output of its call."""
    kind, content = str(block["type"]), block.get("content")
    known, caller = ("type", "tool_use_id", "content"), block.get("caller")
    metadata: JsonObject = {
        INDEX: index,
        **rest_of(block, (*known, "caller") if is_object(caller) else known),
    }
    if is_object(caller):
        metadata["caller"] = renamed(caller, CALLER)
    value = _spelled(content)
    return Told(value, _words(value) if _is_error(kind, block) else None, metadata)


def block_of(call_name: str, call_id: str, output: ToolOutput, own: JsonObject) -> JsonObject | None:
    """The result block that an output was; `None` when no server tool can have given it."""
    content = _content(output)
    if content is None:
        return None
    caller: JsonObject = {"caller": renamed(own["caller"], turned(CALLER))} if "caller" in own else {}
    return {
        "type": type_of(call_name, own),
        "tool_use_id": call_id,
        "content": _wired(content[0], is_search=call_name.startswith(SEARCH)),
        **caller,
        **fields_of(own),
    }


def pages_of(block: JsonObject) -> list[SourceUrlChunk]:
    """The web pages that a search found or a fetch brought."""
    content, call_id = block.get("content"), block.get("tool_use_id")
    items: list[Json] = content if is_array(content) else [content]
    pages: list[SourceUrlChunk] = []
    for item in items:
        match item:
            case {"type": "web_search_result", "url": str(url)}:
                age: JsonObject = {"pageAge": item.get("page_age")}
                pages.append(_page(f"{call_id}-{len(pages)}", url, item.get("title"), age))
            case {"type": "web_fetch_result", "url": str(url), "content": {**document}}:
                date: JsonObject = {"retrievedAt": item.get("retrieved_at")}
                pages.append(_page(f"{call_id}-{len(pages)}", url, document.get("title"), date))
            case _:
                pass
    return pages


def document_of(block: JsonObject) -> Document | None:
    """The document that a fetch brought, for citations to point at."""
    match block.get("content"):
        case {"type": "web_fetch_result", "content": {"source": {**source}, **document}, **result}:
            title = text_of(document.get("title")) or text_of(result.get("url"))
            return Document(title or "", text_of(source.get("media_type")) or PLAIN)
        case _:
            return None


def _page(id: str, url: str, title: Json, metadata: JsonObject) -> SourceUrlChunk:
    return SourceUrlChunk(id, url, text_of(title), {ANTHROPIC: metadata})


def _is_error(kind: str, block: JsonObject) -> bool:
    if kind == MCP_RESULT:
        return block.get("is_error") is True
    content = block.get("content")
    inner = content.get("type") if is_object(content) else None
    return isinstance(inner, str) and inner.endswith("_error") and kind not in ERRORS_AS_OUTPUTS


def _words(value: Json) -> str:
    try:
        return value if isinstance(value, str) else dumps(value).decode()
    except DecodeError as error:
        return str(error)


def _spelled(content: Json) -> Json:
    if is_object(content) and content.keys() == {"type", "tool_references"} and content["type"] == FOUND:
        content = content["tool_references"]
    return [_spelled_item(item) for item in content] if is_array(content) else _spelled_item(content)


def _spelled_item(item: Json) -> Json:
    if not is_object(item):
        return item
    spelled = renamed(item, _names(item))
    if item.get("type") == "web_fetch_result":
        return _with_source(spelled, SOURCE_NAMES)
    return spelled


def _wired(value: Json, *, is_search: bool) -> Json:
    if not is_array(value):
        return _wired_item(value)
    items = [_wired_item(item) for item in value]
    return {"type": FOUND, "tool_references": items} if is_search else items


def _wired_item(item: Json) -> Json:
    if not is_object(item):
        return item
    wired = renamed(item, turned(_names(item)))
    if item.get("type") == "web_fetch_result":
        return _with_source(wired, turned(SOURCE_NAMES))
    return wired


def _names(item: JsonObject) -> Mapping[str, str]:
    kind = item.get("type")
    return NAMES.get(kind, {}) if isinstance(kind, str) else {}


def _with_source(result: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """A fetch with the source of its document renamed."""
    document = result.get("content")
    if not is_object(document) or "source" not in document:
        return result
    return {**result, "content": {**document, "source": renamed(document["source"], names)}}


def type_of(call_name: str, own: JsonObject) -> str:
    """The type of the result of a call."""
    if isinstance(own.get(RESULT_TYPE), str):
        return str(own[RESULT_TYPE])
    if own.get("type") == MCP_MARK:
        return MCP_RESULT
    return f"{SEARCH}_result" if call_name.startswith(SEARCH) else f"{call_name}{RESULT}"


def _content(output: ToolOutput) -> tuple[Json] | None:
    """The value of an output, in a tuple, for it may be null; `None` when no server tool gives such."""
    match output:
        case TextOutput(value=value) | JsonOutput(value=value) | ErrorJsonOutput(value=value):
            return (value,)
        case ErrorTextOutput(value=words):
            try:
                return (loads(words),)
            except DecodeError:
                return (words,)
        case ExecutionDeniedOutput() | ContentOutput() | InterruptedOutput():
            return None
        case _:
            assert_never(output)
