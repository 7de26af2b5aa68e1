"""How a run begins and ends: what it consumed, what it waits for, what went wrong."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from partita.formats.ag_ui import names
from partita.formats.ag_ui.notes import NAMESPACE, rest_of
from partita.types.chunks import (
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ToolApprovalRequest,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.usage import Usage

from .run import Run

COUNTS: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_input_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
}
"""The counts of a usage, and what they are called here."""


def begin_run(run: Run, event: JsonObject) -> None:
    """A run begins."""
    run.begin(MessageStart(None, _metadata(event)))


def end_run(run: Run, run_of: Callable[[Json], Run], event: JsonObject) -> None:
    """A run has ended: it is done, it was stopped, or it waits for somebody."""
    run.close()
    outcome = event.get("outcome")
    kind = outcome.get("type") if is_object(outcome) else None
    read = ["usage"] if is_array(event.get("usage")) else []
    if is_object(outcome) and kind == "interrupt" and is_array(outcome.get("interrupts")):
        for interrupt in outcome["interrupts"]:
            _ask(run, run_of, interrupt)
        read.append("outcome")
        outcome = rest_of(outcome, "type", "interrupts")
    elif is_object(outcome) and kind in ("success", "cancelled"):
        read.append("outcome")
        outcome = rest_of(outcome, "type")
    said = _metadata(event, *read)
    if "outcome" in read and outcome:
        said.setdefault(NAMESPACE, {})["outcome"] = outcome
    if kind == "cancelled":
        if said:
            run.emit(MessageMetadata(said))
        run.emit(MessageAbort())
        return
    reason = said.get("finishReason")
    if not isinstance(reason, str):
        reason = "tool-calls" if kind == "interrupt" or run.unanswered else "stop"
    run.emit(MessageFinish(reason, {"finishReason": reason, **said}))


def fail_run(run: Run, event: JsonObject) -> None:
    """A run has failed."""
    run.close()
    message = event.get("message")
    text = message if isinstance(message, str) else "the run failed"
    run.emit(ErrorChunk(text))
    read = [*(["message"] if isinstance(message, str) else []), *(["usage"] if "usage" in event else [])]
    said = _metadata(event, *read)
    run.emit(MessageFinish("error", {"finishReason": "error", "errors": [text], **said}))


def _metadata(event: JsonObject, *read: str) -> JsonObject:
    """What an event says of the run, as metadata of its message."""
    given = event.get("metadata")
    said: JsonObject = dict(given) if is_object(given) else {}
    own = ("metadata",) if is_object(given) else ()
    if rest := rest_of(event, "type", *own, *read):
        kept = said.get(NAMESPACE)
        said[NAMESPACE] = {**(kept if is_object(kept) else {}), **rest}
    if "usage" in read:
        said["usage"] = to_json(_usage(event["usage"]))
    return said


def _usage(raw: Json) -> Usage:
    """What the models of a run consumed, all together."""
    entries = [entry for entry in raw if is_object(entry)] if is_array(raw) else []
    return replace(Usage(raw=raw), **{name: _sum(entries, wire) for wire, name in COUNTS.items()})


def _sum(entries: list[JsonObject], name: str) -> int | None:
    found = [entry[name] for entry in entries if type(entry.get(name)) is int]
    return sum(found) if found else None


def _ask(main: Run, run_of: Callable[[Json], Run], interrupt: Json) -> None:
    """Something the run waits for: that a call is allowed, or anything else."""
    if not is_object(interrupt) or not isinstance(id_ := interrupt.get("id"), str):
        main.emit(DataChunk(names.INTERRUPT, interrupt))
        return
    run = run_of(interrupt.get(names.AGENT))
    call = interrupt.get("toolCallId")
    if not isinstance(call, str) or call not in run.known_calls:
        run.emit(DataChunk(names.INTERRUPT, interrupt, id_))
        return
    message = interrupt.get("message")
    spoken = isinstance(message, str)
    rest = rest_of(interrupt, "id", "toolCallId", names.AGENT, *(("message",) if spoken else ()))
    run.emit(ToolApprovalRequest(id_, call, rest, reason=message if isinstance(message, str) else None))
