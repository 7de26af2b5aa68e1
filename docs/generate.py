"""Writes `docs/reference.md` from the public surface, so that the two cannot disagree.

python docs/generate.py > docs/reference.md
"""

import inspect
import typing
from types import ModuleType

import partita

HEAD = """# Reference

Everything that `import partita` gives, by the module it lives in. Generated from the code by
`python docs/generate.py`; a test fails when the two disagree.
"""


def reference() -> str:
    """The whole page."""
    sections = [HEAD]
    for module, names in partita.EXPORTS.items():
        sections.append(f"## `{module}`\n\n{_first_line(_module(module))}\n\n{_table(names)}")
    return "\n".join(sections)


def _table(names: tuple[str, ...]) -> str:
    rows = [f"| `{name}` | {describe(name)} |" for name in names]
    return "\n".join(["| name | what it is |", "|---|---|", *rows]) + "\n"


def describe(name: str) -> str:
    """One line on a public name."""
    value = getattr(partita, name)
    if typing.get_origin(value) is not None or isinstance(value, typing.types.UnionType):
        members = typing.get_args(value)
        shown = ", ".join(f"`{getattr(member, '__name__', member)}`" for member in members)
        return f"One of {shown}."
    return _first_line(value)


def _first_line(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0].replace("|", "\\|")


def _module(name: str) -> ModuleType:
    return __import__(name, fromlist=["_"])


if __name__ == "__main__":
    print(reference(), end="")
