"""All signs, in an order that decides if two are equally certain: the narrower format first."""

from typing import Final

from .agent_logs import LOG_SIGNS
from .frameworks import AI_SDK_SIGNS, MASTRA_SIGNS, PROTOCOL_SIGNS
from .providers import SIGNS as PROVIDER_SIGNS
from .signs import Sign, both, equals, starts
from .stored import APPLICATION_SIGNS, OWN_SIGNS, TRAINING_SIGNS

UNNAMED: Final = 0.97
"""How certain a sign of a log is in a payload: a little less than in a file, which has a name."""

AGENT_SIGNS: Final = (
    *(Sign(sign.format, sign.confidence * UNNAMED, sign.why, sign.shows) for sign in LOG_SIGNS),
    Sign(
        "acp",
        0.85,
        "calls of the Agent Client Protocol",
        both(equals("jsonrpc", "2.0"), starts("method", "session/")),
    ),
)

SIGNS: Final[tuple[Sign, ...]] = (
    *MASTRA_SIGNS,
    *APPLICATION_SIGNS,
    *OWN_SIGNS,
    *AI_SDK_SIGNS,
    *AGENT_SIGNS,
    *PROTOCOL_SIGNS,
    *PROVIDER_SIGNS,
    *TRAINING_SIGNS,
)
