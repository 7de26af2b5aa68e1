"""A conversation as the model may see it → the body of a streaming request that leaves nothing stored.

Lost: reasoning and calls of other providers, whether an output was an error, data, files a model made other
than by a call. Every loss is told.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.errors import ConversionError
from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from partita.types.parts import ForeignPart, UnknownPart
from partita.types.tools import ToolResultPart

from .fields import array
from .request_calls import fit_call_id
from .request_content import NO_PLACE, content_of
from .request_outputs import output_item
from .request_steps import step_items

STATELESS: Final[JsonObject] = {
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
}
"""What a request says unless its settings say otherwise: nothing is stored, so the answer brings it all."""

NO_CALL: Final = "an output without its call"
ELSEWHERE: Final = ("previous_response_id", "conversation", "prompt")
"""Settings with which a request may have no input of its own."""


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> Dumped:
    """The body of a request, and what it could not carry.

    `settings` have the provider's names and the last word: `None` takes a field away. Their `tools` are the
    provider's own, and stand behind those of the client.
    """
    given = settings or {}
    losses: list[Loss] = []
    items = _input(view, losses, stored=given.get("store") is True)
    if not items and not any(given.get(name) for name in ELSEWHERE):
        raise ConversionError(
            "nothing to send", where="$", hint="give a message of the user; an empty input is refused"
        )
    declared = [*map(_tool, tools), *array(given, "tools")]
    body: JsonObject = {"model": model, "input": items, **STATELESS, **given}
    if declared:
        body["tools"] = declared
    return Dumped({name: value for name, value in body.items() if value is not None}, tuple(losses))


def _tool(tool: ToolSpec) -> JsonObject:
    """A function. Unless told not to, the provider rewrites schemas to its strict subset."""
    described = {} if tool.description is None else {"description": tool.description}
    schema = tool.input_schema or {"type": "object", "properties": {}}
    return {"type": "function", "name": tool.name, **described, "parameters": schema, "strict": False}


def _input(view: Sequence[Message], losses: list[Loss], *, stored: bool) -> list[JsonObject]:
    items: list[JsonObject] = []
    kinds: dict[str, str] = {}
    for place, message in enumerate(view):
        where = f"$[{place}].content.parts"
        match message:
            case SystemMessage() | UserMessage():
                role = "system" if isinstance(message, SystemMessage) else "user"
                content = content_of(message.parts, where, losses)
                items += [{"role": role, "content": content}] if content else []
            case AssistantMessage():
                said, asked = step_items(message.parts, where, losses, stored=stored)
                items += said
                kinds |= asked
            case ToolMessage():
                items += _results(message, kinds, where, losses)
            case _:
                assert_never(message)
    return items


def _results(message: ToolMessage, kinds: dict[str, str], where: str, losses: list[Loss]) -> list[JsonObject]:
    """The outputs of calls. Some servers use ids again in each turn: the last call of an id counts."""
    items: list[JsonObject] = []
    for place, part in enumerate(message.parts):
        at = f"{where}[{place}]"
        match part:
            case ToolResultPart() if part.id in kinds:
                items += output_item(part, kinds[part.id], fit_call_id(part.id), at, losses)
            case ToolResultPart():
                losses.append(Loss.of(at, part.id, NO_CALL))
            case ForeignPart() | UnknownPart():
                losses.append(Loss.of(at, to_json(part), NO_PLACE))
            case _:
                assert_never(part)
    return items
