"""The public API: one list of names, and every type that a public signature mentions is in it."""

import ast
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

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


@each_row(("module", "name"), PUBLIC)
def test_a_public_name_can_be_imported_and_has_a_docstring(module: str, name: str) -> None:
    value = getattr(package(module), name)
    if isinstance(value, type | FunctionType):
        assert value.__doc__, f"{name} has no docstring"


def test_a_name_is_public_in_one_module() -> None:
    names = [name for _, name in PUBLIC]
    assert sorted(name for name in names if names.count(name) > 1) == []


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
