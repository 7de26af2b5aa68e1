"""The only tool."""

from typing import Any

MEASURED = {"Bergen": "rain, 9 degrees", "Tromsø": "snow, -4 degrees"}

DESCRIPTION = "The weather in a city, as it was measured last."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}


def weather(city: str) -> str:
    """The weather in a city, as it was measured last."""
    return MEASURED.get(city, "no data")
