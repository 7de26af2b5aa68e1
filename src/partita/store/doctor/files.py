"""Checks of the files of a SQLite store. PostgreSQL checks its own files."""

import shlex
from collections import Counter
from pathlib import Path

from partita.private_files import is_shared
from partita.store.engines.location import store_files
from partita.store.sql.transaction import Transaction

from .check import Cursor, Findings, Scope
from .report import Finding

RECOVER = "copy the file away, then: sqlite3 FILE .recover | sqlite3 NEW; or restore the last backup"


def find_damage(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Pages and indexes that do not fit together. The file is not checked for one owner."""
    if not tx.is_sqlite or tx.owner is not None:
        return Findings([])
    pragma = "integrity_check" if scope.full else "quick_check"
    # Rows of old stores may violate constraints that were added later: the check of contents reports them.
    tx.sql("PRAGMA ignore_check_constraints = ON")
    lines = [str(row[0]) for row in tx.sql(f"PRAGMA {pragma}(100)")]
    tx.sql("PRAGMA ignore_check_constraints = OFF")
    damage = [Finding(what=line, hint=RECOVER) for line in lines if line != "ok"]
    broken = Counter((row.table, row.parent) for row in tx.sql("PRAGMA foreign_key_check"))
    return Findings(
        damage
        + [
            Finding(what=f"{count} rows of {table} refer to missing rows of {parent}", hint="see: orphans")
            for (table, parent), count in broken.items()
        ]
    )


def find_shared_files(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Files that other users can open. They may be shared with a group on purpose."""
    if not tx.is_sqlite or tx.owner is not None:
        return Findings([])
    name = next(str(row.file or "") for row in tx.sql("PRAGMA database_list") if row.name == "main")
    shared = [file for file in store_files(Path(name)) if is_shared(file)] if name else []
    return Findings(
        [
            Finding(
                what=f"other users can open {file.name} (mode {file.stat().st_mode & 0o777:o})",
                hint=f"unless you share it on purpose: chmod go= {shlex.quote(str(file))}",
                severity="notice",
            )
            for file in shared
        ]
    )
