"""The source of `blocking.store`, written from the store itself.

python -m partita.store.blocking.source > src/partita/store/blocking/store.py
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PARTS = ("threads", "messages", "runs", "turns", "archive", "analytics", "keys")
FACADE = Path(__file__).parent.parent / "facade"

HEAD = '''\
"""The store without `await`, for scripts and notebooks. Written by `blocking.source`: do not edit."""

import os
{imports}
from partita.store.facade.store import Store
from partita.store.opening import open_store
from .portal import Portal


class SyncStore:
    """`Store`, each method waiting for its answer. Made by `open_store_sync`."""

    def __init__(self, portal: Portal, store: Store) -> None:
        self._portal = portal
        self._store = store

    def __enter__(self) -> "SyncStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits, and let go of the database."""
        self._portal.wait(self._store.close())
        self._portal.close()

    def scoped(self, resource_id: str) -> "SyncStore":
        """The same store, for one owner: others' rows cannot be seen or touched through it."""
        return SyncStore(self._portal, self._store.scoped(resource_id))

    def follow(self, run_id: str, *, after: int = 0) -> Iterator[Sequence[LogRecord]]:
        """What a run's log holds after a number, then what comes, from whichever process, until it ends."""
        return self._portal.iterate(self._store.follow(run_id, after=after))
'''

TAIL = '''

def open_store_sync(
    url: str | os.PathLike[str] | None = None, *, pool_size: int = 10, patience: float = 30.0
) -> SyncStore:
    """The store of a URL, as `open_store` takes it, for code without an event loop."""
    portal = Portal()
    try:
        return SyncStore(portal, portal.wait(_open(url, pool_size, patience)))
    except BaseException:
        portal.close()
        raise


async def _open(url: str | os.PathLike[str] | None, pool_size: int, patience: float) -> Store:
    return await open_store(url, pool_size=pool_size, patience=patience)
'''


def source() -> str:
    """The whole module, before it is formatted."""
    trees = [ast.parse((FACADE / f"{part}.py").read_text()) for part in PARTS]
    methods = [method for tree in trees for method in _methods(tree)]
    body = "\n".join(_method(method) for method in methods)
    text = HEAD + "\n" + body + TAIL
    return text.replace("{imports}", _imports(trees, text))


def _methods(tree: ast.Module) -> Iterator[ast.AsyncFunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (
                item
                for item in node.body
                if isinstance(item, ast.AsyncFunctionDef) and not item.name.startswith("_")
            )


def _method(method: ast.AsyncFunctionDef) -> str:
    call = [argument.arg for argument in method.args.args[1:]]
    call += [f"{argument.arg}={argument.arg}" for argument in method.args.kwonlyargs]
    docstring = ast.get_docstring(method, clean=False)
    assert method.returns is not None, "every method says what it gives"
    head = f"    def {method.name}({ast.unparse(method.args)}) -> {ast.unparse(method.returns)}:"
    return (
        f'{head}\n        """{docstring}"""\n'
        f"        return self._portal.wait(self._store.{method.name}({', '.join(call)}))\n"
    )


def _imports(trees: list[ast.Module], text: str) -> str:
    """The imports of the parts that the signatures need."""
    used = {
        node.id for node in ast.walk(ast.parse(text.replace("{imports}", ""))) if isinstance(node, ast.Name)
    }
    lines = {"from types import TracebackType", "from collections.abc import Iterator, Sequence"}
    for tree in trees:
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [alias.name for alias in node.names if (alias.asname or alias.name) in used]
                home = f"partita.store.facade.{node.module}" if node.level else node.module
                lines.update(f"from {home} import {name}" for name in names)
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id in used
            ):
                lines.add(f"from partita.store.facade.messages import {node.target.id}")
    return "\n".join(sorted(lines))


if __name__ == "__main__":
    print(source(), end="")
