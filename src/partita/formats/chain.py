"""The former place of `log.thread_builder`."""

from .log.thread_builder import CallTimes, Touch
from .log.thread_builder import ThreadBuilder as Chain

__all__ = ["CallTimes", "Chain", "Touch"]
