"""The output of the walk-through, and the error that ends it."""

import time

START = time.monotonic()


class StepError(Exception):
    """A step failed. The walk-through ends."""


def report(text: str) -> None:
    """Print a text at once, with the time since the start."""
    minutes, seconds = divmod(int(time.monotonic() - START), 60)
    print(f"{minutes:02}:{seconds:02} {text}", flush=True)
