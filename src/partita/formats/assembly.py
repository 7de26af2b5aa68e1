"""The former place of `log.thread_builder.LogBuilder`."""

from .log.thread_builder import LogBuilder as Assembly
from .log.thread_builder import Turn

__all__ = ["Assembly", "Turn"]
