"""Ids and names as the API takes them: one rule, so that a call and its result stay together."""

import re
from hashlib import sha256
from typing import Final

LONGEST_NAME: Final = 128
DIGITS: Final = 8

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")


def id_of(id: str) -> str:
    """An id in the API's alphabet. One that has to change gets a digest, so that no two become one."""
    return id if id and not _FOREIGN.search(id) else _rewritten(id, len(id))


def name_of(name: str) -> str:
    """The name of a tool in the API's alphabet and of its length."""
    is_fine = name and len(name) <= LONGEST_NAME and not _FOREIGN.search(name)
    return name if is_fine else _rewritten(name, LONGEST_NAME - DIGITS - 1)


def _rewritten(text: str, length: int) -> str:
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
    return f"{_FOREIGN.sub('_', text)[:length]}_{digest}"
