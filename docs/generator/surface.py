"""`reference/python.md`: the public names, by module."""

import ast
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeGuard

import partita

from . import markdown as md
from . import sources
from .examples import examples

INTRODUCTION = """\
The public names of Partita, by the module to import them from. Other modules are internal and may move."""

MODULES: Mapping[str, str] = {
    "partita": "Messages, parts and tool outputs, and the functions that most programs start with.",
    "partita.types": "JSON to values and back, schemas, threads and runs, and older message formats.",
    "partita.chunks": "The events of a stream.",
    "partita.stream": "Chunks to messages, SSE, and JSON that is still incomplete.",
    "partita.formats": (
        "Messages of other libraries and services. [Which ones](formats.md), and what each cannot hold."
    ),
    "partita.logs": "Reading and following the logs of coding agents. [The guide](../logs.md).",
    "partita.store": "Threads, messages, runs and their logs. [The guide](../store.md).",
    "partita.importers": "Importing the logs of coding agents into the store. [The guide](../logs.md).",
    "partita.agents": "Models and agents with tools, approvals and networks. [The guide](../agents.md).",
    "partita.replay": "Recorded runs: played, compared, decoded again.",
    "partita.server": "The HTTP server. [The guide](../server.md).",
    "partita.testing": "Tests of agents, services and formats. [The guide](../testing.md).",
}
"""The public modules and what each is about. `partita.errors` has [its own page](errors.md)."""

WIDTH = 88
"""How wide a block may be before it must be scrolled."""

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
    """One name: how it is written, what it is, what it has, where it is shown."""
    pieces = [f"### {name}", *_called(module, name), describe(module, name), *_members(name), *_shown(name)]
    return "\n\n".join(piece for piece in pieces if piece)


def describe(module: str, name: str) -> str:
    """What is said of a name."""
    said = _paragraphs(sources.words(module, name))
    if _members_are_public(name):
        listed = ", ".join(_linked(member) for member in _union(name))
        return f"{said}\n\nOne of {listed}.".strip()
    return said


def _paragraphs(text: str) -> str:
    """A docstring; what looks like code in it stays so."""
    blocks = re.split(r"\n\s*\n", text)
    return "\n\n".join(md.block(textwrap.dedent(one)) if _is_code(one) else md.prose(one) for one in blocks)


def _is_code(text: str) -> bool:
    return bool(_CODE.search(text))


def _called(module: str, name: str) -> Iterator[str]:
    module = sources.home(module, name)
    node = sources.definition(module, name)
    value = public_names()[name]
    if isinstance(node, sources.Function):
        yield md.block(sources.signature(node, module))
    elif isinstance(node, ast.ClassDef) and isinstance(value, type):
        if not _is_value(value) and (called := sources.constructor(value)):
            yield md.block(called)
    elif not _members_are_public(name) and not (text := sources.assigned(module, name)).isidentifier():
        yield md.block(f"{name} = {text}")


def _members(name: str) -> Iterator[str]:
    value: Any = public_names()[name]
    if not _is_class(value) or issubclass(value, partita.PartitaError):
        return
    if _is_value(value):
        rows = [
            (
                md.code(field.name),
                md.code(field.type.removeprefix("_")),
                _default(field),
                md.prose(field.said),
            )
            for field in sources.fields(value)
            if field.name != "extra"
        ]
        if rows:
            yield _fields_table(rows)
    methods = [f"{method.signature}\n{_comment(method.said)}" for method in sources.methods(value)]
    if methods:
        yield md.block("\n".join(methods))


def _comment(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="    # ", subsequent_indent="    # ")


def _fields_table(rows: list[tuple[str, str, str, str]]) -> str:
    head = ("field", "type", "default", "")
    if not any(row[3] for row in rows):
        return md.table(head[:3], [row[:3] for row in rows])
    return md.table(head, rows)


def _default(field: sources.Field) -> str:
    return (
        (field.default if " " in field.default else md.code(field.default)) if field.default else "required"
    )


def _is_class(value: object) -> TypeGuard[type[Any]]:
    return isinstance(value, type)


def _is_value(value: type) -> bool:
    """Whether a class is made of fields, not of a constructor."""
    made = ("__struct_fields__", "__dataclass_fields__", "_fields")
    return any(hasattr(value, mark) for mark in made)


def _union(name: str) -> tuple[object, ...]:
    value = public_names()[name]
    return () if isinstance(value, type) else typing.get_args(value)


def _members_are_public(name: str) -> bool:
    members = _union(name)
    return bool(members) and all(getattr(member, "__name__", "") in public_names() for member in members)


def _linked(member: object) -> str:
    name = getattr(member, "__name__", "")
    return f"[{name}](#{name.lower()})"


def _shown(name: str) -> Iterator[str]:
    if place := examples().get(name):
        yield f"Example: {place.link}."
