"""The public converters of LangChain and Pydantic AI, as functions from JSON to their messages and back."""

from collections.abc import Callable
from typing import Any, NamedTuple

from partita.types.json import Json

from .inputs import without_unknown

OWN_TARGET = 0.4
"""The target ratio to a framework's serialization of its own messages, which is compiled code."""
CONVERTER_TARGET = 3.0
"""The target ratio to a converter between formats."""


class Rival(NamedTuple):
    """A framework: which formats it reads into its own messages, and which it writes them as."""

    name: str
    own: str
    """The format of its own messages."""
    load: dict[str, Callable[[Json], Any]]
    dump: dict[str, Callable[[Any], Json]]
    refuses_unknown: tuple[str, ...] = ()
    """Formats in which it accepts no unknown members. It gets the input without them."""

    def target(self, formats: tuple[str, ...]) -> float:
        """The minimal speed of Partita, as a ratio."""
        return OWN_TARGET if formats == (self.own,) else CONVERTER_TARGET

    def work(self, kind: str, payload: Json, source: str, target: str) -> Callable[[], Any]:
        """The function to measure: `load` or `dump` of one format, or `convert` from one to another."""
        load, dump = self.load[source], self.dump[target]
        given = without_unknown(payload) if source in self.refuses_unknown else payload
        if kind == "load":
            return lambda: load(given)
        if kind == "dump":
            messages = load(given)
            return lambda: dump(messages)
        return lambda: dump(load(given))


def langchain() -> Rival:
    """LangChain: its message dicts and Chat Completions."""
    from langchain_core.messages import messages_from_dict, messages_to_dict
    from langchain_core.messages.utils import convert_to_messages, convert_to_openai_messages

    return Rival(
        "LangChain",
        "langchain",
        {
            "langchain": messages_from_dict,
            "openai-chat": lambda payload: convert_to_messages(payload["messages"]),
        },
        {"langchain": messages_to_dict, "openai-chat": convert_to_openai_messages},
    )


def pydantic_ai() -> Rival:
    """Pydantic AI: its message history, AI SDK UI messages and AG-UI messages."""
    from ag_ui.core import Message
    from pydantic import TypeAdapter
    from pydantic_ai.messages import ModelMessagesTypeAdapter as History
    from pydantic_ai.ui.ag_ui import AGUIAdapter
    from pydantic_ai.ui.vercel_ai import VercelAIAdapter
    from pydantic_ai.ui.vercel_ai.request_types import UIMessage

    ui: TypeAdapter[Any] = TypeAdapter(list[UIMessage])
    ag: TypeAdapter[Any] = TypeAdapter(list[Message])

    def load_ui(payload: Json) -> Any:
        return VercelAIAdapter.load_messages(ui.validate_python(payload))

    def dump_ui(history: Any) -> Json:
        messages = VercelAIAdapter.dump_messages(history, sdk_version=7)
        return ui.dump_python(messages, mode="json", by_alias=True)

    def load_ag_ui(payload: Json) -> Any:
        return AGUIAdapter.load_messages(ag.validate_python(payload))

    def dump_ag_ui(history: Any) -> Json:
        return ag.dump_python(AGUIAdapter.dump_messages(history), mode="json", by_alias=True)

    return Rival(
        "Pydantic AI",
        "pydantic-ai",
        {"pydantic-ai": History.validate_python, "ai-sdk-ui-v7": load_ui, "ag-ui": load_ag_ui},
        {
            "pydantic-ai": lambda history: History.dump_python(history, mode="json"),
            "ai-sdk-ui-v7": dump_ui,
            "ag-ui": dump_ag_ui,
        },
        refuses_unknown=("ai-sdk-ui-v7",),
    )


def all_rivals() -> list[Rival]:
    """Every rival that is installed here."""
    return [langchain(), pydantic_ai()]
