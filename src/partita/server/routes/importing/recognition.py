"""What an upload is: the log of an agent, or messages of some format."""

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from partita.errors import FormatError
from partita.formats.detection.agent_logs import LogFormatName
from partita.formats.registry import all_formats, get_format
from partita.formats.sniff import sniff
from partita.logs.lines.blocks import open_log
from partita.logs.lines.heads import WINDOW, values_of
from partita.logs.places.detection import AGENT_OF, detect
from partita.logs.places.log_file import SIDECAR
from partita.server.problems import Problem
from partita.types.json import Json, is_array

from .upload import UNNAMED, Upload


class Recognised(NamedTuple):
    """An upload, and what it is. `agent` is that of a log; messages have none."""

    upload: Upload
    format: str
    why: str
    confidence: float
    agent: str | None
    head: Sequence[Json]
    """Its first values."""

    @property
    def log_format(self) -> LogFormatName:
        """The format of a log."""
        return cast("LogFormatName", self.format)  # a log has an agent, and agents have these formats


BY_NAME: Final = "it was said"


def is_beside(upload: Upload) -> bool:
    """Whether it only says what another file is for."""
    return upload.name.startswith("agent-") and upload.name.endswith(SIDECAR)


def recognise(upload: Upload, named: str | None = None) -> Recognised:
    """What an upload is, by the format that is named or by its first values."""
    head = _head(upload)
    if named is not None:
        name = named if named in AGENT_OF else get_format(named).name
        return Recognised(upload, name, BY_NAME, 1.0, _agent_of(name), head)
    if not head:
        raise Problem(400, "there is no JSON in it", where=upload.name, hint=_known())
    log = detect(head, "" if upload.name == UNNAMED else upload.name)
    guesses = sniff(head[0] if len(head) == 1 and is_array(head[0]) else list(head))
    if log is not None and (not guesses or log.confidence >= guesses[0].confidence):
        return Recognised(upload, log.format, log.why, log.confidence, log.agent, head)
    if not guesses:
        raise FormatError("cannot tell what this is", where=upload.name, hint=_known())
    best = guesses[0]
    return Recognised(upload, best.format, best.why, best.confidence, _agent_of(best.format), head)


def _agent_of(format: str) -> str | None:
    return AGENT_OF.get(cast("LogFormatName", format))  # any name may be asked for


def _known() -> str:
    others = sorted(set(all_formats()) - set(AGENT_OF))
    return f"looked for logs ({', '.join(AGENT_OF)}) and messages ({', '.join(others)})"


def _head(upload: Upload) -> list[Json]:
    data = next(open_log(upload.path), b"")[:WINDOW]
    return values_of(data.decode(errors="replace"), cut=len(data) == WINDOW)
