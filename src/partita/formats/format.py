"""What a format is: a name, and functions that convert its payloads to canonical messages and back.

`Format.load` returns a `Loaded`, `Format.dump` a `Dumped`. Both find their losses only when these are read.
`Decoder` and `Encoder` are for streams. Formats are made in the folders beside this module, and found by name
in `registry`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from partita.formats.losses import NO_PLACE, UNREAD
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, limited_depth
from partita.types.messages import Message
from partita.types.tool_results import fold
from partita.types.value import Value

from .log.session_file import SessionFacts
from .losses import Loss, json_losses

GENERATED_ID: Final = re.compile(r"message-[0-9]+")
"""The ids that formats give to messages without one. They are the same in every payload."""


class ToolSpec(Value):
    """A tool as a model sees it: its name, its description, and the JSON schema of its input."""

    name: str
    description: str | None = None
    input_schema: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a request to a model besides its messages."""

    tools: tuple[ToolSpec, ...] = ()
    """The tools that any API can express."""
    settings: JsonObject = field(default_factory=dict[str, Any])
    """Everything else, as the API has it: the model, options, tools that only this API has."""
    api: str = ""
    """The format that the settings are for."""


FoundLosses: TypeAlias = Sequence[Loss] | Callable[[], Iterable[Loss]]
"""Losses, or a function that finds them."""


class _Converted:
    """Losses, which are found when they are read for the first time.

    They are found by comparing the input with the output: read them before you change either.
    """

    __slots__ = ("_losses",)

    def __init__(self, losses: FoundLosses) -> None:
        self._losses = losses

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Everything that could not be carried over."""
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
    """Messages that were read from a payload, and what could not be carried over."""

    __slots__ = ("is_complete", "messages", "request", "write_back")

    def __init__(
        self,
        messages: tuple[Message, ...],
        losses: FoundLosses = (),
        request: Request | None = None,
        *,
        is_complete: bool = False,
        write_back: Callable[[], Json] | None = None,
    ) -> None:
        """`request`: the other parts of the request that had the messages.

        `is_complete`: `losses` are all losses. This is so for streams, which cannot be written back and
        compared.
        `write_back`: writes the payload back, if its form is not the one that `dump` writes.
        """
        super().__init__(losses)
        self.messages, self.request, self.is_complete = messages, request, is_complete
        self.write_back = write_back

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Loaded):
            return NotImplemented
        same = (self.messages, self.request) == (other.messages, other.request)
        return same and self.losses == other.losses

    __hash__ = None  # type: ignore[assignment] # it can be changed

    def __repr__(self) -> str:
        return f"Loaded({self.messages!r}, {self.losses!r}, {self.request!r})"


class Dumped(_Converted):
    """A payload that was written, and what could not be carried over."""

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
    """Converts events of a stream to chunks.

    A decoder that cannot express everything in chunks has an attribute `losses` with the rest.
    """

    def feed(self, event: Json) -> list[Chunk]:
        """Return the chunks of an event."""
        ...

    def finish(self) -> list[Chunk]:
        """Return the chunks that end whatever is open when the stream ends."""
        ...


def losses_of(decoder: Decoder) -> tuple[Loss, ...]:
    """Return what a decoder could not express in chunks: its `losses`, if it has that attribute."""
    return tuple(getattr(decoder, "losses", ()))


class Encoder(Protocol):
    """Converts chunks to events of a stream."""

    @property
    def losses(self) -> Sequence[Loss]:
        """What could not be written so far. A path begins with the number of the chunk."""
        ...

    def feed(self, chunk: Chunk) -> list[Json]:
        """Return the events of a chunk."""
        ...

    def finish(self) -> list[Json]:
        """Return the events that end whatever is open when the chunks end."""
        ...


class Slot(NamedTuple):
    """A metadata field that can hold what the format has no place for: see `core.sidecar`."""

    put: Callable[[Json, JsonObject], Json]
    """Returns the payload with an object in the field."""
    take: Callable[[Json], tuple[Json, JsonObject | None]]
    """Returns the payload without that object, and the object, or `None` if there is none."""


@dataclass(frozen=True, slots=True)
class HttpApi:
    """The HTTP API that takes the requests of a format, so that agents can use its models by name.

    A request is sent by POST. Its response is a stream of server-sent events, which the decoder of the format
    reads, or one JSON body.
    """

    base_url: str
    """The URL before `path`.

    The environment variable `NAME_BASE_URL` overrides it (`NAME`: that of the format).
    """
    path: str
    """The path of requests. `{model}` in it is replaced by the model; without it, the body has the model."""
    key_variable: str = ""
    """The environment variable with the key; empty if the API has no keys."""
    headers: Mapping[str, str] = field(default_factory=lambda: {"authorization": "Bearer {key}"})
    """The headers of a request. `{key}` is replaced by the key; without a key, such headers are not sent."""
    settings: JsonObject = field(default_factory=lambda: {"stream": True})
    """Settings of every request, unless the caller sets others."""


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format. A function is `None` if the format cannot do that."""

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
    """Writes a session file, from the messages and the facts of the session."""
    dump_agents: Callable[[Sequence[Message], SessionFacts], Mapping[str, list[Json]]] | None = None
    """Returns the records of sub-agents by the path of their file.

    It is relative to a folder beside the session file, which has the name of that file up to its first dot.
    """
    session_path: Callable[[Json], str] | None = None
    """Returns the path at which the agent looks for a session file with these records."""
    is_complete: bool = False
    """Whether `dump` reports all its losses itself. Otherwise the payload is read back and compared.

    The losses of `load` always include what `dump` does not write back, unless the `Loaded` is complete. If
    there is no `dump`, they include the members of records that no message depends on: see `core.unread`.
    """
    http_api: HttpApi | None = None
    """The API that takes the requests. With it, `Agent("NAME:MODEL")` sends what `dump` writes."""

    def __post_init__(self) -> None:
        load, dump = self.load, self.dump
        if load is not None and dump is not None:
            object.__setattr__(self, "load", partial(_load_and_compare, load, dump, self.name))
            if not self.is_complete:
                dump = partial(_dump_and_compare, load, dump)
        elif load is not None:
            object.__setattr__(self, "load", limited_depth()(load))
        if dump is not None:
            object.__setattr__(self, "dump", limited_depth()(dump))


@limited_depth()
def _load_and_compare(
    load: Callable[[Json], Loaded], dump: Callable[..., Dumped], name: str, payload: Json
) -> Loaded:
    """Call `load`, and add to its losses what `dump` does not write back."""
    loaded = load(payload)
    if loaded.is_complete:
        return loaded
    request = loaded.request and replace(loaded.request, api=loaded.request.api or name)

    def losses() -> Iterator[Loss]:
        if loaded.write_back is not None:
            written = loaded.write_back()
        else:
            written = dump(loaded.messages, *([request] if request else [])).payload
        original = [payload] if isinstance(written, list) and not isinstance(payload, list) else payload
        reported = tuple(loss.path for loss in loaded.losses)
        yield from loaded.losses
        for loss in json_losses(original, written, "$", UNREAD):
            if not loss.path.startswith(reported):
                yield loss

    return Loaded(loaded.messages, losses, request, is_complete=True)


def _dump_and_compare(
    load: Callable[[Json], Loaded],
    dump: Callable[..., Dumped],
    messages: Sequence[Message],
    *more: Any,
    **options: Any,
) -> Dumped:
    """Call `dump`, and add to its losses what `load` does not read back."""
    dumped = dump(messages, *more, **options)

    def losses() -> Iterator[Loss]:
        yield from dumped.losses
        reported = tuple(loss.path for loss in dumped.losses)
        read_back = load(dumped.payload).messages
        for loss in json_losses(to_json(fold(messages)), to_json(fold(read_back)), "$", NO_PLACE):
            if not loss.path.startswith(reported):
                yield loss

    return Dumped(dumped.payload, losses)
