"""Tool calls and content blocks of the Agent Client Protocol → chunks, parts and outputs.

https://agentclientprotocol.com/protocol/tool-calls and https://agentclientprotocol.com/protocol/content.
Unknown content is kept as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.core.files import file_part
from partita.formats.core.members import is_equal
from partita.formats.core.metadata import add_notes
from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputChunk,
)
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ForeignPart,
    InterruptedOutput,
    Interruption,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)

ACP: Final = "acp"
"""The namespace in metadata, and in the names of data."""


def text_of(block: Json) -> str | None:
    """Return the text of a text block."""
    text = block.get("text") if is_object(block) and block.get("type") == "text" else None
    return text if isinstance(text, str) else None


def file_of(block: Json) -> tuple[str, str] | None:
    """Return the URL and the media type of an image or an audio block."""
    if not is_object(block) or block.get("type") not in ("image", "audio"):
        return None
    data, media_type = block.get("data"), block.get("mimeType")
    if not isinstance(data, str) or not isinstance(media_type, str):
        return None
    return data_url(data, media_type), media_type


def block_chunk(block: Json) -> Chunk:
    """Return the chunk of a block that is not text: a file, or data."""
    file = file_of(block)
    return DataChunk(f"data-{ACP}-content", block) if file is None else FileChunk(file[0], file[1])


def output_of(content: Json, raw: Json, *, failed: bool, terminals: Mapping[str, JsonObject]) -> ToolOutput:
    """Return the output of a call: text, the raw output, or items, with diffs and terminals unchanged."""
    items: Sequence[Json] = content if is_array(content) else []
    texts = [text for item in items if (text := _item_text(item)) is not None]
    if texts and len(texts) == len(items):
        text = "\n".join(texts)
        return ErrorTextOutput(text) if failed else TextOutput(text)
    if items:
        parts = tuple(_item(item, terminals) for item in items)
        return ErrorJsonOutput(content) if failed else ContentOutput(parts)
    if isinstance(raw, str) or raw is None:
        return ErrorTextOutput(raw or "") if failed else TextOutput(raw or "")
    return ErrorJsonOutput(raw) if failed else JsonOutput(raw)


def _item_text(item: Json) -> str | None:
    return text_of(item.get("content")) if is_object(item) and item.get("type") == "content" else None


def _item(item: Json, terminals: Mapping[str, JsonObject]) -> ContentItem:
    text = _item_text(item)
    if text is not None:
        return TextPart(text)
    if not is_object(item):
        return ForeignPart(ACP, item)
    file = file_of(item.get("content")) if item.get("type") == "content" else None
    if file is not None:
        return file_part(*file)
    terminal = item.get("terminalId")
    known = terminals.get(terminal, {}) if isinstance(terminal, str) else {}
    return ForeignPart(ACP, {**item, **known})


UNKNOWN_TOOL: Final = "other"
"""The kind of a tool without a name, as in the protocol."""

DESCRIBED: Final = ("kind", "locations", "_meta")
"""Members of a call that are kept in its tool metadata."""

ENDED: Final = ("completed", "failed")


class Call:
    """The members of a call, which updates replace."""

    __slots__ = ("approval", "denied", "fields", "id", "is_done", "is_sent")

    def __init__(self, id: str) -> None:
        self.id = id
        self.fields: JsonObject = {}
        self.is_sent = False  # its input
        self.is_done = False
        self.approval: str | None = None
        self.denied: str | None = None  # the reason, if it was denied

    @property
    def name(self) -> str:
        """The name of the tool, or its kind in versions without names."""
        names = (self.fields.get("name"), self.fields.get("kind"))
        return next((name for name in names if isinstance(name, str) and name), UNKNOWN_TOOL)

    @property
    def title(self) -> str | None:
        """The title for display."""
        title = self.fields.get("title")
        return title if isinstance(title, str) else None

    @property
    def metadata(self) -> JsonObject | None:
        """The tool metadata."""
        return add_notes(None, ACP, {name: self.fields[name] for name in DESCRIBED if self.fields.get(name)})


class Calls:
    """The calls of a message."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._open: set[str] = set()
        self._requests: dict[str, tuple[Call, list[Json]]] = {}
        self.terminals: dict[str, JsonObject] = {}
        """The output and the exit status of terminals, by id."""

    @property
    def has_open(self) -> bool:
        """Whether a call has no output yet."""
        return bool(self._open)

    def has(self, call_id: Json) -> bool:
        """Whether there is a call with that id."""
        return isinstance(call_id, str) and call_id in self._calls

    def update(self, update: JsonObject) -> list[Chunk] | None:
        """Return the chunks of a new call or of an update; `None` if it has no id."""
        call_id = update.get("toolCallId")
        if not isinstance(call_id, str):
            return None
        call = self._calls.get(call_id)
        is_new = call is None
        if call is None:
            call = self._calls[call_id] = Call(call_id)
            self._open.add(call_id)
        before = (call.name, call.title, call.fields.get("rawInput"), call.metadata)
        call.fields |= {name: value for name, value in update.items() if value is not None}
        changed = is_new or not is_equal(
            before, (call.name, call.title, call.fields.get("rawInput"), call.metadata)
        )
        chunks: list[Chunk] = []
        status = call.fields.get("status")
        if call.is_done:
            return (
                self._output(call, update) if changed or "content" in update or "rawOutput" in update else []
            )
        if call.is_sent or status in ("in_progress", *ENDED) or call.fields.get("rawInput") is not None:
            chunks += self._available(call, changed)
        elif changed:
            chunks.append(ToolInputStart(call.id, call.name, tool_metadata=call.metadata, title=call.title))
        return chunks + self._output(call, update)

    def request_approval(self, approval: str, params: JsonObject) -> list[Chunk] | None:
        """Add a permission request; return `None` if it names no call that is pending."""
        update = params.get("toolCall")
        chunks = self.update(update) if is_object(update) and approval not in self._requests else None
        call = self._calls.get(update["toolCallId"]) if chunks is not None and is_object(update) else None
        if chunks is None or call is None or call.is_done:
            return None
        options = params.get("options")
        self._requests[approval] = (call, options if is_array(options) else [])
        call.approval = approval
        details = {name: value for name, value in params.items() if name not in ("toolCall", "sessionId")}
        request = ToolApprovalRequest(approval, call.id, details or UNSET)
        return [*chunks, *self._available(call, False), request]

    def decide(self, approval: str, result: JsonObject) -> list[Chunk] | None:
        """Add the response to a permission request; return `None` if the request or its call has ended."""
        request = self._requests.pop(approval, None)
        if request is None or request[0].approval != approval or request[0].is_done:
            return None
        call, options = request
        outcome = result.get("outcome")
        chosen = outcome.get("optionId") if is_object(outcome) else None
        if chosen is None:
            return []  # cancelled: the output of the call follows
        option = next((one for one in options if is_object(one) and one.get("optionId") == chosen), None)
        kind = option.get("kind") if is_object(option) else None
        approved = isinstance(kind, str) and kind.startswith("allow")
        name = option.get("name") if is_object(option) else None
        reason = name if isinstance(name, str) else None
        if not approved:
            call.denied = reason or ""
        return [ToolApprovalResponse(approval, approved, None if approved else reason)]

    def close(self, why: Interruption) -> list[Chunk]:
        """End the calls without an output: they were denied or interrupted."""
        chunks: list[Chunk] = []
        for call in [call for call in self._calls.values() if not call.is_done]:
            self._end(call)
            chunks += self._available(call, False)
            denied = call.denied
            output = InterruptedOutput(why) if denied is None else ExecutionDeniedOutput(denied or None)
            chunks.append(ToolOutputChunk(call.id, output))
        return chunks

    def _available(self, call: Call, changed: bool) -> list[Chunk]:
        """Return the input of a call; a second time if it changes before a permission request."""
        if call.is_sent and (not changed or call.approval is not None):
            return []
        call.is_sent = True
        given = call.fields.get("rawInput", {})
        return [ToolInputAvailable(call.id, call.name, given, tool_metadata=call.metadata, title=call.title)]

    def _output(self, call: Call, update: JsonObject) -> list[Chunk]:
        """Return the output so far, which is preliminary until the call has ended."""
        status, fields = call.fields.get("status"), call.fields
        ended = status in ENDED
        if not ended and (not call.is_sent or not update.get("content")):
            return []
        failed = status == "failed"
        if failed and call.denied is not None:
            self._end(call)
            return [ToolOutputChunk(call.id, ExecutionDeniedOutput(call.denied or None))]
        content, raw = fields.get("content"), fields.get("rawOutput")
        output = output_of(content, raw, failed=failed, terminals=self.terminals)
        metadata = call.metadata
        if raw is not None and is_array(content) and content:
            metadata = add_notes(metadata, ACP, {"rawOutput": raw})
        if ended:
            self._end(call)
        preliminary = None if call.is_done else True
        return [ToolOutputChunk(call.id, output, tool_metadata=metadata, preliminary=preliminary)]

    def _end(self, call: Call) -> None:
        call.is_done = True
        self._open.discard(call.id)
