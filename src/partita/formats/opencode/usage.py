"""Tokens of a message, or of its steps → usage."""

from collections.abc import Iterable
from typing import NamedTuple

from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage


class Tokens(NamedTuple):
    """The counters of OpenCode. `input` is without the cache."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    read: int = 0
    write: int = 0
    total: int | None = None
    apart: bool = False  # `output` is without the reasoning, for certain

    @property
    def prompt(self) -> int:
        """All that the model read."""
        return self.input + self.read + self.write

    @property
    def written(self) -> int:
        """All that the model wrote, reasoning included.

        Version 1.2 counted reasoning in `output` as well, later ones do not; the total tells which. Where
        there is none, the version is an old one, or it is version 2.
        """
        if self.apart:
            return self.output + self.reasoning
        if self.total is None:
            return self.output if self.reasoning <= self.output else self.output + self.reasoning
        inside = self.prompt + self.output == self.total
        return self.output if inside else self.output + self.reasoning


def tokens_of(raw: Json, *, apart: bool = False) -> Tokens | None:
    """The counters, if any of them is more than nothing: a message that is no response has zeros."""
    if not is_object(raw):
        return None
    cache = raw.get("cache")
    cached: JsonObject = cache if is_object(cache) else {}
    tokens = Tokens(
        input=_count(raw.get("input")),
        output=_count(raw.get("output")),
        reasoning=_count(raw.get("reasoning")),
        read=_count(cached.get("read")),
        write=_count(cached.get("write")),
        total=_count(raw.get("total")) or None,
        apart=apart,
    )
    return tokens if any(tokens[:5]) else None


def usage_of(tokens: Tokens, raw: Json) -> Usage:
    """What a response consumed."""
    return Usage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.written,
        total_tokens=tokens.prompt + tokens.written if tokens.total is None else tokens.total,
        reasoning_tokens=tokens.reasoning,
        cached_input_tokens=tokens.read,
        cache_write_tokens=tokens.write,
        raw=raw,
    )


def key_of(info: JsonObject, tokens: Tokens) -> str:
    """What a response is known by. Forks copy it under another id; its time, model and tokens stay."""
    time = info.get("time")
    created = time.get("created") if is_object(time) else None
    counters = "-".join(str(number) for number in tokens[:5])
    return f"opencode:{created}:{info.get('providerID')}/{info.get('modelID')}:{counters}"


def sum_of(steps: Iterable[JsonObject]) -> JsonObject | None:
    """The tokens of steps together, in the words of OpenCode."""
    found = [tokens for step in steps if (tokens := tokens_of(step.get("tokens"))) is not None]
    if not found:
        return None
    totals = [tokens.total for tokens in found if tokens.total is not None]
    return {
        "input": sum(tokens.input for tokens in found),
        "output": sum(tokens.output for tokens in found),
        "reasoning": sum(tokens.reasoning for tokens in found),
        "cache": {"read": sum(t.read for t in found), "write": sum(t.write for t in found)},
        **({"total": sum(totals)} if len(totals) == len(found) else {}),
    }


def cost_of(value: Json) -> float | None:
    """A cost in dollars, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _count(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
