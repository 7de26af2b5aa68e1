"""Canonical messages → UI messages of AI SDK 4.

What `ui_v4_load` read comes back as it was. Added, where it was not there: an id, `content`, `parts` and
the mirrors of parts that version 4 itself keeps (`toolInvocations`, `reasoning`); the `step` of a call
and the `step-start` of a step; the one `detail` of a reasoning without; a guessed `contentType`. A data
URL in a file part becomes bare base64.

Version 4 has no failed, denied, interrupted or approved calls: they become results. Parts it does not
know stand among the annotations, as version 7 writes them; other files than those an assistant made stand
among the attachments. Lost: what stands around a message but its time, metadata but `annotations`, and
the members of parts that version 4 does not know. All of it is told.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import assert_never

from msgspec.structs import replace

from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    SystemPart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
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
from partita.types.times import in_utc
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolState,
)
from partita.types.value import unkept

from .ui_downgrade import DENIED
from .ui_dump import AROUND, dump_part

FORMAT = "ai-sdk-ui-v4"
"""The name of a foreign part, and of the mark on a file that is not where files of its message go."""

ATTACHMENT = "ai-sdk-ui-v4-attachment"
"""The name of a foreign part that was an attachment."""

BESIDE = "part:"
"""Marks a kept member that stood in the part itself, not in the invocation, source or detail inside it."""

WHOLE = "reasoning"
"""The kept text of a whole reasoning part of version 4, on the first of our parts that it became."""

DATA = "data"
"""The role, the member and the part of what an application sent in messages of their own."""

PROVIDER = "anthropic"
SIGNATURE = "signature"
REDACTED = "redactedData"

STATES: Mapping[ToolState, str] = {
    "input-streaming": "partial-call",
    "input-available": "call",
    "output-available": "result",
}

OTHER_STATES: Mapping[ToolState, tuple[str, str]] = {
    "approval-requested": ("call", "version 4 knows no approvals"),
    "approval-responded": ("call", "version 4 knows no approvals"),
    "output-error": ("result", "version 4 knows no failed calls"),
    "output-denied": ("result", "version 4 knows no denied calls"),
}
"""States that version 4 does not know, what they look like there, and why."""

NO_PLACE = "version 4 has no place for it"
BARE = "version 4 keeps the bare result"
FAILED = "Tool call failed."


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as the list that `useChat` of version 4 takes."""
    losses: list[Loss] = []
    payload: list[JsonObject] = []
    for index, message in enumerate(fold(messages)):
        if isinstance(message, ToolMessage):
            losses.append(Loss.of(f"$[{index}]", to_json(message), "its results belong to no call here"))
        else:
            payload.append(dump_message(message, f"$[{index}]", losses))
    return Dumped(payload, tuple(losses))


def dump_message(
    message: SystemMessage | UserMessage | AssistantMessage, path: str, losses: list[Loss]
) -> JsonObject:
    """One message, with what it loses."""
    plain: JsonObject = to_json(replace(message, content=replace(message.content, parts=()), extra=None))  # pyright: ignore[reportArgumentType] # each role takes its own content
    losses.extend(_losses_around(plain, path))
    aside = unkept(message.extra)
    role: str = plain["role"]
    if role == "assistant" and aside.get("role") == DATA:
        role = aside.pop("role")
    writer = _Writer(role, losses)
    for index, part in enumerate(message.content.parts):
        writer.add(part, f"{path}.content.parts[{index}]")
    writer.tell_moved()
    result: JsonObject = {"id": message.id, "role": role, "parts": writer.parts}
    texts = (part["text"] for part in writer.parts if type_of(part) == "text")
    content = message.content.content
    result["content"] = "".join(filter(_is_text, texts)) if content is None else content
    if message.created_at is not None:
        result["createdAt"] = _dump_time(message.created_at, aside)
    for name, mirror in mirrors(writer.parts).items():
        result[name] = aside.pop(name, mirror)
    annotations = [*_annotations(message.content.metadata), *writer.annotations]
    ...
    return result
