"""A tool call made ready to be drawn: its input, and its output with large values fetched or told of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from msgspec import UNSET

from partita.errors import DecodeError
from partita.store.blob_moves import REFERENCE
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .look import Look
from .text import size_of

LARGEST = 1_000_000
"""How many bytes are fetched for an output of which a few lines are shown."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool gave back: words, or JSON, and beside them files; or a word on why there is nothing."""

    text: str = ""
    value: Json = None
    files: tuple[ImagePart | FilePart, ...] = ()
    others: tuple[ForeignPart | UnknownPart, ...] = ()
    withheld: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call, as those who draw it want to see it."""

    part: ToolCallPart
    look: Look
    input: JsonObject  # empty when the input is no object
    words: str  # the input when it is text
    given: Given

    @property
    def failed(self) -> bool:
        """Whether the tool said that it failed."""
        return isinstance(self.part.output, ErrorTextOutput | ErrorJsonOutput)

    @property
    def succeeded(self) -> bool:
        """Whether something came of it."""
        return isinstance(self.part.output, TextOutput | JsonOutput | ContentOutput)

    def word(self, *names: str) -> str:
        """The first of these members of the input that is a text."""
        return first_text(self.input, *names)

    def details(self) -> Iterator[JsonObject]:
        """What the agent's program kept about the call, beside what the model saw; the richest first."""
        for namespace in (self.part.tool_metadata or {}).values():
            if is_object(namespace):
                for name in ("toolUseResult", "resultDisplay", "metadata"):
                    inner: Json = namespace.get(name)
                    if is_object(inner):
                        yield inner
                yield namespace
        if is_object(self.given.value):
            yield self.given.value

    def detail(self, *names: str) -> Json:
        """The first of these that the details tell; `None` when none does."""
        return next((found[name] for found in self.details() for name in names if name in found), None)


def ready(part: ToolCallPart, look: Look) -> Call:
    """A call made ready to be drawn."""
    given: Json = part.raw_input if part.input is UNSET else part.input
    if isinstance(given, str) and given[:1] == "{":
        given = _parsed(given)
    return Call(
        part,
        look,
        given if is_object(given) else {},
        given if isinstance(given, str) else "",
        loaded(part.output, look),
    )


def _parsed(text: str) -> Json:
    """The object that some agents write as text."""
    try:
        value = loads(text)
    except DecodeError:
        return text
    return value if is_object(value) else text


def loaded(output: ToolOutput | None, look: Look) -> Given:
    """What an output holds; of a large one only that it is there, unless all is asked for."""
    match output:
        case None | ExecutionDeniedOutput() | InterruptedOutput():
            return Given()
        case TextOutput(value=text) | ErrorTextOutput(value=text):
            return _resolved(text, look)
        case JsonOutput(value=value) | ErrorJsonOutput(value=value):
            return _resolved(value, look) if isinstance(value, str) else Given(value=value)
        case ContentOutput(value=items):
            texts = [_resolved(item.text, look) for item in items if isinstance(item, TextPart)]
            return Given(
                text="\n".join(item.text for item in texts if item.text),
                files=tuple(item for item in items if isinstance(item, ImagePart | FilePart)),
                others=tuple(item for item in items if isinstance(item, ForeignPart | UnknownPart)),
                withheld="; ".join(item.withheld for item in texts if item.withheld),
            )
        case _:
            assert_never(output)


def _resolved(text: str, look: Look) -> Given:
    """The value that a reference stands for; a text that is none is the value."""
    match = REFERENCE.fullmatch(text) if text.startswith("blob:") else None
    if match is None or match["rest"] not in ("text", "json"):
        return Given(text=text)
    size = look.blobs.size(text)
    if size is None:
        return Given(withheld="it was kept apart, and is gone")
    if size > LARGEST and not look.full:
        return Given(withheld=f"{size_of(size)}; --full shows it")
    data = look.blobs.read(text)
    if data is None:
        return Given(withheld="it was kept apart, and is gone")
    if match["rest"] == "text":
        return Given(text=data.decode("utf-8", "surrogatepass"))
    value: Json = loads(data)
    return Given(text=value) if isinstance(value, str) else Given(value=value)


def first_text(holder: JsonObject, *names: str) -> str:
    """The first of these members that is a text with something in it."""
    return next((value for name in names if isinstance(value := holder.get(name), str) and value.strip()), "")


def objects(value: Json) -> list[JsonObject]:
    """The objects in an array; none when it is no array."""
    return [item for item in value if is_object(item)] if is_array(value) else []


def whole_number(value: Json) -> int | None:
    """The number, if it is one: not true, not a text."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
