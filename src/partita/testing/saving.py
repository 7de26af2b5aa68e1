"""A recording that was made, written to its file: without secrets, and only if it tells something new."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from msgspec import UNSET

from partita.errors import PartitaError
from partita.formats.redaction.custom import LONGEST, Custom
from partita.formats.redaction.redactor import Rules
from partita.runtime.recordings.cleaning import clean
from partita.runtime.recordings.files import origin_of, read_recording, write_recording
from partita.runtime.recordings.recording import Exchange, OriginKind, Recording, Request, same_exchanges
from partita.types.json import dumps, is_object

from .matching import Terms, compare

TOLD: Final = 3
"""How many differences to the file before are told."""


class Source(Protocol):
    """Where a recording comes from while it is made."""

    @property
    def exchanges(self) -> list[Exchange]:
        """What was asked and answered so far."""
        ...

    @property
    def problems(self) -> list[str]:
        """What went wrong."""
        ...

    def settle(self) -> None:
        """Wait for what is under way."""
        ...


class Making(NamedTuple):
    """A recording that is being made."""

    path: Path
    kind: OriginKind
    agent: str
    source: Source
    terms: Terms
    secrets: Callable[[], AbstractSet[str]]
    """Keys that were sent."""


def saved(making: Making) -> str:
    """Write the file, unless nothing has changed; a line that says so."""
    path, exchanges = making.path, making.source.exchanges
    if not exchanges:
        return f"{path.name}: nothing was asked, so nothing is written"
    if making.terms.order == "any":
        exchanges = sorted(exchanges, key=lambda one: dumps(one.request))
    origin = origin_of(making.kind, agent=making.agent, model=_model(exchanges))
    rules = Rules(custom=tuple(_custom(making.secrets())))
    cleaned = clean(Recording(origin=origin, exchanges=exchanges), rules)
    before = _before(path)
    if before is not None and same_exchanges(before.exchanges, cleaned.recording.exchanges):
        return f"{path.name}: unchanged"
    write_recording(path, cleaned.recording)
    hidden = sum(finding.times for finding in cleaned.findings)
    secrets = f"; {hidden} secrets taken out" if hidden else ""
    return f"{path.name}: {_told(before, cleaned.recording, making.terms)}{secrets}"


def _custom(secrets: AbstractSet[str]) -> Iterator[Custom]:
    """Secrets as they are looked for: a long one piece by piece."""
    for secret in sorted(secrets):
        for start in range(0, len(secret), LONGEST):
            yield Custom(secret[start : start + LONGEST])


def _before(path: Path) -> Recording | None:
    try:
        return read_recording(path) if path.exists() else None
    except PartitaError:  # what cannot be read is written anew
        return None


def _told(before: Recording | None, now: Recording, terms: Terms) -> str:
    count = len(now.exchanges)
    told = "1 request" if count == 1 else f"{count} requests"
    if before is None:
        return f"recorded, {told}"
    if len(before.exchanges) != count:
        return f"recorded anew, {told}, before {len(before.exchanges)}"
    found = [
        f"\n  request {place}: {difference}"
        for place, (was, one) in enumerate(zip(before.exchanges, now.exchanges, strict=True), 1)
        for difference in compare(was, one.request or Request(method="", path=""), terms)
    ]
    more = f"\n  … and {len(found) - TOLD} more" if len(found) > TOLD else ""
    same = ", the same requests, other answers" if not found else ""
    return f"recorded anew, {told}{same}{''.join(found[:TOLD])}{more}"


def _model(exchanges: Sequence[Exchange]) -> str | None:
    """The model that was asked first."""
    request = exchanges[0].request
    if request is None:
        return None
    named = request.body.get("model") if request.body is not UNSET and is_object(request.body) else None
    if isinstance(named, str):
        return named
    _, found, rest = request.path.partition("/models/")
    return rest.partition(":")[0] if found else None
