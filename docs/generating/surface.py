"""`reference/python.md`: everything that `import partita` gives, by what one wants to do."""

import ast
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

import partita

from . import markdown as md
from . import sources
from .examples import examples

SAID = """\
Everything that `import partita` gives, by what one wants to do. All of it is imported from `partita`
itself; the modules behind it may move."""

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "Messages": (
        "What is said, by role, and what it is made of.",
        ("partita.types.messages", "partita.types.parts", "partita.types.tools", "partita.types.usage"),
    ),
    "Read and write JSON": (
        "Values to JSON and back, the two views of tool calls, schemas, and the older shape of messages.",
        ("partita.types.codec", "partita.types.fold", "partita.types.schema", "partita.types.legacy"),
    ),
    "Streams": ("Chunks in, messages out, and back to the wire.", ("partita.stream",)),
    "Chunks": ("The events of a stream.", ("partita.types.chunks",)),
    "Formats": (
        "Messages of other libraries and services. [Which ones](formats.md), and what each cannot hold.",
        ("partita.formats",),
    ),
    "The store": (
        "Threads, messages, runs and their logs. [The guide](../store.md).",
        ("partita.store", "partita.types.threads", "partita.types.runs"),
    ),
    "Sessions of coding agents": (
        "Reading and following their logs. [The guide](../logs.md).",
        ("partita.logs",),
    ),
    "Agents": (
        "Asking models and programs, with tools, approvals and networks. [The guide](../agents.md).",
        ("partita.runtime", "partita.types.events"),
    ),
    "Replay": ("Runs once more: watched, compared, read anew.", ("partita.runtime.replay",)),
    "The server": ("All of it over HTTP. [The guide](../server.md).", ("partita.server",)),
    "Errors": ("What is raised on purpose. [Every one with its remedy](errors.md).", ("partita.errors",)),
}
"""The groups of the page: what each is about, and the modules in it. The longest name counts."""

WIDTH = 88
"""How wide a block may be before it must be scrolled."""

_CODE = re.compile(
    r"^    |^[\w.]+ = |^[\w.]+\(.*\)$|^(async|from|import|with|def|class) .*[:)]$|^@", re.MULTILINE
)


def page() -> str:
    """The whole page."""
    groups: dict[str, list[str]] = {title: [] for title in GROUPS}
    for module, names in partita.EXPORTS.items():
        groups[group_of(module)].extend(entry(module, name) for name in names)
    return md.page(
        "Python",
        SAID,
        *("\n\n".join([f"## {title}", GROUPS[title][0], *entries]) for title, entries in groups.items()),
    )


def group_of(module: str) -> str:
    """The group that a module is in."""
    fitting = [
        (len(prefix), title)
        for title, (_, prefixes) in GROUPS.items()
        for prefix in prefixes
        if module == prefix or module.startswith(f"{prefix}.")
    ]
    if not fitting:
        raise LookupError(f"{module} is in no group of the reference: add it to GROUPS")
    return max(fitting)[1]


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
    value = getattr(partita, name)
    if isinstance(node, sources.Function):
        yield md.block(sources.signature(node, module))
    elif isinstance(node, ast.ClassDef) and isinstance(value, type):
        if not _is_value(value) and (called := sources.constructor(value)):
            yield md.block(called)
    elif not _members_are_public(name) and not (text := sources.assigned(module, name)).isidentifier():
        yield md.block(f"{name} = {text}")


def _members(name: str) -> Iterator[str]:
    value: Any = getattr(partita, name)
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
    head = ("field", "type", "otherwise", "")
    if not any(row[3] for row in rows):
        return md.table(head[:3], [row[:3] for row in rows])
    return md.table(head, rows)


def _default(field: sources.Field) -> str:
    return (field.default if " " in field.default else md.code(field.default)) if field.default else "needed"


def _is_class(value: object) -> TypeGuard[type[Any]]:
    return isinstance(value, type)


def _is_value(value: type) -> bool:
    """Whether a class is made of fields, not of a constructor."""
    made = ("__struct_fields__", "__dataclass_fields__", "_fields")
    return any(hasattr(value, mark) for mark in made)


def _union(name: str) -> tuple[object, ...]:
    value = getattr(partita, name)
    return () if isinstance(value, type) else typing.get_args(value)


def _members_are_public(name: str) -> bool:
    public = {each for names in partita.EXPORTS.values() for each in names}
    members = _union(name)
    return bool(members) and all(getattr(member, "__name__", "") in public for member in members)


def _linked(member: object) -> str:
    name = getattr(member, "__name__", "")
    return f"[{name}](#{name.lower()})"


def _shown(name: str) -> Iterator[str]:
    if place := examples().get(name):
        yield f"At work: {place.link}."
