"""Canonical messages → the records of a rollout that Codex can resume.

The shape is that of Codex before paginated history (0.30 to 0.146), which later versions read and continue
too. Reported as losses: reasoning that OpenAI has not encrypted is shown and not sent to the model; steps of
one message become several; files other than pictures, sources, data, sub-agents and notices have no place.
"""

from collections.abc import Sequence
from datetime import UTC
from pathlib import PurePosixPath
from typing import Final

from partita.formats.format import Dumped
from partita.formats.session_facts import SessionFacts
from partita.formats.session_losses import Losses
from partita.formats.session_names import is_uuid, made_uuid
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, ToolMessage
from partita.types.parts import DataPart
from partita.types.times import iso_text

from .writer import EPOCH, Header, Writer, models_of

VERSION: Final = "0.146.0"
"""The version of Codex that new rollouts are said to be of."""

ORIGINATOR: Final = "partita"
META: Final = "codex-session-meta"


def dump(messages: Sequence[Message]) -> Dumped:
    """The records of a rollout."""
    return write_rollout(messages, SessionFacts())


def write_rollout(messages: Sequence[Message], facts: SessionFacts) -> Dumped:
    """The records of a rollout, with what is known of the session besides its messages."""
    losses = Losses()
    folded = fold(messages) if any(isinstance(message, ToolMessage) for message in messages) else messages
    places = {message.id: index for index, message in reversed(list(enumerate(messages)))}
    meta = _meta(messages, facts)
    header = Header(meta["id"], meta["cwd"], facts.model)
    writer = Writer(header, models_of(folded), losses)
    for index, message in enumerate(folded):
        writer.write(message, index, f"$[{places[message.id]}]")
    writer.finish()
    if not writer.records:
        return Dumped([], tuple(losses.told))
    first: JsonObject = {"timestamp": meta["timestamp"], "type": "session_meta", "payload": meta}
    return Dumped([first, *writer.records], tuple(losses.told))


def session_path(payload: Json) -> str:
    """Where Codex looks for a rollout: its path under `CODEX_HOME`."""
    first = payload[0] if is_array(payload) and payload else None
    meta = first.get("payload") if is_object(first) else None
    assert is_object(meta), "a rollout begins with its header"
    day, _, time = str(meta["timestamp"]).partition("T")
    moment = f"{day}T{time[:8].replace(':', '-')}"
    return str(PurePosixPath("~/.codex/sessions", *day.split("-"), f"rollout-{moment}-{meta['id']}.jsonl"))


def _meta(messages: Sequence[Message], facts: SessionFacts) -> JsonObject:
    """The header: that of the rollout which the messages come from, else what is known."""
    thread = next((message.thread_id for message in messages if message.thread_id), "")
    own = _own_meta(messages)
    if own and thread in ("", own["id"]):
        return own
    made = thread if is_uuid(thread) else str(made_uuid("session", thread, *(one.id for one in messages[:1])))
    times = [time for time in (facts.created_at, *(one.created_at for one in messages)) if time is not None]
    began = (times[0] if times else EPOCH).astimezone(UTC)
    git = {
        "commit_hash": facts.git_commit,
        "branch": facts.git_branch,
        "repository_url": facts.git_repository,
    }
    known = {name: value for name, value in git.items() if value}
    return {
        "id": made,
        "timestamp": iso_text(began, "milliseconds"),
        "cwd": facts.cwd or "/",
        "originator": ORIGINATOR,
        "cli_version": facts.version if facts.agent == "codex" and facts.version else VERSION,
        "source": "cli",
        **({"git": known} if known else {}),
    }


def _own_meta(messages: Sequence[Message]) -> JsonObject:
    """The header that a reader of rollouts kept. The way in which lines are numbered is not that of ours."""
    parts = [part for message in messages for part in message.content.parts if isinstance(part, DataPart)]
    found = next((part.data for part in parts if part.name == META and is_object(part.data)), {})
    if not all(isinstance(found.get(name), str) for name in ("id", "timestamp", "cwd")):
        return {}
    return {name: value for name, value in found.items() if name != "history_mode"}
