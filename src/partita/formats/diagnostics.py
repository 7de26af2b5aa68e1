"""The former place of `log.diagnostics`."""

from .log.diagnostics import Place

__all__ = ["Place"]
