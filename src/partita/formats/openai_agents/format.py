"""Sessions and runs of the OpenAI Agents SDK ↔ canonical messages.

Items are those of the Responses API. A run wraps each item in an object with an agent and a type. The SDK's
additions have a separate namespace, so that they are never sent to the Responses API, which would refuse
them. A placeholder for a missing id is left out, and reasoning of Chat models is kept separate from OpenAI's.

Source: https://openai.github.io/openai-agents-python/sessions/ and `agents/items.py` of `openai-agents`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.members import text_in, without
from partita.formats.core.metadata import KEY, notes
from partita.formats.core.report import Report
from partita.formats.format import Dumped, Format, Loaded, Slot
from partita.formats.losses import NO_PLACE, ORDERED, OTHER_ID, REQUIRED, UNREAD, Loss, json_losses
from partita.formats.openai_responses.conversation import INSTRUCTIONS, ONLY_INPUT, PLACE, Reader, Writer
from partita.formats.openai_responses.format import REPORT as RESPONSES
from partita.formats.openai_responses.items import CONTINUES, ITEM
from partita.formats.openai_responses.parts import own
from partita.formats.openai_responses.wire import NAMESPACE as OPENAI
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.parts import Approval, ReasoningPart

NAME: Final = "openai-agents"
"""The format, and its namespace in provider metadata."""

PROVIDER_DATA: Final = "provider_data"
RUN: Final = "run"
"""The note with the members around an item of a run."""

FOREIGN: Final = "foreign"
"""The note that marks reasoning of a Chat model."""

REASONING: Final = "reasoning"
"""The note with the metadata of a Chat model's reasoning, which must not be in OpenAI's namespace."""

# `agents/models/fake_id.py`: the SDK writes it if a Chat server returns no id
FAKE_ID: Final = "__fake_id__"

APPROVAL: Final = "tool_approval_item"


REPORT: Final = Report(
    OPENAI,
    default=RESPONSES.default,
    spelling=frozenset({"form", "begins", CONTINUES, PLACE}),
)


# Reading


def load(payload: Json) -> Loaded:
    """Read the items of a session or a run, one of them, or a text."""
    given = payload
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    elif is_object(given):
        given = given["items"] if is_array(given.get("items")) and len(given) == 1 else [given]
    if not is_array(given):
        hint = "give the items of a session or a run"
        raise ConversionError(f"the payload is {kind_of(given)}", where="$", hint=hint)
    items = given
    reader = _Items(items)
    messages = tuple(
        _with_separate_reasoning(message) for message in _with_approvals(reader.messages, reader.waiting)
    )

    def losses() -> Iterator[Loss]:
        reported = (*reader.losses, *reader.repairs)
        yield from reported
        paths = tuple(loss.path for loss in reported)
        written: Sequence[Json] = _write(messages, is_sent=False)[1]
        unmatched = [*written]
        for index, item in enumerate(items):
            plain = item["raw_item"] if _is_run_item(item) else item
            if plain in unmatched:
                unmatched.remove(plain)
            elif index not in reader.repeated:
                other = written[index] if index < len(written) else None
                found = json_losses(plain, other, f"$[{index}]", UNREAD)
                yield from (loss for loss in found if not paths or not loss.path.startswith(paths))

    return Loaded(messages, losses, is_complete=True)


class _Items(Reader):
    """Reads items. The SDK's additions become notes in a separate namespace."""

    def __init__(self, payload: Sequence[Json]) -> None:
        self.waiting: dict[str, JsonObject] = {}
        """The items around calls that wait for approval, by call id."""
        self.repairs: list[Loss] = []
        self.repeated: set[int] = set()
        """Items that only repeat a call."""
        items: list[Json] = []
        extras: dict[int, JsonObject] = {}
        calls: dict[str, JsonObject] = {}
        for index, given in enumerate(payload):
            is_run = _is_run_item(given)
            item: Json = given["raw_item"] if is_run else given
            if not is_object(item):
                items.append(item)
                continue
            around = without(given, "raw_item") if is_run else {}
            call_id = text_in(item, "call_id")
            if text_in(around, "type") == APPROVAL and call_id:
                self.waiting[call_id] = around
                if call_id in calls:
                    self.repeated.add(index)
                    if calls[call_id] != item:
                        self.repairs.append(Loss.of(f"$[{index}].raw_item", item, ORDERED))
                    continue
                around = {}
            if text_in(item, "type") == "function_call":
                calls[call_id] = item
            extra: JsonObject = {RUN: around} if around else {}
            if PROVIDER_DATA in item:
                extra[PROVIDER_DATA] = item[PROVIDER_DATA]
            is_fake = item.get("id") == FAKE_ID
            if is_fake:
                self.repairs.append(Loss.of(f"$[{index}].id", FAKE_ID, OTHER_ID, "repaired"))
            if text_in(item, "type") == "reasoning" and (is_fake or item.get(PROVIDER_DATA)):
                extra[FOREIGN] = True
            if extra:
                extras[len(items)] = extra
            items.append(without(item, PROVIDER_DATA, *(["id"] if is_fake else [])))
        super().__init__(items, "$", extras=(NAME, extras))


def _is_run_item(given: Json) -> bool:
    return is_object(given) and is_object(given.get("raw_item"))


def _with_parts(message: Message, change: Callable[[AssistantPart], AssistantPart]) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    parts = tuple(map(change, message.parts))
    return (
        message if parts == message.parts else replace(message, content=replace(message.content, parts=parts))
    )


def _with_approvals(messages: Sequence[Message], waiting: dict[str, JsonObject]) -> Iterator[Message]:
    """Return the messages, with approval requests on the calls that wait for one."""

    def with_approval(part: AssistantPart) -> AssistantPart:
        if not isinstance(part, ToolCallPart) or part.id not in waiting or part.output is not None:
            return part
        approval = Approval(id=part.id, descriptor=waiting[part.id])
        return replace(part, approval=approval, state="approval-requested")

    return (_with_parts(message, with_approval) if waiting else message for message in messages)


def _with_separate_reasoning(message: Message) -> Message:
    """Return a message with the metadata of Chat models' reasoning outside of OpenAI's namespace."""
    is_foreign = False

    def separated(part: AssistantPart) -> AssistantPart:
        nonlocal is_foreign
        if not isinstance(part, ReasoningPart):
            is_foreign = False
            return part
        added = notes(part.provider_metadata, NAME)
        if own(part).get(CONTINUES) is not True:
            is_foreign = notes(added, ITEM).get(FOREIGN) is True
        metadata = {NAME: {**added, REASONING: own(part)}}
        return replace(part, provider_metadata=metadata) if is_foreign else part

    return _with_parts(message, separated)


# Writing


def dump(messages: Sequence[Message]) -> Dumped:
    """Write the items of a session."""
    writer, items = _write(messages, is_sent=True)
    return Dumped(items, lambda: REPORT.compare(writer.record, writer.read_back(_Items(items))))


def _write(messages: Sequence[Message], *, is_sent: bool) -> tuple[Writer, list[Json]]:
    writer = Writer(is_sent=is_sent)
    payload = writer.write([_with_parts(message, _with_original_metadata) for message in messages])
    record, owners = writer.record, writer.owners
    given = payload[ONLY_INPUT]
    items: list[Json] = given if is_array(given) else [{"role": "user", "content": given}]
    written = [
        _item(item, at, owner, writer) for at, (item, owner) in enumerate(zip(items, owners, strict=True))
    ]
    if INSTRUCTIONS in payload:
        record.losses.append(Loss("$[0]", "the place of the instructions", NO_PLACE, "changed"))
        written.insert(0, {"role": "system", "content": payload[INSTRUCTIONS]})
    return writer, written


def _with_original_metadata(part: AssistantPart) -> AssistantPart:
    """Return reasoning of a Chat model with its metadata as it was read: see `_with_separate_reasoning`."""
    kept = notes(part.provider_metadata, NAME) if isinstance(part, ReasoningPart) else {}
    if not is_object(kept.get(REASONING)):
        return part
    rest = without(kept, REASONING)
    metadata = {OPENAI: kept[REASONING], **({NAME: rest} if rest else {})}
    return replace(part, provider_metadata=metadata)  # type: ignore[type-var] # it is reasoning


def _item(item: JsonObject, at: int, owner: tuple[JsonObject | None, str], writer: Writer) -> JsonObject:
    """Return an item with the SDK's additions."""
    metadata, spot = owner
    added = notes(notes(metadata, NAME), spot)
    is_response = item.get("type") == "message" and item.get("role") == "assistant"
    needs_id = item.get("type") == "reasoning" or (is_response and is_array(item.get("content")))
    if needs_id and "id" not in item:
        writer.record.losses.append(Loss.of(f"$[{at}]", FAKE_ID, REQUIRED, "repaired"))
        item = {**item, "id": FAKE_ID}
        if is_response:
            item.setdefault("status", "completed")
    return {**item, PROVIDER_DATA: added[PROVIDER_DATA]} if PROVIDER_DATA in added else item


# The sidecar: provider data, which the SDK keeps and never sends to OpenAI. Reasoning with provider data is
# treated as that of another provider. A message in the short form is written in the full form, because the
# SDK recognises the short form by its members (`agents/models/chatcmpl_converter.py`).

SHORT: Final = "partita_short"
"""Marks a message that was in the short form."""


def put(payload: Json, rest: JsonObject) -> Json:
    """Return the items with an object on the first one that can have it, or unchanged if none can."""
    for index, item in enumerate(payload if is_array(payload) else ()):
        if is_object(item) and PROVIDER_DATA not in item and (filled := _filled(item, rest)) is not None:
            return [*payload[:index], filled, *payload[index + 1 :]]
    return payload


def _filled(item: JsonObject, rest: JsonObject) -> JsonObject | None:
    if item.get("type") not in (None, "reasoning"):
        return {**item, PROVIDER_DATA: {KEY: rest}}
    if "type" not in item and item.get("role") in ("user", "system", "developer"):
        return {**item, "type": "message", PROVIDER_DATA: {KEY: rest, SHORT: True}}
    return None


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """Return the items as they were, and the object."""
    for index, item in enumerate(payload if is_array(payload) else ()):
        data: Any = item.get(PROVIDER_DATA) if is_object(item) else None
        if is_object(data) and is_object(data.get(KEY)) and data.keys() <= {KEY, SHORT}:
            original = without(item, PROVIDER_DATA, *(["type"] if SHORT in data else []))
            return [*payload[:index], original, *payload[index + 1 :]], data[KEY]
    return payload, None


FORMAT: Final = Format(
    NAME,
    "OpenAI Agents SDK session items and run items",
    load,
    dump,
    slot=Slot(put, take),
    is_complete=True,
)
