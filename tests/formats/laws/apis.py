"""APIs of models: a conversation in the form of each API, and a response that continues it."""

from collections.abc import Mapping
from typing import Final

from partita.types.json import JsonObject

from .subjects import SUBJECTS

HISTORIES: Final[Mapping[str, JsonObject]] = {
    name: one.data["history"] for name, one in SUBJECTS.items() if "history" in one.data
}
RESPONSES: Final[Mapping[str, JsonObject]] = {
    name: one.data["response"] for name, one in SUBJECTS.items() if "response" in one.data
}

TEXTS: Final = (
    "You keep the register of lighthouses. Answer in metres.",
    "How tall is the tower in the picture, and is its lamp lit?",
    "I look both up.",
    "The tower is 39 metres tall. Its lamp could not be reached.",
    "Read this list and tell me which tower is older.",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "39",
    "no answer from the lamp",
    "height",
)
"""Contents of every history: instructions, questions, responses, an image, results and a tool name."""

OPAQUE: Final = (
    *("EqQB-signed", "hidden-words", "gAAAAB-opaque", "c2lnbmVk", "opaque-page", "YmVkcm9jay", "aGlkZGVu"),
)
"""Signatures and encrypted reasoning of the histories, which only their provider can read."""
