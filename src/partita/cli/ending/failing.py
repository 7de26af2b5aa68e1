"""How a command ends: its exit code, and what is said when something went wrong."""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TextIO

import click
from click.exceptions import Exit

from partita.cli.telling import tell
from partita.errors import PartitaError

from .leaving import INTERRUPTED, keep, stay, tell_interrupted

DONE: Final = 0
FAILED: Final = 1
BUG: Final = 70

TRACEBACK: Final = "PARTITA_TRACEBACK"
HINTS: Final = {
    errno.ENOSPC: "make room, or write to another disk",
    errno.EDQUOT: "make room, or write to another disk",
    errno.EACCES: "check who may read and write it",
    errno.EPERM: "check who may read and write it",
    errno.EROFS: "write to another disk: this one is read-only",
    errno.EMFILE: "close something, or raise the limit with ulimit -n",
}


def exit_code_of(work: Callable[[], object]) -> int:
    """Do the work of a command, and tell what goes wrong; gives the exit code."""
    try:
        code = _done(work)
        flush()  # what cannot be written shows here, not when nobody listens any more
        return code
    except BrokenPipeError:
        mute(sys.stdout, sys.stderr)
        return DONE  # whoever read had enough
    except click.ClickException:
        raise  # click tells what was wrong with the words that were given
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except Exception as error:
        return _interrupted(error) if _comes_of_interruption(error) else _failed(error)
    except BaseException as error:
        if not _is_cancelled(error):
            raise
        return _interrupted(error)


def _interrupted(error: BaseException) -> int:
    """Tell of a Ctrl-C, and not of what it left unfinished."""
    keep(error)
    stay()
    _traceback()
    _drain()
    tell_interrupted()
    return INTERRUPTED


def _is_cancelled(error: BaseException) -> bool:
    """Whether a task was cancelled: asyncio forgets a Ctrl-C that comes while it begins to run one."""
    loaded = sys.modules.get("asyncio")
    return loaded is not None and isinstance(error, loaded.CancelledError)


def _comes_of_interruption(error: BaseException) -> bool:
    """Whether something failed only because it was being left."""
    looked: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, KeyboardInterrupt):
            return True
        if one is not None and id(one) not in looked:
            looked.add(id(one))
            waiting += (one.__cause__, one.__context__)
    return False


def _failed(error: Exception) -> int:
    match error:
        case PartitaError():
            _traceback()
            _tell(error.what, error.where, error.hint)
        case OSError():
            _traceback()
            _tell_system(error)
            _drain()
        case _:
            _tell_bug(error)
            return BUG
    return FAILED


def _done(work: Callable[[], object]) -> int:
    try:
        work()
    except Exit as end:
        return end.exit_code
    return DONE


def _drain() -> None:
    """Give up what cannot be written: the interpreter would try again at the end."""
    try:
        flush()
    except OSError:
        mute(sys.stdout)


def flush() -> None:
    """Write what waits to be written."""
    out: TextIO | None = sys.stdout
    if out is not None:  # whoever called may have closed it
        out.flush()


def mute(*streams: TextIO | None) -> None:
    """Let nothing more be written to streams that nobody reads, not even at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError, ValueError):  # it is no file
            if stream is not None:
                os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _tell(what: str, where: str = "", hint: str = "") -> None:
    tell(what, mark="error: ", colour="red", hang=7, err=True)
    if where:
        tell(f"   at: {where}", hang=4, err=True)
    if hint:
        tell(f" hint: {hint}", hang=6, err=True)


def _tell_system(error: OSError) -> None:
    """What the system will not do: no room, no right, no such file."""
    what = (error.strerror or str(error) or type(error).__name__).lower()
    where = "" if error.filename is None else str(error.filename)
    _tell(what, where, HINTS.get(error.errno or 0, ""))


def _tell_bug(error: Exception) -> None:
    """A mistake of ours, in a line."""
    words = " ".join(str(error).split())
    _traceback()
    _tell(
        f"this should not happen: {type(error).__name__}{f': {words}' if words else ''}",
        hint="" if _wants_traceback() else f"{TRACEBACK}=1 shows where; please report it",
    )


def _traceback() -> None:
    if _wants_traceback():
        import traceback

        traceback.print_exc()


def _wants_traceback() -> bool:
    return os.environ.get(TRACEBACK, "") not in ("", "0")
