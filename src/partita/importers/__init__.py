"""Import conversations into the store: databases of other systems, agents' log files, any message format."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .logs.importer import import_logs as import_logs
    from .logs.plan import LogImportReport as LogImportReport
    from .logs.plan import Progress as Progress
    from .logs.watch import watch_logs as watch_logs
    from .logs.workers import Workers as Workers


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.importers.logs.importer": ("import_logs",),
    "partita.importers.logs.plan": (
        "LogImportReport",
        "Progress",
    ),
    "partita.importers.logs.watch": ("watch_logs",),
    "partita.importers.logs.workers": ("Workers",),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
