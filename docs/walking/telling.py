"""What the walk says, and how it ends when a step fails."""

import time

BEGAN = time.monotonic()


class Stumble(Exception):  # noqa: N818 # that is what it is
    """A step that failed: the walk is over."""


def say(text: str) -> None:
    """Print at once, with the minute of the walk."""
    minutes, seconds = divmod(int(time.monotonic() - BEGAN), 60)
    print(f"{minutes:02}:{seconds:02} {text}", flush=True)
