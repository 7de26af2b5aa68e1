"""AG-UI events → chunks.

A run is one message. Texts, calls and results note the ids of the messages that they are to AG-UI. Events of
sub-agents are told to the call that started them; one that no call started gets a call of its own. State,
activities, snapshots and whatever is unknown become data. Older `THINKING_*` events are read as reasoning.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.errors import PartitaError
from partita.types.chunks import Chunk, DataChunk, ToolOutputAvailable, ToolOutputChunk
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.tools import ContentOutput

from . import names
from .content import read_content
from .endings import begin_run, end_run, fail_run
from .notes import noted, rest_of
from .run import BASE, Run
from .subagents import Subagents
from .words import REASONING

Handler: TypeAlias = Callable[["AgUiDecoder", Run, JsonObject], None]


class AgUiDecoder:
    """Events in, chunks out. One decoder reads one run."""

    def __init__(self) -> None:
        self._main = Run()
        self._agents = Subagents(self._main)

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to."""
        if not is_object(event) or not isinstance(kind := event.get("type"), str):
            self._main.keep(event)
            return self._agents.take()
        if kind in LIFECYCLE:
            LIFECYCLE[kind](self, event)
            return self._agents.take()
        run = self._agents.run_of(event.get(names.AGENT))
        handler = HANDLERS.get(kind, AgUiDecoder.unknown)
        try:
            handler(self, run, event)
        except (KeyError, TypeError, PartitaError):  # a member is missing, or of another kind
            run.keep(event)
        return self._agents.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._agents.finish()
        return self._agents.take()

    def unknown(self, run: Run, event: JsonObject) -> None:
        """An event that this version does not know."""
        run.keep(event)

    # Lifecycle

    def begin(self, event: JsonObject) -> None:
        """A run begins."""
        begin_run(self._main, event)

    def end(self, event: JsonObject) -> None:
        """A run has ended, or waits for somebody."""
        self._agents.close()
        end_run(self._main, self._agents.run_of, event)

    def fail(self, event: JsonObject) -> None:
        """A run has failed."""
        self._agents.close()
        fail_run(self._main, event)

    def subagent(self, event: JsonObject) -> None:
        """A sub-agent begins, ends or fails."""
        self._agents.hear(event)

    # Words

    def text_start(self, run: Run, event: JsonObject) -> None:
        """A text begins."""
        id_ = _text(event, "messageId")
        notes = rest_of(event, *BASE, "messageId", "role")
        run.settle()
        run.words.start(id_, event.get("role") or "assistant", notes)

    def text_content(self, run: Run, event: JsonObject) -> None:
        """The next piece of a text."""
        run.words.grow(_text(event, "messageId"), _text(event, "delta"))
        run.rest(event, "messageId", "delta")

    def text_end(self, run: Run, event: JsonObject) -> None:
        """A text or a reasoning is whole."""
        if not run.words.end(_text(event, "messageId"), rest_of(event, *BASE, "messageId")):
            raise KeyError(event["messageId"])

    def text_chunk(self, run: Run, event: JsonObject) -> None:
        """All of that in one."""
        id_ = event.get("messageId") or run.words.chunked
        if not isinstance(id_, str):
            raise KeyError("messageId")
        read = ["messageId", "delta"]
        if id_ != run.words.chunked:
            run.settle()
            notes = {"name": event["name"]} if "name" in event else {}
            run.words.start(id_, event.get("role") or "assistant", notes, chunked=True)
            read += ["name", "role"]
        if event.get("delta"):
            run.words.grow(id_, _text(event, "delta"))
        run.rest(event, *read)

    # Reasoning

    def span_start(self, run: Run, event: JsonObject) -> None:
        """Reasoning begins: messages of it come, or none."""
        run.settle()
        run.words.start_span(_text(event, "messageId"), rest_of(event, *BASE, "messageId"))

    def span_end(self, run: Run, event: JsonObject) -> None:
        """Reasoning has ended."""
        id_ = _text(event, "messageId")
        run.begin_step()
        if left := run.words.end_span(id_, rest_of(event, *BASE, "messageId")):
            run.rest({"type": event["type"], **left})

    def thought_start(self, run: Run, event: JsonObject) -> None:
        """A message of reasoning begins."""
        notes = rest_of(event, *BASE, "messageId", *_plain_role(event))
        run.settle()
        run.words.start_reasoning(_text(event, "messageId"), notes)

    def thought(self, run: Run, event: JsonObject) -> None:
        """The next piece of reasoning."""
        run.words.grow(_text(event, "messageId"), _text(event, "delta"), REASONING)
        run.rest(event, "messageId", "delta")

    def thought_chunk(self, run: Run, event: JsonObject) -> None:
        """All of that in one."""
        id_ = event.get("messageId") or run.words.chunked
        if not isinstance(id_, str):
            raise KeyError("messageId")
        if id_ != run.words.chunked:
            run.settle()
            run.words.start_reasoning(id_, {}, chunked=True)
        if event.get("delta"):
            run.words.grow(id_, _text(event, "delta"))
        run.rest(event, "messageId", "delta")

    def sealed(self, run: Run, event: JsonObject) -> None:
        """What only the agent can read, of a message or a call."""
        entity, value = _text(event, "entityId"), _text(event, "encryptedValue")
        run.seal(_text(event, "subtype"), entity, value)
        run.rest(event, "entityId", "encryptedValue", "subtype")

    # Reasoning as it was told before 1.0

    def thinking_start(self, run: Run, event: JsonObject) -> None:
        """Reasoning begins."""
        run.settle()
        run.words.start_span(run.words.new_thought(), rest_of(event, *BASE))

    def thinking_text_start(self, run: Run, event: JsonObject) -> None:
        """A message of reasoning begins."""
        run.settle()
        run.words.start_reasoning(run.words.new_thought(), rest_of(event, *BASE))

    def thinking_text(self, run: Run, event: JsonObject) -> None:
        """The next piece of it."""
        delta = _text(event, "delta")
        run.words.grow(run.words.thought or run.words.new_thought(), delta, REASONING)
        run.rest(event, "delta")

    def thinking_text_end(self, run: Run, event: JsonObject) -> None:
        """It is whole."""
        if not run.words.end(run.words.thought or "", rest_of(event, *BASE)):
            raise KeyError("no reasoning is open")

    def thinking_end(self, run: Run, event: JsonObject) -> None:
        """Reasoning has ended."""
        run.rest({"type": event["type"], **run.words.end_thinking(rest_of(event, *BASE))})

    # Calls

    def call_start(self, run: Run, event: JsonObject) -> None:
        """A call begins."""
        id_, name = _text(event, "toolCallId"), _text(event, "toolCallName")
        run.start_call(id_, name, rest_of(event, *BASE, "toolCallId", "toolCallName"))

    def call_args(self, run: Run, event: JsonObject) -> None:
        """The next piece of its input."""
        id_, delta = _text(event, "toolCallId"), _text(event, "delta")
        run.grow_call(id_, delta)
        run.rest(event, "toolCallId", "delta")

    def call_end(self, run: Run, event: JsonObject) -> None:
        """Its input is whole."""
        id_ = _text(event, "toolCallId")
        if id_ not in run.open_calls:
            raise KeyError(id_)
        run.end_call(id_, rest_of(event, *BASE, "toolCallId"))

    def call_chunk(self, run: Run, event: JsonObject) -> None:
        """All of that in one."""
        id_ = event.get("toolCallId") or run.chunked_call
        if not isinstance(id_, str):
            raise KeyError("toolCallId")
        if id_ != run.chunked_call:
            self.call_start(run, {**rest_of(event, "delta"), "toolCallId": id_})
            run.chunked_call = id_
        else:
            run.rest(event, "toolCallId", "delta")
        if event.get("delta"):
            run.grow_call(id_, _text(event, "delta"))

    def call_result(self, run: Run, event: JsonObject) -> None:
        """What came of a call."""
        id_, content = _text(event, "toolCallId"), event["content"]
        notes = rest_of(event, *BASE, "toolCallId", "content", *_plain_role(event))
        run.end_call(id_, {})
        run.settle()
        if id_ not in run.known_calls:
            raise KeyError(id_)
        if is_array(content):
            output = ContentOutput(tuple(read_content(content, "$.content")))
            run.emit(ToolOutputChunk(id_, output, provider_metadata=noted(notes)))
        elif isinstance(content, str):
            run.emit(ToolOutputAvailable(id_, content, provider_metadata=noted(notes)))
        else:
            raise TypeError("content")
        run.answered(id_)

    # Steps and data

    def step_start(self, run: Run, event: JsonObject) -> None:
        """A named step begins."""
        run.settle()
        run.named_step(_text(event, "stepName"))
        run.rest(event, "stepName")

    def step_end(self, run: Run, event: JsonObject) -> None:
        """A named step has ended."""
        run.settle()
        run.end_step()
        run.rest(event, *(("stepName",) if event.get("stepName") in run.steps else ()))

    def custom(self, run: Run, event: JsonObject) -> None:
        """Data of the application, or a chunk that has no event of its own."""
        name, value = _text(event, "name"), event["value"]
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

    def state(self, run: Run, event: JsonObject) -> None:
        """The whole state."""
        run.emit(DataChunk(names.STATE, event["snapshot"]))
        run.rest(event, "snapshot")

    def state_delta(self, run: Run, event: JsonObject) -> None:
        """A change of the state."""
        run.emit(DataChunk(names.STATE_DELTA, event["delta"]))
        run.rest(event, "delta")

    def messages(self, run: Run, event: JsonObject) -> None:
        """All messages of the conversation."""
        run.emit(DataChunk(names.MESSAGES, event["messages"]))
        run.rest(event, "messages")

    def activity(self, run: Run, event: JsonObject) -> None:
        """An activity: its later forms replace it."""
        run.emit(DataChunk(names.ACTIVITY, rest_of(event, *BASE, "messageId"), _text(event, "messageId")))

    def activity_delta(self, run: Run, event: JsonObject) -> None:
        """A change of an activity."""
        run.emit(DataChunk(names.ACTIVITY_DELTA, rest_of(event, *BASE)))

    def raw(self, run: Run, event: JsonObject) -> None:
        """An event of a provider."""
        run.emit(DataChunk(names.RAW, rest_of(event, *BASE)))


def _text(event: JsonObject, name: str) -> str:
    value = event[name]
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _plain_role(event: JsonObject) -> tuple[str, ...]:
    """The role, where it says nothing."""
    return ("role",) if event.get("role") in ("tool", "reasoning") else ()


LIFECYCLE: Final[Mapping[str, Callable[[AgUiDecoder, JsonObject], None]]] = {
    "RUN_STARTED": AgUiDecoder.begin,
    "RUN_FINISHED": AgUiDecoder.end,
    "RUN_ERROR": AgUiDecoder.fail,
    "SUBAGENT_STARTED": AgUiDecoder.subagent,
    "SUBAGENT_FINISHED": AgUiDecoder.subagent,
    "SUBAGENT_ERROR": AgUiDecoder.subagent,
}
HANDLERS: Final[Mapping[str, Handler]] = {
    "TEXT_MESSAGE_START": AgUiDecoder.text_start,
    "TEXT_MESSAGE_CONTENT": AgUiDecoder.text_content,
    "TEXT_MESSAGE_END": AgUiDecoder.text_end,
    "TEXT_MESSAGE_CHUNK": AgUiDecoder.text_chunk,
    "REASONING_START": AgUiDecoder.span_start,
    "REASONING_END": AgUiDecoder.span_end,
    "REASONING_MESSAGE_START": AgUiDecoder.thought_start,
    "REASONING_MESSAGE_CONTENT": AgUiDecoder.thought,
    "REASONING_MESSAGE_END": AgUiDecoder.text_end,
    "REASONING_MESSAGE_CHUNK": AgUiDecoder.thought_chunk,
    "REASONING_ENCRYPTED_VALUE": AgUiDecoder.sealed,
    "THINKING_START": AgUiDecoder.thinking_start,
    "THINKING_END": AgUiDecoder.thinking_end,
    "THINKING_TEXT_MESSAGE_START": AgUiDecoder.thinking_text_start,
    "THINKING_TEXT_MESSAGE_CONTENT": AgUiDecoder.thinking_text,
    "THINKING_TEXT_MESSAGE_END": AgUiDecoder.thinking_text_end,
    "TOOL_CALL_START": AgUiDecoder.call_start,
    "TOOL_CALL_ARGS": AgUiDecoder.call_args,
    "TOOL_CALL_END": AgUiDecoder.call_end,
    "TOOL_CALL_CHUNK": AgUiDecoder.call_chunk,
    "TOOL_CALL_RESULT": AgUiDecoder.call_result,
    "STEP_STARTED": AgUiDecoder.step_start,
    "STEP_FINISHED": AgUiDecoder.step_end,
    "CUSTOM": AgUiDecoder.custom,
    "STATE_SNAPSHOT": AgUiDecoder.state,
    "STATE_DELTA": AgUiDecoder.state_delta,
    "MESSAGES_SNAPSHOT": AgUiDecoder.messages,
    "ACTIVITY_SNAPSHOT": AgUiDecoder.activity,
    "ACTIVITY_DELTA": AgUiDecoder.activity_delta,
    "RAW": AgUiDecoder.raw,
}
