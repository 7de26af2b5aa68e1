"""Whether the file itself is whole, as SQLite sees it. A server looks after its files on its own."""

from collections import Counter

from partita.store.sql.transaction import Transaction

from .report import Cursor, Finding, Found, Scope

RECOVER = "copy the file away, then: sqlite3 FILE .recover | sqlite3 NEW; or take the last backup"


def find_damage(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Pages and indexes that do not fit together; for one owner alone, the file is not looked at."""
    if not tx.is_sqlite or tx.owner is not None:
        return Found([])
    pragma = "integrity_check" if scope.full else "quick_check"
    tx.sql("PRAGMA ignore_check_constraints = ON")  # rows of before they existed are reported as contents
    said = [str(row[0]) for row in tx.sql(f"PRAGMA {pragma}(100)")]
    tx.sql("PRAGMA ignore_check_constraints = OFF")
    damage = [Finding(what=text, hint=RECOVER) for text in said if text != "ok"]
    broken = Counter((row.table, row.parent) for row in tx.sql("PRAGMA foreign_key_check"))
    return Found(
        damage
        + [
            Finding(what=f"{count} rows of {table} refer to {parent} that are not there", hint="see: orphans")
            for (table, parent), count in broken.items()
        ]
    )
