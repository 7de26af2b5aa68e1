"""The user's own prices of models, from the settings."""

from collections.abc import Mapping
from functools import cache

from partita.config.config import Config
from partita.config.prices import OwnPrice, parse_prices
from partita.errors import ConfigError


@cache
def own_prices() -> Mapping[str, OwnPrice]:
    """The prices in the settings by model, read once. `own_prices.cache_clear()` reads them again."""
    try:
        texts = Config().get("prices")
        assert isinstance(texts, tuple), "its kind is a list"
        return parse_prices(texts)
    except ConfigError:  # commands report it; the run of an agent must not fail because of it
        return {}
