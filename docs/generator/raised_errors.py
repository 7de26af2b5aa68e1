"""The errors that the code of the package raises, with their messages and hints, read from the source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from partita import errors

SOURCE = Path(errors.__file__).parent
HOLE = "…"
"""Stands for a value that is only known at run time."""

ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type)}
PROBLEM = "Problem"
USAGE = ("UsageError", "BadParameter", "BadArgumentUsage", "BadOptionUsage", "ClickException")
"""Classes of click for usage errors."""

_HOLES = re.compile(f"{HOLE}+")

Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


class RaisedError(NamedTuple):
    """An error that a module raises."""

    kind: str
    what: str
    hint: str
    module: str
    status: str = ""
    """The HTTP status of a problem."""


def raised_errors() -> list[RaisedError]:
    """Return the errors of all modules, in the order of modules and lines.

    Errors that only pass on another text are left out.
    """
    found = [one for path in sorted(SOURCE.rglob("*.py")) for one in _errors_in(path)]
    _tree.cache_clear()  # the trees of the whole package take much memory
    return [one for one in dict.fromkeys(found) if one.what.strip(f"{HOLE} ':") != ""]


def _errors_in(path: Path) -> Iterator[RaisedError]:
    text = path.read_text("utf-8")
    if not any(f"{name}(" in text for name in (*ERRORS, *USAGE, PROBLEM)):
        return
    tree = _tree(path)
    imported = _imported_errors(tree)
    module = path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
    for node, scope in _calls(tree):
        name = node.func.id if isinstance(node.func, ast.Name) else _name_in_click(node.func)
        if name in imported or name in USAGE:
            first = 1 if name == PROBLEM else 0
            if len(node.args) > first:
                hint = _hint(node, scope, path)
                status = ast.unparse(node.args[0]) if name == PROBLEM else ""
                for what in _texts(node.args[first], scope, path):
                    yield RaisedError(str(name), what, hint, module, status)


def _calls(tree: ast.Module) -> list[tuple[ast.Call, Scope]]:
    """Return every call and the function that it is in, in the order of lines."""
    found: list[tuple[ast.Call, Scope]] = []
    waiting: list[tuple[ast.AST, Scope]] = [(tree, tree)]
    while waiting:
        node, scope = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                found.append((child, scope))
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            waiting.append((child, child if is_function else scope))
    return sorted(found, key=lambda one: one[0].lineno)


def _imported_errors(tree: ast.Module) -> set[str]:
    return {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(("errors", "problems"))
        for alias in node.names
        if alias.name in ERRORS | {PROBLEM}
    }


def _name_in_click(function: ast.expr) -> str:
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
    """Return the possible values of an expression, with holes for what is only known at run time."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return [_HOLES.sub(HOLE, "".join(_text_of(value) for value in values))]
        case ast.IfExp(body=body, orelse=other):
            return [*_texts(body, scope, path), *_texts(other, scope, path)]
        case ast.BoolOp(values=values):
            return [text for value in values for text in _texts(value, scope, path)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [one + two for one in _texts(left, scope, path) for two in _texts(right, scope, path)]
        case ast.Name(id=name):
            return _texts_of_name(name, scope, path) or [HOLE]
        case _:
            return [HOLE]


def _text_of(value: ast.expr) -> str:
    """Return a piece of an f-string. A value with `!r` gets quotes."""
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(conversion=114):
            return f"'{HOLE}'"
        case _:
            return HOLE


def _texts_of_name(name: str, scope: Scope, path: Path) -> list[str]:
    """Return the possible values of a variable in the function, or of a constant, which may be imported."""
    for place in (scope, _tree(path)):
        if values := list(_assigned(name, place)):
            return [text for value in values for text in _texts(value, _tree(path), path)]
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            source = _imported_file(node, path)
            return _texts_of_name(name, _tree(source), source) if source else []
    return []


def _assigned(name: str, scope: Scope) -> Iterator[ast.expr]:
    for node in scope.body if isinstance(scope, ast.Module) else ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                yield value
            case _:
                pass


def _imported_file(node: ast.ImportFrom, path: Path) -> Path | None:
    above = path.parents[node.level - 1] if node.level else SOURCE.parent
    found = above.joinpath(*(node.module or "").split(".")).with_suffix(".py")
    return found if found.exists() else None


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))
