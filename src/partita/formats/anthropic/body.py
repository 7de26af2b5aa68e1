"""The last answer among canonical messages → the body in which the Messages API gives it."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.answers.outlet import INTERRUPTED
from partita.formats.events import UNNAMED
from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.formats.missing import lost
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.parts import SteeringMessagePart

from .answer import REASONS, SAID
from .comparing import shell_losses, start_losses
from .consumption import count_of, usage_of
from .decoder import error_text
from .dump import told_parts
from .steps import steps_of
from .turns import assistant_turn
from .words import ANTHROPIC, text_of, turned

STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "tool-calls": "tool_use",
    "length": "max_tokens",
    "content-filter": "refusal",
}
"""Stop reasons for finish reasons that another provider gave."""

ONE: Final = "a body is one answer"
EARLIER: Final = "an earlier step was an answer of its own"
NO_OUTPUT: Final = "an answer ends with its calls, before their results"
CUT: Final = "the call was cut while it was written"
NO_PLACE: Final = "a body has no place for it"
NO_ANSWER: Final = "a body is an answer: it is empty"
MADE: Final = "a body has it: it was made"
COUNTED: Final = "Anthropic counts in its own words"
STOPPED: Final = "Anthropic has other reasons to stop"


def dump(messages: Sequence[Message]) -> Dumped:
    """The last answer as a `message`. All other messages are lost."""
    losses: list[Loss] = []
    found: tuple[str, AssistantMessage] | None = None
    folded = fold(messages)
    for index in range(len(folded) - 1, -1, -1):
        message = folded[index]
        is_talk = not message.internal and message.type != "event"
        if found is None and isinstance(message, AssistantMessage) and is_talk:
            found = f"$[{index}]", message
        else:
            losses.append(Loss.of(f"$[{index}]", message, ONE))
    losses.reverse()
    if found is None:
        losses.append(Loss("$", "no answer", NO_ANSWER, "repaired"))
    path, answer = found or ("$", AssistantMessage(id=UNNAMED, content=[]))
    return Dumped(_Body(answer, path, losses).write(), tuple(losses))


class _Body:
    def __init__(self, answer: AssistantMessage, path: str, losses: list[Loss]) -> None:
        self._answer, self._path, self._losses = answer, path, losses
        metadata = answer.content.metadata
        self._metadata: JsonObject = metadata if is_object(metadata) else {}
        own = self._metadata.get(ANTHROPIC)
        self._own: JsonObject = own if is_object(own) else {}

    def write(self) -> JsonObject:
        blocks = self._blocks()
        error = self._error(blocks)
        if error is not None:
            return error
        usage = self._usage()
        said = {
            turned(SAID).get(key, key): item
            for key, item in self._own.items()
            if key not in ("errors", "replaced")
        }
        model = text_of(self._metadata.get("model"))
        self._losses += [
            Loss(f"{self._path}.content.metadata.{key}", f"no {key}", MADE, "repaired")
            for key in ("model", "responseId", "finishReason", "usage")
            if key not in self._metadata
        ]
        body: JsonObject = {
            "id": text_of(self._metadata.get("responseId")) or self._answer.id,
            "type": "message",
            "role": "assistant",
            "model": model or "",
            "content": blocks,
            "stop_reason": self._stop(blocks),
            "stop_sequence": None,
            **said,
            "usage": usage,
        }
        self._tell_rest(body)
        return body

    def _blocks(self) -> list[JsonObject]:
        path = f"{self._path}.content.parts"
        steps = [step for step in steps_of(self._answer) if step.parts]
        for step in steps[:-1]:
            self._losses += [Loss.of(f"{path}[{number}]", part, EARLIER) for number, part in step.parts]
        for step in steps_of(self._answer)[1:]:
            where = f"{path}[{step.number}]"
            if isinstance(step.before, SteeringMessagePart):
                self._losses.append(Loss.of(where, step.before, ONE))
            elif step.before is not None:
                self._losses.extend(start_losses(step.before, where, divides=True))
        last = steps[-1].parts if steps else []
        kept = [(number, part) for number, part in last if not self._is_cut(part, f"{path}[{number}]")]
        open_ = [(number, self._opened(part, f"{path}[{number}]")) for number, part in kept]
        blocks = assistant_turn(open_, path, self._losses, {}, None, is_answer=True).blocks
        self._losses.extend(told_parts(open_, blocks, path, is_answer=True))
        return blocks

    def _is_cut(self, part: AssistantPart, path: str) -> bool:
        if not isinstance(part, ToolCallPart) or part.state != "input-streaming":
            return False
        self._losses.append(Loss.of(path, part, CUT))
        return True

    def _opened(self, part: AssistantPart, path: str) -> AssistantPart:
        """A part as it was when the answer ended: a call without what came of it."""
        if not isinstance(part, ToolCallPart) or part.provider_executed or part.output is None:
            return part
        self._losses.append(Loss.of(f"{path}.output", part.output, NO_OUTPUT))
        if part.result_provider_metadata is not None:
            where = f"{path}.resultProviderMetadata"
            self._losses.append(Loss.of(where, part.result_provider_metadata, NO_OUTPUT))
        return replace(part, output=None, state="input-available", result_provider_metadata=None)

    def _error(self, blocks: list[JsonObject]) -> JsonObject | None:
        """The body of an error that came instead of an answer."""
        errors = self._own.get("errors")
        if blocks or not is_array(errors) or len(errors) != 1 or "responseId" in self._metadata:
            return None
        more = {turned(SAID).get(key, key): item for key, item in self._own.items() if key != "errors"}
        body = {"type": "error", "error": errors[0], **more}
        held = {"errors": [error_text(errors[0])], "finishReason": "error", ANTHROPIC: self._own}
        where = f"{self._path}.content.metadata"
        self._losses.extend(lost(self._metadata, held, where, NO_PLACE))
        bare = replace(self._answer, content=replace(self._answer.content, metadata=UNSET))
        self._losses.extend(shell_losses(bare, self._path, UNNAMED, is_string=False))
        return body

    def _stop(self, blocks: list[JsonObject]) -> str | None:
        reason, raw = self._metadata.get("finishReason"), self._metadata.get("rawFinishReason")
        if isinstance(raw, str) and REASONS.get(raw, "other") == reason:
            return raw
        if reason == INTERRUPTED or (reason == "error" and raw is None):
            return None
        waits = any(block["type"] == "tool_use" for block in blocks)
        stop = STOPS.get(reason) if isinstance(reason, str) else None
        if raw is not None:
            where = f"{self._path}.content.metadata.rawFinishReason"
            self._losses.append(Loss.of(where, raw, STOPPED, "changed"))
        return stop or ("tool_use" if waits else "end_turn")

    def _usage(self) -> JsonObject:
        told: Json = self._metadata.get("usage")
        usage = self._answer.content.usage
        counts: JsonObject = told if is_object(told) else {} if usage is None else to_json(usage)
        raw = counts.get("raw")
        if is_object(raw) and is_object(told) and _read(raw) == counts:
            return raw
        names = ("cachedInputTokens", "cacheWriteTokens", "inputTokens", "outputTokens")
        cached, written, total, output = (count_of(counts, name) or 0 for name in names)
        own: JsonObject = {
            "input_tokens": max(total - cached - written, 0),
            "output_tokens": output,
            **({"cache_read_input_tokens": cached} if cached else {}),
            **({"cache_creation_input_tokens": written} if written else {}),
        }
        if counts:
            where = (
                f"{self._path}.content.metadata.usage" if is_object(told) else f"{self._path}.content.usage"
            )
            self._losses.append(Loss.of(where, counts, COUNTED, "changed"))
        return own

    def _tell_rest(self, body: JsonObject) -> None:
        """Tell what of the message around its parts is not in the body."""
        content = self._answer.content
        held = {
            key: item
            for key, item in self._metadata.items()
            if key in ("finishReason", "rawFinishReason", "usage", "model", "responseId")
            or (key == "complete" and item is False)
        }
        if self._own:
            held[ANTHROPIC] = {key: self._own[key] for key in self._own if key not in ("errors", "replaced")}
        if is_object(content.metadata):
            self._losses.extend(lost(content.metadata, held, f"{self._path}.content.metadata", NO_PLACE))
        bare = replace(
            self._answer,
            content=replace(
                content, metadata=UNSET if is_object(content.metadata) else content.metadata, usage=None
            ),
        )
        self._losses.extend(shell_losses(bare, self._path, body["id"], is_string=False))


def _read(raw: JsonObject) -> Json:
    usage = usage_of(raw)
    return None if usage is None else to_json(usage)
