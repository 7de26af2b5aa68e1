"""Items that a model made → parts of its message, read as its answers are.

What the parts do not say of an item stays in their metadata, so that it is written as it came. An item that
cannot be written so is kept whole.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from partita.formats.openai_responses.amending import PART, amendments, joined, without
from partita.formats.openai_responses.answer import Answer
from partita.formats.openai_responses.decoder import MAKERS
from partita.formats.openai_responses.fields import ITEM, NAMESPACE, array, present, text
from partita.formats.openai_responses.other_items import OtherItem
from partita.formats.openai_responses.request_calls import FIELDS
from partita.formats.openai_responses.request_content import own
from partita.formats.openai_responses.request_steps import CONTINUES, FORM, Step
from partita.stream.accumulator import Accumulator
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ReasoningPart, StepStartPart, TextPart

WORDS = ("input_text", "text")
"""Words of a message of the model under a name that is for users."""


def read_items(items: Sequence[JsonObject], answer: Answer) -> list[AssistantPart]:
    """The parts of an item, or of a call of the provider's and the item behind it that brings its output."""
    for item in map(_normal, items):
        MAKERS.get(text(item, "type"), OtherItem)(answer, item).end(item)
    accumulator = Accumulator(lenient=True)
    for chunk in answer.outlet.take():
        accumulator.feed(chunk)
    found = [part for part in accumulator.finish().parts if not isinstance(part, StepStartPart)]
    parts = _marked(found)
    written = written_items(parts)
    if len(written) != len(items):
        return [kept(item) for item in items]
    return _amended(parts, items, written)


def written_items(parts: Sequence[AssistantPart]) -> list[JsonObject]:
    """The items that parts become."""
    step = Step([], stored=True, whole=True, waiting=True)
    for part in parts:
        step.add(part, "")
    return step.whole_items()


def kept(item: JsonObject) -> CustomPart:
    """An item, kept whole."""
    known = {key: item[key] for key in ("type", "id") if text(item, key)}
    kind = text(known, "type") or "item"
    rest = {key: said for key, said in item.items() if key not in known}
    bare = {} if "type" in item else {without(ITEM): ["type"]}
    metadata = {"type": kind, **present(itemId=text(known, "id")), **bare, **present(**{ITEM: rest})}
    return CustomPart(f"{NAMESPACE}.{kind}", provider_metadata={NAMESPACE: metadata})


def _normal(item: JsonObject) -> JsonObject:
    """A message in its full form: the short one has no type, and words that are no list."""
    if text(item, "type") != "message" and (text(item, "type") or not text(item, "role")):
        return item
    content = item.get("content")
    said: list[Json] = [{"type": "output_text", "text": content}] if isinstance(content, str) else []
    for part in content if is_array(content) else []:
        is_words = is_object(part) and part.get("type") in WORDS
        said.append({**part, "type": "output_text"} if is_words else part)
    return {**item, "type": "message", "content": said}


def _marked(parts: Sequence[AssistantPart]) -> list[AssistantPart]:
    """Parts of an item without an id, marked so that they become one item again."""
    return [_mark(part, own(metadata_of(part)), is_first=not place) for place, part in enumerate(parts)]


def _mark(part: AssistantPart, said: JsonObject, *, is_first: bool) -> AssistantPart:
    if "itemId" in said:
        return part
    if isinstance(part, ReasoningPart):
        bare = replace(part, id=None)
        return noted(bare, {"reasoningEncryptedContent": None, **said} if is_first else {CONTINUES: True})
    if isinstance(part, TextPart | CustomPart) and not is_first:
        return noted(part, {CONTINUES: True})
    return part


def _amended(
    parts: list[AssistantPart], items: Sequence[JsonObject], written: Sequence[JsonObject]
) -> list[AssistantPart]:
    head = parts[0]
    if isinstance(head, ToolCallPart):
        slots = list(_slots(head))
        for slot, raw, ours in zip(slots, items, written, strict=False):
            head = _noted_call(head, slot, amendments(raw, ours))
        return [head, *parts[1:]]
    raw, ours = items[0], written[0]
    if isinstance(head, TextPart) and isinstance(raw.get("content"), str):
        parts = [noted(head, {FORM: "string"}), *parts[1:]]
        ours = {**ours, "content": raw["content"]}
    elif _is_spoken(head) and _is_alike(parts, array(raw, "content"), array(ours, "content")):
        parts = _amended_content(parts, array(raw, "content"), array(ours, "content"))
        ours = {**ours, "content": raw["content"]}
    return [noted(parts[0], amendments(raw, ours)), *parts[1:]]


def _is_alike(parts: Sequence[AssistantPart], content: list[Json], ours: list[Json]) -> bool:
    """Whether content parts can be compared one by one."""
    return len(content) == len(ours) == sum(map(_is_spoken, parts)) and all(map(is_object, content))


def _amended_content(
    parts: Sequence[AssistantPart], content: list[Json], ours: list[Json]
) -> list[AssistantPart]:
    """The parts of a message, each with what is to be said of its own content part."""
    pairs = iter(zip(content, ours, strict=True))
    amended: list[AssistantPart] = []
    for part in parts:
        if not _is_spoken(part):
            amended.append(part)
            continue
        raw, written = next(pairs)
        amended.append(noted(part, amendments(raw, written, PART)))
    return amended


def _is_spoken(part: AssistantPart) -> bool:
    """Whether a part is in the content of a message."""
    return isinstance(part, TextPart) or (
        isinstance(part, CustomPart) and PART in own(part.provider_metadata)
    )


def _slots(call: ToolCallPart) -> Iterator[str]:
    """Where the metadata of the items of a call are."""
    if not call.provider_executed:
        yield "call_provider_metadata"
        return
    for slot in ("call_provider_metadata", "result_provider_metadata"):
        if text(own(getattr(call, slot)), "type") in FIELDS:
            yield slot


def _noted_call(call: ToolCallPart, slot: str, more: JsonObject) -> ToolCallPart:
    if not more:
        return call
    metadata: JsonObject = getattr(call, slot) or {}
    return replace(call, **{slot: {**metadata, NAMESPACE: joined(own(metadata), more)}})


def metadata_of(part: AssistantPart) -> JsonObject | None:
    """The metadata of a part that is no call and no unknown one."""
    return getattr(part, "provider_metadata", None)


def noted(part: AssistantPart, more: JsonObject) -> AssistantPart:
    """A part with more in the metadata of its provider."""
    if not more:
        return part
    metadata = metadata_of(part) or {}
    return replace(part, provider_metadata={**metadata, NAMESPACE: joined(own(metadata), more)})
