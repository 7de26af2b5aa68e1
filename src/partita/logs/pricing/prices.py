"""What a response cost, by the list prices of its day. An estimate: no discount, no subscription is in it."""

from bisect import bisect_left
from datetime import datetime
from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject, is_object
from partita.types.times import in_utc
from partita.types.usage import Usage

from .rates import Conditions, tariff_of

MILLION, THOUSAND = 1_000_000, 1_000

TIERS: Final[dict[str, Conditions]] = {
    "batch": (("processing", "batch"),),
    "flex": (("service_tier", "flex"),),
    "priority": (("service_tier", "priority"),),
}
"""What providers say in `service_tier`, in the words of the price list. Others are the usual one."""


class Priced(NamedTuple):
    """A cost in US dollars, and the rates it was made with: to be kept beside it, not to be changed."""

    cost: float
    snapshot: JsonObject


def price_of(model: str | None, provider: str | None, usage: Usage, at: datetime | None) -> Priced | None:
    """What a response cost at a moment (`None`: by the newest prices); `None` when no price is known.

    As in the list, `input_tokens` hold those that were cached or written to a cache, and `output_tokens` the
    reasoning. What the provider itself said (`raw`) tells how long a cache was to last, how many searches of
    the web there were, and at which speed and tier it was served.
    """
    if model is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    raw: JsonObject = usage.raw if is_object(usage.raw) else {}
    tier = raw.get("service_tier")
    conditions = TIERS.get(tier, ()) if isinstance(tier, str) else ()
    moment = None if at is None else in_utc(at, "at")
    tariff = tariff_of(model, provider, moment, conditions, fast=raw.get("speed") == "fast")
    if tariff is None:
        return None
    whole = usage.input_tokens or 0
    level = tariff.levels[bisect_left(tariff.starts, whole)]
    cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
    for_an_hour = min(_count(raw.get("cache_creation"), "ephemeral_1h_input_tokens"), written)
    output = usage.output_tokens or 0
    reasoning = min(usage.reasoning_tokens or 0, output)
    tokens = (
        max(whole - cached - written, 0) * level.input
        + cached * level.cached_input
        + (written - for_an_hour) * level.cache_write
        + for_an_hour * level.cache_write_1h
        + (output - reasoning) * level.output
        + reasoning * level.reasoning
    )
    searches = _count(raw.get("server_tool_use"), "web_search_requests")
    return Priced(tokens / MILLION + searches * level.web_searches / THOUSAND, level.snapshot)


def _count(counts: Json, name: str) -> int:
    """A count that a provider may tell."""
    value = counts.get(name) if is_object(counts) else None
    return value if isinstance(value, int) and value > 0 else 0
