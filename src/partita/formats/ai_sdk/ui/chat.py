"""Messages in the form that a `useChat` client has after it has read the stream of a run.

A run may store several messages, as a network does. Its stream announces one id, so the client has one
message: `join_runs` joins the stored messages in the same way. `chat_message` moves values that no chunk can
put where `dump` puts them:

- A network execution is a `dynamic-tool` part before the other parts of its message. Its `output` is
  `{text?, value?, childMessages}`, because no chunk can set another member of a part. If it failed, its
  messages are `toolMetadata.childMessages`.
- The messages of a sub-agent are `toolMetadata.childMessages` of its call, once the call has an output.
- Clients of release 5 keep no tool metadata: for them, those messages are in the metadata of the message,
  `childMessages`, by call id.
- The person who decided on an approval, and the time, are in the metadata of the message: `approvals`, by
  approval id.

`ChatEncoder` sends the same in a stream.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import StreamError
from partita.formats.format import Dumped
from partita.stream.encoder import NETWORK_KEY
from partita.stream.reducer import merge_metadata
from partita.stream.state import Version
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    ToolCallPart,
    derive_type,
)
from partita.types.parts import Approval, JsonOutput
from partita.types.tool_results import fold

from .format import dump
from .network import network_tool_call

CHILDREN = "childMessages"
"""The member of an output, or of the tool metadata of a call, with the messages of a sub-agent."""

APPROVALS = "approvals"
"""The member of a message's metadata with the person and the time of each approval decision."""

WITH_METADATA = frozenset({"output-available", "output-error"})
"""The states of calls that chunks with tool metadata lead to."""


# Runs


def is_continued(message: Message, following: Message) -> bool:
    """Whether a client has two adjoining messages as one because the same run wrote them.

    If a run continues a network, only its last message belongs to the new run; the executions before it keep
    their run. A network never ends with an execution.
    """
    if not isinstance(message, AssistantMessage) or not isinstance(following, AssistantMessage):
        return False
    if message.run_id is None or following.run_id is None or message.thread_id != following.thread_id:
        return False
    return message.run_id == following.run_id or message.content.network_execution is not None


def join_runs(messages: Sequence[Message]) -> list[Message]:
    """Return the messages that are not internal, with those of one run joined under the id of the first."""
    return [
        _joined([_with_network_part(row) for row in group if isinstance(row, AssistantMessage)])
        if len(group) > 1
        else group[0]
        for group in group_runs(messages)
    ]


def dump_chat(messages: Sequence[Message], version: Version = 7) -> Dumped:
    """Write UI messages as a client has them after reading their streams."""
    dumped = dump(join_chat(messages, version), version)
    if version == 5:
        for message in dumped.payload:
            _move_children(message)
    return dumped


def _move_children(message: JsonObject) -> None:
    """Remove the tool metadata of calls, and put the messages of sub-agents into that of the message."""
    children: JsonObject = {}
    for part in message["parts"]:
        metadata = part.pop("toolMetadata", None)
        if is_object(metadata) and CHILDREN in metadata:
            children[part["toolCallId"]] = metadata[CHILDREN]
    known: Json = message.get("metadata", {})
    if children and is_object(known):
        message["metadata"] = {**known, CHILDREN: children}


def join_chat(messages: Sequence[Message], version: Version = 7) -> list[Message]:
    """Return the messages that `dump_chat` writes."""
    joined: list[Message] = []
    for group in group_runs(messages):
        rows = [chat_message(row, version) for row in group if isinstance(row, AssistantMessage)]
        joined.append(_joined(rows) if rows else group[0])
    return joined


def group_runs(messages: Sequence[Message]) -> list[list[Message]]:
    """Return the messages that are not internal, grouped as a client joins them."""
    groups: list[list[Message]] = []
    for message in fold([message for message in messages if not message.internal]):
        if groups and is_continued(groups[-1][-1], message):
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _joined(rows: Sequence[AssistantMessage]) -> AssistantMessage:
    first = rows[0]
    if len(rows) == 1:
        return first
    parts = tuple(part for row in rows for part in row.parts)
    content = replace(first.content, parts=parts, metadata=_metadata_of(rows))
    return replace(first, content=content, type=derive_type(parts))


def _metadata_of(rows: Sequence[AssistantMessage]) -> Json | UnsetType:
    merged: Json | UnsetType = UNSET
    for row in rows:
        metadata = row.content.metadata
        if metadata is not UNSET and metadata is not None:
            try:
                merged = merge_metadata(merged, metadata)
            except StreamError:  # the metadata so far is not an object
                merged = metadata
    return merged


def _with_network_part(message: AssistantMessage) -> AssistantMessage:
    """Return a message with its network execution as a call before its parts."""
    network = message.content.network_execution
    if network is None:
        return message
    return _with_parts(message, (network_tool_call(message.id, network), *message.parts))


def _with_parts(message: AssistantMessage, parts: Sequence[Any]) -> AssistantMessage:
    content = replace(message.content, parts=tuple(parts), network_execution=None)
    type_ = derive_type(content.parts) if message.type == derive_type(message.parts) else message.type
    return replace(message, content=content, type=type_)


# What a stream can carry


def chat_message(message: AssistantMessage, version: Version) -> AssistantMessage:
    """Return a message as its chunks build it in a client."""
    network = message.content.network_execution
    parts = [_chat_part(part, version) for part in message.parts]
    if network is not None:
        parts.insert(0, chat_network_part(message.id, network, version))
    changed = _with_parts(message, parts)
    facts = {
        part.approval.id: fact
        for part in message.parts
        if isinstance(part, ToolCallPart) and part.approval and (fact := approval_fact(part.approval))
    }
    metadata = message.content.metadata
    if not facts or not (metadata is UNSET or metadata is None or is_object(metadata)):
        return changed
    merged = merge_metadata(metadata, {APPROVALS: facts})
    return replace(changed, content=replace(changed.content, metadata=merged))


def _chat_part(part: Any, version: Version) -> Any:
    if not isinstance(part, ToolCallPart):
        return part
    if part.approval is not None:
        part = replace(part, approval=replace(part.approval, responded_by=None, responded_at=None))
    if not part.children:
        return part
    return replace(part, children=(), tool_metadata=chat_tool_metadata(part, version))


def chat_network_part(message_id: str, network: NetworkExecution, version: Version) -> ToolCallPart:
    """Return a network execution as a call. Its messages are in the output, or the metadata if it failed.

    While it runs or waits, the output is preliminary, because a client accepts no other chunk again in a
    later step.
    """
    call = network_tool_call(message_id, network)
    children = _dump_children(call.children, version)
    result = network.final_result
    rest = network if result is None else replace(network, final_result=replace(result, messages=()))
    metadata: JsonObject = {NETWORK_KEY: to_json(rest)}
    if call.state == "output-error":
        metadata |= {CHILDREN: children} if children else {}
    elif result is not None and (children or call.output is not None):
        output: JsonObject = {} if result.text is None else {"text": result.text}
        if result.value is not UNSET:
            output["value"] = result.value
        output[CHILDREN] = children
        preliminary = True if call.output is None else None
        shown = JsonOutput(output)
        call = replace(call, state="output-available", approval=None, output=shown, preliminary=preliminary)
    return replace(call, children=(), tool_metadata=metadata)


def chat_tool_metadata(part: ToolCallPart, version: Version) -> JsonObject | None:
    """Return the tool metadata of a call, with the messages of its sub-agent if a chunk can have them."""
    if part.state not in WITH_METADATA or not part.children:
        return part.tool_metadata
    return {**(part.tool_metadata or {}), CHILDREN: _dump_children(part.children, version)}


def _dump_children(messages: Sequence[Message], version: Version) -> list[JsonObject]:
    written: list[JsonObject] = dump(list(_chat_messages(messages, version)), version).payload
    return written


def _chat_messages(messages: Sequence[Message], version: Version) -> Iterator[Message]:
    for message in messages:
        if not message.internal:
            yield chat_message(message, version) if isinstance(message, AssistantMessage) else message


def approval_fact(approval: Approval) -> JsonObject:
    """Return who decided on an approval, and when."""
    fact = Approval(approval.id, responded_by=approval.responded_by, responded_at=approval.responded_at)
    written: JsonObject = to_json(fact)
    return {key: value for key, value in written.items() if key != "id"}
