"""A file that is there whole or not at all: written under another name, and given its own at the end."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from partita.errors import ConflictError, UnavailableError

EVERYBODY: Final = 0o666
OWNER: Final = 0o600
LONGEST: Final = 100
"""How many characters of the name the unfinished file has in its own."""


@contextmanager
def whole_file(path: Path, *, force: bool = False, private: bool = False) -> Generator[BinaryIO, None, None]:
    """A file to write to. It gets its name when nothing was raised; what is there stays unless `force`."""
    if path.is_dir():
        raise ConflictError("this is a folder", where=str(path), hint="name a file in it")
    if not force and os.path.lexists(path):
        raise _taken(path)
    unfinished = path.with_name(f".{path.name[:LONGEST]}.{uuid4().hex[:8]}.part")
    try:
        with told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            number = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER if private else EVERYBODY)
        with os.fdopen(number, "w+b") as file:
            yield file
            with told(path):
                file.flush()
                os.fsync(file.fileno())
        with told(path):
            _name(unfinished, path, force=force)
    finally:  # also when Ctrl-C comes right after it was created
        with suppress(FileNotFoundError, NotADirectoryError):
            unfinished.unlink()


@contextmanager
def told(path: Path) -> Generator[None, None, None]:
    """Turn what the system says of a file that is written into an error of ours."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(
            f"the file cannot be written: {reason}",
            where=str(path),
            hint="is there room, and may you write there?",
        ) from error


def _name(unfinished: Path, path: Path, *, force: bool) -> None:
    """Give a file its name; without `force` only if nobody has it by now."""
    if force:
        unfinished.replace(path)
        return
    try:
        path.hardlink_to(unfinished)
    except FileExistsError:
        raise _taken(path) from None
    except OSError:  # a disk that knows no links
        if os.path.lexists(path):
            raise _taken(path) from None
        unfinished.rename(path)


def _taken(path: Path) -> ConflictError:
    return ConflictError("the file is there already", where=str(path), hint="--force writes over it")
