"""The file of a thread in the format that is asked for, and what is to be said of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from partita.errors import FormatError
from partita.formats.conversion import write as write_messages
from partita.formats.exports.markdown import document, moment_text
from partita.formats.format import Loaded
from partita.formats.log.session_file import SessionFacts
from partita.formats.losses import Loss
from partita.formats.redaction.redactor import RedactionLimitError
from partita.formats.registry import get_format
from partita.runtime.recordings.recording import Recording, origin_of, to_bytes
from partita.server.problems import Problem
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps, is_array
from partita.types.messages import Message
from partita.types.threads import Thread

from .html import html
from .request import ShareFormat, ShareRequest
from .thread_content import Cleaned, Gathered, clean

# A thread as a recording, for tests: its messages, and what was asked and answered, run by run.


def fixture(cleaned: Cleaned) -> bytes:
    """The file. `partita_replay` serves it; see `partita fixture`, which writes the same of a run."""
    thread = cleaned.thread
    recording = Recording(
        origin=origin_of("thread", thread.id, agent=thread.agent, title=thread.title),
        exchanges=[exchange for run in cleaned.runs for exchange in run.exchanges],
        messages=[to_json(message) for message in cleaned.messages],
    )
    return to_bytes(recording)


# A thread as Markdown: words as they are, reasoning as a quotation, tools as fenced blocks.


def markdown(thread: Thread, messages: Sequence[Message]) -> Iterator[str]:
    """The text, piece by piece."""
    facts = {
        "Agent": thread.agent,
        "Project": thread.project,
        "Began": moment_text(thread.created_at),
        "Messages": str(len(messages)),
    }
    return document(messages, thread.title or "A conversation", facts)


LARGEST: Final = 256 * 1024 * 1024
MEDIA_TYPES: Final[Mapping[ShareFormat, str]] = {
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "fixture": "application/json",
}
ENDINGS: Final[Mapping[ShareFormat, str]] = {
    "html": "html",
    "markdown": "md",
    "jsonl": "jsonl",
    "fixture": "fixture.json",
}
_ODD: Final = re.compile(r"[^A-Za-z0-9]+")


class SharedFile(NamedTuple):
    """A file, and what was done for it."""

    pieces: Sequence[bytes]
    name: str
    cleaned: Cleaned
    losses: Sequence[Loss] = ()
    notices: Sequence[str] = ()

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return sum(map(len, self.pieces))


def make(gathered: Gathered, request: ShareRequest, version: str) -> SharedFile:
    """The file that was asked for. It depends on its arguments alone, and all of them can be pickled."""
    try:
        cleaned = clean(gathered, request.redact.rules(), request.leave_out.choice())
    except RedactionLimitError as error:
        raise Problem(413, error.what, where="redact", hint=error.hint) from None
    name = (
        f"{_ODD.sub('-', cleaned.thread.title or 'conversation').strip('-').lower()[:60] or 'conversation'}"
    )
    file = _write(cleaned, request, version)._replace(name=f"{name}.{ENDINGS[request.format]}")
    if file.size > LARGEST:
        raise Problem(
            413, f"the file would have more than {LARGEST} bytes", hint="leave out tool outputs or files"
        )
    return file


def _write(cleaned: Cleaned, request: ShareRequest, version: str) -> SharedFile:
    match request.format:
        case "markdown":
            text = [piece.encode(errors="replace") for piece in markdown(cleaned.thread, cleaned.messages)]
            return SharedFile(text, "", cleaned)
        case "html":
            made = html(cleaned.thread, cleaned.messages, _facts(cleaned), version)
            notices = [f"{made.left_out} files have no room in one page"] if made.left_out else []
            return SharedFile(made.pieces, "", cleaned, (), notices)
        case "fixture":
            return SharedFile([fixture(cleaned)], "", cleaned, (), _log_notices(cleaned))
        case "jsonl":
            return _lines(cleaned, request.target)


def _lines(cleaned: Cleaned, target: str) -> SharedFile:
    writing = get_format(target)
    if writing.dump is None:
        raise FormatError(f"{writing.name} can be read but not written", where="as", hint="choose another")
    session = session_facts(cleaned.thread)
    dumped = write_messages(Loaded(tuple(cleaned.messages)), writing, session=session)
    if isinstance(dumped.payload, str):
        return SharedFile([dumped.payload.encode(errors="replace")], "", cleaned, dumped.losses)
    items = dumped.payload if is_array(dumped.payload) else [dumped.payload]
    notices: list[str] = []
    if writing.session_path is not None:
        notices.append(f"to resume the session, save the file as {writing.session_path(items)}")
    return SharedFile([dumps(item) + b"\n" for item in items], "", cleaned, dumped.losses, notices)


def session_facts(thread: Thread) -> SessionFacts:
    """What a thread says of its session."""
    metadata = thread.metadata or {}
    known = {name: value for name, value in metadata.items() if isinstance(value, str)}
    return SessionFacts(
        agent=thread.agent,
        cwd=thread.project,
        version=known.get("agentVersion"),
        git_branch=known.get("gitBranch"),
        git_commit=known.get("gitCommit"),
        git_repository=known.get("gitRepository"),
        model=known.get("model"),
        created_at=thread.created_at,
    )


def _facts(cleaned: Cleaned) -> JsonObject:
    redacted = [finding for finding in cleaned.findings if not finding.kept]
    return {"redacted": len(redacted), "leftOut": sum(cleaned.removed.values())}


def _log_notices(cleaned: Cleaned) -> list[str]:
    dropped = sum(run.dropped for run in cleaned.runs)
    cut = sum(run.cut for run in cleaned.runs)
    told: list[str] = []
    if dropped:
        told.append(f"{dropped} records of what agents sent stay here: they cannot be cleaned for sure")
    if cut:
        told.append(f"{cut} runs come without all of their log")
    return told
