"""The checks, in the order in which repairs build on each other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from partita.store.sql.transaction import Transaction

from . import (
    blob_state,
    calls,
    contents,
    derived_state,
    integrity,
    ledger,
    logs,
    orphans,
    permissions,
    thread_state,
)
from .report import Cursor, Finding, Found, Scope

Find: TypeAlias = Callable[[Transaction, Cursor, Scope], Found]
Repair: TypeAlias = Callable[[Transaction, Finding], None]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at, step by step, and how to put right a finding that says it can be."""

    name: str
    title: str
    find: Find
    repair: Repair | None = None


CHECKS: tuple[Check, ...] = (
    Check("file", "The file is whole", integrity.find_damage),
    Check("permissions", "Only you may open the files", permissions.find_shared_files),
    Check("orphans", "Every row has the row it belongs to", orphans.find_orphans, orphans.adopt_or_remove),
    Check("contents", "Messages can be read", contents.find_damaged_messages),
    Check("columns", "Threads, runs, sources and consumptions can be read", contents.find_damaged_columns),
    Check("blobs", "Blobs of messages are there", blob_state.find_missing, blob_state.note_reference),
    Check("blob-bytes", "Blobs are what their hashes say", blob_state.find_damaged),
    Check("derived", "What is derived is up to date", derived_state.find_outdated, derived_state.rederive),
    Check("titles", "Titles can be found", derived_state.find_outdated_titles, derived_state.rederive_title),
    Check("labels", "Labels are those of the metadata", thread_state.find_wrong_labels, thread_state.relabel),
    Check("index", "The index knows living messages only", orphans.find_stray_entries, orphans.remove_entry),
    Check("counters", "Threads count right", thread_state.find_wrong_counters, thread_state.recount),
    Check("branches", "Active branches are marked", thread_state.find_wrong_branches, thread_state.mark),
    Check("ledger", "Every response is counted once", ledger.find_miscounted, ledger.settle),
    Check("unused-blobs", "Every blob is used", blob_state.find_unreferred, blob_state.remove_blob),
    Check("log-gaps", "Logs have no gaps", logs.find_gaps),
    Check("log-ends", "Runs know where their logs end", logs.find_wrong_ends, logs.set_end),
    Check("log-blocks", "Logs can be unpacked", logs.find_damaged_blocks),
    Check("abandoned-runs", "Runs at work are held by someone", logs.find_abandoned),
    Check("unsealed-runs", "Logs of ended runs are sealed", logs.find_unsealed, logs.seal),
    Check("open-calls", "Tool calls are answered", calls.find_unanswered),
    Check("repeated-calls", "Ids of calls are used once", calls.find_repeated),
)
