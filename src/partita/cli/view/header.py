"""The line above a message: who spoke, when, with which model, at what cost."""

from datetime import datetime

from rich.text import Text

from partita.types.json import Json, is_object
from partita.types.messages import AssistantContent, AssistantMessage, Message

from .look import Look
from .text import one_line, tokens_of
from .times import clock

STYLES = {"user": "bold cyan", "assistant": "bold green", "system": "bold", "tool": "bold"}
MODEL_NAMES = ("model", "modelId", "modelID", "model_id")
MODEL_DEPTH = 3
"""How deep in the metadata of a message the name of its model may stand."""


def header(message: Message, look: Look, before: datetime | None, name: str = "") -> Text:
    """`#3 claude-code · 14:02:11 · the-model · 12.5k in, 860 out`."""
    role = str(message.__struct_config__.tag)
    speaker = name or (look.agent if role == "assistant" else None) or role
    text = Text()
    if message.seq is not None:
        text.append(f"#{message.seq} ", "dim")
    text.append(one_line(speaker, 40), STYLES[role])
    about = [
        clock(message.created_at, before, look.zone) if message.created_at else "",
        one_line(model_of(message, look), 60),
        _usage(message),
        "internal" if message.internal else "",
    ]
    return text.append("".join(f" · {word}" for word in about if word), "dim")


def model_of(message: Message, look: Look) -> str:
    """The model that wrote a message, if the message or its run says so."""
    if not isinstance(message, AssistantMessage):
        return ""
    waiting: list[tuple[int, Json]] = [(0, message.content.metadata), (0, message.content.provider_metadata)]
    while waiting:
        depth, value = waiting.pop(0)
        if not is_object(value):
            continue
        found = next((value[name] for name in MODEL_NAMES if isinstance(value.get(name), str)), None)
        if found is not None:
            return str(found)
        if depth < MODEL_DEPTH:
            waiting.extend((depth + 1, inner) for inner in value.values())
    return look.models.get(message.run_id or "", "")


def _usage(message: Message) -> str:
    usage = message.content.usage if isinstance(message.content, AssistantContent) else None
    if usage is None:
        return ""
    words = [(usage.input_tokens, "in"), (usage.output_tokens, "out")]
    return ", ".join(f"{tokens_of(count)} {word}" for count, word in words if count is not None)
