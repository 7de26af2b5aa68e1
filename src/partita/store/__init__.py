"""The store of threads, messages, runs, chunks and raw agent data, on SQLite or PostgreSQL."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .blobs.blobs import Blobs as Blobs
    from .blocking import SyncStore as SyncStore
    from .bulk.writer import Counts as Counts
    from .keys import Keys as Keys
    from .logs.logs import Logs as Logs
    from .logs.maintenance import Retention as Retention
    from .logs.maintenance import RetentionReport as RetentionReport
    from .logs.maintenance import SealReport as SealReport
    from .logs.run_log import LogEntry as LogEntry
    from .logs.run_log import LogRecord as LogRecord
    from .memory import MemoryStore as MemoryStore
    from .memory import StoreMemory as StoreMemory
    from .messages.messages import Messages as Messages
    from .messages.queries import Included as Included
    from .messages.queries import NumberedMessages as NumberedMessages
    from .messages.queries import NumberedQuery as NumberedQuery
    from .messages.queries import PartTime as PartTime
    from .owners import OwnerReport as OwnerReport
    from .retention import ExpiredThread as ExpiredThread
    from .retention import RemovalReport as RemovalReport
    from .runs.rows import RunEnd as RunEnd
    from .runs.runs import Runs as Runs
    from .runs.turns import Signal as Signal
    from .runs.turns import StartedTurn as StartedTurn
    from .sources import Sources as Sources
    from .sql.pages import Numbered as Numbered
    from .sql.pages import NumberedPage as NumberedPage
    from .stats.rankings import RunStat as RunStat
    from .stats.rankings import ThreadStat as ThreadStat
    from .stats.rankings import ToolStat as ToolStat
    from .stats.stats import GrowthPoint as GrowthPoint
    from .stats.stats import Stats as Stats
    from .stats.stats import UsageLedger as UsageLedger
    from .store import CompactReport as CompactReport
    from .store import Store as Store
    from .threads.branches import Outline as Outline
    from .threads.branches import OutlineRow as OutlineRow
    from .threads.copies import Excerpt as Excerpt
    from .threads.facets import DateCounts as DateCounts
    from .threads.facets import Facets as Facets
    from .threads.facets import FacetValue as FacetValue
    from .threads.lists import ThreadName as ThreadName
    from .threads.lists import ThreadSummary as ThreadSummary
    from .threads.threads import ThreadContext as ThreadContext
    from .threads.threads import Threads as Threads
    from .values import ApiKey as ApiKey
    from .values import Blob as Blob
    from .values import ConsumptionRecord as ConsumptionRecord
    from .values import MessageFilter as MessageFilter
    from .values import NewKey as NewKey
    from .values import Page as Page
    from .values import PartFilter as PartFilter
    from .values import PartMatches as PartMatches
    from .values import RunFilter as RunFilter
    from .values import SearchFilter as SearchFilter
    from .values import SearchHit as SearchHit
    from .values import SearchPage as SearchPage
    from .values import Source as Source
    from .values import StatFilter as StatFilter
    from .values import StoredPart as StoredPart
    from .values import ThreadFilter as ThreadFilter
    from .values import ThreadMatches as ThreadMatches
    from .values import UsageStat as UsageStat
    from .values import UsageTotals as UsageTotals


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.store.blobs.blobs": ("Blobs",),
    "partita.store.blocking": ("SyncStore",),
    "partita.store.bulk.writer": ("Counts",),
    "partita.store.keys": ("Keys",),
    "partita.store.logs.logs": ("Logs",),
    "partita.store.logs.maintenance": (
        "Retention",
        "RetentionReport",
        "SealReport",
    ),
    "partita.store.logs.run_log": (
        "LogEntry",
        "LogRecord",
    ),
    "partita.store.memory": (
        "MemoryStore",
        "StoreMemory",
    ),
    "partita.store.messages.messages": ("Messages",),
    "partita.store.messages.queries": (
        "Included",
        "NumberedMessages",
        "NumberedQuery",
        "PartTime",
    ),
    "partita.store.owners": ("OwnerReport",),
    "partita.store.retention": (
        "ExpiredThread",
        "RemovalReport",
    ),
    "partita.store.runs.rows": ("RunEnd",),
    "partita.store.runs.runs": ("Runs",),
    "partita.store.runs.turns": (
        "Signal",
        "StartedTurn",
    ),
    "partita.store.sources": ("Sources",),
    "partita.store.sql.pages": (
        "Numbered",
        "NumberedPage",
    ),
    "partita.store.stats.rankings": (
        "RunStat",
        "ThreadStat",
        "ToolStat",
    ),
    "partita.store.stats.stats": (
        "GrowthPoint",
        "Stats",
        "UsageLedger",
    ),
    "partita.store.store": (
        "CompactReport",
        "Store",
    ),
    "partita.store.threads.branches": (
        "Outline",
        "OutlineRow",
    ),
    "partita.store.threads.copies": ("Excerpt",),
    "partita.store.threads.facets": (
        "DateCounts",
        "FacetValue",
        "Facets",
    ),
    "partita.store.threads.lists": (
        "ThreadName",
        "ThreadSummary",
    ),
    "partita.store.threads.threads": (
        "ThreadContext",
        "Threads",
    ),
    "partita.store.values": (
        "ApiKey",
        "Blob",
        "ConsumptionRecord",
        "MessageFilter",
        "NewKey",
        "Page",
        "PartFilter",
        "PartMatches",
        "RunFilter",
        "SearchFilter",
        "SearchHit",
        "SearchPage",
        "Source",
        "StatFilter",
        "StoredPart",
        "ThreadFilter",
        "ThreadMatches",
        "UsageStat",
        "UsageTotals",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
