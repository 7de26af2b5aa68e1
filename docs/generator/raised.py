"""Where the code raises an error on purpose, and what is said there: read from its source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from partita import errors

SOURCE = Path(errors.__file__).parent
HOLE = "…"
"""What stands in the place of something that is only known when it happens."""

OURS = {name for name, value in vars(errors).items() if isinstance(value, type)}
PROBLEM = "Problem"
USAGE = ("UsageError", "BadParameter", "BadArgumentUsage", "BadOptionUsage", "ClickException")
"""What click tells as wrong use."""

_HOLES = re.compile(f"{HOLE}+")

Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


class Raised(NamedTuple):
    """An error at one place of the code."""

    kind: str
    what: str
    hint: str
    module: str
    status: str = ""
    """The status of a problem over HTTP."""


def all_raised() -> list[Raised]:
    """Every error of the package, by module and line; what is only passed on is left out."""
    found = [one for path in sorted(SOURCE.rglob("*.py")) for one in _in_file(path)]
    _tree.cache_clear()  # the trees of the whole package take much memory
    return [one for one in dict.fromkeys(found) if one.what.strip(f"{HOLE} ':") != ""]


def _in_file(path: Path) -> Iterator[Raised]:
    text = path.read_text("utf-8")
    if not any(f"{name}(" in text for name in (*OURS, *USAGE, PROBLEM)):
        return
    tree = _tree(path)
    known = _known(tree)
    module = path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
    for node, scope in _calls(tree, tree):
        name = node.func.id if isinstance(node.func, ast.Name) else _click(node.func)
        if name in known or name in USAGE:
            first = 1 if name == PROBLEM else 0
            if len(node.args) > first:
                texts = _texts(node.args[first], scope, path)
                hint = _hint(node, scope, path)
                status = ast.unparse(node.args[0]) if name == PROBLEM else ""
                for what in texts:
                    yield Raised(str(name), what, hint, module, status)


def _calls(node: ast.AST, scope: Scope) -> list[tuple[ast.Call, Scope]]:
    """Every call, and the function that it is in, in the order of the lines."""
    found: list[tuple[ast.Call, Scope]] = []
    waiting: list[tuple[ast.AST, Scope]] = [(node, scope)]
    while waiting:
        place, within = waiting.pop()
        for inner in ast.iter_child_nodes(place):
            if isinstance(inner, ast.Call):
                found.append((inner, within))
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                waiting.append((inner, inner))
            else:
                waiting.append((inner, within))
    return sorted(found, key=lambda one: one[0].lineno)


def _known(tree: ast.Module) -> set[str]:
    """The names of errors of ours that a module has."""
    return {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(("errors", "problems"))
        for alias in node.names
        if alias.name in OURS | {PROBLEM}
    }


def _click(function: ast.expr) -> str:
    match function:
        case ast.Attribute(value=ast.Name(id="click"), attr=name):
            return name
        case _:
            return ""


def _hint(node: ast.Call, scope: Scope, path: Path) -> str:
    for keyword in node.keywords:
        if keyword.arg == "hint":
            return " / ".join(dict.fromkeys(filter(None, _texts(keyword.value, scope, path))))
    return ""


def _texts(node: ast.expr, scope: Scope, path: Path) -> list[str]:
    """The texts that an expression may be; what is not known before is a hole."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return [_HOLES.sub(HOLE, "".join(_piece(value) for value in values))]
        case ast.IfExp(body=body, orelse=other):
            return [*_texts(body, scope, path), *_texts(other, scope, path)]
        case ast.BoolOp(values=values):
            return [text for value in values for text in _texts(value, scope, path)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [one + two for one in _texts(left, scope, path) for two in _texts(right, scope, path)]
        case ast.Name(id=name):
            return _named(name, scope, path) or [HOLE]
        case _:
            return [HOLE]


def _piece(value: ast.expr) -> str:
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(conversion=114):
            return f"'{HOLE}'"
        case _:
            return HOLE


def _named(name: str, scope: Scope, path: Path) -> list[str]:
    """What a name stands for: what a function gives it, or a constant here or where it comes from."""
    for place in (scope, _tree(path)):
        if given := list(_given(name, place)):
            return [text for value in given for text in _texts(value, _tree(path), path)]
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            source = _file(node, path)
            return _named(name, _tree(source), source) if source else []
    return []


def _given(name: str, place: Scope) -> Iterator[ast.expr]:
    for node in ast.walk(place) if not isinstance(place, ast.Module) else place.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                yield value
            case _:
                pass


def _file(node: ast.ImportFrom, path: Path) -> Path | None:
    above = path.parents[node.level - 1] if node.level else SOURCE.parent
    found = above.joinpath(*(node.module or "").split(".")).with_suffix(".py")
    return found if found.exists() else None


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))
