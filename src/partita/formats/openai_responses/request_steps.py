"""One step of an assistant → items of a request, in the order and the groups in which the model gave them."""

from collections.abc import Sequence
from typing import Final, NamedTuple, assert_never

from partita.formats.losses import Loss
from partita.types.json import JsonObject, is_array
from partita.types.messages import AssistantPart, ToolCallPart
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

from .amending import PART, amended
from .fields import ITEM, NAMESPACE, array, inner, present, text
from .reasonings import RAW, SUMMARY
from .request_calls import client_call, hosted_items, item_id
from .request_content import NO_DATA, NO_PLACE, content_of, own

FOREIGN_REASONING: Final = "reasoning of another provider is never forwarded"
FOREIGN_TOOL: Final = (
    "a call that the provider ran cannot be sent back: another ran it, or nothing came of it"
)
UNREADABLE: Final = "reasoning that is not stored needs its encrypted content"
LEFT_ALONE: Final = "reasoning is refused without the item that it led to"
NO_CITATIONS: Final = "citations of another provider"
WITHOUT_REASON: Final = "an item is refused under its id without the reasoning that led to it"

CONTINUES: Final = "continues"
"""Marks a part of an item without an id: it goes on with the item of the part before."""

BEGINS: Final = "begins"
"""Marks the first part of an item that has the id of the item before."""

FORM: Final = "form"
"""Says that the words of a message were a string, not a list."""

OWN_REASONING: Final = frozenset({"itemId", "reasoningEncryptedContent", CONTINUES, "itemWithout", ITEM})
"""Any of these in its metadata, and the reasoning is of this provider."""


BARE: Final = ("message", "function_call", "custom_tool_call")
"""Items that may go without an id."""


class Entry(NamedTuple):
    """An item, and where it comes from."""

    item: JsonObject
    where: str
    source: str = ""
    """The id of the item that its parts come from: parts with the same id are one item again."""
    given: JsonObject = {}  # noqa: RUF012 - never changed
    """What the metadata of its first part say of it."""

    def whole(self) -> JsonObject:
        """The item as it is sent."""
        item = self.item
        if self.given.get(FORM) == "string" and len(item["content"]) == 1:
            item = {**item, "content": text(item["content"][0], "text")}
        return amended(item, self.given)


class Step:
    """The items of one step. `kinds` says of each call that the client ran what kind of item it is."""

    def __init__(
        self, losses: list[Loss], *, stored: bool, whole: bool = False, waiting: bool = False
    ) -> None:
        """`whole` items stay what they are although the provider has them stored; calls may be `waiting`
        for someone to allow them in an answer, not in a request.
        """
        self.kinds: dict[str, str] = {}
        self._losses = losses
        self._stored = stored
        self._whole = whole
        self._waiting = waiting
        self._entries: list[Entry] = []

    def add(self, part: AssistantPart, where: str) -> None:
        """Take the next part."""
        match part:
            case TextPart():
                self._add_text(part, where)
            case ReasoningPart():
                self._add_reasoning(part, where)
            case ToolCallPart():
                self._add_call(part, where)
            case CustomPart():
                self._add_custom(part, where)
            case FilePart() if self._holds(text(own(part.provider_metadata), "itemId")):
                pass  # the picture of a call that brings it along
            case SteeringMessagePart():
                content = content_of(part.parts, f"{where}.parts", self._losses)
                self._entries.append(Entry({"role": "user", "content": content}, where))
            case DataPart():
                self._lose(where, part.name, NO_DATA)
            case ImagePart() | FilePart() | ReasoningFilePart():
                self._lose(where, part.url, NO_PLACE)
            case SourceUrlPart() | SourceDocumentPart() | ForeignPart() | UnknownPart():
                self._lose(where, part, NO_PLACE)
            case StepStartPart():
                pass
            case _:
                assert_never(part)

    def items(self) -> list[JsonObject]:
        """The items, without reasoning that would be refused. What it led to goes without its id then."""
        items: list[JsonObject] = []
        is_bare = False
        last = max((place for place, one in enumerate(self._entries) if not _is_reasoning(one)), default=-1)
        for place, entry in enumerate(self._entries):
            item = entry.whole()
            if _is_reasoning(entry):
                refused = self._refusal(entry, is_last=place > last)
                if refused is not None:
                    self._lose(entry.where, item, refused)
                    is_bare = True
                    continue
                if _is_reference(item) and not self._whole:
                    item = {"type": "item_reference", "id": item["id"]}
            elif is_bare and "id" in item and item.get("type") in BARE:
                self._losses.append(Loss.of(entry.where, item["id"], WITHOUT_REASON, "repaired"))
                item = {name: value for name, value in item.items() if name != "id"}
            items.append(item)
        return items

    def whole_items(self) -> list[JsonObject]:
        """All items, whether they would be refused or not."""
        return [entry.whole() for entry in self._entries]

    def _add_text(self, part: TextPart, where: str) -> None:
        metadata = own(part.provider_metadata)
        content = _passage(part, metadata)
        if part.citations and not array(metadata, "annotations"):
            self._lose(where, len(part.citations), NO_CITATIONS)
        self._add_content(content, metadata, where)

    def _add_content(self, content: JsonObject, metadata: JsonObject, where: str) -> None:
        """Add to the message that a content part is of, or begin it."""
        source = text(metadata, "itemId")
        last = self._last_of(source, metadata)
        if last is not None and is_array(last.item.get("content")) and not _is_reasoning(last):
            last.item["content"].append(content)
            return
        item: JsonObject = {
            "type": "message",
            "role": "assistant",
            **item_id("message", metadata),
            **present(phase=text(metadata, "phase")),
            "content": [content],
        }
        self._entries.append(Entry(item, where, source, metadata))

    def _last_of(self, source: str, metadata: JsonObject) -> Entry | None:
        """The last item, if a part with these metadata goes on with it."""
        last = self._entries[-1] if self._entries else None
        if last is None or metadata.get(BEGINS) is True:
            return None
        goes_on = last.source == source if source else metadata.get(CONTINUES) is True and not last.source
        return last if goes_on else None

    def _add_reasoning(self, part: ReasoningPart, where: str) -> None:
        metadata = own(part.provider_metadata)
        source = text(metadata, "itemId")
        if not OWN_REASONING & metadata.keys():
            self._lose(where, part.text, FOREIGN_REASONING)
            return
        last = self._last_of(source, metadata)
        if last is None or not _is_reasoning(last):
            item: JsonObject = {"type": "reasoning", **present(id=source), "summary": []}
            last = Entry(item, where, source, metadata)
            self._entries.append(last)
        if part.text and metadata.get("type") == RAW:
            last.item.setdefault("content", []).append({"type": RAW, "text": part.text})
        elif part.text:
            last.item["summary"].append({"type": SUMMARY, "text": part.text})
        if metadata.get("reasoningEncryptedContent"):
            last.item["encrypted_content"] = metadata["reasoningEncryptedContent"]

    def _add_call(self, call: ToolCallPart, where: str) -> None:
        if call.provider_executed:
            items = hosted_items(call, waiting=self._waiting)
            if not items:
                self._lose(where, call.name, FOREIGN_TOOL)
        else:
            items = [client_call(call)]
            self.kinds[call.id] = items[0]["type"]
        self._entries += [Entry(item, where) for item in items]

    def _add_custom(self, part: CustomPart, where: str) -> None:
        metadata = own(part.provider_metadata)
        kind = text(metadata, "type")
        if inner(metadata, PART):
            self._add_content(inner(metadata, PART), {**metadata, PART: {}}, where)
            return
        if not kind or part.kind != f"{NAMESPACE}.{kind}":
            self._lose(where, part, NO_PLACE)
            return
        encrypted = present(encrypted_content=metadata.get("encryptedContent"))
        item = {"type": kind, **item_id(kind, metadata), **encrypted}
        self._entries.append(Entry(item, where, given=metadata))

    def _refusal(self, entry: Entry, *, is_last: bool) -> str | None:
        """Why the provider would refuse a reasoning item, if it would."""
        if is_last:
            return LEFT_ALONE
        return UNREADABLE if _is_reference(entry.item) and not self._stored else None

    def _holds(self, source: str) -> bool:
        return bool(source) and any(entry.item.get("id") == source for entry in self._entries)

    def _lose(self, where: str, what: object, why: str) -> None:
        self._losses.append(Loss.of(where, what, why))


def _passage(part: TextPart, metadata: JsonObject) -> JsonObject:
    if not metadata:
        return {"type": "output_text", "text": part.text, "annotations": []}
    if metadata.get("refusal") is True:
        return amended({"type": "refusal", "refusal": part.text}, metadata, PART)
    told = present(logprobs=array(metadata, "logprobs"))
    said = {"type": "output_text", "text": part.text, "annotations": array(metadata, "annotations"), **told}
    return amended(said, metadata, PART)


def _is_reasoning(entry: Entry) -> bool:
    return entry.item.get("type") == "reasoning"


def _is_reference(item: JsonObject) -> bool:
    """Whether a reasoning item says nothing without what the provider has stored."""
    return not item.get("encrypted_content") and not item.get("content")


def step_items(
    parts: Sequence[AssistantPart], where: str, losses: list[Loss], *, stored: bool
) -> tuple[list[JsonObject], dict[str, str]]:
    """The items of a step, and the kind of each call in it that the client ran, by the id of the call."""
    step = Step(losses, stored=stored)
    for place, part in enumerate(parts):
        step.add(part, f"{where}[{place}]")
    return step.items(), step.kinds
