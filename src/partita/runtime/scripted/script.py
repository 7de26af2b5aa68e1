"""A script: what an agent says, step by step.

A file is `{"scenes": [{"match": "words", "steps": [{"parts": […]}, …]}, …]}`. The first scene whose words
stand in what the user said last is played, a scene without words always. A step is one answer of a model, as
canonical parts: text, reasoning, tool calls; the step after it is played when its calls have been answered.
"""

from pathlib import Path
from typing import Annotated, Final

import msgspec

from partita.errors import AgentError, DecodeError
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import AssistantMessage, AssistantPart, Message, UserMessage
from partita.types.parts import TextPart
from partita.types.usage import Usage
from partita.types.value import Value


class Step(Value, kw_only=True):
    """One answer: its parts, why it ends, what it consumed, and how fast its pieces come."""

    parts: tuple[AssistantPart, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    pause: Annotated[float, msgspec.Meta(ge=0)] = 0.0  # seconds between pieces
    error: str | None = None  # what it fails with, after its parts


class Scene(Value, kw_only=True):
    """Steps, and the words that call for them."""

    steps: tuple[Step, ...]
    match: str | None = None


class Script(Value, kw_only=True):
    """All that an agent may say."""

    scenes: tuple[Scene, ...]


SCRIPT: Codec[Script] = Codec(Script)

OUTER: Final = ("scenes", "steps", "parts")
"""What stands around the parts of a script."""


def read_script(path: Path) -> Script:
    """The script of a file."""
    try:
        return as_script(loads(path.read_bytes()))
    except OSError as error:
        raise AgentError(
            f"the script cannot be read: {error.strerror}",
            where=str(path),
            hint="scripted:FILE names a JSON file",
        ) from None
    except DecodeError as error:
        raise AgentError(
            f"this is no script: {error.what}", where=f"{path} {error.where}", hint=error.hint
        ) from None


def as_script(value: JsonObject) -> Script:
    """The script that a JSON value is. A call needs a name and an input; it gets an id when it is played."""
    return SCRIPT.read(_with_calls(value))


def _with_calls(value: Json) -> Json:
    if is_array(value):
        return [_with_calls(item) for item in value]
    if not is_object(value):
        return value
    if value.get("type") == "tool-call":
        return {"id": "", "state": "input-available", **value}
    return {key: _with_calls(item) if key in OUTER else item for key, item in value.items()}


def step_for(script: Script, said: list[Message]) -> Step | None:
    """The step that answers a conversation as a model sees it; `None` when the script has no more to say."""
    words, spoken = "", 0
    for message in said:
        if isinstance(message, UserMessage):
            words, spoken = _words(message), 0
        elif isinstance(message, AssistantMessage):
            spoken += 1
    for scene in script.scenes:
        if scene.match is None or scene.match.casefold() in words.casefold():
            return scene.steps[spoken] if spoken < len(scene.steps) else None
    return None


def _words(message: UserMessage) -> str:
    return " ".join(part.text for part in message.parts if isinstance(part, TextPart))
