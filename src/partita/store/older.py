"""Content of older shapes, as other systems and earlier versions wrote it into a row."""

import re
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.ai_sdk.model import format as model
from partita.formats.ai_sdk.ui_v4 import format as v4
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import (
    AssistantContent,
    Content,
    SystemContent,
    ToolContent,
    UserContent,
)
from partita.types.parts import ForeignPart, TextPart
from partita.types.value import kept, unkept

from .older_parts import CODECS, DAMAGED, has_older, renewed

Shape: TypeAlias = Literal["today", "plain text", "string", "version 4", "damaged"]
"""`string`: a whole content, as JSON inside a JSON string."""

CONTENTS: dict[str, type[Any]] = {
    "system": SystemContent,
    "user": UserContent,
    "assistant": AssistantContent,
    "tool": ToolContent,
}

FORMAT = 2
AROUND = ("id", "role", "createdAt")
"""Members of a message that has slipped into its own content."""

TELLING = frozenset({"parts", "content", "toolInvocations", "reasoning", "experimental_attachments"})
"""Members, one of which is in any content of version 4. Another object is text that happens to be JSON."""

_BEGINS = re.compile(
    r'\s*(\{\s*"(format|parts|content|metadata|toolInvocations|reasoning)"|\[\s*\{\s*"type")'
)
"""How a content begins: what begins so and does not parse has been cut, what does not is plain text."""


class Upgraded(NamedTuple):
    """Content in today's shape, which shape it had, and what could not be carried."""

    content: Content
    shape: Shape
    losses: tuple[Loss, ...] = ()


def upgraded(role: str, text: str) -> Upgraded:
    """What a row says, in today's shape. Never refuses: damaged text is kept whole."""
    try:
        value: Json = loads(text)
    except PartitaError:
        return _damaged(role, text) if _BEGINS.match(text) else _plain(role, text)
    try:
        return _inside(role, value) if isinstance(value, str) else _read(role, value, text)
    except PartitaError:
        return _damaged(role, text)


def _read(role: str, value: Json, text: str) -> Upgraded:
    if _are_parts(value):
        return _loaded(model.load([{"role": role, "content": value}], 4), role, {})
    if not is_object(value) or not ("format" in value or _tells(value)):
        return _plain(role, text)
    if "format" not in value:
        around = {key: value[key] for key in AROUND if key in value}
        bare = {key: item for key, item in value.items() if key not in AROUND}
        return _loaded(v4.load([{**bare, "id": "", "role": role}]), role, around)
    return _second(role, value)


def _second(role: str, value: JsonObject) -> Upgraded:
    """A content of format 2: today's, or with parts of version 4, or with parts that cannot be read."""
    if not has_older(value, role):
        try:
            return Upgraded(CODECS[role][0].read(value), "today")
        except PartitaError:
            if value.get("format") != FORMAT:
                raise
    losses: list[Loss] = []
    content = renewed(value, role, losses)
    broken = any(isinstance(part, ForeignPart) and part.format == DAMAGED for part in content.parts)
    return Upgraded(content, "damaged" if broken else "version 4", tuple(losses))


def _inside(role: str, text: str) -> Upgraded:
    """A JSON string: a whole content that was encoded twice, or words."""
    try:
        value: Json = loads(text)
    except PartitaError:
        return _plain(role, text)
    if not _are_parts(value) and not (is_object(value) and value.get("format") == FORMAT):
        return _plain(role, text)
    found = _read(role, value, text)
    return found if found.shape == "damaged" else found._replace(shape="string")


def _are_parts(value: Json) -> bool:
    return is_array(value) and all(is_object(item) and isinstance(item.get("type"), str) for item in value)


def _tells(value: JsonObject) -> bool:
    return not TELLING.isdisjoint(value)


def _plain(role: str, text: str) -> Upgraded:
    """Plain text where a message should be: one part, marked as reconstructed."""
    metadata: JsonObject = {"reconstructed": True}
    part = TextPart(text) if role != "tool" else ForeignPart(format="text", value=text)
    return Upgraded(CONTENTS[role](parts=(part,), metadata=metadata), "plain text")


def _loaded(loaded: Loaded, role: str, around: JsonObject) -> Upgraded:
    """The content of a message that was read, with what stood around it."""
    message = loaded.messages[0]
    aside = {**unkept(message.extra), **around}
    extra = (
        kept({**unkept(message.content.extra), **aside}, CONTENTS[role]) if aside else message.content.extra
    )
    return Upgraded(replace(message.content, extra=extra), "version 4", loaded.losses)


def _damaged(role: str, text: str) -> Upgraded:
    content: Content = CONTENTS[role](parts=(ForeignPart(format=DAMAGED, value=text),))
    return Upgraded(content, "damaged")
