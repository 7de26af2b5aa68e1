"""`reference/python.md`: the public names by module, with signatures, fields, methods and docstrings."""

import ast
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeGuard

import partita

from . import definitions
from . import markdown as md
from .guide_examples import examples

INTRODUCTION = """\
The public names of Partita, by the module to import them from. All other modules are internal and may
change."""

MODULES: Mapping[str, str] = {
    "partita": "Messages, parts and tool outputs, and the functions that most programs start with.",
    "partita.types": "JSON from and to values, schemas, threads and runs, and older message formats.",
    "partita.chunks": "The events of a stream.",
    "partita.stream": "Messages from chunks, server-sent events, and incomplete JSON.",
    "partita.formats": (
        "Messages of other libraries and services: [the formats](formats.md), and what each keeps."
    ),
    "partita.formats.core": "What formats are built from. [How to write one](../apps/own-format.md).",
    "partita.logs": "Reading and following the logs of coding agents. [The guide](../logs.md).",
    "partita.store": "Threads, messages, runs and their logs. [The guide](../store.md).",
    "partita.importers": "Importing logs, databases of other systems and messages into the store.",
    "partita.agents": "Models and agents with tools, approvals and networks. [The guide](../agents.md).",
    "partita.replay": "Replaying, comparing and decoding recorded runs.",
    "partita.server": "The HTTP server. [The guide](../server.md).",
    "partita.testing": "Tests of agents, services and formats. [The guide](../testing.md).",
}
"""The public modules and what each is about. `partita.errors` has [its own page](errors.md)."""

WIDTH = 88
"""The width of code blocks in characters."""

_CODE = re.compile(
    r"^    |^[\w.]+ = |^[\w.]+\(.*\)$|^(async|from|import|with|def|class) .*[:)]$|^@", re.MULTILINE
)


def page() -> str:
    """Return the whole page."""
    return md.page("Python", INTRODUCTION, *(section(name, about) for name, about in MODULES.items()))


def section(public: str, about: str) -> str:
    """Return the section of a public module."""
    entries = [entry(module, name) for module, names in exports(public).items() for name in names]
    return "\n\n".join([f"## {public}", about, *entries])


def exports(public: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names of a public module, by the module that defines them."""
    return import_module(public).EXPORTS


@cache
def public_names() -> Mapping[str, Any]:
    """Return every public name and its value."""
    return {
        name: getattr(import_module(module), name)
        for public in MODULES
        for module, names in exports(public).items()
        for name in names
    }


def entry(module: str, name: str) -> str:
    """Return the signature, the description, the fields and methods of a name, and a link to an example."""
    pieces = [
        f"### {name}",
        *_signature(module, name),
        describe(module, name),
        *_members(name),
        *_example(name),
    ]
    return "\n\n".join(piece for piece in pieces if piece)


def describe(module: str, name: str) -> str:
    """Return the docstring of a name, and the members of a union."""
    description = _paragraphs(definitions.docstring(module, name))
    if _members_are_public(name):
        listed = ", ".join(_linked(member) for member in _union(name))
        return f"{description}\n\nOne of {listed}.".strip()
    return description


def _paragraphs(text: str) -> str:
    """Return a docstring, with blocks for the paragraphs that are code."""
    return "\n\n".join(
        md.block(textwrap.dedent(one)) if _CODE.search(one) else md.prose(one)
        for one in re.split(r"\n\s*\n", text)
    )


def _signature(module: str, name: str) -> Iterator[str]:
    module = definitions.defining_module(module, name)
    node = definitions.definition(module, name)
    value = public_names()[name]
    if isinstance(node, definitions.Function):
        yield md.block(definitions.signature(node, module))
    elif isinstance(node, ast.ClassDef) and isinstance(value, type):
        if not _has_fields(value) and (constructor := definitions.constructor(value)):
            yield md.block(constructor)
    elif not _members_are_public(name) and not (text := definitions.assigned(module, name)).isidentifier():
        yield md.block(f"{name} = {text}")


def _members(name: str) -> Iterator[str]:
    value: Any = public_names()[name]
    if not _is_class(value) or issubclass(value, partita.PartitaError):
        return
    if _has_fields(value):
        rows = [
            (
                md.code(field.name),
                md.code(field.type.removeprefix("_")),
                _default(field),
                md.prose(field.description),
            )
            for field in definitions.fields(value)
            if field.name != "extra"
        ]
        if rows:
            yield _fields_table(rows)
    methods = [f"{method.signature}\n{_comment(method.summary)}" for method in definitions.methods(value)]
    if methods:
        yield md.block("\n".join(methods))


def _comment(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="    # ", subsequent_indent="    # ")


def _fields_table(rows: list[tuple[str, str, str, str]]) -> str:
    head = ("field", "type", "default", "description")
    if not any(row[3] for row in rows):
        return md.table(head[:3], [row[:3] for row in rows])
    return md.table(head, rows)


def _default(field: definitions.Field) -> str:
    return (
        (field.default if " " in field.default else md.code(field.default)) if field.default else "required"
    )


def _is_class(value: object) -> TypeGuard[type[Any]]:
    return isinstance(value, type)


def _has_fields(value: type) -> bool:
    """Whether a class is a struct, a dataclass or a named tuple."""
    return any(hasattr(value, name) for name in ("__struct_fields__", "__dataclass_fields__", "_fields"))


def _union(name: str) -> tuple[object, ...]:
    value = public_names()[name]
    return () if isinstance(value, type) else typing.get_args(value)


def _members_are_public(name: str) -> bool:
    members = _union(name)
    return bool(members) and all(getattr(member, "__name__", "") in public_names() for member in members)


def _linked(member: object) -> str:
    name = getattr(member, "__name__", "")
    return f"[{name}](#{name.lower()})"


def _example(name: str) -> Iterator[str]:
    if example := examples().get(name):
        yield f"Example: {example.link}."
