"""A payload of one format in another: read, written, and looked over so that nothing is lost in silence."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from msgspec.structs import replace as struct_replace

from partita.errors import FormatError, PartitaError
from partita.types.codec import to_json
from partita.types.json import Json, is_array
from partita.types.value import unkept

from .carrying import carried, unpacked
from .checking.canonical import IMPLIED
from .checking.check import unaccounted
from .checking.held import Held
from .events import load_events
from .format import Dumped, Format, Implied, Loaded, Request, ToolSpec
from .losses import Loss
from .own import CHAT
from .registry import get_format
from .sniff import Guess, guess_format, sniff

UNREAD: Final = "messages have no place for it"
OF_ANOTHER_API: Final = "a setting of a request, in the words of another API"
NO_TOOLS: Final = "the format has no place for the tools of a request"

_MADE_UP: Final = re.compile(r'"(message-\d+|instructions|system)"')


@dataclass(frozen=True, slots=True)
class Converted:
    """A payload in another format, and everything that reading and writing could not carry."""

    payload: Json
    losses: tuple[Loss, ...]
    source: str
    """The format that it was read as."""
    guess: Guess | None = None
    """How sure that is, when no format was named."""

    @property
    def lossless(self) -> bool:
        """Whether everything was carried."""
        return not self.losses


def convert(
    payload: Json, source: str | None = None, target: str = "canonical", *, carry: bool = False
) -> Converted:
    """A payload of one format in another, with the losses of both ways.

    `source` is guessed when it is not given; a list of events of a stream is folded. With `carry`, what the
    target has no place for goes along in its metadata field, where it has one, and nothing of it is lost:
    to convert it back gives what there was.
    """
    writing = get_format(target)
    if source is None:
        loaded, guess = read_guessed(payload, partial(read, payload))
        name = guess.format
    else:
        reading, guess = get_format(source), None
        loaded, name = read(payload, reading), reading.name
    dumped = write(loaded, writing, carry=carry)
    return Converted(dumped.payload, (*loaded.losses, *dumped.losses), name, guess)


def read_guessed(payload: Json, reader: Callable[[Format], Loaded]) -> tuple[Loaded, Guess]:
    """What `reader` returns for the likeliest format that accepts the payload, and that guess.

    When all formats refuse the payload, the error is that of the likeliest.
    """
    guesses = (guess_format(payload), *sniff(payload)[1:])
    refusals: list[tuple[Guess, PartitaError]] = []
    for guess in guesses:
        try:
            loaded = reader(get_format(guess.format))
        except PartitaError as error:
            refusals.append((guess, error))
        else:
            refused = [
                f"{other.format} refuses it: {error.what} ({error.where})" for other, error in refusals
            ]
            return loaded, guess._replace(why="; ".join([guess.why, *refused]))
    raise refusals[0][1]


def read(payload: Json, reading: Format) -> Loaded:
    """The messages of a payload, with what it carries along, and every loss."""
    loaded = unpacked(payload, reading) or _load(payload, reading)
    request = loaded.request or Request()
    found = [to_json(loaded.messages), *map(to_json, request.tools), request.settings]
    held = Held([*found, [loss.what for loss in loaded.losses]])
    implied: Implied = reading.implied() if reading.implied else {}
    bare = reading.slot.take(payload)[0] if reading.slot else payload
    missed = unaccounted(bare, held, loaded.losses, implied, UNREAD)
    asked = loaded.request and replace(loaded.request, api=loaded.request.api or reading.name)
    return Loaded(loaded.messages, (*loaded.losses, *missed), asked)


def write(loaded: Loaded, writing: Format, *, carry: bool = False) -> Dumped:
    """Messages in a format, and every loss. The settings of a request go to the API they were written for."""
    dumped = _dump(loaded, writing)
    if carry:
        filled = carried(dumped.payload, loaded, writing)
        if filled is not None:
            return Dumped(filled)
    held = Held([dumped.payload, _read_again(dumped.payload, writing), [loss.what for loss in dumped.losses]])
    why = f"no place for it in: {writing.title}"
    missed = unaccounted(to_json(loaded.messages), held, dumped.losses, IMPLIED, why, counted=True)
    return Dumped(dumped.payload, tuple(map(_weighed, (*dumped.losses, *missed))))


def _weighed(loss: Loss) -> Loss:
    """A loss; nobody misses an id that was made up when the messages were read."""
    is_made_up = loss.path.endswith("].id") and _MADE_UP.fullmatch(loss.what)
    return loss._replace(severity="minor") if is_made_up else loss


def _load(payload: Json, reading: Format) -> Loaded:
    if reading.load is not None:
        return reading.load(payload)
    if reading.decoder is None:
        raise FormatError(f"{reading.name} can be written but not read", hint="choose another source")
    return load_events(reading.decoder(), payload if is_array(payload) else [payload])


def _dump(loaded: Loaded, writing: Format) -> Dumped:
    if writing.dump is None:
        raise FormatError(f"{writing.name} can be read but not written", hint="choose another target")
    request = loaded.request
    if request is None:
        return writing.dump(loaded.messages)
    same = writing.ask is not None and _is_same_api(request.api, writing.name)
    losses = [] if same else list(_settings(request))
    if writing.ask is None:
        dumped = writing.dump(loaded.messages)
        losses += [Loss.of(f"$.tools[{i}]", to_json(one), NO_TOOLS) for i, one in enumerate(request.tools)]
    else:
        losses += [] if same else _members(request)
        dumped = writing.ask(loaded.messages, request if same else Request(_bare(request)))
    return Dumped(dumped.payload, (*losses, *dumped.losses))


def _settings(request: Request) -> Sequence[Loss]:
    return [Loss.of(f"$.{name}", value, OF_ANOTHER_API) for name, value in request.settings.items()]


def _members(request: Request) -> Sequence[Loss]:
    """What tools say that another API has no word for."""
    return [
        Loss.of(f"$.tools[{index}].{name}", value, OF_ANOTHER_API)
        for index, tool in enumerate(request.tools)
        for name, value in unkept(tool.extra).items()
    ]


def _bare(request: Request) -> tuple[ToolSpec, ...]:
    return tuple(struct_replace(tool, extra=None) for tool in request.tools)


def _read_again(payload: Json, writing: Format) -> Json:
    """The messages that a payload amounts to, in our own words."""
    if writing.load is None:
        return None
    try:
        return to_json(writing.load(payload).messages)
    except PartitaError:
        return None


def _is_same_api(one: str, other: str) -> bool:
    return one == other or (one.startswith(CHAT) and other.startswith(CHAT))
