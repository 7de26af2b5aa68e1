"""Whether other users of the machine may read the files of a store."""

import shlex
from pathlib import Path

from partita.private_files import is_shared
from partita.store.engines.location import store_files
from partita.store.sql.transaction import Transaction

from .report import Cursor, Finding, Found, Scope


def find_shared_files(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Files of a SQLite store that are not its owner's alone. A group may be meant to share them."""
    if not tx.is_sqlite or tx.owner is not None:
        return Found([])
    name = next(str(row.file or "") for row in tx.sql("PRAGMA database_list") if row.name == "main")
    shared = [file for file in store_files(Path(name)) if is_shared(file)] if name else []
    return Found(
        [
            Finding(
                what=f"other users may open {file.name} (mode {file.stat().st_mode & 0o777:o})",
                hint=f"unless you share it on purpose: chmod go= {shlex.quote(str(file))}",
                severity="notice",
            )
            for file in shared
        ]
    )
