"""Import conversations into the store: databases of other systems, agents' log files, any message format."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .databases.importer import import_rows as import_rows
    from .databases.report import Failure as Failure
    from .databases.report import ImportReport as ImportReport
    from .logs.importer import import_logs as import_logs
    from .logs.plan import AgentReport as AgentReport
    from .logs.plan import ImportedSession as ImportedSession
    from .logs.plan import LogImportReport as LogImportReport
    from .logs.plan import Progress as Progress
    from .logs.watch import watch_logs as watch_logs
    from .logs.workers import Workers as Workers
    from .messages import ThreadMessages as ThreadMessages
    from .messages import import_messages as import_messages


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.importers.databases.importer": ("import_rows",),
    "partita.importers.databases.report": (
        "Failure",
        "ImportReport",
    ),
    "partita.importers.logs.importer": ("import_logs",),
    "partita.importers.logs.plan": (
        "AgentReport",
        "ImportedSession",
        "LogImportReport",
        "Progress",
    ),
    "partita.importers.logs.watch": ("watch_logs",),
    "partita.importers.logs.workers": ("Workers",),
    "partita.importers.messages": (
        "ThreadMessages",
        "import_messages",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
