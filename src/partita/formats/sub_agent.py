"""The former place of `log.thread_builder.SubAgentBuilder`."""

from .log.thread_builder import SubAgentBuilder as Agent

__all__ = ["Agent"]
