"""Names of `format` that Mastra's and Cherry Studio's readers import."""

from typing import Any

from partita.formats.losses import Loss
from partita.types.json import Json

from .format import load, read_part

__all__ = ["load", "load_bare", "load_part"]


def load_part(raw: Json, role: str, path: str, losses: list[Loss]) -> Any:
    """One UI part as a canonical part that the role may have."""
    return read_part(raw, role)


def load_bare(raw: Json, role: str) -> None:
    """No part: `load_part` reads all of them."""
