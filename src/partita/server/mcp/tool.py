"""A tool: its name and schemas, the function that it calls, and the arguments that several tools share."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from partita.errors import DecodeError
from partita.types.json import JsonObject, dumps

from . import untrusted
from .archive import Archive

A = TypeVar("A", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)
T = TypeVar("T")

DEFAULT_CHARS: Final = 20_000
MIN_CHARS: Final = 1_000
MAX_CHARS: Final = 200_000

MAX_TITLE: Final = 200
"""How many characters of a title are shown."""


# Arguments that several tools share. Their descriptions are part of the schemas.

Agent: TypeAlias = Annotated[
    str | None, Meta(description='Only sessions of this agent, such as "claude-code" or "codex".')
]
Project: TypeAlias = Annotated[
    str | None,
    Meta(description='Only sessions of this project: the absolute path of its folder; "." is the one here.'),
]
Since: TypeAlias = Annotated[
    str | None,
    Meta(description='Not before this time: "2026-03-01", "2026-03-01T14:00Z", "today", "3h", "7d".'),
]
Until: TypeAlias = Annotated[str | None, Meta(description="Before this time, in the same form.")]
Cursor: TypeAlias = Annotated[
    str | None, Meta(description="next_cursor of the previous result, to continue.")
]
SessionId: TypeAlias = Annotated[
    str,
    Meta(min_length=1, description='The id of a session, the beginning of one, or "last" for the newest.'),
]
MaxChars: TypeAlias = Annotated[
    int,
    Meta(ge=MIN_CHARS, le=MAX_CHARS, description="About how many characters the result may have."),
]


# The class docstrings of arguments and results are the descriptions in the schemas.


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """The arguments of a tool."""


class Result(msgspec.Struct, omit_defaults=True):
    """The result of a tool, or a part of it."""


class Output(NamedTuple):
    """The result of a call: as text for the model, and as data."""

    text: str
    data: JsonObject


@dataclass(frozen=True)
class Tool(Generic[A, R]):
    """A tool that reads sessions."""

    name: str
    title: str
    summary: str
    """The description without the notice about untrusted text."""
    takes: type[A]
    gives: type[R]
    function: Callable[[Archive, A], Awaitable[R]]
    render: Callable[[R], str]
    """Renders a result as text."""

    @property
    def description(self) -> str:
        """The description for models."""
        return f"{self.summary} {untrusted.DESCRIPTION}"

    @cached_property
    def input_schema(self) -> JsonObject:
        """The JSON schema of the arguments."""
        return schema_of(self.takes)

    @cached_property
    def output_schema(self) -> JsonObject:
        """The JSON schema of the data of a result."""
        schema = schema_of(self.gives)
        notice = {"type": "string", "description": untrusted.DESCRIPTION}
        return schema | {"properties": {"notice": notice, **schema["properties"]}}

    async def call(self, archive: Archive, arguments: JsonObject) -> Output:
        """Call the tool with the arguments of a request."""
        result = await self.function(archive, self._convert(arguments))
        return Output(self.render(result), {"notice": untrusted.NOTICE, **msgspec.to_builtins(result)})

    def _convert(self, arguments: JsonObject) -> A:
        try:
            return msgspec.convert(arguments, self.takes)
        except msgspec.ValidationError as error:
            fields = msgspec.structs.fields(self.takes)
            names = ", ".join(f"{one.encode_name}{' (required)' if one.required else ''}" for one in fields)
            raise DecodeError(f"{error}", hint=f"{self.name} takes {names}") from None


def schema_of(type_: type[msgspec.Struct]) -> JsonObject:
    """The JSON schema of a type: an object, with the types that it refers to in `$defs`."""
    (reference,), named = msgspec.json.schema_components([type_], ref_template="#/$defs/{name}")
    rest: dict[str, Any] = dict(named)
    schema: JsonObject = rest.pop(reference["$ref"].rpartition("/")[2])
    schema.pop("title", None)
    return schema | ({"$defs": rest} if rest else {})


def result_text(lines: list[str], note: str | None) -> str:
    """The text of a result: session text, marked as untrusted, then the server's own note."""
    return "\n".join([untrusted.marked("\n".join(lines)), *([f"\n({note})"] if note else [])])


# The size of results


def size_of(value: object) -> int:
    """How many characters a value has as JSON."""
    return len(dumps(value).decode(errors="replace"))


def count_fitting(values: Sequence[object], max_chars: int) -> int:
    """How many values, in order, fit into so many characters. The first one always counts."""
    used = 0
    for count, value in enumerate(values):
        used += size_of(value) + 1
        if used > max_chars and count:
            return count
    return len(values)


def fitting(values: Sequence[T], max_chars: int) -> Sequence[T]:
    """The first values, as many as fit."""
    return values[: count_fitting(values, max_chars)]
