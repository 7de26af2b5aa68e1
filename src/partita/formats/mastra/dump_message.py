"""One canonical message → a V2 message."""

from collections.abc import Sequence
from typing import TypeGuard

from msgspec import UNSET

from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import AssistantMessage, Content, Message, Part, ToolCallPart, ToolMessage
from partita.types.parts import FilePart

from .calls import unlisted_calls
from .dump_files import attachment_of
from .dump_parts import dump_parts
from .envelope import written_around
from .mirrors import repetitions, whole_parts
from .network_forms import NetworkForm, add_network, form_of
from .notes import kept_of, note_of

ATTACHMENTS = "experimental_attachments"


def dump_v2_message(message: Message, network: NetworkForm | None = None) -> JsonObject:
    """A message as Mastra gives it out of its table: the content is an object, and no text.

    `network` is the form of a network execution. By default it is a part; where the metadata of the message
    asks for a string too, it is both the field and the string.
    """
    row: JsonObject = {"id": message.id, "role": _speaker(message), **written_around(message)}
    return {**row, **kept_of(message), "content": dump_content(message, network)}


def dump_content(message: Message, network: NetworkForm | None = None) -> JsonObject:
    """The content of a V2 message. One without parts gets those that its readers would make of the rest."""
    content = message.content
    around = _written_beside(content)
    parts = dump_parts(_listed(content, around))
    execution = message.content.network_execution if isinstance(message, AssistantMessage) else None
    if not parts and execution is None:
        parts = whole_parts([], around, _speaker(message), {})
    mirrored = _mirrored(parts, note_of(content))
    result: JsonObject = {**around, **mirrored, "format": 2, "parts": parts}
    if isinstance(message, AssistantMessage) and execution is not None:
        add_network(
            result, message, execution, form_of(message, network), lambda one: [dump_v2_message(one, network)]
        )
    return result


def _listed(content: Content, around: JsonObject) -> Sequence[Part]:
    """The parts without calls that stand beside them, as long as those say the same."""
    noted = {part.id for part in content.parts if _is_unlisted(part)}
    if not noted:
        return content.parts
    ids = {part.id for part in content.parts if isinstance(part, ToolCallPart)}
    beside = unlisted_calls(around.get("toolInvocations"), content.metadata, ids - noted)
    return [part for part in content.parts if part not in beside]


def _is_unlisted(part: Part) -> TypeGuard[ToolCallPart]:
    return isinstance(part, ToolCallPart) and note_of(part).get("unlisted") is True


def _speaker(message: Message) -> str:
    return "assistant" if isinstance(message, ToolMessage) else str(message.__struct_config__.tag)


def _written_beside(content: Content) -> JsonObject:
    """What stands beside the parts of a content."""
    result = kept_of(content)
    if content.content is not None:
        result["content"] = content.content
    if content.metadata is not UNSET:
        result["metadata"] = content.metadata
    if content.provider_metadata is not None:
        result["providerMetadata"] = content.provider_metadata
    files = [part for part in content.parts if isinstance(part, FilePart)]
    attached = [found for part in files if (found := attachment_of(part)) is not None]
    if attached:
        left: Json = result.get(ATTACHMENTS, [])
        result[ATTACHMENTS] = [*attached, *(left if is_array(left) else [left])]
    return result


def _mirrored(parts: Sequence[Json], note: JsonObject) -> JsonObject:
    """What was said of the parts a second time, in the way that a note tells."""
    if not note:
        return {}
    return {
        name: ways[way]
        for name, ways in repetitions(parts).items()
        if isinstance(way := note.get(name), str) and way in ways
    }
