"""Files with messages or secrets that only their owner can read.

The mode is set when a file or folder is created. If it were changed afterwards, other users could open the
file in between.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from partita.errors import ConflictError, UnavailableError

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
OTHERS: Final = 0o077
"""The mode bits with the rights of the group and of other users."""

LONGEST: Final = 100
"""How many characters of the name are used in the name of the temporary file."""


def create_folder(path: Path) -> None:
    """Create a folder and its parents with access for the owner only. Existing folders keep their mode."""
    if path.is_dir():
        return
    create_folder(path.parent)
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)


def create_file(path: Path) -> None:
    """Create an empty file and its folder. An existing file is not changed."""
    create_folder(path.parent)
    target = path.resolve()  # a link to a file that does not exist yet is followed, as SQLite does
    with suppress(FileExistsError):
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE))


def is_shared(path: Path) -> bool:
    """Whether other users can read or write a file. Always false on systems without file modes."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & OTHERS)
    except OSError:
        return False


def restrict(path: Path) -> None:
    """Remove the rights of other users from a file of this user."""
    with suppress(OSError):
        found = path.stat()
        if os.name == "posix" and found.st_uid == os.geteuid() and found.st_mode & OTHERS:
            path.chmod(found.st_mode & 0o7777 & ~OTHERS)


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Generator[BinaryIO, None, None]:
    """A new file that only its owner can read. It exists completely or not at all.

    It is written under a temporary name and renamed if no exception was raised. An existing file is only
    replaced with `force`, and a device never.
    """
    if path.is_dir():
        raise ConflictError("this is a folder", where=str(path), hint="name a file in it")
    if not force and os.path.lexists(path):
        raise _exists(path)
    if path.exists() and not path.is_file():
        raise ConflictError("this is a device, not a file", where=str(path), hint="name a file")
    unfinished = path.with_name(f".{path.name[:LONGEST]}.{uuid4().hex[:8]}.part")
    try:
        with convert_write_errors(path):
            create_folder(path.parent)
            number = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(number, "w+b") as file:
            yield file
            with convert_write_errors(path):
                file.flush()
                os.fsync(file.fileno())
        with convert_write_errors(path):
            _rename(unfinished, path, force=force)
    finally:  # also if Ctrl-C arrives right after the file was created
        with suppress(FileNotFoundError, NotADirectoryError):
            unfinished.unlink()


@contextmanager
def convert_write_errors(path: Path) -> Generator[None, None, None]:
    """Convert an `OSError` of writing a file into a `PartitaError`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(
            f"the file cannot be written: {reason}",
            where=str(path),
            hint="check the free disk space and the permissions",
        ) from error


def _rename(unfinished: Path, path: Path, *, force: bool) -> None:
    """Rename a file; without `force` only if no file has that name."""
    if force:
        unfinished.replace(path)
        return
    try:
        path.hardlink_to(unfinished)
    except FileExistsError:
        raise _exists(path) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise _exists(path) from None
        unfinished.rename(path)


def _exists(path: Path) -> ConflictError:
    return ConflictError("the file already exists", where=str(path), hint="--force overwrites it")
