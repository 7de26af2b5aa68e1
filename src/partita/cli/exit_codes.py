"""The exit codes of commands, their error messages, and the handling of Ctrl-C.

This module imports nothing heavy: when Ctrl-C arrives while modules are being imported, others may be
incomplete.
"""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, TextIO

import click
from click.exceptions import Exit

from partita.errors import PartitaError

from .output import echo

if TYPE_CHECKING:
    import threading

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
BUG: Final = 70
INTERRUPTED: Final = 130
"""The exit code of shells for a command that Ctrl-C ended."""

EXIT_CODES: Final = {
    DONE: "done; an empty list is done",
    FAILED: "failed, or what was named or searched for was not found",
    USAGE: "usage error",
    BUG: "internal error (a bug)",
    INTERRUPTED: "stopped by Ctrl-C (serve, watch and mcp then exit with 0)",
}

GRACE: Final = 2.0
"""Seconds after Ctrl-C in which pending work may finish."""

TRACEBACK: Final = "PARTITA_TRACEBACK"
HINTS: Final = {
    errno.ENOSPC: "free disk space, or write to another disk",
    errno.EDQUOT: "free disk space, or write to another disk",
    errno.ENOENT: "check the spelling",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.EROFS: "write to another disk: this one is read-only",
    errno.EMFILE: "raise the limit with ulimit -n",
}

_exit_timers: "list[threading.Timer]" = []
_unfinished: list[BaseException] = []


def exit_code_of(work: Callable[[], object]) -> int:
    """Run a command, print the error if it fails, and return the exit code."""
    try:
        code = _done(work)
        flush()  # raise write errors here, not when the interpreter exits
        return code
    except BrokenPipeError:
        mute(sys.stdout, sys.stderr)
        return DONE  # the reader of the pipe has closed it
    except click.ClickException as error:
        return print_click_error(error)
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except Exception as error:
        return _interrupted(error) if _is_caused_by_interrupt(error) else _failed(error)
    except BaseException as error:
        if not _is_cancelled(error):
            raise
        return _interrupted(error)


def _done(work: Callable[[], object]) -> int:
    try:
        work()
    except Exit as end:
        return end.exit_code
    return DONE


def _interrupted(error: BaseException) -> int:
    """Report Ctrl-C, but not the work that it left unfinished."""
    # Python warns about a coroutine that is deleted before it was awaited: keep it until the process ends.
    _unfinished.append(error)
    cancel_exit()
    _print_traceback()
    _flush_or_mute()
    print_interrupted()
    return INTERRUPTED


def print_interrupted() -> None:
    """Print that the command was interrupted, below the ^C that the terminal shows."""
    with suppress(OSError):
        click.echo(("\n" if sys.stderr.isatty() else "") + "partita: interrupted", err=True)


def exit_soon() -> None:
    """End the process after `GRACE` seconds even if something still blocks it."""
    import threading

    timer = threading.Timer(GRACE, _exit_now)
    timer.daemon = True
    timer.start()
    _exit_timers.append(timer)


def _exit_now() -> None:
    print_interrupted()
    os._exit(INTERRUPTED)


def cancel_exit() -> None:
    """Undo `exit_soon`: all pending work has finished."""
    for timer in _exit_timers:
        timer.cancel()
    _exit_timers.clear()


def _is_cancelled(error: BaseException) -> bool:
    """Whether a task was cancelled: asyncio loses a Ctrl-C that arrives while it starts a task."""
    loaded = sys.modules.get("asyncio")
    return loaded is not None and isinstance(error, loaded.CancelledError)


def _is_caused_by_interrupt(error: BaseException) -> bool:
    """Whether an error was raised while a KeyboardInterrupt was handled."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, KeyboardInterrupt):
            return True
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            waiting += (one.__cause__, one.__context__)
    return False


def _failed(error: Exception) -> int:
    match error:
        case PartitaError():
            _print_traceback()
            print_error(error.what, error.where, error.hint)
        case OSError():
            _print_traceback()
            _print_os_error(error)
            _flush_or_mute()
        case _:
            _print_bug(error)
            return BUG
    return FAILED


def _flush_or_mute() -> None:
    """Flush stdout. If that fails, discard the rest: the interpreter would try again when it exits."""
    try:
        flush()
    except OSError:
        mute(sys.stdout)


def flush() -> None:
    """Flush stdout."""
    out: TextIO | None = sys.stdout
    if out is not None:  # the caller may have closed it
        out.flush()


def mute(*streams: TextIO | None) -> None:
    """Redirect streams whose reader is gone to the null device, so that flushing them cannot fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError, ValueError):  # it has no file descriptor
            if stream is not None:
                os.dup2(null, stream.fileno())
    os.close(null)


def print_error(what: str, where: str = "", hint: str = "") -> None:
    """Print an error on stderr: what went wrong, where, and how to fix it."""
    echo(what, mark="error: ", colour="red", indent=7, err=True)
    if where:
        echo(f"   at: {where}", indent=4, err=True)
    if hint:
        echo(f" hint: {hint}", indent=6, err=True)


def print_click_error(error: click.ClickException) -> int:
    """Print an error in the words after `partita`, or in a file that click opened; return the exit code."""
    if isinstance(error, click.FileError):
        print_error(error.message.lower(), error.ui_filename, "check the spelling")
        return FAILED
    if not isinstance(error, click.UsageError):
        print_error(error.message.lower())
        return FAILED
    what, hint = _usage_error(error)
    where = _parameter(error.param) if isinstance(error, click.BadParameter) and what[:7] != "missing" else ""
    context = getattr(error, "ctx", None)
    print_error(what, where, hint or f"{' '.join(_names(context))} --help")
    return USAGE


def _usage_error(error: click.ClickException) -> tuple[str, str]:
    """What is wrong, and a hint. In messages of ours, the hint follows after a semicolon."""
    match error:
        case click.MissingParameter():
            kind = "argument" if isinstance(error.param, click.Argument) else "option"
            choices = error.param.type if error.param is not None else None
            known = (
                f"one of {', '.join(map(str, choices.choices))}" if isinstance(choices, click.Choice) else ""
            )
            return f"missing {kind} {_parameter(error.param)}", known
        case click.NoSuchOption():
            near = get_close_matches(error.option_name, error.possibilities or (), n=1)
            return f"there is no option {error.option_name!r}", f"did you mean {near[0]!r}?" if near else ""
        case _:
            message = error.message.strip()
            what, _, hint = message.removesuffix("." if "?" not in message else "").partition("; ")
            return what[:1].lower() + what[1:], hint


def _parameter(param: click.Parameter | None) -> str:
    """The name of a parameter: the long form of an option, an argument in capitals."""
    if param is None:
        return ""
    if isinstance(param, click.Argument):
        return (param.metavar or param.human_readable_name).strip("[]…").upper()
    return max(param.opts, key=len)


def _names(context: click.Context | None) -> list[str]:
    """The names of a command and of its groups."""
    if context is None or context.parent is None:
        return ["partita"]
    return [*_names(context.parent), context.info_name or ""]


def _print_os_error(error: OSError) -> None:
    what = (error.strerror or str(error) or type(error).__name__).lower()
    where = "" if error.filename is None else str(error.filename)
    print_error(what, where, HINTS.get(error.errno or 0, ""))


def _print_bug(error: Exception) -> None:
    """Print an exception that is not an error of the user, in one line."""
    text = " ".join(str(error).split())
    _print_traceback()
    print_error(
        f"internal error: {type(error).__name__}{f': {text}' if text else ''}",
        hint="" if _wants_traceback() else f"{TRACEBACK}=1 shows the traceback; please report it",
    )


def _print_traceback() -> None:
    if _wants_traceback():
        import traceback

        traceback.print_exc()


def _wants_traceback() -> bool:
    return os.environ.get(TRACEBACK, "") not in ("", "0")
