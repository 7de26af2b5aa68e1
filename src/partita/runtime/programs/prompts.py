"""The input of a program, as text and files, made of a prompt.

A program that does not resume a session of its own is sent the conversation so far as text: texts, names of
attachments, and calls with their inputs and outputs. Reasoning and the messages of sub-agents are left out.
Of an input longer than `INPUT_LIMIT` characters, or an output longer than `OUTPUT_LIMIT`, the beginning and
the end are sent, with the number of characters left out between them. If all of it is longer than
`HISTORY_LIMIT` characters, the oldest messages are left out, and their number is sent instead.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.errors import AgentError
from partita.runtime.service import Prompt
from partita.runtime.tools.outputs import output_text, plain_json, truncate_text
from partita.types.data_url import parse_data_url
from partita.types.messages import Message, ToolCallPart, UserMessage
from partita.types.parts import FilePart, ImagePart, TextPart, ToolOutput, ToolResultPart

HISTORY: Final = "The conversation so far:"
"""The heading of the conversation so far."""

INPUT_LIMIT: Final = 2_000
OUTPUT_LIMIT: Final = 4_000
HISTORY_LIMIT: Final = 200_000


class UserInput(NamedTuple):
    """The text to send to a program, and the images and files that belong to it."""

    text: str
    files: tuple[ImagePart | FilePart, ...] = ()


def user_input(prompt: Prompt, *, resumes: bool) -> UserInput:
    """The last message, after the conversation before it unless the program resumes a session."""
    if isinstance(prompt, str):
        return UserInput(prompt)
    last = prompt[-1] if prompt else None
    if not isinstance(last, UserMessage):
        raise AgentError("the last message is not a user's", hint="let the prompt end with a user message")
    files = tuple(part for part in last.parts if isinstance(part, ImagePart | FilePart))
    text = "\n\n".join(part.text for part in last.parts if isinstance(part, TextPart))
    history = "" if resumes else _history(prompt[:-1])
    return UserInput(f"{history}\n\n{text}" if history else text, files)


def file_mention(file: ImagePart | FilePart) -> str:
    """The text that replaces a file that the program cannot take."""
    name = file.name if isinstance(file, ImagePart) else file.filename
    url = "" if parse_data_url(file.url) is not None else f" {file.url}"
    return f"[attached: {name or file.media_type or 'a file'}{url}]"


def _history(messages: Sequence[Message]) -> str:
    """The conversation as text: as many of its last messages as fit."""
    texts: list[str] = []
    room = HISTORY_LIMIT
    for number, message in enumerate(reversed(messages)):
        if not (text := "\n\n".join(_paragraphs(message))):
            continue
        room -= len(text)
        if room < 0:
            texts.append(f"[{len(messages) - number} earlier messages are left out]")
            break
        role = message.__struct_config__.tag
        texts.append(f"<{role}>\n{text}\n</{role}>")
    return "\n\n".join([HISTORY, *reversed(texts)]) if texts else ""


def _paragraphs(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case TextPart(text=text) if text:
                yield text
            case ImagePart() | FilePart():
                yield file_mention(part)
            case ToolCallPart(name=name):
                given = truncate_text(
                    plain_json(part.raw_input if part.input is UNSET else part.input), INPUT_LIMIT
                )
                yield f"<call tool={name!r}>\n{given}\n</call>"
                if part.output is not None:
                    yield _output(part.output)
            case ToolResultPart(output=output):
                yield _output(output)
            case _:
                pass


def _output(output: ToolOutput) -> str:
    return f"<output>\n{truncate_text(output_text(output), OUTPUT_LIMIT)}\n</output>"
