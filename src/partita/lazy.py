"""Names that are imported on first use: those that a package re-exports, and single functions."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, exports: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package that exports names of other modules.

    `exports` lists the names by the module that defines them.
    """
    modules = {name: module for module, names in exports.items() for name in names}

    def get_attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(import_module(package), name, value)
        return value

    return get_attribute, lambda: sorted(modules), sorted(modules)


def lazy_function(path: str) -> Callable[..., Any]:
    """Return a function that imports and calls the function or class at a dotted path."""
    module, _, name = path.rpartition(".")

    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **options)

    return call
