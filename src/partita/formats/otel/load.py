"""Recorded messages of OpenTelemetry's conventions for generative AI → canonical messages.

Read are attributes with input messages, output messages and system instructions (as objects or as JSON), bare
lists of messages, and events that are a message each. What is said besides is the rest of the request: tools,
and attributes as they are. Messages have no ids there: a message is `message-N`, counted from one. What the
conventions alone know is kept under their name in provider metadata; parts of other types are kept whole.

Lost: the place of a result that does not stand behind its call, in the order of calls.
"""

from typing import Any

from msgspec.structs import replace

from partita.formats.format import Loaded, Request
from partita.formats.framework.members import metadata_of, noted
from partita.formats.framework.places import told_places
from partita.types.fold import fold
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message
from partita.types.usage import Usage

from .plainly import read_plainly
from .reading import Reader
from .wrapping import CONVERSATION, NAME, USAGE, read_tools, unwrapped


def load(payload: Json) -> Loaded:
    """What a recording says, as canonical messages."""
    plain = read_plainly(payload)
    if plain is None:
        return load_any(payload)
    messages, attributes, is_answered = plain
    _take_thread(attributes)
    if is_answered:
        messages[-1] = _counted(messages[-1], attributes)
    return Loaded(tuple(messages), (), _request(attributes))


def load_any(payload: Json) -> Loaded:
    """The same for whatever a recording may hold."""
    wrapped = unwrapped(payload)
    attributes = dict(wrapped.attributes)
    reader = Reader(_take_thread(attributes))
    if wrapped.system:
        reader.instruct(wrapped.system)
    last = len(wrapped.messages) - 1
    for index, (message, path, is_made) in enumerate(wrapped.messages):
        reader.add(message, path, is_made=is_made, is_last=index == last)
    messages = reader.messages
    if messages and wrapped.form is not None:
        messages[0] = _noted(messages[0], "form", wrapped.form)
    if messages:
        messages[-1] = _counted(messages[-1], attributes)
    losses = tuple(told_places(messages, reader.paths))
    return Loaded(tuple(fold(messages)), losses, _request(attributes))


def _take_thread(attributes: JsonObject) -> str | None:
    """The id of the conversation, which is taken out of the attributes."""
    thread = attributes.get(CONVERSATION)
    if not isinstance(thread, str):
        return None
    del attributes[CONVERSATION]
    return thread


def _request(attributes: JsonObject) -> Request | None:
    tools = read_tools(attributes)
    return Request(tools, attributes) if tools or attributes else None


def _noted(message: Message, key: str, value: Json) -> Message:
    metadata = message.content.provider_metadata
    others = {name: item for name, item in (metadata or {}).items() if name != NAME}
    note = {**noted(metadata, NAME), key: value}
    content = replace(message.content, provider_metadata=metadata_of(NAME, note, others))
    return replace(message, content=content)  # pyright: ignore[reportArgumentType] # each role takes its own content


def _counted(message: Message, attributes: JsonObject) -> Message:
    """The last message with what it cost if it is an answer; that is taken out of the attributes."""
    if not isinstance(message, AssistantMessage):
        return message
    counts: dict[str, Any] = {
        name: attributes[key] for key, name in USAGE.items() if type(attributes.get(key)) is int
    }
    if not counts:
        return message
    for key, name in USAGE.items():
        if name in counts:
            del attributes[key]
    return replace(message, content=replace(message.content, usage=Usage(**counts)))
