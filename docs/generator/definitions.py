"""The signatures, fields, methods and docstrings of public names, read from the source of their modules.

The objects themselves are not inspected, because the results would depend on the version of Python.
"""

import ast
import copy
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

MAX_WIDTH = 88
"""A signature that is wider has one argument per line."""


class Field(NamedTuple):
    """A field of a class. A required field has an empty default."""

    name: str
    type: str
    default: str
    description: str


class Method(NamedTuple):
    """A method or property of a class, with the first line of its docstring."""

    signature: str
    summary: str


@cache
def tree(module: str) -> ast.Module:
    """Return the parsed source of a module."""
    return ast.parse(inspect.getsource(import_module(module)))


def definition(module: str, name: str) -> ast.stmt | None:
    """Return the statement that defines a name in a module."""
    found = None
    for node in tree(module).body:
        if name in _names(node):
            found = node  # the last definition: the implementation after its overloads
    return found


def defining_module(module: str, name: str) -> str:
    """Return the module that defines a name which another may only re-export."""
    source = getattr(getattr(import_module(module), name), "__module__", "")
    return source if source.startswith("partita.") and definition(source, name) else module


def docstring(module: str, name: str) -> str:
    """Return the docstring of a name, or the string below its assignment."""
    module = defining_module(module, name)
    node = definition(module, name)
    if isinstance(node, ast.ClassDef | Function):
        return ast.get_docstring(node) or ""
    body = tree(module).body
    return _string_below(body, body.index(node)) if node is not None else ""


def assigned(module: str, name: str) -> str:
    """Return the source of the value that is assigned to a name."""
    node = definition(module, name)
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    return "" if value is None else ast.unparse(value)


def signature(function: Function, module: str, name: str | None = None) -> str:
    """Return the signature of a function or method, without `self`."""
    returns = f" -> {_annotation(function.returns)}" if function.returns else ""
    kind = "async " if isinstance(function, ast.AsyncFunctionDef) else ""
    head, each = f"{kind}{name or function.name}", list(_arguments(function.args, module))
    line = f"{head}({', '.join(each)}){returns}"
    if len(line) <= MAX_WIDTH:
        return line
    broken = "".join(f"    {one},\n" for one in each)
    return f"{head}(\n{broken}){returns}"


def constructor(cls: type) -> str:
    """Return the signature of the constructor, if a class defines one."""
    for module, node in classes(cls):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                return signature(inner, module, cls.__name__).removesuffix(" -> None")
    return ""


def fields(cls: type) -> list[Field]:
    """Return the fields of a class, then those of its bases."""
    found: dict[str, Field] = {}
    for module, node in classes(cls):
        for place, inner in enumerate(node.body):
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                name = inner.target.id
                if not name.startswith("_") and "ClassVar" not in ast.unparse(inner.annotation):
                    default = "" if inner.value is None else _default(inner.value, module)
                    description = _string_below(node.body, place) or _comment(module, inner)
                    found.setdefault(name, Field(name, _annotation(inner.annotation), default, description))
    return list(found.values())


def methods(cls: type) -> Iterator[Method]:
    """Yield the public methods and properties of a class and of its bases in this package."""
    seen: set[str] = set()
    for module, node in classes(cls):
        for inner in node.body:
            if not isinstance(inner, Function) or inner.name.startswith("_") or inner.name in seen:
                continue
            seen.add(inner.name)
            summary = (ast.get_docstring(inner) or "").partition("\n")[0]
            decorators = {ast.unparse(one) for one in inner.decorator_list}
            if "property" in decorators:
                yield Method(f"{inner.name}: {_annotation(inner.returns)}", summary)
            elif "overload" not in decorators:
                yield Method(signature(inner, module), summary)


def classes(cls: type) -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the module and the definition of a class and of its bases in this package."""
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
    """Return the comment on the line of a field."""
    line = inspect.getsource(import_module(module)).splitlines()[(node.end_lineno or 1) - 1]
    return line.partition("  # ")[2]


def _arguments(arguments: ast.arguments, module: str) -> Iterator[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for place, (one, default) in enumerate(zip(positional, defaults, strict=True)):
        if place or one.arg not in ("self", "cls"):
            yield _argument(one, default, module)
        if arguments.posonlyargs and place + 1 == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg:
        yield "*" + _argument(arguments.vararg, None, module)
    elif arguments.kwonlyargs:
        yield "*"
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(one, default, module)
    if arguments.kwarg:
        yield "**" + _argument(arguments.kwarg, None, module)


def _argument(one: ast.arg, default: ast.expr | None, module: str) -> str:
    written = f"{one.arg}: {_annotation(one.annotation)}" if one.annotation else one.arg
    return written if default is None else f"{written} = {_default(default, module)}"


class _Unquoted(ast.NodeTransformer):
    """Removes the quotes of forward references from an annotation."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        is_literal = isinstance(node.value, ast.Name) and node.value.id == "Literal"
        return node if is_literal else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            inner: ast.AST = self.visit(ast.parse(node.value, mode="eval").body)
            return inner
        return node


def _annotation(annotation: ast.expr | None) -> str:
    if annotation is None:
        return ""
    text = ast.unparse(_Unquoted().visit(copy.deepcopy(annotation)))
    return text.replace("'", '"').replace("UnsetType", "absent")


def _default(value: ast.expr, module: str) -> str:
    """Return the source of a default. A constant of the module is replaced by its value."""
    text = ast.unparse(value)
    if "default_factory=" in text:
        return "new instance"
    if text == "UNSET":
        return "absent"
    if text.isupper():
        constant = getattr(import_module(module), text, None)
        text = repr(constant) if isinstance(constant, int | float | str) else text
    return text.replace("'", '"')
