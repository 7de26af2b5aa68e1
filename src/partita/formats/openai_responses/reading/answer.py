"""A whole response → the message of the model, and the request as far as the response repeats it."""

from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.openai_responses import ending
from partita.formats.openai_responses.amending import amendments
from partita.formats.openai_responses.answer import Answer, client_tools_of
from partita.formats.openai_responses.fields import NAMESPACE, array, error_words, text
from partita.formats.openai_responses.request_content import own
from partita.formats.openai_responses.tools import read_request
from partita.formats.openai_responses.writing.body import write_body
from partita.types.chunks import MessageFinish
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantContent, AssistantMessage, ToolCallPart
from partita.types.parts import StepStartPart, TextPart

from .conversation import message_id
from .items import kept
from .turn import Turn

NO_ITEM: Final = "an item of the output is an object"


def read_answer(body: JsonObject) -> Loaded:
    """The answer that a response is, or the error that came instead."""
    losses: list[Loss] = []
    turn = Turn(message_id(0), losses, client_tools_of(body))
    for place, item in enumerate(array(body, "output")):
        path = f"$.output[{place}]"
        if not is_object(item):
            losses.append(Loss.of(path, item, NO_ITEM))
        elif text(item, "type") or text(item, "role"):
            turn.add(item, path)
        else:
            turn.parts.append(kept(item))
    echoes = {name: said for name, said in body.items() if name in ending.ECHOES and said is not None}
    content = AssistantContent(parts=(StepStartPart(), *turn.parts), metadata=_metadata(turn, body))
    message = AssistantMessage(id=turn.id, content=content)
    around = {name: said for name, said in body.items() if name not in echoes}
    more = amendments(around, {**write_body(message), "output": array(body, "output")})
    if more:
        message = replace(message, content=replace(content, provider_metadata={NAMESPACE: more}))
    request = read_request(echoes, losses) if echoes else None
    return Loaded((message,), tuple(losses), request)


def _metadata(turn: Turn, body: JsonObject) -> Json:
    """What is said of an answer besides its parts, as the decoder of streams says it."""
    answer = Answer()
    for part in turn.parts:
        if isinstance(part, ToolCallPart) and part.output is None:
            answer.call_id(part.id, provider_executed=bool(part.provider_executed))
        elif isinstance(part, TextPart) and own(part.provider_metadata).get("refusal") is True:
            answer.is_refusal = True
    error = body.get("error")
    if error is not None:
        answer.outlet.error(error_words(error))
    is_whole = "output" in body or body.get("object") == "response"
    response = {**body, "status": text(body, "status") or "completed"} if is_whole else {}
    ending.finish(answer, response, {}, has_ended=True, failed=error is not None)
    ends = [chunk for chunk in answer.outlet.take() if isinstance(chunk, MessageFinish)]
    return ends[0].message_metadata if ends else UNSET
