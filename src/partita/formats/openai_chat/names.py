"""Ids and names as servers take them: one rule, so that a call and its result stay together."""

import re
from functools import lru_cache
from hashlib import sha256
from typing import Final

from .dialects import Dialect

LONGEST_NAME: Final = 64
DIGITS: Final = 8

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")
_NINE_LETTERS: Final = re.compile(r"[A-Za-z0-9]{9}")


def id_of(id: str, dialect: Dialect) -> str:
    """The id of a call. Mistral takes nine letters and digits, no more and no fewer."""
    if not dialect.nine_letter_ids or _NINE_LETTERS.fullmatch(id):
        return id
    return _digest(id)[:9]


@lru_cache
def name_of(name: str) -> str:
    """The name of a tool. One that has to change gets a digest, so that no two become one."""
    if name and len(name) <= LONGEST_NAME and not _FOREIGN.search(name):
        return name
    return f"{_FOREIGN.sub('_', name)[: LONGEST_NAME - DIGITS - 1]}_{_digest(name)[:DIGITS]}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
