"""The public API: one list of names, and every type that a public signature mentions is in it."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import pytest

import partita
from tests.tables import each_row

ROOT = Path(__file__).parent.parent
PACKAGES = (
    "partita",
    "partita.types",
    "partita.chunks",
    "partita.stream",
    "partita.formats",
    "partita.formats.core",
    "partita.logs",
    "partita.store",
    "partita.importers",
    "partita.agents",
    "partita.replay",
    "partita.server",
    "partita.testing",
)
"""The modules whose names are public. `partita.errors` is public as a whole."""


def package(name: str) -> ModuleType:
    return import_module(name)


def names_of(name: str) -> list[str]:
    return [each for names in package(name).EXPORTS.values() for each in names]


PUBLIC = [(name, each) for name in PACKAGES for each in names_of(name)]


CREATED_BY_FUNCTIONS: Final = {
    "Blobs",
    "Keys",
    "Logs",
    "Messages",
    "ParsedLog",
    "Runs",
    "Sources",
    "Stats",
    "Store",
    "StoreMemory",
    "SyncStore",
    "Threads",
    "UsageLedger",
}
"""Public classes whose constructors are not public: functions such as `open_store` return their instances."""

INTERNAL: Final = {
    "Checkpoint.of",
    "Checkpoint.restore",
    "LogImportReport.add",
    "ParsedLog.read_whole",
    "ParsedLog.reading",
    "PartitaApp.opened",
    "Session.meter",
    "Store.in_transaction",
    "Store.read",
    "Store.with_view",
    "Store.write",
}
"""Methods of public classes that only other modules of Partita call."""


@each_row(("module", "name"), PUBLIC)
def test_a_public_name_can_be_imported_and_has_a_docstring(module: str, name: str) -> None:
    value = getattr(package(module), name)
    if isinstance(value, type | FunctionType):
        assert value.__doc__, f"{name} has no docstring"


def test_a_name_is_public_in_one_module() -> None:
    names = [name for module, name in PUBLIC if module != "partita.formats.core"]  # its turns have steps, too
    assert sorted(name for name in names if names.count(name) > 1) == []


def test_every_type_in_a_public_signature_is_public() -> None:
    values = [(name, getattr(package(module), name)) for module, name in PUBLIC]
    public = {id(value) for _, value in values}
    names = dict(values)
    found: dict[str, list[str]] = {}
    for name, value in values:
        for place, hints in signatures(name, value, names):
            for hint in hints.values():
                for one in named_types(hint, public):
                    module = getattr(one, "__module__", "")
                    if module.startswith("partita.") and module != "partita.errors":
                        found.setdefault(f"{module}.{one.__name__}", []).append(place)
    assert found == {}


def signatures(name: str, value: Any, names: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The type hints of a function, or of the fields, properties and public methods of a class."""
    if isinstance(value, FunctionType):
        yield name, hints_of(value, names)
    elif isinstance(value, type):
        for base in value.__mro__:
            if not base.__module__.startswith("partita."):
                continue
            if name not in CREATED_BY_FUNCTIONS:
                yield name, hints_of(base, names)
            for member, method in vars(base).items():
                place = f"{name}.{member}"
                function = function_of(method)
                if place in INTERNAL or function is None or (member.startswith("_") and member != "__init__"):
                    continue
                if member == "__init__" and name in CREATED_BY_FUNCTIONS:
                    continue
                hints = hints_of(function, names)
                if hasattr(
                    method, "_method"
                ):  # a method of the store: the transaction is not passed by callers
                    hints.pop("tx", None)
                yield place, hints


def function_of(method: Any) -> FunctionType | None:
    """The function behind a method, property or descriptor."""
    method = getattr(method, "_method", method)
    for attribute in ("fget", "__func__", "func"):
        method = getattr(method, attribute, None) or method
    method = inspect.unwrap(method) if callable(method) else method
    return method if isinstance(method, FunctionType) else None


def hints_of(value: Any, names: dict[str, Any]) -> dict[str, Any]:
    """The type hints of a class or function. Hints of names that only type checkers import are left out."""
    try:
        return get_type_hints(value, localns=names)
    except NameError:
        return {}


def named_types(hint: Any, public: set[int]) -> Iterator[Any]:
    """The types in a hint that are not public. Those behind a public alias are not listed."""
    if id(hint) in public or isinstance(hint, TypeVar | ParamSpec):
        return
    if type(hint) is list:  # the parameters of a callable
        for one in hint:
            yield from named_types(one, public)
        return
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(origin, type):
        yield from named_types(origin, public)
    for one in arguments:
        yield from named_types(one, public)
    if origin is None and isinstance(hint, type):
        yield hint


def test_the_top_of_the_package_has_few_names() -> None:
    assert len(names_of("partita")) < 70
    assert dir(partita) == sorted(names_of("partita"))


@each_row("name", PACKAGES)
def test_no_public_name_is_that_of_a_module(name: str) -> None:
    folder = ROOT / "src" / name.replace(".", "/")
    modules = {path.stem for path in folder.iterdir()} if folder.is_dir() else set[str]()
    assert not modules & set(names_of(name))


@each_row("name", PACKAGES)
def test_type_checkers_see_the_same_names(name: str) -> None:
    module = package(name)
    assert module.__file__
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(names_of(name))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        partita.nonsense  # noqa: B018 # pyright: ignore[reportAttributeAccessIssue, reportUnusedExpression] # pyrefly: ignore # on purpose
