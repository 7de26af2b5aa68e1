"""What leaves, without secrets and without what was chosen to stay."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from partita.formats.redaction.redactor import Finding, Redactor, Rules
from partita.formats.redaction.removal import Choice, Remover
from partita.formats.redaction.values import redacted
from partita.types.messages import Message
from partita.types.threads import Thread

from .gathering import Gathered
from .run_logs import CleanRun, clean_run


class Cleaned(NamedTuple):
    """What may leave."""

    thread: Thread
    messages: tuple[Message, ...]
    runs: tuple[CleanRun, ...]
    findings: Sequence[Finding]
    removed: Mapping[str, int]


def clean(gathered: Gathered, rules: Rules, choice: Choice) -> Cleaned:
    """The same, to leave. All of the thread is searched, so that a secret has its number whatever leaves."""
    redactor = Redactor(rules)
    thread = replace(gathered.thread, resource_id=None)
    whole = tuple(replace(message, resource_id=None) for message in gathered.messages)
    remover = Remover(choice)
    messages = remover.messages(whole)
    removed = dict(remover.counts)
    redacted(thread, redactor)
    redacted(whole, redactor)
    for log in gathered.runs:
        clean_run(log, whole, redactor, choice)
    redactor.learned()
    return Cleaned(
        redacted(thread, redactor, "thread"),
        redacted(messages, redactor),
        tuple(clean_run(log, whole, redactor, choice) for log in gathered.runs),
        redactor.findings,
        removed,
    )
