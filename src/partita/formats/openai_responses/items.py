"""Items of the model ↔ parts of its message: in the input of a request, in a response, and in a stream.

They need a module of their own because an item may be several parts (a message with several texts, reasoning
with several summaries), and a part several items (a call of the provider and its output). Notes show which
parts are one item: they have the same `itemId`, or `continues`; `begins` separates items with the same id.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.members import text_in, without
from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.sources import source_position
from partita.formats.core.turns import LocatedPart, Position, ReadPart
from partita.formats.core.wire import Wire, residue, restore, to_json
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import (
    CustomPart,
    FilePart,
    ForeignPart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    TextPart,
)
from partita.types.tool_results import state_after

from . import wire
from .calls import (
    BEHIND,
    CALLS,
    OUTCOMES,
    OUTPUTS_OF,
    item_id,
    kind_of_item,
    provider_output,
    read_call,
    write_call,
    write_provider_output,
)
from .parts import OUTPUT, PART, annotations_of, found_sources, own, source_of
from .wire import NAMESPACE

ITEM: Final = "item"
"""The note of the residue of an item."""

CONTINUES: Final = "continues"
"""The note of a part of an item without an id: it belongs to the item of the part before."""

BEGINS: Final = "begins"
"""The note of the first part of an item that has the same id as the item before."""

SHORT: Final = "short"
"""The note of a message without a type."""

FORM: Final = "form"
"""The note of the content of a message: `string`, or `empty` if it is an empty list."""

RAW: Final = "reasoning_text"
ENCRYPTED: Final = "reasoningEncryptedContent"
OWN_REASONING: Final = frozenset({"itemId", ENCRYPTED, CONTINUES, ITEM})
"""Notes that only reasoning of this provider has."""

APPROVAL: Final = "response"
"""The note of the residue of the response to an approval request."""

_RENAMED: Final = {"encrypted_content": "encryptedContent"}
"""Members of items without a type here that have another name in the AI SDK."""


Source: TypeAlias = SourceUrlPart | SourceDocumentPart


class Context:
    """What reading an item depends on: the tools that the client declared, and the sources so far."""

    def __init__(self, client_tools: frozenset[str] | None = None) -> None:
        self.client_tools = client_tools
        self._sources = 0
        self._found: set[Json] = set()  # pages and files that searches have found

    def source_id(self) -> str:
        """The id of the next source."""
        self._sources += 1
        return f"source-{self._sources}"

    def number(self, source: Source, *, is_found: bool) -> Source | None:
        """A source with an id; `None` if it is cited after a search has found it, as in the AI SDK."""
        is_page = isinstance(source, SourceUrlPart)
        key = source.url if is_page else own(source).get("fileId")
        if is_found:
            self._found.add(key)
        elif key in self._found:
            return None
        return replace(source, source_id=self.source_id())


def noted(part: Any, more: JsonObject) -> Any:
    """A part with more notes."""
    return replace(part, provider_metadata=add_notes(part.provider_metadata, NAMESPACE, more))


# Reading


def read_item(item: Any, context: Context) -> list[ReadPart]:
    """The parts of an item. Sources and images that are derived from it are last."""
    if isinstance(item, wire.Message | wire.ShortMessage):
        return _read_message(item, context)
    if isinstance(item, wire.Reasoning):
        return _read_reasoning(item)
    if isinstance(item, wire.Call):
        return _read_call(item, context)
    return [ReadPart(keep_whole(item), 0)]


def keep_whole(item: Any) -> CustomPart:
    """The part of an item that has no other."""
    raw: JsonObject = item if is_object(item) else to_json(item)
    kind, id_ = text_in(raw, "type"), text_in(raw, "id")
    about: JsonObject = {**({"type": kind} if kind else {}), **({"itemId": id_} if id_ else {})}
    about |= {new: raw[name] for name, new in _RENAMED.items() if raw.get(name) is not None}
    named = {*(["type"] if kind else []), *(["id"] if id_ else [])}
    named |= {name for name, new in _RENAMED.items() if new in about}
    rest = without(raw, *named)
    about |= {ITEM: rest} if rest else {}
    return CustomPart(f"{NAMESPACE}.{kind or 'item_reference'}", provider_metadata={NAMESPACE: about})


def _read_message(item: wire.Message | wire.ShortMessage, context: Context) -> list[ReadPart]:
    about: JsonObject = {}
    if isinstance(item, wire.Message):
        about |= {"itemId": item.id} if item.id else {}
        about |= {"phase": item.phase} if item.phase else {}
    first: JsonObject = {} if isinstance(item, wire.Message) else {SHORT: True}
    content: Sequence[Any] = ()
    if isinstance(item.content, str):
        content, first = (wire.OutputText(text=item.content, annotations=[]),), {**first, FORM: "string"}
    elif item.content:
        content = item.content
    else:
        content, first = (wire.OutputText(text="", annotations=[]),), {**first, FORM: "empty"}
    kept = residue(_message_item({**about, **first}), replace(item, content=()))
    first |= {ITEM: kept} if kept else {}
    found: list[ReadPart] = []
    sources: list[ReadPart] = []
    for number, block in enumerate(content):
        part = _read_content(block)
        more = (
            {**about, **first} if number == 0 else about if "itemId" in about else {**about, CONTINUES: True}
        )
        part = noted(part, more) if more else part
        found.append(ReadPart(part, number))
        for annotation in annotations_of(part):
            cited = source_of(annotation)
            source = None if cited is None else context.number(cited, is_found=False)
            if source is not None:
                sources.append(ReadPart(source, source_position(source)))
    return [*found, *sources]


def _read_content(block: Any) -> TextPart | CustomPart:
    part = OUTPUT.read(block, None)
    if not isinstance(part, ForeignPart):
        return part
    raw: Json = part.value
    kind = (text_in(raw, "type") if is_object(raw) else "") or "part"
    return CustomPart(f"{NAMESPACE}.{kind}", provider_metadata={NAMESPACE: {PART: raw}})


def _message_item(about: JsonObject, content: Sequence[Any] = ()) -> wire.Message | wire.ShortMessage:
    if about.get(SHORT) is True:
        return wire.ShortMessage(role="assistant", content=tuple(content))
    phase = text_in(about, "phase") or UNSET
    return wire.Message(id=item_id("message", about), role="assistant", phase=phase, content=tuple(content))


def _read_reasoning(item: wire.Reasoning) -> list[ReadPart]:
    about: JsonObject = {"itemId": item.id} if item.id else {}
    raws = item.content if is_array(item.content) else []
    texts = [("summary", _text(one)) for one in item.summary] + [("content", _text(one)) for one in raws]
    found: list[ReadPart] = []
    for number, (member, text) in enumerate(texts or [("summary", "")]):
        more = {**about, "type": RAW} if member == "content" else dict(about)
        if not item.id:  # so that it is known as this provider's
            more |= {CONTINUES: True} if number else {ENCRYPTED: None}
        id_ = f"{item.id}:{number}" if item.id else None
        metadata: JsonObject | None = {NAMESPACE: more} if more else None
        found.append(ReadPart(ReasoningPart(text, id=id_, state="done", provider_metadata=metadata), number))
    last = {ENCRYPTED: None if item.encrypted_content is UNSET else item.encrypted_content}
    found[-1] = ReadPart(noted(found[-1].part, last), found[-1].position)
    kept = residue(_reasoning_item([one.part for one in found]), item)
    if kept:
        found[-1] = ReadPart(noted(found[-1].part, {ITEM: kept}), found[-1].position)
    return found


def _text(value: Json) -> str:
    return text_in(value, "text") if is_object(value) else ""


def _reasoning_item(parts: Sequence[ReasoningPart]) -> wire.Reasoning:
    summary: list[Json] = []
    content: list[Json] = []
    encrypted: Json = None
    for part in parts:
        about = own(part)
        encrypted = about.get(ENCRYPTED) or encrypted
        if not part.text and len(parts) == 1:
            continue  # an item may have only encrypted content
        if about.get("type") == RAW:
            content.append({"type": RAW, "text": part.text})
        else:
            summary.append({"type": "summary_text", "text": part.text})
    id_ = next((name for part in parts if (name := text_in(own(part), "itemId"))), "")
    return wire.Reasoning(
        id=id_ or UNSET, summary=summary, content=content or UNSET, encrypted_content=encrypted or UNSET
    )


def _read_call(item: Any, context: Context) -> list[ReadPart]:
    call = read_call(item, context.client_tools)
    if call is None:
        return [ReadPart(keep_whole(item), 0)]
    kind = kind_of_item(item)
    field = "result_provider_metadata" if kind in OUTCOMES else "call_provider_metadata"
    call = _with_residue(call, field, write_call(call, notes(getattr(call, field), NAMESPACE)), item)
    found = [ReadPart(call, 0)]
    if isinstance(item, wire.ImageGenerationCall) and isinstance(item.result, str) and item.result:
        image = image_of(item.result, item.output_format, item.id or "")
        found.append(ReadPart(image, file_position(image)))
    sources = found_sources(to_json(item)) if kind in ("web_search_call", "file_search_call") else ()
    numbered = ((context.number(source, is_found=True), source_position(source)) for source in sources)
    return [*found, *(ReadPart(source, position) for source, position in numbered)]


def image_of(data: str, output_format: Any, id_: str) -> FilePart:
    """The image that a call has generated."""
    media_type = f"image/{output_format if isinstance(output_format, str) and output_format else 'png'}"
    return FilePart(data_url(data, media_type), media_type, provider_metadata={NAMESPACE: {"itemId": id_}})


def _with_residue(call: ToolCallPart, field: str, written: Wire, item: Any) -> ToolCallPart:
    kept = residue(written, item)
    if not kept:
        return call
    return replace(call, **{field: add_notes(getattr(call, field), NAMESPACE, {ITEM: kept})})


def has_output_of(item: Any, call: Any, before: Any) -> bool:
    """Whether an item has the output of the provider's call in the item before it."""
    return (
        isinstance(call, ToolCallPart)
        and bool(call.provider_executed)
        and BEHIND.get(kind_of_item(item)) == kind_of_item(before)
        and item.call_id == before.call_id
    )


def add_output(call: ToolCallPart, item: Any) -> ToolCallPart:
    """A call of the provider with the output in an item of its own."""
    kind = kind_of_item(item)
    output = provider_output(kind, to_json(item))
    about: JsonObject = {"type": kind, **({"itemId": item.id} if item.id else {})}
    metadata: JsonObject = {NAMESPACE: about}
    call = replace(call, state=state_after(output), output=output, result_provider_metadata=metadata)
    return _with_residue(call, "result_provider_metadata", write_provider_output(call, about), item)


def add_approval(call: ToolCallPart, item: wire.McpApprovalResponse) -> ToolCallPart:
    """A call with the response to its approval request."""
    assert call.approval is not None
    reason = item.reason if isinstance(item.reason, str) else None
    approval = replace(call.approval, approved=item.approve, reason=reason)
    call = replace(call, approval=approval, state="approval-responded")
    kept = residue(_approval_item(call), item)
    if not kept:
        return call
    return replace(
        call, call_provider_metadata=add_notes(call.call_provider_metadata, NAMESPACE, {APPROVAL: kept})
    )


def _approval_item(call: ToolCallPart) -> wire.McpApprovalResponse:
    approval = call.approval
    assert approval is not None
    return wire.McpApprovalResponse(
        approval_request_id=approval.id, approve=approval.approved is True, reason=approval.reason or UNSET
    )


def file_position(part: FilePart) -> Position:
    """The position of an image that is in a call: the item of the call."""
    return part.type, text_in(own(part), "itemId"), part.media_type


# Writing


class Group:
    """An item that is being written, and the parts in it: their numbers, and their positions in the item."""

    def __init__(self, kind: str, source: str, about: JsonObject) -> None:
        self.kind, self.source, self.about = kind, source, about
        self.parts: list[Any] = []
        self.owners: list[tuple[int, Position]] = []
        self.content: list[Any] = []
        self.items: list[Any] = []
        """The items of a call: itself, and its output or the response to its approval request."""

    @property
    def is_reasoning(self) -> bool:
        """Whether it is reasoning."""
        return self.kind == "reasoning"

    def written(self) -> list[Any]:
        """The items as wire values or JSON."""
        if self.items:
            return self.items
        if self.is_reasoning:
            kept = next((found for part in self.parts if (found := notes(own(part), ITEM))), {})
            return [restore(_reasoning_item(self.parts), kept)]
        item = _in_form(_message_item(self.about, self.content), self.about.get(FORM))
        return [restore(item, notes(self.about, ITEM))]


def _in_form(item: wire.Message | wire.ShortMessage, form: Json) -> wire.Message | wire.ShortMessage:
    only = item.content[0] if len(item.content) == 1 else None
    if form is None or not isinstance(only, wire.OutputText) or only.annotations:
        return item
    if form == "string":
        return replace(item, content=only.text)
    return item if only.text else replace(item, content=())


def write_parts(parts: Sequence[LocatedPart], *, is_sent: bool) -> tuple[list[Group], list[Position | None]]:
    """The items of the assistant's parts; and the positions of parts that are in no item of their own.

    `is_sent`: in a request, where calls that wait for approval are refused.
    """
    groups: list[Group] = []
    positions: list[Position | None] = [None] * len(parts)
    ids: set[str] = set()
    for number, (part, _) in enumerate(parts):
        match part:
            case TextPart():
                group = _group_of(groups, part, "message")
                group.owners.append((number, len(group.content)))
                group.content.append(OUTPUT.write(part))
            case ReasoningPart() if is_own_reasoning(part):
                group = _group_of(groups, part, "reasoning")
                group.owners.append((number, len(group.parts)))
                group.parts.append(part)
            case CustomPart() if PART in own(part):
                group = _group_of(groups, part, "message")
                group.owners.append((number, len(group.content)))
                group.content.append(own(part)[PART])
            case ToolCallPart() | CustomPart():
                items = write_item(part, is_sent=is_sent)
                if not items:
                    continue
                group = Group(kind_of_item(items[0]), "", {})
                group.items = items
                group.owners.append((number, 0))
                groups.append(group)
                ids.add(_id(items[0]))
            case FilePart() if text_in(own(part), "itemId") in ids:
                positions[number] = file_position(part)
            case SourceUrlPart() | SourceDocumentPart():
                positions[number] = source_position(part)
            case _:
                pass
    return groups, positions


def _id(item: Any) -> str:
    return text_in(item, "id") if is_object(item) else item.id or ""


def is_own_reasoning(part: ReasoningPart) -> bool:
    """Whether reasoning is from this provider. Only that may be sent back."""
    return not OWN_REASONING.isdisjoint(own(part))


def _group_of(groups: list[Group], part: Any, kind: str) -> Group:
    """The item that a part belongs to: the last one, or a new one."""
    about = own(part)
    source = text_in(about, "itemId")
    last = groups[-1] if groups else None
    if last is not None and last.kind == kind and not last.items and about.get(BEGINS) is not True:
        continues = last.source == source if source else about.get(CONTINUES) is True and not last.source
        if continues:
            return last
    group = Group(kind, source, about)
    groups.append(group)
    return group


def write_item(part: ToolCallPart | CustomPart, *, is_sent: bool) -> list[Any]:
    """The items of a call or of an item that was kept whole; none if it cannot be written."""
    if isinstance(part, CustomPart):
        return _write_whole(part)
    if not part.provider_executed:
        return [_restored(write_call(part, about := call_notes(part)), about)]
    request_notes, answered = (
        notes(one, NAMESPACE) for one in (part.call_provider_metadata, part.result_provider_metadata)
    )
    items: list[Any] = []
    if text_in(request_notes, "type") in CALLS:
        items.append(_restored(write_call(part, request_notes), request_notes))
    kind = text_in(answered, "type")
    if kind in CALLS:
        items.append(_restored(write_call(part, answered), answered))
    elif kind in BEHIND:
        items.append(_restored(write_provider_output(part, answered), answered))
    if text_in(request_notes, "type") == "mcp_approval_request":
        is_answered = part.approval is not None and part.approval.approved is not None
        if not is_answered:
            return [] if is_sent else items
        kept = notes(request_notes, APPROVAL)
        # Older versions kept it in a member
        items.append(restore(_approval_item(part), notes(kept, ITEM) or kept))
    return items


def call_notes(call: ToolCallPart) -> JsonObject:
    """The notes about a call that the client ran. Those of a bad input are with the error in its result."""
    return notes(call.call_provider_metadata, NAMESPACE) or notes(call.result_provider_metadata, NAMESPACE)


def _restored(item: Wire, about: JsonObject) -> Wire:
    return restore(item, notes(about, ITEM))


def _write_whole(part: CustomPart) -> list[Any]:
    about = own(part)
    kind = text_in(about, "type")
    is_item = bool(kind) or "itemId" in about or ITEM in about
    if not is_item or part.kind != f"{NAMESPACE}.{kind or 'item_reference'}":
        return []
    id_ = item_id(kind, about)
    item: JsonObject = {"type": kind} if kind and kind != "item" else {}  # `item`: of older versions
    item |= {} if id_ is UNSET else {"id": id_}
    item |= {name: about[new] for name, new in _RENAMED.items() if about.get(new) is not None}
    return [{**item, **notes(about, ITEM)}]


def is_written(part: AssistantPart) -> bool:
    """Whether a part is written as an item, or in one."""
    match part:
        case TextPart():
            return True
        case ReasoningPart():
            return is_own_reasoning(part)
        case ToolCallPart():
            return not part.provider_executed or bool(write_item(part, is_sent=True))
        case CustomPart():
            return PART in own(part) or bool(_write_whole(part))
        case _:
            return False


def output_kind(item: Any) -> str | None:
    """The type of the call that an item is the output of, if the client may send such outputs."""
    return OUTPUTS_OF.get(kind_of_item(item)) if isinstance(item, wire.Output) else None
