"""The last answer of a conversation → a response, and everything else of the conversation as lost."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.format import Dumped, Request
from partita.formats.losses import Loss
from partita.formats.openai_responses.amending import amended
from partita.formats.openai_responses.fields import text
from partita.formats.openai_responses.reading.answer import read_answer
from partita.formats.openai_responses.request_content import NO_PLACE, own
from partita.formats.openai_responses.request_steps import Step
from partita.formats.openai_responses.tools import fit_name, write_tools
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.parts import StepStartPart

from .body import write_body
from .comparing import difference
from .parts import shell, tell_part, unnumbered
from .turn import read_again

NEEDED: Final[JsonObject] = {
    "id": "resp_0",
    "created_at": 0,
    "model": "unknown",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
"""What a response always has."""

PREFIXES: Final = {"message": "msg_", "reasoning": "rs_"}
"""How ids begin, of items that always have one in a response."""

NOT_LAST: Final = "a response is one answer: the last"
INSISTS: Final = "a response always has one"


def dump(messages: Sequence[Message]) -> Dumped:
    """The last answer as a response."""
    return ask(messages, Request())


def ask(messages: Sequence[Message], request: Request) -> Dumped:
    """The same, with all that a response repeats of its request."""
    losses: list[Loss] = []
    folded = fold(messages)
    last = max((place for place, one in enumerate(folded) if isinstance(one, AssistantMessage)), default=-1)
    for place, message in enumerate(folded):
        if place != last:
            losses.append(Loss.of(f"$[{place}]", message, NOT_LAST))
    answer = folded[last] if last >= 0 else AssistantMessage(id="", content=())
    assert isinstance(answer, AssistantMessage), "it was looked for"
    body = _body(answer, f"$[{max(last, 0)}]", losses)
    body |= request.settings
    if tools := write_tools(request, losses):
        body["tools"] = tools
    needed = NEEDED if "object" in body else {}
    added = {name: said for name, said in needed.items() if name not in body}
    losses += [Loss.of(f"$.{name}", said, INSISTS, "repaired") for name, said in added.items()]
    return Dumped({**body, **added}, tuple(losses))


def _body(answer: AssistantMessage, path: str, losses: list[Loss]) -> JsonObject:
    output = _output(answer.parts, path, losses)
    written = {**write_body(answer), "output": output}
    body = amended(written, own(answer.content.provider_metadata))
    if "created_at" not in body and answer.created_at is not None:
        body = {**body, "created_at": int(answer.created_at.timestamp())}
    again = read_answer(body).messages[0]
    before, after = shell(answer), shell(again)
    if "created_at" in body and answer.created_at is not None:
        after["createdAt"] = before["createdAt"]
    losses += difference(before, {**after, "type": before["type"]}, path)
    return body


def _output(parts: Sequence[AssistantPart], path: str, losses: list[Loss]) -> list[JsonObject]:
    """The items of the last step."""
    starts = (place for place, part in enumerate(parts) if isinstance(part, StepStartPart))
    first = max(starts, default=-1)
    step = Step([], stored=True, whole=True, waiting=True)
    derived: list[JsonObject] = []
    for place, part in enumerate(parts):
        where = f"{path}.content.parts[{place}]"
        if place <= first:
            losses += _earlier(part, where)
            continue
        told: list[Loss] = []
        alone = Step(told, stored=True, whole=True, waiting=True)
        fitted = replace(part, name=fit_name(part.name)) if isinstance(part, ToolCallPart) else part
        alone.add(fitted, where)
        items = alone.whole_items()
        if items:
            step.add(fitted, where)
            again, besides = read_again(items, part)
            derived += map(unnumbered, besides)
            losses += tell_part(part, again, where)
        elif unnumbered(to_json(part)) not in derived:
            losses.append(Loss.of(where, part, told[0].why if told else NO_PLACE))
    return [_named(item, place, path, losses) for place, item in enumerate(step.whole_items())]


def _named(item: JsonObject, place: int, path: str, losses: list[Loss]) -> JsonObject:
    """A message or reasoning with the id that it always has in a response."""
    kind = text(item, "type")
    if "id" in item or kind not in PREFIXES:
        return item
    name = f"{PREFIXES[kind]}{place}"
    losses.append(Loss.of(f"{path}.content", name, INSISTS, "repaired"))
    return {"id": name, **({"status": "completed"} if kind == "message" else {}), **item}


def _earlier(part: AssistantPart, where: str) -> list[Loss]:
    if isinstance(part, StepStartPart):
        return list(difference(to_json(part), {"type": "step-start"}, where))
    return [Loss.of(where, part, NOT_LAST)]
