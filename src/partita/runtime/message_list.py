"""A conversation in memory: reads messages and streams of any format, writes any view, and tracks what to
save.

It has no store, no agent and no clock. With a store: make it from the stored messages, `add` and `feed`, and
save what `drain` returns.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias, TypeGuard

from msgspec.structs import replace

from partita.errors import ConflictError, FormatError, NotFoundError
from partita.formats.ai_sdk.ui.format import dump as dump_ui
from partita.formats.conversion import detect_and_read
from partita.formats.format import Decoder, Dumped, Format, Loaded, losses_of
from partita.formats.losses import Loss
from partita.formats.model_view import ModelView, model_view
from partita.formats.registry import get_dump, get_format
from partita.store.ids import new_id
from partita.stream.accumulator import MessagesAccumulator, close_message, is_empty
from partita.stream.state import Version
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    MessageFinish,
    MessageStart,
    StepFinish,
    ToolApprovalResponse,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.json import Json, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    ToolPart,
    UserMessage,
)
from partita.types.parts import InterruptedOutput, ReasoningPart, TextPart, ToolResultPart
from partita.types.tool_results import fold, state_before
from partita.types.value import Value

MESSAGE_TYPES: Final = (SystemMessage, UserMessage, AssistantMessage, ToolMessage)

MessageSource: TypeAlias = Literal["memory", "input", "response", "context"]
"""Where a message came from: a store, the caller, a stream; or context for the model that is never saved."""

Boundary: TypeAlias = Literal["part", "step", "message"]
"""What counts as complete in a message that is being streamed: closed parts, finished steps, or all of it."""

_GENERATED: Final = re.compile(r"message-[0-9]+|instructions|system")
"""The ids that formats generate for messages without one."""


class MessageList:
    """Messages in order, each id once: a message that is added again replaces the earlier one.

    messages = MessageList(stored)
    messages.add("What is the weather?", id="m1")
    messages.add(payload)                       # any format, detected
    messages.feed(event, format="anthropic")    # the stream of a response, event by event
    messages.end()
    messages.ui(version=6)
    messages.drain()                            # the messages to save
    """

    def __init__(self, messages: Iterable[Message] = (), *, thread_id: str | None = None) -> None:
        """`messages` are stored already: `drain` returns one of them only once it has changed.

        `thread_id` is given to the messages to save that have none.
        """
        self._thread_id = thread_id
        self._messages: dict[str, Message] = {message.id: message for message in messages}
        self._sources: dict[str, MessageSource] = dict.fromkeys(self._messages, "memory")
        self._saved: dict[str, Message] = dict(self._messages)
        self._stream: MessagesAccumulator | None = None
        self._decoder: tuple[str, Decoder] | None = None
        self._steps: dict[str, int] = {}  # by streamed message: how many parts its finished steps have
        self._continued: dict[str, frozenset[str]] = {}  # by streamed message: the calls it had before
        self._complete: set[str] = set()  # streamed messages that had their finish
        self._unnamed = ""  # the id that was generated for a stream without one
        self.errors: list[str] = []
        """The texts of the error chunks of the streams."""
        self.losses: list[Loss] = []
        """What could not be carried over of the payloads, and of the streams that ended."""

    def __len__(self) -> int:
        return len(self._now())

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The canonical messages. A message that is being streamed is included as far as it was received."""
        return tuple(self._now().values())

    def _now(self) -> dict[str, Message]:
        if self._stream is None:
            return self._messages
        return {**self._messages, **{message.id: message for message in self._streamed()}}

    def _streamed(self) -> tuple[AssistantMessage, ...]:
        """The messages of the stream, without an empty one whose id was generated here."""
        messages = () if self._stream is None else self._stream.snapshot()
        return tuple([each for each in messages if each.id != self._unnamed or not is_empty(each)])

    # Adding and removing

    def add(
        self,
        payload: Message | Sequence[Message] | str | Json,
        *,
        format: str | None = None,
        id: str = "",
        source: MessageSource = "input",
    ) -> tuple[Message, ...]:
        """Add a text of the user, messages, or a payload of any format; return the messages it holds.

        The results of tool messages are merged into their calls, wherever these are.
        """
        self._end_complete_stream()
        if isinstance(payload, str) and format is None:
            added: Sequence[Message] = [UserMessage(id=id or new_id(), content=payload)]
        elif format is None and _are_messages(payload):
            added = payload
        elif isinstance(payload, MESSAGE_TYPES):
            added = [payload]
        else:
            added = self._loaded(payload, format)
        for message in added:
            self._check_not_streamed(message.id)
        self._store_streamed()
        for message in added:
            self._messages[message.id] = message
            self._sources[message.id] = source
            if source == "memory":
                self._saved[message.id] = message
        results = {part.id for message in added for part in _results_in(message)}
        if results:
            self._merge_results(results)
        return tuple(added)

    def remove(self, *ids: str) -> tuple[Message, ...]:
        """Remove messages by id and return them. With an unknown id none is removed (`NotFoundError`)."""
        self._end_complete_stream()
        for id_ in ids:
            self._check_not_streamed(id_)
            if id_ not in self._messages:
                raise NotFoundError(f"no message {id_!r} in the list", hint="give ids of `messages`")
        for id_ in ids:
            self._saved.pop(id_, None)
            self._sources.pop(id_, None)
        return tuple([self._messages.pop(id_) for id_ in dict.fromkeys(ids)])

    def _loaded(self, payload: Json, name: str | None) -> Sequence[Message]:
        def read(format_: Format) -> Loaded:
            if format_.load is None:
                raise FormatError(f"{format_.name} is a stream", hint="feed() takes it, event by event")
            return format_.load(payload)

        loaded = detect_and_read(payload, read)[0] if name is None else read(get_format(name))
        self.losses += loaded.losses
        return self._with_new_ids(loaded.messages, payload)

    def _with_new_ids(self, messages: Sequence[Message], payload: Json) -> Sequence[Message]:
        """The messages; ids that the format generated are replaced if the list already has them."""
        items = payload if is_array(payload) else [payload]
        given = {item["id"] for item in items if is_object(item) and isinstance(item.get("id"), str)}
        known = self._now().keys() - given
        return [
            replace(message, id=new_id())
            if message.id in known and _GENERATED.fullmatch(message.id)
            else message
            for message in messages
        ]

    def _replace_all(self, messages: Mapping[str, Message]) -> None:
        """Change the dictionary in place: the stream looks up messages in it."""
        self._messages.clear()
        self._messages.update(messages)

    def _check_not_streamed(self, id_: str) -> None:
        if any(message.id == id_ for message in self._streamed()):
            raise ConflictError(f"message {id_!r} is being streamed", hint="call end() first")

    # Results of tools

    def _merge_results(self, results: set[str]) -> None:
        """Put results into their calls. A call that was given up accepts a late result."""
        self._feed_results()
        open_calls = {
            part.id
            for message in self._messages.values()
            for part in message.parts
            if isinstance(part, ToolCallPart) and part.output is None
        }
        late = results - open_calls
        for message in reversed(self._messages.values()):
            if isinstance(message, AssistantMessage) and (found := late & _given_up(message)):
                self._messages[message.id] = _reopened(message, found)
                late -= found
        merged = {message.id: message for message in fold(list(self._messages.values()))}
        for id_ in self._messages.keys() - merged.keys():
            self._sources.pop(id_, None)
        self._replace_all(merged)

    def _feed_results(self) -> None:
        """Merge the results of calls that are being streamed: the stream has these messages, not the list."""
        if self._stream is None:
            return
        waiting = {
            part.id
            for message in self._streamed()
            for part in message.parts
            if isinstance(part, ToolCallPart) and isinstance(part.output, InterruptedOutput | None)
        }
        for message in [each for each in self._messages.values() if isinstance(each, ToolMessage)]:
            rest: list[ToolPart] = []
            for part in message.parts:
                if isinstance(part, ToolResultPart) and part.id in waiting:
                    waiting.discard(part.id)
                    output = ToolOutputChunk(part.id, part.output, provider_metadata=part.provider_metadata)
                    self._apply(output)
                else:
                    rest.append(part)
            if rest or not message.parts:
                content = replace(message.content, parts=tuple(rest))
                self._messages[message.id] = replace(message, content=content)
            else:
                del self._messages[message.id], self._sources[message.id]
        self._store_streamed()

    def _owner(self, call_id: str) -> str | None:
        """The id of the newest message that has a call."""
        for message in reversed(self._now().values()):
            if any(isinstance(part, ToolCallPart) and part.id == call_id for part in message.parts):
                return message.id
        return None

    # Streams

    def feed(self, event: Chunk | Json, *, format: str = "ai-sdk-chunks", id: str = "") -> None:
        """Apply the next event of a stream: a chunk, or an event of a stream of that format.

        A `start` with the id of a message of the list continues it, and so does `id`. The result of a tool
        goes to its call, in whichever message it is. `id` is also for a message without an id of its own.
        """
        for chunk in [event] if _is_chunk(event) else self._decode(event, format):
            self._apply(chunk, id)

    def update_from_stream_part(self, part: Json, *, version: Version = 7) -> None:
        """Apply the next part of `fullStream` of an AI SDK (`TextStreamPart`)."""
        self.feed(part, format=f"ai-sdk-full-stream-v{version}")

    def _apply(self, chunk: Chunk, id_: str = "") -> None:
        if self._stream is None:
            self._unnamed = new_id()
            self._stream = MessagesAccumulator(id=self._unnamed, known=self._messages)
            if id_:
                self._stream.feed(MessageStart(id_))
        stream = self._stream
        owner = self._owner_of(chunk)
        left = stream.current_id if owner not in (None, stream.current_id) else None
        if left is not None:
            stream.feed(MessageStart(owner))
        stream.feed(chunk)
        if stream.current_id not in self._steps:
            known = self._messages.get(stream.current_id)
            self._steps[stream.current_id] = 0 if known is None else len(known.parts)
            self._continued[stream.current_id] = frozenset(() if known is None else _calls_in(known))
        match chunk:
            case MessageStart():
                self._complete.discard(stream.current_id)
            case StepFinish():
                self._steps[stream.current_id] = len(stream.current.parts)
            case ErrorChunk(error_text=text):
                self.errors.append(text)
            case MessageFinish():
                self._complete.add(stream.current_id)
            case _:
                pass
        if left in self._steps and left not in self._complete:
            stream.feed(MessageStart(left))  # the message that was being streamed continues

    def _owner_of(self, chunk: Chunk) -> str | None:
        """The message that a result or a decision belongs to; `None` if the chunk is of another kind."""
        match chunk:
            case (
                ToolOutputAvailable(tool_call_id=call)
                | ToolOutputError(tool_call_id=call)
                | ToolOutputChunk(tool_call_id=call)
                | ToolOutputDenied(tool_call_id=call)
            ):
                return self._owner(call)
            case ToolApprovalResponse(approval_id=approval):
                for message in reversed(self._now().values()):
                    if any(_has_approval(part, approval) for part in message.parts):
                        return message.id
                return None
            case _:
                return None

    def end(self) -> AssistantMessage | None:
        """End the stream and return its current message; `None` if there was no stream.

        Without a `finish`, the stream was cut: its calls without an output are given up.
        """
        decoder, self._decoder = self._decoder, None
        if decoder is not None:
            self._finish_decoder(decoder[1])
        stream = self._stream
        if stream is None:
            return None
        self._end_stream()
        ended = self._messages.get(stream.current_id)
        return ended if isinstance(ended, AssistantMessage) else None

    def _end_complete_stream(self) -> None:
        if self._stream is not None and self._stream.current_id in self._complete:
            self._end_stream()

    def _end_stream(self) -> None:
        self._store_streamed()
        for message in self._streamed():
            ended = close_message(message)
            if message.id not in self._complete:
                ended = _with_calls_given_up(ended, self._continued.get(message.id, frozenset()))
            self._messages[message.id] = ended
        self._stream = None
        self._steps.clear()
        self._continued.clear()
        self._complete.clear()

    def _store_streamed(self) -> None:
        """Add the streamed messages to the list, or update them there."""
        for message in self._streamed():
            self._messages[message.id] = message
            self._sources.setdefault(message.id, "response")

    def _decode(self, event: Json, name: str) -> list[Chunk]:
        if self._decoder is None or self._decoder[0] != name:
            format_ = get_format(name)
            if format_.decoder is None:
                raise FormatError(f"{format_.name} does not stream", hint="add() takes it as a whole")
            if self._decoder is not None:
                self._finish_decoder(self._decoder[1])
            self._decoder = (name, format_.decoder())
        return self._decoder[1].feed(event)

    def _finish_decoder(self, decoder: Decoder) -> None:
        for chunk in decoder.finish():
            self._apply(chunk)
        self.losses += losses_of(decoder)

    # Saving

    def unsaved(self, at: Boundary = "message") -> tuple[Message, ...]:
        """The messages that are new or changed since the last `drain`, without those of source `context`.

        `at` is how much of a message that is being streamed is included: nothing before it is complete, the
        finished steps, or the closed parts.
        """
        return tuple(
            message
            for message in map(self._with_thread, self._up_to(at))
            if self._sources.get(message.id) != "context" and self._saved.get(message.id) != message
        )

    def drain(self, at: Boundary = "message") -> tuple[Message, ...]:
        """The unsaved messages, which then count as saved. Saving a message replaces the one with its id."""
        unsaved = self.unsaved(at)
        self._saved |= {message.id: message for message in unsaved}
        return unsaved

    def _with_thread(self, message: Message) -> Message:
        has_thread = message.thread_id is not None or self._thread_id is None
        return message if has_thread else replace(message, thread_id=self._thread_id)

    def _up_to(self, at: Boundary) -> Iterator[Message]:
        streamed = {message.id for message in self._streamed()}
        for message in self._now().values():
            if not isinstance(message, AssistantMessage) or message.id not in streamed - self._complete:
                yield message
            elif at != "message":
                number = self._steps.get(message.id, 0)
                parts = message.parts[:number] if at == "step" else tuple(filter(_is_closed, message.parts))
                if parts:
                    yield replace(message, content=replace(message.content, parts=parts))

    # Views

    def canonical(self, source: MessageSource | None = None) -> tuple[Message, ...]:
        """The canonical messages: all, or those of one source."""
        return tuple(
            message
            for message in self.messages
            if source in (None, self._sources.get(message.id, "response"))
        )

    def ui(self, version: Version = 7, *, source: MessageSource | None = None) -> Json:
        """The messages as UI messages of an AI SDK."""
        return dump_ui(self.canonical(source), version=version).payload

    def model(self, *, source: MessageSource | None = None) -> ModelView:
        """The messages as a model receives them, each call with one output, and the repairs for that."""
        return model_view(self.canonical(source))

    def to(self, format: str, *, source: MessageSource | None = None, **options: Json) -> Dumped:
        """The messages in any format that can be written, with its losses; `options` are the format's."""
        return get_dump(format)(self.canonical(source), **options)


def _is_chunk(event: Json) -> TypeGuard[Chunk]:
    return isinstance(event, Value)


def _are_messages(payload: Json) -> TypeGuard[Sequence[Message]]:
    each: Sequence[object] = payload if payload.__class__ in (list, tuple) else (None,)
    return all(isinstance(one, MESSAGE_TYPES) for one in each)


def _results_in(message: Message) -> Iterator[ToolResultPart]:
    if isinstance(message, ToolMessage):
        yield from (part for part in message.parts if isinstance(part, ToolResultPart))


def _has_approval(part: object, approval_id: str) -> bool:
    return isinstance(part, ToolCallPart) and part.approval is not None and part.approval.id == approval_id


def _calls_in(message: Message) -> Iterator[str]:
    yield from (part.id for part in message.parts if isinstance(part, ToolCallPart))


def _with_calls_given_up(message: AssistantMessage, calls: frozenset[str]) -> AssistantMessage:
    """A message whose stream was cut: its open calls are given up, except for those that it had before."""
    closed = close_message(message, "lost")
    parts = tuple(
        before if isinstance(before, ToolCallPart) and before.id in calls else part
        for before, part in zip(message.parts, closed.parts, strict=True)
    )
    return replace(closed, content=replace(closed.content, parts=parts))


def _given_up(message: AssistantMessage) -> set[str]:
    """The calls that were given up."""
    return {
        part.id
        for part in message.parts
        if isinstance(part, ToolCallPart) and isinstance(part.output, InterruptedOutput)
    }


def _reopened(message: AssistantMessage, calls: set[str]) -> AssistantMessage:
    """A message in which calls that were given up wait for an output."""
    parts = tuple(
        replace(part, output=None, state=state_before(part))
        if isinstance(part, ToolCallPart) and part.id in calls and isinstance(part.output, InterruptedOutput)
        else part
        for part in message.parts
    )
    return replace(message, content=replace(message.content, parts=parts))


def _is_closed(part: AssistantPart) -> bool:
    match part:
        case TextPart(state="streaming") | ReasoningPart(state="streaming"):
            return False
        case ToolCallPart(state="input-streaming"):
            return False
        case _:
            return True
