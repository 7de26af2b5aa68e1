"""What the source of a module says of its names: signatures, fields and words, as they were written.

Read from the source and not from the living objects, so that every version of Python tells the same.
"""

import ast
import copy
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

LONG = 88
"""A signature that is longer is written one argument a line."""


class Field(NamedTuple):
    """A field of a class: its name, its type, and what it is when it is not given."""

    name: str
    type: str
    default: str
    said: str


class Method(NamedTuple):
    """A method of a class: how it is called, and what it does in one line."""

    name: str
    signature: str
    said: str


@cache
def tree(module: str) -> ast.Module:
    """The source of a module."""
    return ast.parse(inspect.getsource(import_module(module)))


def definition(module: str, name: str) -> ast.stmt | None:
    """Where a module defines a name."""
    found = None
    for node in tree(module).body:
        if name in _names(node):
            found = node  # of overloads, the last one is the function itself
    return found


def home(module: str, name: str) -> str:
    """The module that defines what another gives under a name."""
    made_in = getattr(getattr(import_module(module), name), "__module__", "")
    return made_in if made_in.startswith("partita.") and definition(made_in, name) else module


def words(module: str, name: str) -> str:
    """What is said of a name: the docstring, or the string below an assignment."""
    module = home(module, name)
    node = definition(module, name)
    if isinstance(node, ast.ClassDef | Function):
        return ast.get_docstring(node) or ""
    body = tree(module).body
    return _string_below(body, body.index(node)) if node is not None else ""


def assigned(module: str, name: str) -> str:
    """What a name stands for, as it is written."""
    node = definition(module, name)
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    return "" if value is None else ast.unparse(value)


def signature(function: Function, module: str, name: str | None = None) -> str:
    """How a function of a module is called, without `self`."""
    returns = f" -> {_plain(function.returns)}" if function.returns else ""
    kind = "async " if isinstance(function, ast.AsyncFunctionDef) else ""
    head, each = f"{kind}{name or function.name}", list(_arguments(function.args, module))
    line = f"{head}({', '.join(each)}){returns}"
    if len(line) <= LONG:
        return line
    broken = "".join(f"    {one},\n" for one in each)
    return f"{head}(\n{broken}){returns}"


def constructor(cls: type) -> str:
    """How a class is called, if it says so itself."""
    for module, node in classes(cls):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                return signature(inner, module, cls.__name__).removesuffix(" -> None")
    return ""


def fields(cls: type) -> list[Field]:
    """The fields of a value, those of its bases behind its own."""
    found: dict[str, Field] = {}
    for module, node in classes(cls):
        for place, inner in enumerate(node.body):
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                name = inner.target.id
                if not name.startswith("_") and "ClassVar" not in ast.unparse(inner.annotation):
                    default = "" if inner.value is None else _default(inner.value, module)
                    said = _string_below(node.body, place) or _comment(module, inner)
                    found.setdefault(name, Field(name, _plain(inner.annotation), default, said))
    return list(found.values())


def methods(cls: type) -> Iterator[Method]:
    """The public methods of a class and of its bases here; a property is one without brackets."""
    seen: set[str] = set()
    for module, node in classes(cls):
        for inner in node.body:
            if not isinstance(inner, Function) or inner.name.startswith("_") or inner.name in seen:
                continue
            seen.add(inner.name)
            said = (ast.get_docstring(inner) or "").partition("\n")[0]
            decorators = {ast.unparse(one) for one in inner.decorator_list}
            if "property" in decorators:
                yield Method(inner.name, f"{inner.name}: {_plain(inner.returns)}", said)
            elif "overload" not in decorators:
                yield Method(inner.name, signature(inner, module), said)


def classes(cls: type) -> Iterator[tuple[str, ast.ClassDef]]:
    """The definitions of a class and of its bases, as far as they are ours, and where they are."""
    for base in cls.__mro__:
        if base.__module__.startswith("partita."):
            node = definition(base.__module__, base.__name__)
            if isinstance(node, ast.ClassDef):
                yield base.__module__, node


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return [node.name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def _string_below(body: list[ast.stmt], place: int) -> str:
    below = body[place + 1] if place + 1 < len(body) else None
    match below:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
        case _:
            return ""


def _comment(module: str, node: ast.AnnAssign) -> str:
    """The words behind a field, on its line."""
    line = inspect.getsource(import_module(module)).splitlines()[(node.end_lineno or 1) - 1]
    return line.partition("  # ")[2]


def _arguments(said: ast.arguments, module: str) -> Iterator[str]:
    """The arguments one by one, as they are written."""
    plain = [*said.posonlyargs, *said.args]
    defaults = [None] * (len(plain) - len(said.defaults)) + list(said.defaults)
    for place, (one, default) in enumerate(zip(plain, defaults, strict=True)):
        if place or one.arg not in ("self", "cls"):
            yield _argument(one, default, module)
        if said.posonlyargs and place + 1 == len(said.posonlyargs):
            yield "/"
    if said.vararg:
        yield "*" + _argument(said.vararg, None, module)
    elif said.kwonlyargs:
        yield "*"
    for one, default in zip(said.kwonlyargs, said.kw_defaults, strict=True):
        yield _argument(one, default, module)
    if said.kwarg:
        yield "**" + _argument(said.kwarg, None, module)


def _argument(one: ast.arg, default: ast.expr | None, module: str) -> str:
    written = f"{one.arg}: {_plain(one.annotation)}" if one.annotation else one.arg
    return written if default is None else f"{written} = {_default(default, module)}"


class _Unquoted(ast.NodeTransformer):
    """A type as it is read: without the quotes that only the order of a file asks for."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        is_literal = isinstance(node.value, ast.Name) and node.value.id == "Literal"
        return node if is_literal else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            inner: ast.AST = self.visit(ast.parse(node.value, mode="eval").body)
            return inner
        return node


def _plain(annotation: ast.expr | None) -> str:
    if annotation is None:
        return ""
    return ast.unparse(_Unquoted().visit(copy.deepcopy(annotation))).replace("UnsetType", "absent")


def _default(value: ast.expr, module: str) -> str:
    """What stands for an argument that is not given; a constant of the module by its value."""
    text = ast.unparse(value)
    if "default_factory=" in text:
        return "made new"
    if text == "UNSET":
        return "absent"
    if text.isupper():
        known = getattr(import_module(module), text, None)
        return repr(known) if isinstance(known, int | float | str) else text
    return text.replace("'", '"')
