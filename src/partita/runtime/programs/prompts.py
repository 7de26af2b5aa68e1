"""What an agent is asked, as text and files, made of a prompt.

An agent that cannot resume its session is sent the conversation so far as text: what was said, attachments by
name, and calls with their inputs and outputs. Reasoning and the messages of sub-agents are left out. An input
is cut to `INPUT_LIMIT` characters, an output to `OUTPUT_LIMIT`: the beginning and the end are sent, and how
many characters are missing between. If all of it is longer than `HISTORY_LIMIT` characters, the oldest
messages are left out, and their number is sent instead.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.errors import AgentError
from partita.runtime.service import Prompt
from partita.runtime.tools.output_text import output_text, plain_json
from partita.runtime.tools.sizes import cut
from partita.types.messages import Message, ToolCallPart, UserMessage
from partita.types.parts import FilePart, ImagePart, TextPart
from partita.types.tools import ToolOutput, ToolResultPart

EARLIER: Final = "What was said in this conversation before:"

INPUT_LIMIT: Final = 2_000
OUTPUT_LIMIT: Final = 4_000
HISTORY_LIMIT: Final = 200_000


class Request(NamedTuple):
    """The words of a request, and the pictures and files that come with it."""

    text: str
    files: tuple[ImagePart | FilePart, ...] = ()


class Inline(NamedTuple):
    """A file that is in its own address."""

    media_type: str
    base64: str


def request_of(prompt: Prompt, *, goes_on: bool) -> Request:
    """The last message. An agent that does not go on with a conversation of its own is told of the others."""
    if isinstance(prompt, str):
        return Request(prompt)
    last = prompt[-1] if prompt else None
    if not isinstance(last, UserMessage):
        raise AgentError("the last message is not a user's", hint="let the prompt end with a user message")
    files = tuple(part for part in last.parts if isinstance(part, ImagePart | FilePart))
    words = _words(last)
    earlier = "" if goes_on else _earlier(prompt[:-1])
    return Request(f"{earlier}\n\n{words}" if earlier else words, files)


def inline_of(url: str) -> Inline | None:
    """What a `data:` address in Base64 holds."""
    head, comma, data = url.partition(",")
    if not url.startswith("data:") or not comma or not head.endswith(";base64"):
        return None
    media_type = head.removeprefix("data:").partition(";")[0]
    return Inline(media_type or "application/octet-stream", data)


def mention(file: ImagePart | FilePart) -> str:
    """Words about a file that cannot be handed over."""
    name = file.name if isinstance(file, ImagePart) else file.filename
    place = "" if file.url.startswith("data:") else f" {file.url}"
    return f"[attached: {name or file.media_type or 'a file'}{place}]"


def _earlier(messages: Sequence[Message]) -> str:
    """The conversation as text: as many of its last messages as fit."""
    said: list[str] = []
    room = HISTORY_LIMIT
    for number, message in enumerate(reversed(messages)):
        if not (text := "\n\n".join(_lines(message))):
            continue
        room -= len(text)
        if room < 0:
            said.append(f"[{len(messages) - number} earlier messages are left out]")
            break
        said.append(f"<{_role(message)}>\n{text}\n</{_role(message)}>")
    return "\n\n".join([EARLIER, *reversed(said)]) if said else ""


def _lines(message: Message) -> Iterator[str]:
    """What a message says and does, a paragraph each."""
    for part in message.parts:
        match part:
            case TextPart(text=text) if text:
                yield text
            case ImagePart() | FilePart():
                yield mention(part)
            case ToolCallPart(name=name):
                given = cut(plain_json(part.raw_input if part.input is UNSET else part.input), INPUT_LIMIT)
                yield f"<call tool={name!r}>\n{given}\n</call>"
                if part.output is not None:
                    yield _output(part.output)
            case ToolResultPart(output=output):
                yield _output(output)
            case _:
                pass


def _output(output: ToolOutput) -> str:
    return f"<output>\n{cut(output_text(output), OUTPUT_LIMIT)}\n</output>"


def _words(message: Message) -> str:
    return "\n\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def _role(message: Message) -> str:
    return str(message.__struct_config__.tag)
