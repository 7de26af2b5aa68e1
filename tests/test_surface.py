"""The public surface is one list, and the documentation tells the same."""

import ast
from pathlib import Path

import pytest

import partita
from docs.generating import surface
from tests.tables import each_row

ROOT = Path(__file__).parent.parent
MODULES = {name: module for module, names in partita.EXPORTS.items() for name in names}
NAMES = list(MODULES)


@each_row("name", NAMES)
def test_a_public_name_is_there_and_described(name: str) -> None:
    assert getattr(partita, name) is not None
    assert surface.describe(MODULES[name], name), f"{name} has no docstring"


def test_all_lists_every_public_name_once() -> None:
    assert partita.__all__ == ["__version__", *NAMES]
    assert len(NAMES) == sum(map(len, partita.EXPORTS.values()))


def test_no_public_name_is_that_of_a_module() -> None:
    modules = {path.stem for path in (ROOT / "src" / "partita").iterdir()}
    assert not modules & set(NAMES)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((ROOT / "src" / "partita" / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (f"partita.{node.module}", alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {(module, name) for module, names in partita.EXPORTS.items() for name in names}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        partita.nonsense  # noqa: B018 # pyright: ignore[reportAttributeAccessIssue, reportUnusedExpression] # on purpose
