"""Detects the format of a payload: a guess, its confidence, the reason, and other likely formats.

Only the first messages or events are read. The other modules of this package have the signs.
"""

from typing import Final, NamedTuple

from partita.errors import FormatError
from partita.types.json import Json, is_array, is_object

from .agent_logs import LOG_SIGNS
from .frameworks import AI_SDK_SIGNS, MASTRA_SIGNS, PROTOCOL_SIGNS
from .providers import PROVIDER_SIGNS
from .signs import SAMPLE_SIZE, Sign, both, equals, starts
from .stored import APPLICATION_SIGNS, CHATML, MARK, OWN_SIGNS, TRAINING_SIGNS

__all__ = ["SAMPLE_SIZE", "SIGNS", "FormatGuess", "first_of", "guess_format", "sniff"]

SURE: Final = 0.8
"""From this confidence on, a guess rarely has rivals."""

ALIKE: Final = 0.1
"""Up to this difference of confidence, nothing in a payload distinguishes two formats."""

NEAR: Final = 0.2
"""Up to this difference of confidence, a format is a rival of an uncertain guess."""

PAYLOAD_FACTOR: Final = 0.97
"""The factor for signs of logs in payloads: they are less certain than in files, whose names are known."""

AGENT_SIGNS: Final = (
    *(sign._replace(confidence=sign.confidence * PAYLOAD_FACTOR) for sign in LOG_SIGNS),
    Sign(
        "acp",
        0.85,
        "calls of the Agent Client Protocol",
        both(equals("jsonrpc", "2.0"), starts("method", "session/")),
    ),
)

SIGNS: Final[tuple[Sign[str], ...]] = (
    *MASTRA_SIGNS,
    *APPLICATION_SIGNS,
    *OWN_SIGNS,
    *AI_SDK_SIGNS,
    *AGENT_SIGNS,
    *PROTOCOL_SIGNS,
    *PROVIDER_SIGNS,
    *TRAINING_SIGNS,
)
"""All signs. If two are equally certain, the first one wins: narrower formats come first."""


class FormatGuess(NamedTuple):
    """A format, the confidence of the guess (from 0 to 1), and the reason."""

    format: str
    confidence: float
    why: str
    rivals: tuple["FormatGuess", ...] = ()
    """Other formats that are nearly as likely, the likeliest first."""

    def explained(self) -> str:
        """Return the guess as text: the reason, other likely formats, and why they were not chosen."""
        guess = f"{self.format}: {self.why} ({self.confidence:.0%} sure)"
        if not self.rivals:
            return guess
        others = ", ".join(f"{one.format} ({one.why}, {one.confidence:.0%})" for one in self.rivals)
        alike = self.confidence - self.rivals[0].confidence <= ALIKE
        reason = "nothing in it distinguishes them" if alike else "but it fits the first better"
        return f"{guess}; it could be {others}: {reason}"


def sniff(payload: Json) -> list[FormatGuess]:
    """Return the formats that a payload may be in, the likeliest first; empty if none fits.

    Only the first guess has its rivals.
    """
    if isinstance(payload, str):
        is_marked = payload.lstrip().startswith(MARK)
        return [FormatGuess(CHATML, 0.97, "a text in the marks of ChatML")] if is_marked else []
    found = sorted(_best_signs(payload), key=lambda guess: -guess.confidence)
    return [first_of(found), *found[1:]] if found else []


def first_of(guesses: list[FormatGuess]) -> FormatGuess:
    """Return the first of sorted guesses, with its rivals among the others."""
    first = guesses[0]
    least = first.confidence - (ALIKE if first.confidence >= SURE else NEAR)
    near = (
        guess for guess in guesses[1:] if guess.confidence > least - 1e-9 and not _is_variant_of(first, guess)
    )
    return first._replace(rivals=tuple(guess._replace(rivals=()) for guess in near))


def _is_variant_of(guess: FormatGuess, other: FormatGuess) -> bool:
    """Whether a format is a variant of another, such as Chat Completions of one server."""
    return guess.format.startswith(f"{other.format}-")


def guess_format(payload: Json) -> FormatGuess:
    """Return the likeliest format. If there is none, raise a `FormatError`."""
    guesses = sniff(payload)
    if not guesses:
        raise FormatError(
            "cannot detect the format",
            hint="name the format: `from` in a request, --from on the command line",
        )
    return guesses[0]


def _best_signs(payload: Json) -> list[FormatGuess]:
    """Return the most certain sign of each format that the payload has."""
    items = payload if is_array(payload) else [payload]
    sample = [item for item in items[:SAMPLE_SIZE] if is_object(item)]
    best: dict[str, FormatGuess] = {}
    for sign in SIGNS:
        known = best.get(sign.format)
        is_better = known is None or known.confidence < sign.confidence
        if is_better and any(sign.matches(item) for item in sample):
            best[sign.format] = FormatGuess(sign.format, sign.confidence, sign.why)
    return list(best.values())
