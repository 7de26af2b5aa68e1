"""The files of a SQLite store: the database, its write-ahead log, and the copies made before upgrades."""

from pathlib import Path

from partita.private_files import create_file, is_shared, restrict

from .location import default_path


def store_files(path: Path) -> list[Path]:
    """The database, and what SQLite and upgrades of the schema have written next to it."""
    real = path.resolve()
    beside = (f"{real.name}-wal", f"{real.name}-shm", f"{real.name}-journal")
    named = [found for found in (real, *map(real.with_name, beside)) if found.exists()]
    copies = [one for one in real.parent.iterdir() if one.name.startswith(f"{real.name}.schema-")]
    return named + sorted(copies)


def create_or_restrict(path: Path) -> None:
    """Create the file of a store for this user alone; SQLite gives its other files the same mode.

    The mode of a file that exists may be chosen, for example to share it with a group. It is changed only
    for the file in the user's data directory, which earlier versions created with the usual mode.
    """
    if not path.exists():
        create_file(path)
    elif is_shared(path) and path == default_path():
        for file in store_files(path):
            restrict(file)
