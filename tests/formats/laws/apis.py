"""APIs of models: one history in the form of each, and what each demands of a request."""

from collections.abc import Mapping
from typing import Final

from partita.types.json import JsonObject

from .subjects import SUBJECTS

HISTORIES: Final[Mapping[str, JsonObject]] = {
    name: one.data["history"] for name, one in SUBJECTS.items() if "history" in one.data
}
ANSWERS: Final[Mapping[str, JsonObject]] = {
    name: one.data["answer"] for name, one in SUBJECTS.items() if "answer" in one.data
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
"""What every history contains: instructions, questions, answers, a picture, results, the name of a tool."""

OPAQUE: Final = (
    *("EqQB-signed", "hidden-words", "gAAAAB-opaque", "c2lnbmVk", "opaque-page", "YmVkcm9jay", "aGlkZGVu"),
)
"""What only the provider that made it can read: signatures and encrypted reasoning of the histories."""
