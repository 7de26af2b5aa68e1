"""The entry point of `partita` and `python -m partita`."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130


def main() -> None:
    """Run the command line. Ctrl-C ends it without a traceback, also during imports."""
    sys.unraisablehook = _exit_on_interrupt
    try:
        from partita.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _exit_on_interrupt(raised: "UnraisableHookArgs") -> None:
    """Exit on a Ctrl-C where exceptions are not propagated, such as in an import lock."""
    if issubclass(raised.exc_type, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(raised)


if __name__ == "__main__":
    main()
