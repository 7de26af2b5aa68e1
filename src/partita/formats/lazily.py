"""Functions and values of formats, imported when they are first needed: most are not, in most processes."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from partita.types.json import limited_depth


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


def format_of(module: str, name: str = "FORMAT") -> Any:
    """A format that a module in `partita.formats` exports."""
    return getattr(import_module(f"partita.formats.{module}"), name)
