"""Prices of models as the setting `prices` has them: `MODEL INPUT OUTPUT [CACHED-INPUT]`."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from partita.errors import ConfigError

HINT: Final = "write the model, then US dollars per million input and output tokens: my-model 0.5 2"
MAX_PRICE: Final = 1_000_000.0


class OwnPrice(NamedTuple):
    """US dollars per million tokens of a model. Cached input costs as much as other input by default."""

    model: str
    input: float
    output: float
    cached_input: float | None = None

    def __str__(self) -> str:
        cached = () if self.cached_input is None else (self.cached_input,)
        return " ".join([self.model, *(f"{rate:g}" for rate in (self.input, self.output, *cached))])


def parse_price(text: str) -> OwnPrice:
    """The price in an item of the setting."""
    model, *numbers = text.split() or [""]
    try:
        rates = [float(number) for number in numbers]
    except ValueError:
        raise ConfigError(f"{text!r} has a price that is not a number", hint=HINT) from None
    if not 2 <= len(rates) <= 3:
        raise ConfigError(f"{text!r} has {len(rates)} prices", hint=HINT)
    if not all(0 <= rate <= MAX_PRICE for rate in rates):
        raise ConfigError(f"{text!r} has a price below 0 or above {MAX_PRICE:,.0f}", hint=HINT)
    return OwnPrice(model.lower(), *rates)


def parse_prices(texts: Sequence[str]) -> Mapping[str, OwnPrice]:
    """Prices by model. Two of one model are an error."""
    prices: dict[str, OwnPrice] = {}
    for text in texts:
        price = parse_price(text)
        if price.model in prices:
            raise ConfigError(f"{price.model!r} has two prices", hint="remove one of them")
        prices[price.model] = price
    return prices
