"""What the Agents SDK adds to items of the Responses API, and where it stands in messages.

While items are read and written it travels inside them, under one name. In messages it has a namespace of its
own, so that none of it is sent to the Responses API, which would refuse it.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from partita.formats.openai_responses.fields import ITEM, inner
from partita.formats.openai_responses.fields import NAMESPACE as OPENAI
from partita.formats.openai_responses.request_steps import CONTINUES
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, ToolMessage
from partita.types.parts import ReasoningPart
from partita.types.tools import ToolResultPart

NAMESPACE: Final = "openai-agents"
"""Where the SDK's own things stand in provider metadata; and the name they travel under."""

REASONING: Final = "reasoning"
"""Where all that is said of the reasoning of a Chat model stands: it is not OpenAI's."""

PROVIDER_DATA: Final = "provider_data"
RUN: Final = "run"
"""What was around an item in a run: the agent, and what the SDK calls the item."""

FAKE_ID: Final = "__fake_id__"
"""What the SDK writes where a Chat server gives no id."""

SPOTS: Final = ("", "output", "response")
"""Where amendments of an item may be in the metadata of a part: its own, of an output, of an approval."""

Metadata: TypeAlias = JsonObject | None
Change: TypeAlias = Callable[[Metadata, str], Metadata]
"""What becomes of metadata, which stand at a path."""


def unpacked(messages: Sequence[Message]) -> list[Message]:
    """Messages as they were read, with notes in their own namespace."""
    return [_changed(message, f"$[{place}]", _unpack, _parted) for place, message in enumerate(messages)]


def packed(messages: Sequence[Message], change: Change) -> list[Message]:
    """Messages as they are written, with notes where they travel. `change` sees them before."""

    def pack(metadata: Metadata, path: str) -> Metadata:
        return _pack(change(metadata, path))

    return [_changed(message, f"$[{place}]", pack, None) for place, message in enumerate(messages)]


def _changed(
    message: Message,
    path: str,
    change: Change,
    then: Callable[[tuple[AssistantPart, ...]], tuple[AssistantPart, ...]] | None,
) -> Message:
    content = message.content
    around = content.provider_metadata and change(
        content.provider_metadata, f"{path}.content.providerMetadata"
    )
    if around != content.provider_metadata:
        content = replace(content, provider_metadata=around)
        message = replace(message, content=content)  # pyright: ignore[reportArgumentType] # the content of its own role
    where = f"{path}.content.parts"
    match message:
        case AssistantMessage():
            parts = tuple(
                [
                    _part(part, f"{where}[{n}]", change) if _has_metadata(part) else part
                    for n, part in enumerate(message.parts)
                ]
            )
            parts = parts if then is None else then(parts)
            return (
                message
                if parts == message.parts
                else replace(message, content=replace(message.content, parts=parts))
            )
        case ToolMessage():
            results = tuple(
                replace(
                    part, provider_metadata=change(part.provider_metadata, f"{where}[{n}].providerMetadata")
                )
                if isinstance(part, ToolResultPart)
                else part
                for n, part in enumerate(message.parts)
            )
            return replace(message, content=replace(message.content, parts=results))
        case _:
            return message


def _has_metadata(part: AssistantPart) -> bool:
    if isinstance(part, ToolCallPart):
        return bool(part.call_provider_metadata or part.result_provider_metadata)
    return getattr(part, "provider_metadata", None) is not None


def _part(part: AssistantPart, path: str, change: Change) -> AssistantPart:
    if isinstance(part, ToolCallPart):
        return replace(
            part,
            call_provider_metadata=change(part.call_provider_metadata, f"{path}.callProviderMetadata"),
            result_provider_metadata=change(part.result_provider_metadata, f"{path}.resultProviderMetadata"),
        )
    given: Metadata = getattr(part, "provider_metadata", None)
    return (
        part if given is None else replace(part, provider_metadata=change(given, f"{path}.providerMetadata"))
    )


def _unpack(metadata: Metadata, path: str) -> Metadata:
    """Metadata with the notes that travelled in amendments taken out of them."""
    openai = inner(metadata or {}, OPENAI)
    found: JsonObject = {}
    for spot in SPOTS:
        around = inner(openai, spot) if spot else openai
        note = inner(around, ITEM).get(NAMESPACE)
        if note is None:
            continue
        found[spot or ITEM] = note
        rest = {name: said for name, said in inner(around, ITEM).items() if name != NAMESPACE}
        kept = {name: said for name, said in {**around, ITEM: rest}.items() if name != ITEM or rest}
        openai = {**openai, spot: kept} if spot else kept
    if not found:
        return metadata
    others = {name: said for name, said in (metadata or {}).items() if name != OPENAI}
    return {**others, **({OPENAI: openai} if openai else {}), NAMESPACE: found}


def _pack(metadata: Metadata) -> Metadata:
    """The inverse."""
    notes = inner(metadata or {}, NAMESPACE)
    if metadata is None or not notes:
        return metadata
    openai = {**inner(metadata, OPENAI), **inner(notes, REASONING)}
    for spot in SPOTS:
        note = notes.get(spot or ITEM)
        if note is None:
            continue
        around = inner(openai, spot) if spot else openai
        around = {**around, ITEM: {**inner(around, ITEM), NAMESPACE: note}}
        openai = {**openai, spot: around} if spot else around
    rest = {name: said for name, said in metadata.items() if name != NAMESPACE}
    return {**rest, OPENAI: openai}


def _parted(parts: tuple[AssistantPart, ...]) -> tuple[AssistantPart, ...]:
    """Parts, with the reasoning of Chat models taken away from OpenAI."""
    parted: list[AssistantPart] = []
    is_foreign = False
    for part in parts:
        if not isinstance(part, ReasoningPart):
            is_foreign = False
            parted.append(part)
            continue
        metadata = part.provider_metadata or {}
        openai, notes = inner(metadata, OPENAI), inner(metadata, NAMESPACE)
        if openai.get(CONTINUES) is not True:
            note = notes.get(ITEM)
            is_foreign = is_object(note) and note.get("foreign") is True
        parted.append(
            replace(part, provider_metadata={NAMESPACE: {**notes, REASONING: openai}}) if is_foreign else part
        )
    return tuple(parted)
