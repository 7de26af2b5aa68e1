"""Detects the format of a payload: a guess, its confidence, the reason, and other likely formats.

Only the first messages or events are read. The signs are in the modules beside this one.
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
"""The confidence from which on a guess rarely has rivals."""

ALIKE: Final = 0.1
"""The difference of confidence up to which nothing in a payload distinguishes two formats."""

NEAR: Final = 0.2
"""The difference of confidence up to which a format is a rival of a doubtful guess."""

UNNAMED: Final = 0.97
"""The confidence of a sign of a log in a payload: a little less than in a file, which has a name."""

AGENT_SIGNS: Final = (
    *(sign._replace(confidence=sign.confidence * UNNAMED) for sign in LOG_SIGNS),
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
"""All signs, in an order that decides if two are equally certain: the narrower format first."""


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

    The first one has its rivals.
    """
    if isinstance(payload, str):
        marked = payload.lstrip().startswith(MARK)
        return [FormatGuess(CHATML, 0.97, "a text in the marks of ChatML")] if marked else []
    found = sorted(_best_signs(payload), key=lambda guess: -guess.confidence)
    return [first_of(found), *found[1:]] if found else []


def first_of(guesses: list[FormatGuess]) -> FormatGuess:
    """Return the first of sorted guesses, with its rivals among the others."""
    first = guesses[0]
    least = first.confidence - (ALIKE if first.confidence >= SURE else NEAR)
    near = (
        guess for guess in guesses[1:] if guess.confidence > least - 1e-9 and not _is_kind_of(first, guess)
    )
    return first._replace(rivals=tuple(guess._replace(rivals=()) for guess in near))


def _is_kind_of(guess: FormatGuess, other: FormatGuess) -> bool:
    """Whether a format is one kind of another, such as Chat Completions of one server."""
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
        surer = known is None or known.confidence < sign.confidence
        if surer and any(sign.shows(item) for item in sample):
            best[sign.format] = FormatGuess(sign.format, sign.confidence, sign.why)
    return list(best.values())
