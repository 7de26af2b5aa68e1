"""Models that speak OpenAI's Responses API."""

from collections.abc import Sequence
from typing import Final

from partita.errors import ConversionError
from partita.formats.format import Dumped, Request, ToolSpec
from partita.types.json import JsonObject
from partita.types.messages import Message

from .openai_client import OpenAIService

STATELESS: Final[JsonObject] = {
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
}
"""Settings of a request unless others are given: nothing is stored, so the response has its reasoning.

https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
"""

STORED_INPUT: Final = ("previous_response_id", "conversation", "prompt")
"""Settings with which a request may have no input of its own."""


class OpenAIResponsesService(OpenAIService):
    """A model behind OpenAI's Responses API, or a server that speaks it too."""

    name = "openai"
    format_name = "openai-responses"
    path = "/responses"

    def _build(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        return build_request(view, model, tools, settings)


def build_request(
    view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
) -> Dumped:
    """The request for a model. A setting that is `None` removes a setting of `STATELESS`."""
    from partita.formats.openai_responses.format import FORMAT

    assert FORMAT.dump is not None
    given = {"model": model, **STATELESS, **settings}
    asked = {name: value for name, value in given.items() if value is not None}
    dumped = FORMAT.dump(view, Request(tuple(tools), asked))
    if not dumped.payload.get("input") and not any(asked.get(name) for name in STORED_INPUT):
        hint = "give a message of the user: the API refuses an empty input"
        raise ConversionError("nothing to send", where="$", hint=hint)
    return dumped
