"""A tool: what a model is told of it, what it takes and gives, and the function that answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec

from partita.errors import DecodeError
from partita.types.json import JsonObject

from . import untrusted
from .archive import Archive
from .versions import Dialect

A = TypeVar("A", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """What a tool takes."""


class Answer(msgspec.Struct, omit_defaults=True):
    """What a tool gives, or a part of it."""


@dataclass(frozen=True)
class Tool(Generic[A, R]):
    """A tool that reads."""

    name: str
    title: str
    description: str
    takes: type[A]
    gives: type[R]
    call: Callable[[Archive, A], Awaitable[R]]
    text: Callable[[R], str]

    def told(self, dialect: Dialect) -> JsonObject:
        """The tool as a client lists it."""
        told: JsonObject = {
            "name": self.name,
            "description": f"{self.description} {untrusted.DESCRIPTION}",
            "inputSchema": self._schemas[0],
        }
        if dialect.annotated:
            told["annotations"] = {"title": self.title, "readOnlyHint": True, "openWorldHint": True}
        if dialect.structured:
            told |= {"title": self.title, "outputSchema": self._schemas[1]}
        return told

    async def answer(self, archive: Archive, given: JsonObject, dialect: Dialect) -> JsonObject:
        """What a call gives."""
        result = await self.call(archive, self.read(given))
        answer: JsonObject = {"content": [{"type": "text", "text": self.text(result)}], "isError": False}
        if dialect.structured:
            answer["structuredContent"] = {"notice": untrusted.NOTICE, **msgspec.to_builtins(result)}
        return answer

    def read(self, given: JsonObject) -> A:
        """The arguments of a call."""
        try:
            return msgspec.convert(given, self.takes)
        except msgspec.ValidationError as error:
            fields = msgspec.structs.fields(self.takes)
            names = ", ".join(f"{one.encode_name}{' (required)' if one.required else ''}" for one in fields)
            raise DecodeError(f"{error}", hint=f"{self.name} takes {names}") from None

    @cached_property
    def _schemas(self) -> tuple[JsonObject, JsonObject]:
        gives = schema_of(self.gives)
        notice = {"type": "string", "description": untrusted.DESCRIPTION}
        return schema_of(self.takes), gives | {"properties": {"notice": notice, **gives["properties"]}}


def schema_of(type_: type[msgspec.Struct]) -> JsonObject:
    """The JSON schema of a type: an object, with what it refers to beside it."""
    (reference,), named = msgspec.json.schema_components([type_], ref_template="#/$defs/{name}")
    rest: dict[str, Any] = dict(named)
    schema: JsonObject = rest.pop(reference["$ref"].rpartition("/")[2])
    schema.pop("title", None)
    return schema | ({"$defs": rest} if rest else {})


def noted(lines: list[str], note: str | None) -> str:
    """The text of a result: what comes from sessions, marked as untrusted, and the server's note below."""
    return "\n".join([untrusted.marked("\n".join(lines)), *([f"\n({note})"] if note else [])])
