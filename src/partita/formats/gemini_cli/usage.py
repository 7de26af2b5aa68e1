"""Tokens of a response → usage."""

from partita.types.json import Json, is_object
from partita.types.usage import Usage


def usage_of(tokens: Json) -> Usage | None:
    """What a response consumed.

    `input` holds the cached ones. `thoughts` stand beside `output` and are paid like it; `tool` counts what
    tools of the API itself put into the prompt.
    """
    if not is_object(tokens):
        return None
    read, tool = _count(tokens.get("input")), _count(tokens.get("tool"))
    written, thoughts = _count(tokens.get("output")), _count(tokens.get("thoughts"))
    return Usage(
        input_tokens=_sum(read, tool),
        output_tokens=_sum(written, thoughts),
        total_tokens=_count(tokens.get("total")),
        reasoning_tokens=thoughts,
        cached_input_tokens=_count(tokens.get("cached")),
        raw=tokens,
    )


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
