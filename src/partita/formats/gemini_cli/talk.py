"""Messages of a chat, told one by one, each in its place."""

from datetime import datetime
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.formats.transcript import Consumption, Teller
from partita.types.chunks import MessageMetadata, StepStart, ToolOutputChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Envelope,
    SystemContent,
    SystemMessage,
    SystemPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import DataPart

from .calls import ENDED, RUNNING, agent_of, result_of
from .content import items_of, response_of, words_of
from .messages import (
    STOPPED,
    Kind,
    Piece,
    extends,
    folder_in,
    kind_of_record,
    metadata_of,
    moment_of,
    notice_parts,
    piece_chunks,
    pieces_of,
    strange_fields,
    user_parts,
)
from .timeline import Spot, Timeline, digest_of
from .usage import usage_of

PROVIDER: Final = "google"
PROMPT_LENGTH: Final = 200
STATUSES: Final = (*RUNNING, *ENDED)


class Told(NamedTuple):
    """The response that is open, as far as it was told."""

    id: str
    pieces: list[Piece]
    metadata: Json


class Talk:
    """Tells messages in their places, and a message that is written again as it is now."""

    def __init__(self, teller: Teller, timeline: Timeline) -> None:
        self.is_branched = False
        self._teller = teller
        self._timeline = timeline
        self._told: Told | None = None
        self._copies: set[str] = set()
        self._waiting: set[str] = set()  # calls that have no output yet
        self._late: dict[
            str, tuple[ToolOutputChunk, int]
        ] = {}  # outputs apart from their calls, and their lines
        self._notices = 0
        self._turn_begun = self._is_answered = self._has_prompt = False

    def begin_record(self) -> None:
        """The next record is at hand. However many prompts it holds, it begins one turn."""
        self._turn_begun = False

    def tick(self, value: Json) -> datetime | None:
        """The time of a record, told."""
        time = moment_of(value)
        if time is not None:
            self._teller.tick(time)
        elif value is not None:
            self._teller.puzzle("a time that is none")
        return time

    def message(self, id_: str, record: JsonObject, *, is_copy: bool) -> None:
        """A message, new or written again. A copy stands for what a compaction took away."""
        digest = digest_of(record)
        if digest is None:
            self._teller.puzzle("a message that is nested too deeply", detail=id_)
            return
        if self._timeline.renew(id_, digest):
            return
        kind = kind_of_record(record)
        is_new = id_ not in self._timeline
        if is_new and is_copy:
            self._copies.add(id_)
        begins = kind == "prompt" and is_new and not is_copy
        if begins:
            self.end_turn()
        time = self.tick(record.get("timestamp"))
        if begins:
            self._begin_turn(words_of(record.get("content")))
        self._tell(kind, id_, record, time)
        if self.is_branched:
            self._teller.learn("leaf", self._timeline.tail)

    def notice(self, name: str, data: Json, *, id: str | None = None, internal: bool = False) -> None:
        """A notice of our own, after what was told last."""
        self._notices += 1
        id_ = f"{name}-{self._notices}" if id is None else id
        spot = self._timeline.put(id_, self._teller.run_id)
        content = SystemContent(parts=(DataPart(name, data),))
        envelope = self._envelope(id_, spot, self._teller.time, internal=internal)
        envelope["type"] = "event"
        self._teller.say(SystemMessage(content=content, **envelope))
        if self.is_branched:
            self._teller.learn("leaf", self._timeline.tail)

    def end_turn(self) -> None:
        """The turn at hand ended well, if the last response called nothing."""
        self._told = None
        if self._is_answered:
            self._is_answered = False
            self._teller.end_turn("completed")

    def _begin_turn(self, words: str) -> None:
        if not self._turn_begun:
            self._teller.begin_turn()
        self._turn_begun = True
        if not self._has_prompt:
            self._has_prompt = True
            self._teller.learn("prompt", words[:PROMPT_LENGTH])

    def _tell(self, kind: Kind, id_: str, record: JsonObject, time: datetime | None) -> None:
        if kind != "response" and self._told is not None and self._told.id == id_:
            self._told = None
        if kind == "unknown":
            self._teller.puzzle(f"unknown message type {record.get('type')!r:.80}")
            self._event(id_, time, (DataPart("gemini-message", record),), True)
            return
        strange = strange_fields(record)
        for key in strange:
            self._teller.puzzle(f"unknown field {key!r} of a message")
        metadata = metadata_of(record, strange)
        if kind == "response":
            self._response(id_, record, time, metadata)
        elif kind == "notice":
            self._event(id_, time, notice_parts(record), not words_of(record.get("content")), metadata)
            self._noticed(record)
        else:
            self._user(kind, id_, record, time, metadata)

    def _envelope(self, id_: str, spot: Spot, time: datetime | None, *, internal: bool) -> Envelope:
        return {
            "id": id_,
            "thread_id": self._teller.thread_id,
            "parent_id": spot.parent_id,
            "run_id": spot.run_id,
            "created_at": time,
            "internal": internal,
        }

    def _placed(self, id_: str, time: datetime | None, *, internal: bool) -> Envelope:
        spot = self._timeline.place(id_, self._teller.run_id)
        return self._envelope(id_, spot, time, internal=internal)

    def _event(
        self,
        id_: str,
        time: datetime | None,
        parts: tuple[SystemPart, ...],
        internal: bool,
        metadata: Json = UNSET,
    ) -> None:
        content = SystemContent(parts=parts, metadata=metadata)
        envelope = self._placed(id_, time, internal=internal)
        envelope["type"] = "event"
        self._teller.say(SystemMessage(content=content, **envelope))

    def _noticed(self, record: JsonObject) -> None:
        """What a notice says of the turn. An error after the answer is about something else."""
        words = words_of(record.get("content"))
        if record["type"] == "error" and not self._is_answered:
            self._teller.end_turn("failed", words or None)
        elif words == STOPPED:
            self._is_answered = False
            self._teller.end_turn("interrupted", words)

    # What users and tools say

    def _user(self, kind: Kind, id_: str, record: JsonObject, time: datetime | None, metadata: Json) -> None:
        content = UserContent(parts=user_parts(record), metadata=metadata)
        internal = kind != "prompt" or id_ in self._copies
        envelope = self._placed(id_, time, internal=internal)
        if internal:
            envelope["type"] = "event"
        self._teller.say(UserMessage(content=content, **envelope))
        if kind == "results":
            self._results(record)
        elif kind == "context" and (folder := folder_in(words_of(record.get("content")))) is not None:
            self._teller.learn("cwd", folder)

    def _results(self, record: JsonObject) -> None:
        """What tools gave back, apart from their calls: mostly it was told with them."""
        for item in items_of(record.get("content")):
            response = response_of(item)
            if response is None:
                continue
            call = response.get("id")
            message = self._teller.call_message(call) if isinstance(call, str) else None
            if message is None:
                self._teller.puzzle("a result without a call")
                self.notice("gemini-result", response, internal=True)
            elif call in self._waiting:
                self._waiting.discard(call)
                late = ToolOutputChunk(call, result_of(item))
                self._late[call] = late, self._teller.line
                self._teller.grow(message, late)

    # What the model says

    def _response(self, id_: str, record: JsonObject, time: datetime | None, metadata: Json) -> None:
        pieces = pieces_of(record)
        told = self._told
        is_last = id_ not in self._timeline or (told is not None and told.id == id_)
        if told is not None and told.id == id_ and extends(told.pieces, pieces):
            self._timeline.place(id_, self._teller.run_id)
            if is_object(metadata) and metadata != told.metadata:
                self._teller.grow(id_, MessageMetadata(metadata))
        else:
            told = Told(id_, [], metadata)
            self._open(id_, record, time, metadata)
        for number, piece in enumerate(pieces):
            if number >= len(told.pieces) or told.pieces[number] != piece:
                self._grow(id_, piece, number)
        self._told = Told(id_, pieces, metadata)
        if is_last:
            self._is_answered = bool(pieces) and pieces[-1].kind != "call"
        self._consume(id_, record, time)

    def _open(self, id_: str, record: JsonObject, time: datetime | None, metadata: Json) -> None:
        content = AssistantContent(parts=(), metadata=metadata)
        internal = id_ in self._copies and record.get("tokens") is None
        envelope = self._placed(id_, time, internal=internal)
        self._teller.open(AssistantMessage(content=content, **envelope))
        self._teller.grow(id_, StepStart())

    def _grow(self, id_: str, piece: Piece, number: int) -> None:
        if piece.kind != "call":
            self._teller.grow(id_, *piece_chunks(piece, number))
            return
        has_ended = False
        for chunk in piece_chunks(piece, number):
            if isinstance(chunk, ToolOutputChunk):
                has_ended = True
                self.tick(piece.value.get("timestamp"))
            self._teller.grow(id_, chunk)
        self._called(id_, piece.key, piece.value, has_ended)

    def _called(self, id_: str, call_id: str, call: JsonObject, has_ended: bool) -> None:
        if has_ended:
            self._waiting.discard(call_id)
        elif (late := self._late.get(call_id)) is not None:
            output, line = late
            with self._teller.as_of(line):
                self._teller.grow(id_, output)
        else:
            self._waiting.add(call_id)
        status = call.get("status")
        if status is not None and not (isinstance(status, str) and status in STATUSES):
            self._teller.puzzle(f"unknown status {status!r:.80} of a call")
        if (agent := agent_of(call)) is not None:
            self._teller.link(agent, call_id)

    def _consume(self, id_: str, record: JsonObject, time: datetime | None) -> None:
        model = record.get("model")
        model = model if isinstance(model, str) else None
        if model is not None:
            self._teller.learn("model", model)
        usage = usage_of(record.get("tokens"))
        if usage is not None:
            self._teller.consume(
                Consumption(f"gemini:{record['id']}", id_, model, usage, time or self._teller.time, PROVIDER)
            )
