"""Codex: session files (rollouts), and the streams of `codex exec --json` and the app server."""

from collections.abc import Callable, Iterator

from partita.formats.core.unread import Fact, unread_losses
from partita.formats.events import load_events
from partita.formats.format import Format, Loaded
from partita.formats.log.records import load_records, records_in
from partita.formats.losses import Loss
from partita.types.json import Json, is_array

from .dump import dump, dump_session, session_path
from .exec import CodexExecDecoder
from .facts import CONTENT, HeldFacts, exec_facts, record_facts
from .rollout import CodexRolloutDecoder


def load(payload: Json) -> Loaded:
    """The records of a rollout, or one of them, as messages."""
    records = records_in(payload)
    return _complete(load_records(records, CodexRolloutDecoder, "codex-line"), records, record_facts)


def load_exec(payload: Json) -> Loaded:
    """The events of a stream as messages."""
    events = payload if is_array(payload) else [payload]
    return _complete(load_events(CodexExecDecoder(), events), events, exec_facts)


def _complete(loaded: Loaded, records: list[Json], facts_of: Callable[[Json], set[Fact]]) -> Loaded:
    """What was loaded, with everything that was not read as losses."""

    def losses() -> Iterator[Loss]:
        yield from loaded.losses
        yield from unread_losses(records, facts_of, HeldFacts(loaded.messages), CONTENT)

    return Loaded(loaded.messages, losses, is_complete=True)


FORMAT = Format(
    "codex-rollout",
    "Codex session files (rollouts)",
    load,
    dump,
    dump_session=dump_session,
    session_path=session_path,
    is_complete=True,
)
EXEC = Format(
    "codex-exec",
    "what codex exec --json prints, app server",
    load_exec,
    decoder=CodexExecDecoder,
    is_complete=True,
)
