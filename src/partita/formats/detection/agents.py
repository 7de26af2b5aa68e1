"""What gives the streams and sessions of agents away where they come as payloads, without a file."""

from typing import Final

from partita.types.json import JsonObject

from .agent_logs import LOG_SIGNS
from .sign import Sign, begins


def _is_acp(value: JsonObject) -> bool:
    return value.get("jsonrpc") == "2.0" and begins(value, "method", "session/")


SIGNS: Final = (
    *(
        # A little less sure than of a file: a payload has no name.
        Sign(sign.format, sign.confidence * 0.97, sign.why, sign.shows)
        for sign in LOG_SIGNS
    ),
    Sign("acp", 0.85, "calls of the Agent Client Protocol", _is_acp),
)
