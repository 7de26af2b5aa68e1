"""V2 messages ↔ canonical messages. Networks in texts remain texts here: see `network`.

- The parts are read; members that repeat them supply what the parts lack: see `mirrors`.
- Calls that wait according to the metadata of the message have approval requests: see `calls`.
- A signal that a user sent is a user message; any other is a system message, an internal event.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from partita.formats.ai_sdk.ui.format import network_place
from partita.formats.ai_sdk.ui.format import write_part as write_ui_part
from partita.formats.ai_sdk.ui.network import network_tool_call
from partita.formats.core.metadata import notes, without_notes
from partita.stream.encoder import NETWORK_KEY
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Content,
    Message,
    NetworkExecution,
    Part,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.value import keep_fields

from .calls import UNLISTED, unlisted_calls, waiting_calls
from .mirrors import (
    ATTACHMENTS,
    complete_parts,
    is_attachment,
    parts_of_mirrors,
    take_attachments,
    take_mirrors,
    write_attachments,
    write_mirrors,
)
from .network_payload import NetworkForm, add_network, form_of
from .notes import members_of, part_notes, with_part_notes
from .parts import grouped, read_part, write_as_read, write_part
from .rows import USER_SIGNAL, check_row, envelope_members, read_envelope, write_envelope
from .wire import NAME

ROLES: Final[Mapping[str, tuple[str, type[Any], type[Any]]]] = {
    "system": ("system", SystemMessage, SystemContent),
    "user": ("user", UserMessage, UserContent),
    "assistant": ("assistant", AssistantMessage, AssistantContent),
    "tool": ("assistant", AssistantMessage, AssistantContent),
    "signal": ("system", SystemMessage, SystemContent),
}
"""By role: the canonical role, the message type and the content type. `tool` is read as `assistant`."""

MIRRORED: Final = "mirrors"
"""The note with the members of a content that repeat the parts."""

CALL: Final = "call"
"""The position of a call that is not in the parts, followed by its id."""

_NETWORK: Final[Codec[NetworkExecution]] = Codec(NetworkExecution)


class ReadContent(NamedTuple):
    """The result of reading a content."""

    content: Content
    raws: Sequence[Json]
    """The value of `parts`."""
    groups: Sequence[Sequence[Part]]
    """The parts of each value, none for a network execution. Without `raws`, the parts of the mirrors."""
    attached: Sequence[Part]
    unlisted: Sequence[ToolCallPart]

    def positions(self) -> dict[tuple[Any, ...], Any]:
        """Return the parts by position: the number of the part on the wire, and the number in its group."""
        groups = enumerate(group for group in self.groups if group)
        positions: dict[tuple[Any, ...], Any] = {
            (index, number): part for index, group in groups for number, part in enumerate(group)
        }
        positions |= {(ATTACHMENTS, number): part for number, part in enumerate(self.attached)}
        return positions | {(CALL, call.id): call for call in self.unlisted}


def read_message(raw: Json, path: str, index: int) -> tuple[Message, ReadContent]:
    """Return the canonical message of a V2 message, and the result of reading its content."""
    row = check_row(raw, path, tuple(ROLES))
    role = row["role"]
    is_notice = role == "signal" and not _is_from_user(row)
    author = "user" if role == "signal" and not is_notice else role
    canonical_role, message_type, _ = ROLES[author]
    fields, rest = read_envelope(row, path, index)
    if role != canonical_role:
        rest["role"] = role
    if is_notice:
        fields |= {"type": "event", "internal": True}
    read = read_content(row["content"], author)
    return message_type(content=read.content, extra=keep_fields(rest, message_type), **fields), read


def _is_from_user(row: JsonObject) -> bool:
    metadata: Json = row["content"].get("metadata")
    signal: Json = metadata.get("signal") if is_object(metadata) else None
    return (signal if is_object(signal) else row).get("type") == USER_SIGNAL


def read_content(raw: JsonObject, role: str) -> ReadContent:
    """Read the content of a V2 message."""
    canonical_role, _, content_type = ROLES[role]
    rest = dict(raw)
    stored: list[Json] = rest.pop("parts") if is_array(rest.get("parts")) else []
    at = network_place(stored) if canonical_role == "assistant" else None
    network = None if at is None else _NETWORK.read(stored[at]["toolMetadata"][NETWORK_KEY])
    given = [one for index, one in enumerate(stored) if index != at]
    raws = given or ([] if network else parts_of_mirrors(rest, canonical_role))
    complete = complete_parts(raws, rest) if given else raws
    mirrored = take_mirrors(rest, raws)
    metadata = rest.pop("metadata", UNSET)
    waiting = waiting_calls(metadata)
    groups = [
        list(read_part(one, canonical_role, waiting, all_)) for one, all_ in zip(raws, complete, strict=True)
    ]
    attached: Sequence[Part] = ()
    unlisted: Sequence[ToolCallPart] = ()
    if canonical_role != "system":
        of_parts, attached = take_attachments(rest, raws)
        for index, note in of_parts.items():
            groups[index][0] = with_part_notes(groups[index][0], note)
    parts: list[Any] = [part for group in groups for part in group] + list(attached)
    if canonical_role == "assistant" and (waiting or "toolInvocations" in rest):
        parts, unlisted = _with_unlisted(parts, rest.get("toolInvocations"), metadata)
    fields: JsonObject = {"parts": tuple(parts), "metadata": metadata}
    if network is not None:
        fields["network_execution"] = network
    if isinstance(rest.get("content"), str):
        fields["content"] = rest.pop("content")
    if is_object(rest.get("providerMetadata")):
        fields["provider_metadata"] = rest.pop("providerMetadata")
    if mirrored:
        fields["provider_metadata"] = {**fields.get("provider_metadata", {}), NAME: {MIRRORED: mirrored}}
    if type(rest.get("format")) is int and rest["format"] == 2:
        del rest["format"]
    if at is not None:
        groups.insert(at, [])
    content: Content = content_type(extra=keep_fields(rest, content_type), **fields)
    return ReadContent(content, stored, groups, attached, unlisted)


def _with_unlisted(
    parts: list[Any], mirror: Json, metadata: Json
) -> tuple[list[Any], Sequence[ToolCallPart]]:
    """Return the parts with the calls that only other members have, and those calls.

    They are placed after the last call, or first if there is none; those that wait for approval are last.
    """
    indexes = [index for index, part in enumerate(parts) if isinstance(part, ToolCallPart)]
    calls = unlisted_calls(mirror, metadata, {parts[index].id for index in indexes})
    waiting = [call for call in calls if call.state == "approval-requested"]
    others = [call for call in calls if call.state != "approval-requested"]
    end = indexes[-1] + 1 if indexes else 0
    return [*parts[:end], *others, *parts[end:], *waiting], calls


# Writing


def write_message(message: Message, network: NetworkForm | None = None) -> JsonObject:
    """Write a message in the form of Mastra's API.

    `network`: the form of a network execution. By default it is a part; if the metadata of the message
    requires a string, it is both a member and a string.
    """
    content = _write_content(message, network)
    return {**_write_envelope(message), "content": content}


def write_back(message: Message, read: ReadContent) -> JsonObject:
    """Write a message in its original form."""
    return {**_write_envelope(message), "content": write_content_back(read, message.id)}


def write_content_back(read: ReadContent, message_id: str) -> JsonObject:
    """Write a content in its original form."""
    parts = [
        write_as_read(group, raw) if group else _network_part(read.content, message_id)
        for raw, group in zip(read.raws, read.groups, strict=False)
    ]
    mirrored = parts or [write_part(group) for group in _listed(read.content)]
    return {"format": 2, **_write_other_members(read.content, mirrored), "parts": parts}


def _write_envelope(message: Message) -> JsonObject:
    return {
        "id": message.id,
        "role": _role(message),
        **write_envelope(message),
        **envelope_members(message),
    }


def _role(message: Message) -> str:
    return "assistant" if isinstance(message, ToolMessage) else message.role


def positions_of(message: Message) -> list[tuple[Any, ...]]:
    """Return the position of each part of a message: see `ReadContent`."""
    positions: list[tuple[Any, ...]] = []
    unlisted = _unlisted(message.content)
    attachments = index = 0
    for group in grouped(message.content.parts):
        part = group[0]
        if isinstance(part, ToolCallPart) and part in unlisted:
            positions.append((CALL, part.id))
        elif is_attachment(part):
            positions.append((ATTACHMENTS, attachments))
            attachments += 1
        else:
            positions += [(index, number) for number in range(len(group))]
            index += 1
    return positions


def _write_content(message: Message, network: NetworkForm | None) -> JsonObject:
    content = message.content
    parts = [write_part(group) for group in _listed(content)]
    members = _write_other_members(content, parts)
    execution = content.network_execution if isinstance(content, AssistantContent) else None
    if not parts and execution is None:
        parts = parts_of_mirrors(members, _role(message))
    written: JsonObject = {"format": 2, **members, "parts": parts}
    if isinstance(message, AssistantMessage) and execution is not None:
        form = form_of(message, network)
        if form == "part":
            parts.append(_network_part(content, message.id))
        else:
            add_network(written, message.id, execution, form, lambda one: [write_message(one, network)])
    return written


def _network_part(content: Content, message_id: str) -> Json:
    """Return the execution of a network as a `dynamic-tool` part, as Mastra's UI shows a running network.

    Its metadata has the whole execution, so that it can be read back.
    """
    assert isinstance(content, AssistantContent), "only assistant messages have executions"
    assert content.network_execution is not None, "it has one"
    call = network_tool_call(message_id, content.network_execution)
    return write_ui_part(call)


def _listed(content: Content) -> list[list[Part]]:
    """Return the groups of parts that are in `parts`."""
    unlisted = _unlisted(content)
    return [one for one in grouped(content.parts) if not is_attachment(one[0]) and one[0] not in unlisted]


def _unlisted(content: Content) -> Sequence[Part]:
    """Return the calls that only other members have, if these calls are unchanged."""
    noted = {
        part.id
        for part in content.parts
        if isinstance(part, ToolCallPart) and part_notes(part).get(UNLISTED) is True
    }
    if not noted:
        return ()
    ids = {part.id for part in content.parts if isinstance(part, ToolCallPart)}
    mirror = members_of(content).get("toolInvocations")
    calls = unlisted_calls(mirror, content.metadata, ids - noted)
    return [part for part in content.parts if part in calls]


def _write_other_members(content: Content, parts: Sequence[Json]) -> JsonObject:
    """Return the members of a content besides its parts."""
    written = members_of(content)
    if content.content is not None:
        written["content"] = content.content
    if content.metadata is not UNSET:
        written["metadata"] = content.metadata
    metadata = without_notes(content.provider_metadata, NAME)
    if metadata is not None:
        written["providerMetadata"] = metadata
    attachments = write_attachments(content.parts, written.get(ATTACHMENTS, UNSET))
    if attachments is not UNSET:
        written[ATTACHMENTS] = attachments
    mirrored = notes(notes(content.provider_metadata, NAME), MIRRORED)
    return {**written, **write_mirrors(parts, mirrored)}
