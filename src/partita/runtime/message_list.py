"""A list of messages that takes anything and gives any view: no store, no agent, no clock."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeGuard

from partita.errors import FormatError
from partita.formats.ai_sdk.ui.dump import dump as dump_ui
from partita.formats.answers.model_view import View, model_view
from partita.formats.converting import read_guessed
from partita.formats.format import Decoder, Dumped, Format, Loaded
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator, close_message
from partita.stream.rules import Version
from partita.types.chunks import Chunk
from partita.types.json import Json
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from partita.types.value import Value

MESSAGE_TYPES: Final = (SystemMessage, UserMessage, AssistantMessage, ToolMessage)


class MessageList:
    """Messages in order, each id once: what is added again takes the place of what was there.

    messages = MessageList()
    messages.add("What is the weather?", id="m1")
    messages.add(payload)                       # any format, found out by looking
    messages.feed(event, format="anthropic")    # the stream of an answer, event by event
    messages.end()
    messages.ui(version=6)
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages: dict[str, Message] = {message.id: message for message in messages}
        self._growing: Accumulator | None = None
        self._decoder: tuple[str, Decoder] | None = None
        self.losses: list[Loss] = []
        """What of the payloads so far could not be carried."""

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The canonical messages; an answer that is being written is the last."""
        if self._growing is None:
            return tuple(self._messages.values())
        return (*self._messages.values(), self._growing.snapshot())

    def add(
        self, payload: Message | Sequence[Message] | str | Json, *, format: str | None = None, id: str = ""
    ) -> tuple[Message, ...]:
        """Add words of the user, messages, or a payload of any format; the messages it came to."""
        if isinstance(payload, str) and format is None:
            added: Sequence[Message] = [UserMessage(id=id or f"message-{len(self) + 1}", content=payload)]
        elif format is None and _are_messages(payload):
            added = payload
        elif isinstance(payload, MESSAGE_TYPES):
            added = [payload]
        else:
            added = self._loaded(payload, format)
        self._messages |= {message.id: message for message in added}
        return tuple(added)

    def feed(self, event: Chunk | Json, *, format: str = "ai-sdk-chunks", id: str = "") -> None:
        """Take the next piece of an answer: a chunk, or an event of a stream of that format."""
        if self._growing is None:
            self._growing = Accumulator(id=id or f"message-{len(self) + 1}")
        chunks = [event] if _is_chunk(event) else self._decode(event, format)
        for chunk in chunks:
            self._growing.feed(chunk)

    def end(self) -> AssistantMessage | None:
        """The answer that was being written, now whole; `None` if there was none."""
        growing, self._growing = self._growing, None
        decoder, self._decoder = self._decoder, None
        if growing is None:
            return None
        for chunk in () if decoder is None else decoder[1].finish():
            growing.feed(chunk)
        message = close_message(growing.finish(), "lost")
        self._messages[message.id] = message
        return message

    def ui(self, version: Version = 7) -> Json:
        """The list as UI messages of an AI SDK."""
        return dump_ui(self.messages, version=version).payload

    def model(self) -> View:
        """The list as a model may be sent it, and what had to be mended for that."""
        return model_view(self.messages)

    def to(self, format: str) -> Dumped:
        """The list in any format that can be written, with its losses."""
        target = get_format(format)
        if target.dump is None:
            raise FormatError(f"{target.name} can be read but not written", hint="choose another format")
        return target.dump(self.messages)

    def _loaded(self, payload: Json, name: str | None) -> Sequence[Message]:
        def read(format_: Format) -> Loaded:
            if format_.load is None:
                raise FormatError(f"{format_.name} is a stream", hint="feed() takes it, event by event")
            return format_.load(payload)

        loaded = read_guessed(payload, read)[0] if name is None else read(get_format(name))
        self.losses += loaded.losses
        return loaded.messages

    def _decode(self, event: Json, name: str) -> list[Chunk]:
        if self._decoder is None or self._decoder[0] != name:
            format_ = get_format(name)
            if format_.decoder is None:
                raise FormatError(f"{format_.name} does not stream", hint="add() takes it as a whole")
            self._decoder = (name, format_.decoder())
        return self._decoder[1].feed(event)


def _is_chunk(event: Json) -> TypeGuard[Chunk]:
    return isinstance(event, Value)


def _are_messages(payload: Json) -> TypeGuard[Sequence[Message]]:
    each: Sequence[object] = payload if payload.__class__ in (list, tuple) else (None,)
    return all(isinstance(one, MESSAGE_TYPES) for one in each)
