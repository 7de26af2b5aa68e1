"""The name under which PostgreSQL tells that a run has news."""

from typing import Final

CHANNEL: Final = "partita"
