"""What an agent or a workflow says → chunks of its messages. Sub-agents speak under the calls they are for.

A chunk that nobody knows, or that is not as it should be, becomes data under its own name, whole.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.formats.ai_sdk.ui.v4_shape import PROVIDER, REDACTED, SIGNATURE
from partita.formats.losses import Loss
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    MessageAbort,
    StepFinish,
    StepStart,
)
from partita.types.json import Json, JsonObject, dumps, is_object

from .asking import Questions
from .calling import Calls
from .consumption import usage_of
from .said import Said, is_chunk
from .steps import Steps
from .things import DATA, MAKING, RESULTS, Things
from .voice import Kind, Voice

Handler: TypeAlias = Callable[[Said], bool]
"""Says in chunks what was said, and whether it could."""

AROUND: Final = ("runId", "from")
DEEPEST: Final = 32
"""How far speakers may stand under each other; what is said below is data."""

ENDINGS: Final = frozenset({"abort", "tripwire", "agent-execution-abort", "workflow-canceled"})


class Speaker:
    """One who speaks: chunks of Mastra in, ours out."""

    def __init__(self, sink: list[Chunk], losses: list[Loss], path: tuple[str, ...] = ()) -> None:
        self.voice = Voice(sink, losses, path)
        self._errors: list[str] = []
        self._under: dict[str, Speaker] = {}
        self._held: Said | None = None  # the start of a message that has no name yet
        self._things = Things(self.voice)
        calls = self._calls = Calls(self.voice, self._let_speak, self._interrupt_under)
        questions = Questions(self.voice, calls)
        self._handlers: Mapping[str, Handler] = {
            "start": self._start,
            "step-start": self._step_start,
            "step-finish": self._step_finish,
            "finish": self._finish,
            "response-metadata": self._note,
            "raw": self._note,
            "watch": self._note,
            "error": self._error,
            "reasoning-signature": self._signature,
            "redacted-reasoning": self._redacted,
            **self._block_handlers("text"),
            **self._block_handlers("reasoning"),
            **self._things.handlers,
            **calls.handlers,
            **questions.handlers,
            **Steps(calls, questions).handlers,
            **dict.fromkeys(ENDINGS, self._abort),
        }

    @property
    def types(self) -> frozenset[str]:
        """The types of chunks that have a place of their own."""
        return frozenset(self._handlers)

    def feed(self, event: JsonObject, where: str) -> None:
        """Say what a chunk says."""
        said = Said(event, where)
        if said.type == "start" and not self.voice.is_begun:
            self._release()
        self.voice.next_around = {key: event[key] for key in AROUND if key in event}
        if said.type.startswith(DATA):
            self._things.data(said)
        elif not self._is_told(said):
            self.tell(said)
        if self._held is said:
            return
        if self.voice.is_begun:
            self._release()
        self.voice.aside(said)

    def _is_told(self, said: Said) -> bool:
        """Whether what a chunk says has a place of its own."""
        if said.type in MAKING or said.type in RESULTS:
            return self._things.made(said)
        handler = self._handlers.get(said.type)
        return handler is not None and is_object(said.payload) and handler(said)

    def _release(self) -> None:
        """Put aside what is left of the start of a message, which has its name now, or gets none."""
        if self._held is not None:
            self.voice.aside(self._held)
            self._held = None

    def close(self) -> None:
        """Nothing more is said, here or below."""
        for speaker in self._under.values():
            speaker.close()
        self._release()
        self.voice.close()

    def tell(self, said: Said) -> None:
        """A chunk as data, whole."""
        if said.payload is None:
            members = [key for key in said.around if key not in AROUND]
            self.voice.data(said.type, {key: said.around.pop(key) for key in members}, said.where)
        else:
            self.voice.data(said.type, said.payload, said.where)
        said.rest = {}
        said.around.pop("payload", None)

    def _let_speak(self, call_id: str, output: Json, where: str) -> bool:
        """A chunk of whoever works under a call; whether it is one."""
        if not is_chunk(output) or len(self.voice.path) >= DEEPEST:
            return False
        speaker = self._under.get(call_id)
        if speaker is None:
            path = (*self.voice.path, call_id)
            speaker = self._under[call_id] = Speaker(self.voice.sink, self.voice.losses, path)
        speaker.feed(output, where)
        return True

    def _interrupt_under(self, call_id: str) -> None:
        """End what is open in the messages of a sub-agent, which is not heard of again."""
        speaker = self._under.get(call_id)
        if speaker is not None:
            speaker.interrupt()

    def interrupt(self) -> None:
        """End the texts and calls that are open, here and below."""
        for speaker in self._under.values():
            speaker.interrupt()
        self.voice.end_blocks()
        self._calls.interrupt()

    # The message

    def _start(self, said: Said) -> bool:
        """A run begins. Its message may get its name with the first step."""
        message_id = said.take_text("messageId")
        if message_id is not None:
            self._go_on(message_id)
        elif self.voice.is_over:
            self.voice.begin(None, self.voice.next_around)
        elif not self.voice.is_begun:
            self._held = said
        return True

    def _step_start(self, said: Said) -> bool:
        message_id = said.take_text("messageId")
        if message_id is not None:
            self._go_on(message_id)
        elif self.voice.is_over:
            self.voice.begin(None, self.voice.next_around)
        self.voice.emit(StepStart())
        return True

    def _go_on(self, message_id: str) -> None:
        """The message of that id, which may be the one at hand."""
        if not self.voice.is_open or self.voice.message_id != message_id:
            self.voice.begin(message_id, self.voice.next_around)

    def _step_finish(self, said: Said) -> bool:
        said.drop({"messageId": self.voice.message_id})
        self.voice.emit(StepFinish())
        return True

    def _finish(self, said: Said) -> bool:
        self.voice.ensure()
        said.drop({"messageId": self.voice.message_id})
        result, output = said.get("stepResult"), said.get("output")
        if is_object(result) and isinstance(result.get("reason"), str):
            self.voice.finish(result["reason"])
            said.rest["stepResult"] = {key: item for key, item in result.items() if key != "reason"}
        if is_object(output) and is_object(output.get("usage")):
            self.voice.finish(None, usage=usage_of(output["usage"]))
            said.rest["output"] = {key: item for key, item in output.items() if key != "usage"}
        self.voice.aside(said)
        said.rest, said.around = {}, {}
        self.voice.close()
        return True

    def _note(self, said: Said) -> bool:
        """Something of the run alone. What there is to say of it is put aside."""
        return True

    def _error(self, said: Said) -> bool:
        if "error" not in said.rest:
            return False
        error = said.rest["error"]
        if isinstance(error, str):
            del said.rest["error"]
        text = error if isinstance(error, str) else _words(error)
        self._errors.append(text)
        self.voice.emit(ErrorChunk(text))
        self.voice.finish(None, errors=list(self._errors))
        return True

    def _abort(self, said: Said) -> bool:
        """The run ends early, by a user, a processor's tripwire or a cancelled workflow."""
        reason = said.take_text("reason")
        self.interrupt()
        self.voice.emit(MessageAbort(reason))
        if reason is not None:
            said.rest["reason"] = reason  # for an abort leaves no trace in a message
        else:
            said.rest.setdefault("aborted", True)
        return True

    # Words

    def _block_handlers(self, kind: Kind) -> Mapping[str, Handler]:
        return {
            f"{kind}-start": lambda said: self._block_start(kind, said),
            f"{kind}-delta": lambda said: self._block_delta(kind, said),
            f"{kind}-end": lambda said: self._block_end(kind, said),
        }

    def _block_start(self, kind: Kind, said: Said) -> bool:
        said.drop({"type": said.type})
        id_, metadata = said.take_text("id"), said.take_object("providerMetadata")
        self.voice.start(kind, id_ or kind, metadata, None if id_ is None else said.where)
        return True

    def _block_delta(self, kind: Kind, said: Said) -> bool:
        delta = said.get("text")
        if not isinstance(delta, str):
            return False
        said.drop({"type": said.type, "text": delta})
        id_, metadata = said.take_text("id"), said.take_object("providerMetadata")
        self.voice.grow(kind, id_ or kind, delta, metadata, None if id_ is None else said.where)
        return True

    def _block_end(self, kind: Kind, said: Said) -> bool:
        """The end of a block. An end without a beginning is data, as whatever is not understood."""
        said.drop({"type": said.type})
        id_ = said.get("id")
        if not self.voice.end(
            kind, id_ if isinstance(id_, str) else kind, said.take_object("providerMetadata")
        ):
            return False
        said.take_text("id")
        return True

    def _signature(self, said: Said) -> bool:
        signature = said.take_text("signature")
        if signature is None:
            return False
        self.voice.grow(
            "reasoning", said.take_text("id") or "reasoning", "", {PROVIDER: {SIGNATURE: signature}}
        )
        return True

    def _redacted(self, said: Said) -> bool:
        data = said.take_text("data")
        if data is None:
            return False
        id_ = said.take_text("id") or "redacted"
        metadata = said.take_object("providerMetadata") or {}
        own = metadata.get(PROVIDER)
        known: JsonObject = own if is_object(own) else {}
        self.voice.start("reasoning", id_, {**metadata, PROVIDER: {REDACTED: data, **known}})
        if known.get(REDACTED, data) != data:
            said.rest["data"] = data
        self.voice.end("reasoning", id_)
        return True


def _words(error: Json) -> str:
    message: Json = error.get("message") if is_object(error) else None
    return message if isinstance(message, str) else dumps(error).decode()
