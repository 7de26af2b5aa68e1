"""What a pasted text may be: messages, a stream, the log of an agent, or the answer of a provider."""

from typing import Final

from partita.formats.sniff import LOOKED_AT, Guess, first_of, sniff
from partita.logs.places.detection import detect

from .source import Source

V4: Final = Guess("ai-sdk-data-stream-v4", 0.95, "lines that begin with a code")


def guess(source: Source) -> list[Guess]:
    """The formats that a text may be in, the likeliest first, which knows its rivals."""
    if source.shape == "data-stream-v4":
        return [V4]
    if source.shape == "text":
        return sniff(source.payload)
    values = source.values[:LOOKED_AT]
    found = sniff(values)
    log = detect(values)
    if log is not None:
        found.append(Guess(log.format, log.confidence, log.why))
    best: dict[str, Guess] = {}
    for one in sorted(found, key=lambda one: -one.confidence):
        best.setdefault(one.format, one)
    guesses = list(best.values())
    return [first_of(guesses), *guesses[1:]] if guesses else []
