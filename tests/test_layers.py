"""Imports only point to lower layers, and heavy modules are loaded on demand."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.tables import each_row

ROOT = Path(__file__).parent.parent / "src" / "partita"
LAYERS = (
    "errors",
    "extras",
    "lazy",
    "version",
    "private_files",
    "config",
    "types",
    "stream",
    "views",
    "formats",
    "logs",
    "store",
    "importers",
    "runtime",
    "server",
    "cli",
)
RANK = {name: rank for rank, name in enumerate(LAYERS)} | {"store": LAYERS.index("logs")}
OUTSIDE_LAYERS = {
    "__main__": "cli",
    "agents": "runtime",
    "chunks": "types",
    "demo": "runtime",
    "pytest_plugin": "cli",
    "replay": "runtime",
    "testing": "cli",
}
"""Packages outside the layers, and the layer whose imports they may have."""

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of the syntax tree with nested statements."""

HEAVY = ("pydantic", "rich", "click", "ada_url", "jsonschema_rs", "asyncio", "sqlalchemy", "starlette")


def layer_of(module: str) -> str:
    name = module.split(".")[1] if "." in module else ""
    return OUTSIDE_LAYERS.get(name, name)


def imports(source: str, module: str) -> Iterator[tuple[int, str]]:
    """Return every module that a source imports, by its absolute name, with the line."""
    for node in nodes(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        else:
            above = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield node.lineno, base
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


@cache
def nodes(source: str) -> Sequence[ast.Import | ast.ImportFrom]:
    """Return the import statements of a source."""
    return list(importing(ast.parse(source).body))


def importing(statements: Sequence[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Return the imports among statements and in their blocks."""
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        for block in BLOCKS:
            yield from importing(getattr(statement, block, ()))


def violations(source: str, module: str) -> list[str]:
    """Return the imports of a module that point to higher layers."""
    return sorted(
        {
            f"line {line} imports {other}"
            for line, other in imports(source, module)
            if other.startswith("partita.") and RANK.get(layer_of(other), -1) > RANK[layer_of(module)]
        }
    )


MODULES = {
    ".".join(["partita", *path.relative_to(ROOT).with_suffix("").parts]): path
    for path in sorted(ROOT.rglob("*.py"))
    if path.name != "__init__.py" or path.parent != ROOT  # the package itself re-exports from all layers
}


def test_every_module_belongs_to_a_layer() -> None:
    assert [name for name in MODULES if layer_of(name) not in RANK] == []


def test_the_design_and_contributing_pages_show_the_layers() -> None:
    modules = {layer for layer in LAYERS if (ROOT / f"{layer}.py").exists()} - {"errors"}
    shown = [layer for layer in LAYERS if layer not in modules]
    for page in ("docs/design.md", "CONTRIBUTING.md"):
        text = (ROOT.parent.parent / page).read_text("utf-8")
        (chain,) = [line for line in text.splitlines() if line.startswith("errors ← ")]
        assert chain.replace(", ", " ← ").split(" ← ") == shown


def test_imports_point_to_lower_layers() -> None:
    against = {name: violations(path.read_text(), name) for name, path in MODULES.items()}
    assert {name: found for name, found in against.items() if found} == {}


AGAINST = {
    "from partita.cli.main import main": "partita.types.parts",
    "import partita.stream.sse": "partita.types.parts",
    "from partita import formats": "partita.stream.sse",
    "from ..formats import losses": "partita.stream.sse",
}


@each_row(("source", "module"), AGAINST.items(), ids=AGAINST)
def test_an_import_of_a_higher_layer_is_found(source: str, module: str) -> None:
    assert violations(source, module)


def test_relative_imports_stay_in_their_folder() -> None:
    for name, path in MODULES.items():
        for node in nodes(path.read_text()):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, f"{name}:{node.lineno} climbs out of its folder"


def test_importing_the_package_loads_no_heavy_module() -> None:
    code = f"import sys, partita; print([name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
