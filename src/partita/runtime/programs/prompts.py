"""What an agent is asked, in words and files, out of a prompt."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from partita.errors import AgentError
from partita.runtime.service import Prompt
from partita.types.messages import Message, UserMessage
from partita.types.parts import FilePart, ImagePart, TextPart

EARLIER: Final = "What was said in this conversation before:"


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
    said = [(_role(message), words) for message in messages if (words := _words(message))]
    if not said:
        return ""
    return "\n\n".join([EARLIER, *(f"<{role}>\n{words}\n</{role}>" for role, words in said)])


def _words(message: Message) -> str:
    return "\n\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def _role(message: Message) -> str:
    return str(message.__struct_config__.tag)
