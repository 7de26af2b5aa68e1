"""Models that speak OpenAI's Responses API."""

from collections.abc import Sequence

from partita.formats.format import Dumped, ToolSpec
from partita.types.json import JsonObject
from partita.types.messages import Message

from .openai_client import OpenAIService


class OpenAIResponsesService(OpenAIService):
    """A model behind OpenAI's Responses API, or a server that speaks it too."""

    name = "openai"
    format_name = "openai-responses"
    path = "/responses"

    def _build(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        from partita.formats.openai_responses.request import build_request

        return build_request(view, model=model, tools=tools, settings=settings)
