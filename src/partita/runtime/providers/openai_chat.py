"""Models that speak Chat Completions: OpenAI's, and those of the many servers that speak it in their way."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from partita.errors import AgentError, ConversionError
from partita.formats.builtin import CHAT
from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.openai_chat.dialects import DIALECTS, OPENAI, Dialect
from partita.formats.registry import get_format
from partita.types.json import JsonObject
from partita.types.messages import Message

from .openai_client import OpenAIService
from .service import MAX_RETRIES, TIMEOUT

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIChatService(OpenAIService):
    """A model behind Chat Completions. `dialect` is how the server wants its requests."""

    path = "/chat/completions"

    def __init__(
        self,
        model: str,
        *,
        dialect: Dialect | str = OPENAI,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        settings: JsonObject | None = None,
        client: "AsyncOpenAI | None" = None,
    ) -> None:
        super().__init__(
            model,
            api_key=api_key,
            base_url=base_url,
            headers=headers,
            timeout=timeout,
            max_retries=max_retries,
            settings=settings,
            client=client,
        )
        self._dialect = _dialect(dialect)
        self.name = CHAT if self._dialect is OPENAI else self._dialect.name
        own = self._dialect.namespace
        self.format_name = get_format(CHAT if own == OPENAI.namespace else f"{CHAT}-{own}").name

    def _build(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        from partita.formats.openai_chat.format import dump

        streamed: JsonObject = {"model": model, "stream": True}
        if self._dialect.stream_options:
            streamed["stream_options"] = {"include_usage": True}
        built = dump(view, Request(tuple(tools), {**streamed, **settings}), dialect=self._dialect)
        if not built.payload["messages"]:
            raise ConversionError("no message to send", where="$", hint="give at least one that has content")
        return built


def _dialect(named: Dialect | str) -> Dialect:
    if isinstance(named, Dialect):
        return named
    if named not in DIALECTS:
        raise AgentError(f"no dialect {named!r}", hint=f"there are {', '.join(sorted(DIALECTS))}")
    return DIALECTS[named]
