"""Events of steps, state, activities, and data of applications."""

from collections.abc import Mapping
from typing import Final

from partita.formats.ag_ui import names
from partita.formats.ag_ui.notes import rest_of
from partita.types.chunks import DataChunk
from partita.types.codec import read_chunk
from partita.types.json import JsonObject, is_object

from .members import Handler, text_in
from .run import BASE, Run


def step_start(run: Run, event: JsonObject) -> None:
    """A named step begins."""
    run.settle()
    run.named_step(text_in(event, "stepName"))
    run.rest(event, "stepName")


def step_end(run: Run, event: JsonObject) -> None:
    """A named step has ended."""
    run.settle()
    run.end_step()
    run.rest(event, *(("stepName",) if event.get("stepName") in run.steps else ()))


def custom(run: Run, event: JsonObject) -> None:
    """Data of the application, or a chunk that has no event of its own."""
    name, value = text_in(event, "name"), event["value"]
    metadata = event.get("metadata")
    marks: JsonObject = metadata if is_object(metadata) else {}
    if name.startswith(names.CHUNK):
        run.emit(read_chunk(value))
        run.rest(event, "name", "value")
        return
    id_, transient = marks.get("id"), marks.get("transient")
    run.emit(
        DataChunk(
            f"data-{name}",
            value,
            id_ if isinstance(id_, str) else None,
            transient if isinstance(transient, bool) else None,
        )
    )
    known = set(marks) <= {"id", "transient"} and isinstance(id_, str | None)
    known = known and isinstance(transient, bool | None)
    run.rest(event, "name", "value", *(("metadata",) if known else ()))


def state(run: Run, event: JsonObject) -> None:
    """The whole state."""
    run.emit(DataChunk(names.STATE, event["snapshot"]))
    run.rest(event, "snapshot")


def state_delta(run: Run, event: JsonObject) -> None:
    """A change of the state."""
    run.emit(DataChunk(names.STATE_DELTA, event["delta"]))
    run.rest(event, "delta")


def messages(run: Run, event: JsonObject) -> None:
    """All messages of the conversation."""
    run.emit(DataChunk(names.MESSAGES, event["messages"]))
    run.rest(event, "messages")


def activity(run: Run, event: JsonObject) -> None:
    """An activity: its later forms replace it."""
    run.emit(DataChunk(names.ACTIVITY, rest_of(event, *BASE, "messageId"), text_in(event, "messageId")))


def activity_delta(run: Run, event: JsonObject) -> None:
    """A change of an activity."""
    run.emit(DataChunk(names.ACTIVITY_DELTA, rest_of(event, *BASE)))


def raw(run: Run, event: JsonObject) -> None:
    """An event of a provider."""
    run.emit(DataChunk(names.RAW, rest_of(event, *BASE)))


HANDLERS: Final[Mapping[str, Handler]] = {
    "STEP_STARTED": step_start,
    "STEP_FINISHED": step_end,
    "CUSTOM": custom,
    "STATE_SNAPSHOT": state,
    "STATE_DELTA": state_delta,
    "MESSAGES_SNAPSHOT": messages,
    "ACTIVITY_SNAPSHOT": activity,
    "ACTIVITY_DELTA": activity_delta,
    "RAW": raw,
}
"""What each event tells."""
