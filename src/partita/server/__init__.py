"""The HTTP API over the store and the runtime: an ASGI application."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .app import PartitaApp as PartitaApp
    from .guard.auth import Connection as Connection
    from .settings import Limits as Limits
    from .settings import Settings as Settings

# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.server.app": ("PartitaApp",),
    "partita.server.guard.auth": ("Connection",),
    "partita.server.settings": ("Limits", "Settings"),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
