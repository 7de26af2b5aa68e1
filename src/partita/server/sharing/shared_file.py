"""The file of a thread in the requested format."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from partita.formats.conversion import write as write_messages
from partita.formats.exports.markdown import (
    UNTITLED,
    ResponseFacts,
    cost_text,
    document,
    moment_text,
    tokens_text,
)
from partita.formats.exports.markdown_text import code
from partita.formats.format import Loaded
from partita.formats.log.session_file import SessionFacts
from partita.formats.losses import Loss
from partita.formats.redaction.redactor import RedactionLimitError
from partita.formats.registry import get_format
from partita.runtime.recordings.recording import Recording, origin_of, to_bytes
from partita.server.problems import Problem
from partita.store.values import ConsumptionRecord
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps, is_array
from partita.types.messages import Message
from partita.types.threads import Thread

from .html import html
from .request import ShareFormat, ShareRequest
from .thread_content import RedactedThread, ThreadContent, redact_thread, spent_on

MAX_BYTES: Final = 256 * 1024 * 1024
MEDIA_TYPES: Final[Mapping[ShareFormat, str]] = {
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "fixture": "application/json",
}
SUFFIXES: Final[Mapping[ShareFormat, str]] = {
    "html": "html",
    "markdown": "md",
    "json": "json",
    "jsonl": "jsonl",
    "fixture": "fixture.json",
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9]+")


class SharedFile(NamedTuple):
    """A file, the redacted thread in it, and the losses of its format."""

    pieces: Sequence[bytes]
    name: str
    redacted: RedactedThread
    losses: Sequence[Loss] = ()
    notices: Sequence[str] = ()
    session_name: str = ""
    """The name that the agent gives the file, if it is a session file."""
    agents: Mapping[str, bytes] = {}
    """Files of sub-agents by their paths: see `Format.dump_agents`."""

    @property
    def size(self) -> int:
        """The number of bytes."""
        return sum(map(len, self.pieces))


def shared_file(content: ThreadContent, request: ShareRequest, version: str) -> SharedFile:
    """The requested file. It depends on the arguments only, which can be pickled."""
    redacted = redact_content(content, request)
    title = redacted.thread.title or "conversation"
    name = _UNSAFE.sub("-", title).strip("-").lower()[:60] or "conversation"
    file = _write(redacted, request, version)._replace(name=f"{name}.{SUFFIXES[request.format]}")
    return with_limited_size(file)


def redact_content(content: ThreadContent, request: ShareRequest) -> RedactedThread:
    """The content of a file, without secrets and what the request leaves out."""
    try:
        return redact_thread(content, request.redact.rules(), request.leave_out.choice())
    except RedactionLimitError as error:
        raise Problem(413, error.what, where="redact", hint=error.hint) from None


def with_limited_size(file: SharedFile) -> SharedFile:
    """The same file; an error if it is too large."""
    if file.size > MAX_BYTES:
        raise Problem(
            413, f"the file would have more than {MAX_BYTES} bytes", hint="leave out tool outputs or files"
        )
    return file


def _write(redacted: RedactedThread, request: ShareRequest, version: str) -> SharedFile:
    match request.format:
        case "markdown":
            text = markdown(redacted.thread, redacted.messages, redacted.responses)
            return SharedFile([piece.encode(errors="replace") for piece in text], "", redacted)
        case "html":
            page = html(redacted, replaced_and_removed(redacted), version)
            notices = [f"{page.left_out} files are too large for the page"] if page.left_out else []
            return SharedFile(page.pieces, "", redacted, (), notices)
        case "fixture":
            return SharedFile([_fixture(redacted)], "", redacted, (), _log_notices(redacted))
        case "json" | "jsonl":
            return _messages(redacted, request.target, as_lines=request.format == "jsonl")


def markdown(
    thread: Thread, messages: Sequence[Message], responses: Sequence[ConsumptionRecord] = ()
) -> Iterator[str]:
    """The thread as Markdown, in pieces. `responses`: what each response of the thread consumed."""
    spent = spent_on(messages, responses)
    costs = [one.cost for one in spent if one.cost is not None]
    facts = {
        "Agent": thread.agent,
        "Project": code(thread.project) if thread.project else None,
        "Created": moment_text(thread.created_at),
        "Messages": str(len(messages)),
        "Models": ", ".join(dict.fromkeys(one.model for one in spent if one.model)),
        "Usage": tokens_text(sum(one.input_tokens for one in spent), sum(one.output_tokens for one in spent)),
        "Cost": cost_text(sum(costs)) if costs else None,
    }
    return document(
        messages,
        thread.title or UNTITLED,
        facts,
        directory=thread.project,
        responses=_facts_by_message(spent),
    )


def _facts_by_message(spent: Sequence[ConsumptionRecord]) -> dict[str, ResponseFacts]:
    found: dict[str, ResponseFacts] = {}
    for one in spent:
        assert one.message_id is not None, "it was selected by its id"
        known = found.get(one.message_id, ResponseFacts())
        cost = known.cost if one.cost is None else (known.cost or 0.0) + one.cost
        found[one.message_id] = ResponseFacts(one.model or known.model, cost)
    return found


def _fixture(redacted: RedactedThread) -> bytes:
    """The thread as a recording for tests, for `partita_replay`."""
    thread = redacted.thread
    recording = Recording(
        origin=origin_of("thread", thread.id, agent=thread.agent, title=thread.title),
        exchanges=[exchange for run in redacted.runs for exchange in run.exchanges],
        messages=[to_json(message) for message in redacted.messages],
    )
    return to_bytes(recording)


def _messages(redacted: RedactedThread, target: str, *, as_lines: bool) -> SharedFile:
    """The messages in a format: as one JSON document, or one line each."""
    writing = get_format(target, "written", where="as")
    session = session_facts(redacted.thread)
    dumped = write_messages(Loaded(tuple(redacted.messages)), writing, session=session)
    payload = dumped.payload
    if isinstance(payload, str):
        return SharedFile([payload.encode(errors="replace")], "", redacted, dumped.losses)
    items = payload if is_array(payload) else [payload]
    if as_lines:
        pieces = [dumps(item) + b"\n" for item in items]
    else:
        pieces = list(json_array(map(dumps, items))) if is_array(payload) else [dumps(payload) + b"\n"]
    agents: dict[str, bytes] = {}
    if writing.dump_agents is not None:
        found = writing.dump_agents(redacted.messages, session)
        agents = {path: b"".join(dumps(one) + b"\n" for one in records) for path, records in found.items()}
    if writing.session_path is None:
        return SharedFile(pieces, "", redacted, dumped.losses)
    path = writing.session_path(items)
    notices = [f"to resume the session, save the file as {path}"]
    return SharedFile(pieces, "", redacted, dumped.losses, notices, path.rpartition("/")[2], agents)


def json_array(items: Iterable[bytes]) -> Iterator[bytes]:
    """A JSON array with an item on each line, in pieces."""
    start = b"[\n"
    for item in items:
        yield start + item
        start = b",\n"
    yield b"[]\n" if start == b"[\n" else b"\n]\n"


def session_facts(thread: Thread) -> SessionFacts:
    """The facts about the session that the thread contains."""
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


def replaced_and_removed(redacted: RedactedThread) -> JsonObject:
    """How much was replaced and left out, for readers of a page."""
    replaced = [finding for finding in redacted.findings if not finding.kept]
    return {"redacted": len(replaced), "leftOut": sum(redacted.removed.values())}


def _log_notices(redacted: RedactedThread) -> list[str]:
    dropped = sum(run.dropped for run in redacted.runs)
    cut = sum(run.is_cut for run in redacted.runs)
    notices: list[str] = []
    if dropped:
        notices.append(f"{dropped} raw records are left out: not all secrets could be replaced in them")
    if cut:
        notices.append(f"the logs of {cut} runs are incomplete")
    return notices
