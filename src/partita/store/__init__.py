"""The store of threads, messages, runs, chunks and raw agent data, on SQLite or PostgreSQL."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .blocking import SyncStore as SyncStore
    from .logs.maintenance import Retention as Retention
    from .logs.run_log import LogEntry as LogEntry
    from .logs.run_log import LogRecord as LogRecord
    from .memory import MemoryStore as MemoryStore
    from .store import Store as Store
    from .values import Blob as Blob
    from .values import ConsumptionRecord as ConsumptionRecord
    from .values import MessageFilter as MessageFilter
    from .values import Page as Page
    from .values import PartFilter as PartFilter
    from .values import RunFilter as RunFilter
    from .values import SearchFilter as SearchFilter
    from .values import SearchHit as SearchHit
    from .values import Source as Source
    from .values import StatFilter as StatFilter
    from .values import StoredPart as StoredPart
    from .values import ThreadFilter as ThreadFilter
    from .values import UsageStat as UsageStat
    from .values import UsageTotals as UsageTotals

# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.store.blocking": ("SyncStore",),
    "partita.store.logs.maintenance": ("Retention",),
    "partita.store.logs.run_log": ("LogEntry", "LogRecord"),
    "partita.store.memory": ("MemoryStore",),
    "partita.store.store": ("Store",),
    "partita.store.values": (
        "Blob",
        "ConsumptionRecord",
        "MessageFilter",
        "Page",
        "PartFilter",
        "RunFilter",
        "SearchFilter",
        "SearchHit",
        "Source",
        "StatFilter",
        "StoredPart",
        "ThreadFilter",
        "UsageStat",
        "UsageTotals",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
