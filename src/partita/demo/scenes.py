"""The building blocks of scripts: parts, steps, scenes."""

from typing import Final

from partita.types.json import Json, JsonObject

PAUSE: Final = 0.02
"""Seconds between two pieces of an answer, so that one sees it stream."""


def text(words: str) -> JsonObject:
    """Words for the reader."""
    return {"type": "text", "text": words}


def reasoning(words: str) -> JsonObject:
    """Words of the model for itself."""
    return {"type": "reasoning", "text": words}


def call(name: str, **given: Json) -> JsonObject:
    """A call of a tool."""
    return {"type": "tool-call", "name": name, "input": given}


def step(*parts: JsonObject, pause: float = PAUSE, **more: Json) -> JsonObject:
    """One answer of a model, with what it would have cost."""
    words = sum(len(str(part.get("text", "")).split()) for part in parts)
    usage = {"inputTokens": 40, "outputTokens": 12 + words, "totalTokens": 52 + words}
    return {"parts": list(parts), "pause": pause, "usage": usage, **more}


def scene(match: str | None, *steps: JsonObject) -> JsonObject:
    """Steps, and the word that calls for them."""
    return {"steps": list(steps)} if match is None else {"match": match, "steps": list(steps)}
