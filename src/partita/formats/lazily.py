"""Functions and values of formats, imported when they are first needed: most are not, in most processes."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from partita.types.json import limited_depth

from .format import Format


def later(module: str, name: str) -> Callable[..., Any]:
    """A function of a module in `partita.formats`, imported when it is first called.

    It refuses values that are nested too deeply.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        function = getattr(import_module(f"partita.formats.{module}"), name)
        with limited_depth():
            return function(*arguments, **named)

    return call


def value_of(module: str, name: str) -> Callable[[], Any]:
    """Gives a value of a module in `partita.formats`."""
    return lambda: getattr(import_module(f"partita.formats.{module}"), name)


class LazyFormat(NamedTuple):
    """A format that a module in `partita.formats` exports. The module is imported when it is needed."""

    name: str
    module: str
    attribute: str = "FORMAT"

    def load(self) -> Format:
        """Import the module."""
        found: Format = getattr(import_module(f"partita.formats.{self.module}"), self.attribute)
        return found
