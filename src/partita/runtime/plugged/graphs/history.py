"""Our messages → messages of LangChain, as the format `langchain-v0` writes them.

Version 0, because it is the form that chat models of all integrations accept: text as a string, calls beside
it, reasoning in the form of its provider. Not sent are interrupts, and calls that a provider ran itself.
"""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, messages_from_dict
from msgspec.structs import replace

from partita.formats.answers.model_view import repair_calls
from partita.formats.langchain.format import dump
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart

from .interrupts import interrupt_id


def history_of(messages: Sequence[Message]) -> list[BaseMessage]:
    """The whole conversation. Every call has a result."""
    repaired = repair_calls(list(map(_sent, messages))).messages
    return messages_from_dict(dump(repaired, version=0).payload)


def _sent(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    kept = tuple(part for part in message.parts if _is_sent(part))
    return replace(message, content=replace(message.content, parts=kept))


def _is_sent(part: AssistantPart) -> bool:
    return not isinstance(part, ToolCallPart) or not (part.provider_executed or interrupt_id(part))
