"""Stored messages, V2 and V1 as they come → canonical messages; networks are still texts.

One table holds both: rows from before the middle of 2025 are V1, and V1 is what networks keep inside.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.losses import Loss
from partita.types.fold import expand, fold
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Content,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)

from .calls import unlisted_calls, waiting_calls, with_approval
from .core import USER_SIGNAL, load_core
from .envelope import checked_row, read_envelope
from .mirrors import drop_mirrors, take_attachments, whole_parts
from .network_part import take_network
from .notes import extra_of
from .parts import load_part

Role = tuple[str, type[Message], type[Any]]

ROLES: Mapping[str, Role] = {
    "system": ("system", SystemMessage, SystemContent),
    "user": ("user", UserMessage, UserContent),
    "assistant": ("assistant", AssistantMessage, AssistantContent),
    "tool": ("assistant", AssistantMessage, AssistantContent),
    "signal": ("system", SystemMessage, SystemContent),
}
"""By role: whose parts there may be, the message and its content. Mastra takes tools for the assistant."""

DAMAGED = "it is JSON that breaks off: kept as text"
PLACE = "results are kept with their calls"

_BEGINS_LIKE_V2 = re.compile(
    r'\s*\{\s*"(format|parts|content|metadata|toolInvocations|reasoning|experimental_attachments|annotations)"'
)


class Row(NamedTuple):
    """A stored message with its content out of the text column, and whether it was in one."""

    raw: Json
    was_text: bool = False

    @property
    def is_v2(self) -> bool:
        """Whether it is V2: told by its content, as Mastra tells."""
        return is_object(self.raw) and _is_v2_content(self.raw.get("content"))


def load_rows(raws: Sequence[Json], path: str, losses: list[Loss]) -> list[Message]:
    """Stored messages of both kinds, with the results of V1 in their calls."""
    messages: list[Message] = []
    rows = [(index, unwrapped(raw, f"{path}[{index}]", losses)) for index, raw in enumerate(raws)]
    for is_v2, run in groupby(rows, lambda numbered: numbered[1].is_v2):
        found = [load_row(row, f"{path}[{index}]", losses, index) for index, row in run]
        messages += found if is_v2 else folded(found, path, losses)
    return messages


def load_row(row: Row, path: str, losses: list[Loss], index: int = 0) -> Message:
    """One stored message of either kind."""
    if row.is_v2:
        return load_v2(row, path, losses, index)
    return load_core(row.raw, path, losses, index)


def unwrapped(raw: Json, path: str, losses: list[Loss]) -> Row:
    """A message with its content out of the string that a text column keeps it in."""
    text = raw.get("content") if is_object(raw) else None
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return Row(raw)
    try:
        content = loads(text)
    except DecodeError as error:
        if _BEGINS_LIKE_V2.match(text):
            why = f"{DAMAGED} ({error.what}, {error.where})"
            losses.append(Loss.of(f"{path}.content", text, why, "changed"))
        return Row(raw)
    return Row({**raw, "content": content}, was_text=True) if _is_v2_content(content) else Row(raw)


def load_v2(row: Row, path: str, losses: list[Loss], index: int) -> Message:
    """A V2 message as a canonical one."""
    raw = checked_row(row.raw, path, tuple(ROLES))
    role = raw["role"]
    is_notice = role == "signal" and not _is_from_user(raw)
    spoken = "user" if role == "signal" and not is_notice else role
    speaker, message_type, _ = ROLES[spoken]
    fields, rest, note = read_envelope(raw, path, index)
    if row.was_text:
        note["content"] = "json"
    if role != speaker:
        rest["role"] = role
    kind: JsonObject = {"type": "event", "internal": True} if is_notice else {}
    content: Any = load_content(raw["content"], spoken, f"{path}.content", losses)
    return message_type(content=content, extra=extra_of(rest, note, message_type), **fields, **kind)


def load_content(raw: JsonObject, role: str, path: str, losses: list[Loss]) -> Content:
    """The content of a V2 message."""
    speaker, _, content_type = ROLES[role]
    rest = dict(raw)
    note: JsonObject = {}
    stored: list[Json] = rest.pop("parts") if is_array(rest.get("parts")) else []
    network = None
    if speaker == "assistant":
        network, stored = take_network(stored)
    parts = [] if network and not stored else whole_parts(stored, rest, speaker, note)
    drop_mirrors(rest, stored or parts, note)
    if speaker != "system":
        parts = take_attachments(rest, parts)
    metadata = rest.pop("metadata", UNSET)
    waiting = waiting_calls(metadata)
    loaded = [
        with_approval(part, waiting)
        for place, each in enumerate(parts)
        for part in load_part(each, speaker, f"{path}.parts[{place}]", losses)
    ]
    if speaker == "assistant" and (waiting or "toolInvocations" in rest):
        loaded = _with_unlisted(loaded, rest.get("toolInvocations"), metadata)
    fields: JsonObject = {"parts": tuple(loaded), "metadata": metadata}
    if network is not None:
        fields["network_execution"] = network
    for name, field, kind in (("content", "content", str), ("providerMetadata", "provider_metadata", dict)):
        if isinstance(rest.get(name), kind):
            fields[field] = rest.pop(name)
    if type(rest.get("format")) is int and rest["format"] == 2:
        del rest["format"]
    content: Content = content_type(extra=extra_of(rest, note, content_type), **fields)
    return content


def _with_unlisted(parts: list[Any], mirror: Json, metadata: Json) -> list[Any]:
    """The parts with the calls that stand only beside them.

    They are placed behind the last call, or first if there is none; those that wait for approval are last.
    """
    places = [place for place, part in enumerate(parts) if isinstance(part, ToolCallPart)]
    calls = unlisted_calls(mirror, metadata, {parts[place].id for place in places})
    waiting = [call for call in calls if call.state == "approval-requested"]
    others = [call for call in calls if call.state != "approval-requested"]
    behind = places[-1] + 1 if places else 0
    return [*parts[:behind], *others, *parts[behind:], *waiting]


def _is_v2_content(content: Json) -> bool:
    return is_object(content) and (content.get("format") == 2 or is_array(content.get("parts")))


def _is_from_user(row: JsonObject) -> bool:
    metadata: Json = row["content"].get("metadata")
    signal: Json = metadata.get("signal") if is_object(metadata) else None
    kind = signal.get("type") if is_object(signal) else row.get("type")
    return kind == USER_SIGNAL


def folded(messages: Sequence[Message], path: str, losses: list[Loss]) -> Sequence[Message]:
    """V1 messages with results in their calls. What does not stand right behind its call loses its place."""
    if not any(isinstance(message, ToolMessage) for message in messages):
        return messages
    merged = fold(messages)
    if expand(merged) != list(messages):
        losses.append(Loss(path, "the place of tool results", PLACE, "changed"))
    return merged
