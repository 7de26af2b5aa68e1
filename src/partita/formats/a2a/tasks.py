"""Tasks and events of streams → messages, in the order of arrival.

An artifact becomes a message of the agent. The members of a task, of its status and of artifacts become data
parts of messages: `a2a-task`, `a2a-status`, `a2a-artifact`. Tasks are not written.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.losses import DERIVED, REPLACED, UNREAD, Loss, Severity
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import AssistantMessage, AssistantPart, Message
from partita.types.parts import DataPart, TextPart

from .parts import ASSISTANT_PART, read_message, read_part
from .wire import is_old, parts_of

TASK: Final = "a2a-task"
STATUS: Final = "a2a-status"
ARTIFACT: Final = "a2a-artifact"
EVENT: Final = "a2a-event"

HINT: Final = "give a message, an artifact, a task, an event of a stream, or a list of them"

Piece: TypeAlias = AssistantPart | list[str]
"""A part of an artifact, or the pieces of a text."""


class TaskIds(NamedTuple):
    """The thread and the run of a message."""

    thread_id: str | None
    run_id: str | None


class Artifact:
    """An artifact, to which a stream may append."""

    def __init__(self, raw: JsonObject, id_: str, ids: TaskIds) -> None:
        self.raw = raw
        self.ids = ids
        self.members = _members(raw)
        self._id = id_
        self._pieces: list[Piece] = []

    def add(self, parts: list[AssistantPart]) -> None:
        """Add parts. A text that follows a text continues it."""
        for part in parts:
            if not isinstance(part, TextPart) or part.provider_metadata is not None:
                self._pieces.append(part)
            elif self._pieces and isinstance(self._pieces[-1], list):
                self._pieces[-1].append(part.text)
            else:
                self._pieces.append([part.text])

    def message(self) -> AssistantMessage:
        """Return the artifact as a message."""
        parts = [TextPart("".join(piece)) if isinstance(piece, list) else piece for piece in self._pieces]
        return AssistantMessage(
            id=self._id,
            thread_id=self.ids.thread_id,
            run_id=self.ids.run_id,
            content=[DataPart(ARTIFACT, self.members), *parts],
        )


class TaskReader:
    """Reads messages, artifacts, tasks and events one by one."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self.is_written_back = True
        """Whether everything so far was a message of protocol 1.0."""
        self._found: list[Message | Artifact] = []
        self._seen: dict[str, JsonObject] = {}
        self._artifacts: dict[str, Artifact] = {}
        self._readers: dict[str, Callable[[JsonObject, str], None]] = {
            "message": self._message,
            "task": self._task,
            "statusUpdate": self._status_update,
            "status-update": self._status_update,
            "artifactUpdate": self._artifact_update,
            "artifact-update": self._artifact_update,
        }

    def messages(self) -> tuple[Message, ...]:
        """Return the messages so far."""
        return tuple(one.message() if isinstance(one, Artifact) else one for one in self._found)

    def read(self, raw: Json, path: str) -> None:
        """Read a message, an artifact, a task, or an event."""
        if not is_object(raw):
            raise ConversionError(f"an event is {kind_of(raw)}", where=path, hint=HINT)
        kind = raw.get("kind")
        has_role = "role" in raw and "parts" in raw
        is_message = "messageId" in raw
        if not (is_message or has_role) or "kind" in raw:
            self.is_written_back = False
        wrapped = [] if is_message else [key for key in self._readers if is_object(raw.get(key))]
        if isinstance(kind, str) and kind in self._readers:
            self._readers[kind](raw, path)
        elif kind is not None:
            raise ConversionError(f"unknown kind {kind!r:.40}", where=f"{path}.kind", hint=HINT)
        elif len(wrapped) == 1:
            self._readers[wrapped[0]](raw[wrapped[0]], f"{path}.{wrapped[0]}")
            self.losses += [
                Loss.of(f"{path}.{key}", value, UNREAD) for key, value in raw.items() if key != wrapped[0]
            ]
        elif "artifactId" in raw:
            self._add_artifact(raw, path, TaskIds(None, None))
        elif is_message or has_role:
            self._message(raw, path)
        elif is_object(raw.get("status")) or "history" in raw or "artifacts" in raw:
            self._task(raw, path)
        else:
            raise ConversionError("neither a message nor a task", where=path, hint=HINT)

    def _message(self, raw: JsonObject, path: str) -> None:
        message = read_message(raw, path, f"message-{len(self._found) + 1}")
        if is_old(raw):
            self.is_written_back = False
        self._seen[message.id] = raw
        self._found.append(message)

    def _task(self, raw: JsonObject, path: str) -> None:
        """Read a task: its messages, its artifacts, and its status."""
        for number, message in enumerate(_objects(raw, "history", path)):
            if self._seen.get(_text(message, "messageId") or "") != message:  # it may have arrived before
                self._message(message, f"{path}.history[{number}]")
        thread_id, run_id = _text(raw, "contextId"), _text(raw, "id")
        for number, artifact in enumerate(_objects(raw, "artifacts", path)):
            self._add_artifact(artifact, f"{path}.artifacts[{number}]", TaskIds(thread_id, run_id))
        known = ("history", "artifacts", "status", "kind")
        about = DataPart(TASK, {key: value for key, value in raw.items() if key not in known})
        self._status(raw.get("status"), f"{path}.status", [about], TaskIds(thread_id, run_id))

    def _status_update(self, raw: JsonObject, path: str) -> None:
        """Read a new status of a task."""
        known = ("status", "kind", "contextId", "taskId")
        rest = {key: value for key, value in raw.items() if key not in known}
        about: list[AssistantPart] = [DataPart(EVENT, rest)] if rest else []
        ids = TaskIds(_text(raw, "contextId"), _text(raw, "taskId"))
        self._status(raw.get("status"), f"{path}.status", about, ids)

    def _artifact_update(self, raw: JsonObject, path: str) -> None:
        """Read an artifact, or further parts of one."""
        artifact = raw.get("artifact")
        if not is_object(artifact):
            what = f"the artifact is {kind_of(artifact)}"
            raise ConversionError(what, where=f"{path}.artifact", hint="give {artifactId, parts}")
        ids = TaskIds(_text(raw, "contextId"), _text(raw, "taskId"))
        known = ("artifact", "kind", "contextId", "taskId")
        for key in raw:
            if key not in known:
                severity: Severity = "minor" if key in ("append", "lastChunk") else "lost"
                self.losses.append(Loss.of(f"{path}.{key}", raw[key], DERIVED, severity))
        where = f"{path}.artifact"
        grown = self._artifacts.get(_text(artifact, "artifactId") or "")
        if raw.get("append") is True and grown is not None:
            grown.add(_read_parts(artifact, where))
            if grown.ids != ids:
                self.losses.append(Loss.of(path, list(ids), UNREAD))
            for key, value in _members(artifact).items():
                if grown.members.get(key, value) != value:
                    self.losses.append(Loss.of(f"{where}.{key}", grown.members[key], REPLACED))
                grown.members[key] = value
        else:
            self._add_artifact(artifact, where, ids)

    def _add_artifact(self, raw: JsonObject, path: str, ids: TaskIds) -> None:
        id_ = _text(raw, "artifactId") or f"artifact-{len(self._found) + 1}"
        old = self._artifacts.get(id_)
        if old is not None and old.raw == raw:
            return
        artifact = Artifact(raw, id_, ids)
        artifact.add(_read_parts(raw, path))
        self._artifacts[id_] = artifact
        if old is None:
            self._found.append(artifact)
        else:
            self.losses.append(Loss.of(path, old.raw, REPLACED))
            self._found[self._found.index(old)] = artifact

    def _status(self, raw: Json, path: str, about: list[AssistantPart], ids: TaskIds) -> None:
        status = raw if is_object(raw) else {}
        raw_message = status.get("message")
        rest = {key: value for key, value in status.items() if key != "message" or not is_object(raw_message)}
        state: list[AssistantPart] = [DataPart(STATUS, rest)] if rest else []
        if raw is not None and not is_object(raw):
            state = [DataPart(STATUS, raw)]
        message = None
        if is_object(raw_message):
            message = read_message(raw_message, f"{path}.message", f"message-{len(self._found) + 1}")
        if (
            isinstance(message, AssistantMessage)
            and message.thread_id in (None, ids.thread_id)
            and message.run_id in (None, ids.run_id)
        ):
            content = replace(message.content, parts=(*about, *state, *message.parts))
            self._found.append(replace(message, thread_id=ids.thread_id, run_id=ids.run_id, content=content))
            return
        if message is not None:
            self._found.append(message)
        if about or state:
            self._found.append(
                AssistantMessage(
                    id=f"{ids.run_id or 'task'}:status-{len(self._found) + 1}",
                    thread_id=ids.thread_id,
                    run_id=ids.run_id,
                    type="event",
                    content=[*about, *state],
                )
            )


def _members(raw: JsonObject) -> JsonObject:
    """Return the members of an artifact without its id and its parts."""
    return {k: v for k, v in raw.items() if k not in ("artifactId", "parts") and v is not None}


def _read_parts(raw: JsonObject, path: str) -> list[AssistantPart]:
    return [read_part(part, ASSISTANT_PART) for part in parts_of(raw, path)]


def _objects(raw: JsonObject, key: str, path: str) -> list[JsonObject]:
    items = raw.get(key)
    if items is None:
        return []
    if not is_array(items) or not all(map(is_object, items)):
        raise ConversionError(
            f"{key} is not an array of objects", where=f"{path}.{key}", hint="see the protocol"
        )
    return items


def _text(raw: JsonObject, key: str) -> str | None:
    value = raw.get(key)
    return value if isinstance(value, str) and value else None
