"""What a format is: a name, and pure functions between its payloads and canonical messages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from partita.formats.losses import NO_PLACE, UNREAD
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, limited_depth
from partita.types.messages import Message
from partita.types.tool_results import fold
from partita.types.value import Value

from .log.session_file import SessionFacts
from .losses import Loss, json_losses


class ToolSpec(Value):
    """A tool as a model sees it: its name, its description, and the JSON schema of its input."""

    name: str
    description: str | None = None
    input_schema: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a request to a model has in addition to its messages."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that any model can have."""
    settings: JsonObject = field(default_factory=dict[str, Any])
    """Everything else, as the API has it: the model, tools of its own, options."""
    api: str = ""
    """The format that the settings are for."""


FoundLosses: TypeAlias = Sequence[Loss] | Callable[[], Iterable[Loss]]
"""Losses, or a function that finds them."""


class _Converted:
    """Losses that are found when they are read for the first time.

    They are found by comparing what was given with what was returned: read them before you change either.
    """

    __slots__ = ("_losses",)

    def __init__(self, losses: FoundLosses) -> None:
        self._losses = losses

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What could not be carried over."""
        if not isinstance(self._losses, tuple):
            found = self._losses
            with limited_depth():
                self._losses = tuple(found() if callable(found) else found)
        return self._losses

    @property
    def lossless(self) -> bool:
        """Whether everything was carried over."""
        return not self.losses


class Loaded(_Converted):
    """Messages read from a payload, and what could not be carried over."""

    __slots__ = ("again", "is_complete", "messages", "request")

    def __init__(
        self,
        messages: tuple[Message, ...],
        losses: FoundLosses = (),
        request: Request | None = None,
        *,
        is_complete: bool = False,
        again: Callable[[], Json] | None = None,
    ) -> None:
        """`request`: the rest of the request that the messages came in, if they did.

        `is_complete`: the losses are complete, as those of a stream, which is not written back.
        `again`: writes the payload back, if it has another form than the one that `dump` writes.
        """
        super().__init__(losses)
        self.messages, self.request, self.is_complete = messages, request, is_complete
        self.again = again

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Loaded):
            return NotImplemented
        same = (self.messages, self.request) == (other.messages, other.request)
        return same and self.losses == other.losses

    __hash__ = None  # type: ignore[assignment] # it can be changed

    def __repr__(self) -> str:
        return f"Loaded({self.messages!r}, {self.losses!r}, {self.request!r})"


class Dumped(_Converted):
    """A payload made of messages, and what could not be carried over."""

    __slots__ = ("payload",)

    def __init__(self, payload: Json, losses: FoundLosses = ()) -> None:
        super().__init__(losses)
        self.payload = payload

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dumped):
            return NotImplemented
        return bool(self.payload == other.payload) and self.losses == other.losses

    __hash__ = None  # type: ignore[assignment] # a payload is not hashable

    def __repr__(self) -> str:
        return f"Dumped({self.payload!r}, {self.losses!r})"


class Decoder(Protocol):
    """Events of a stream in, chunks out.

    A decoder that cannot express everything in chunks lists the rest in an attribute `losses`.
    """

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of an event."""
        ...

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        ...


def losses_of(decoder: Decoder) -> tuple[Loss, ...]:
    """What a decoder could not express in chunks: its `losses`, if it keeps such a list."""
    return tuple(getattr(decoder, "losses", ()))


class Encoder(Protocol):
    """Chunks in, events of a stream out."""

    @property
    def losses(self) -> Sequence[Loss]:
        """What could not be written so far; a path begins with the number of the chunk."""
        ...

    def feed(self, chunk: Chunk) -> list[Json]:
        """The events of a chunk."""
        ...

    def finish(self) -> list[Json]:
        """The events that close what is open when the chunks end."""
        ...


class Slot(NamedTuple):
    """A metadata field of a payload, for what its format has no place for."""

    put: Callable[[Json, JsonObject], Json]
    """The payload with an object in the slot."""
    take: Callable[[Json], tuple[Json, JsonObject | None]]
    """The payload without what was in the slot, and what was in it."""


@dataclass(frozen=True, slots=True)
class HttpApi:
    """The HTTP API that takes the requests of a format, so that agents can use its models by name.

    A request is sent by POST. Its response is a stream of server-sent events, which the decoder of the format
    reads, or one JSON body.
    """

    base_url: str
    """The environment variable `NAME_BASE_URL`, after the name of the format, replaces it."""
    path: str
    """The path of requests, after the base URL. `{model}` in it is the model; otherwise the body names it."""
    key_variable: str = ""
    """The environment variable that has the key; empty if the API has no keys."""
    headers: Mapping[str, str] = field(default_factory=lambda: {"authorization": "Bearer {key}"})
    """Headers of a request, with `{key}` for the key. Headers with a key are left out if there is none."""
    settings: JsonObject = field(default_factory=lambda: {"stream": True})
    """Settings of every request, unless others are given."""


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format. It has no function for what it cannot do."""

    name: str
    title: str
    load: Callable[[Json], Loaded] | None = None
    dump: Callable[..., Dumped] | None = None
    """Writes messages. Options of the format itself are named: `dump(messages, network="field")`."""
    decoder: Callable[[], Decoder] | None = None
    encoder: Callable[[], Encoder] | None = None
    takes_request: bool = False
    """Whether `dump(messages, request)` writes a whole request: messages, tools, and settings of this API."""
    slot: Slot | None = None
    dump_session: Callable[[Sequence[Message], SessionFacts], Dumped] | None = None
    """Writes a session file: the messages, and what is known of their session."""
    session_path: Callable[[Json], str] | None = None
    """Where the agent looks for a session file, by its records."""
    is_complete: bool = False
    """Whether `dump` reports all of its losses. Otherwise messages are compared with those read back.

    Losses of `load` include what `dump` does not write back, unless the `Loaded` is complete by itself. If
    there is no `dump`, they include members of records that no message depends on.
    """
    http_api: HttpApi | None = None
    """The API behind the format. With it, `Agent("NAME:MODEL")` sends requests that `dump` writes."""

    def __post_init__(self) -> None:
        load, dump = self.load, self.dump
        if load is not None and dump is not None:
            object.__setattr__(self, "load", partial(_load_completely, load, dump, self.name))
            if not self.is_complete:
                dump = partial(_dump_completely, load, dump)
        elif load is not None:
            object.__setattr__(self, "load", limited_depth()(load))
        if dump is not None:
            object.__setattr__(self, "dump", limited_depth()(dump))


@limited_depth()
def _load_completely(
    load: Callable[[Json], Loaded], dump: Callable[..., Dumped], name: str, payload: Json
) -> Loaded:
    """What `load` returns, whose losses include what `dump` does not write back."""
    loaded = load(payload)
    if loaded.is_complete:
        return loaded
    request = loaded.request and replace(loaded.request, api=loaded.request.api or name)

    def losses() -> Iterator[Loss]:
        if loaded.again is not None:
            again = loaded.again()
        else:
            again = dump(loaded.messages, *([request] if request else [])).payload
        given = [payload] if isinstance(again, list) and not isinstance(payload, list) else payload
        reported = tuple(loss.path for loss in loaded.losses)
        yield from loaded.losses
        for loss in json_losses(given, again, "$", UNREAD):
            if not loss.path.startswith(reported):
                yield loss

    return Loaded(loaded.messages, losses, request, is_complete=True)


def _dump_completely(
    load: Callable[[Json], Loaded],
    dump: Callable[..., Dumped],
    messages: Sequence[Message],
    *more: Any,
    **options: Any,
) -> Dumped:
    """What `dump` returns, whose losses include what is not read back."""
    dumped = dump(messages, *more, **options)

    def losses() -> Iterator[Loss]:
        yield from dumped.losses
        reported = tuple(loss.path for loss in dumped.losses)
        again = load(dumped.payload).messages
        for loss in json_losses(to_json(fold(messages)), to_json(fold(again)), "$", NO_PLACE):
            if not loss.path.startswith(reported):
                yield loss

    return Dumped(dumped.payload, losses)
