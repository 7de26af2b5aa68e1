"""Prompts: what the user wrote, apart from what an editor or an agent added, and titles from prompts."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from partita.types.messages import Message, UserMessage
from partita.types.parts import TextPart
from partita.types.tool_views import Notice, Prompt

from .text import one_line

REQUEST: Final = "\n## My request for Codex:"
"""The heading of the prompt after the open or mentioned files, which editors and the Codex app add."""

CONTEXTS: Final = ("# Context from my IDE setup:", "# Files mentioned by the user:")

ADDED: Final = {
    "additional_metadata": "added by the editor",
    "environment_context": "environment",
    "environment_details": "environment",
    "ide_diagnostics": "diagnostics of the editor",
    "ide_opened_file": "opened file",
    "ide_selection": "selection in the editor",
    "system-reminder": "system reminder",
    "teammate-message": "message",
    "user_instructions": "instructions",
}
"""The tags around text that an editor or an agent adds to a prompt, and what each contains."""

WRITTEN: Final = ("user_query", "user_request", "user_message")
"""The tags that agents put around what the user wrote."""

_OPENING: Final = re.compile(rf"<({'|'.join((*ADDED, *WRITTEN))})(\s[^<>]{{0,500}})?>", re.IGNORECASE)
_SENDER: Final = re.compile(r"\bteammate_id=\"([^\"]{1,80})\"")
_PLACEHOLDER: Final = re.compile(r"\[(?:Image|Pasted text) #\d+[^\]\n]{0,40}\]")
_MARKUP: Final = re.compile(r"\A(?:[#>*\-\s]+(?=\w)|```\w*\s)")
_WORD: Final = re.compile(r"[^\W_]")

LONGEST_LABEL: Final = 80
LONGEST_TITLE: Final = 120
FEWEST_LETTERS: Final = 3
"""A prompt with fewer letters and digits, such as `y`, does not say what a session is about."""


def prompts(message: Message) -> dict[int, Prompt]:
    """The texts of a user message to which something was added, by the index of the part."""
    if not isinstance(message, UserMessage):
        return {}
    found = (
        (index, split_prompt(part.text))
        for index, part in enumerate(message.content.parts)
        if isinstance(part, TextPart)
    )
    return {index: prompt for index, prompt in found if prompt is not None}


def split_prompt(text: str) -> Prompt | None:
    """What the user wrote and what was added to it; `None` if nothing was added."""
    start = text.lstrip()
    if start.startswith(CONTEXTS) and REQUEST in text:
        context, _, request = text.partition(REQUEST)
        head, _, body = context.strip().partition("\n")
        notice = Notice(label=one_line(head.strip("# :"), LONGEST_LABEL), text=body.strip())
        return Prompt(text=request.strip(), added=(notice,))
    return _split_tags(text) if start.startswith("<") or text.rstrip().endswith(">") else None


class _Block(NamedTuple):
    """A text in tags, with its start and end in the prompt."""

    start: int
    end: int
    tag: str
    attributes: str
    text: str


def _split_tags(text: str) -> Prompt | None:
    """The tagged blocks at the start and at the end of a prompt, apart from the text between them."""
    blocks = list(_blocks(text))
    start, end = 0, len(text)
    first = [block for block in blocks if (start := _next(text, start, block)) == block.end]
    last: list[_Block] = []
    for block in reversed(blocks[len(first) :]):
        if text[block.end : end].strip():
            break
        last.insert(0, block)
        end = block.start
    found = [*first, *last]
    if not found:
        return None
    written = [
        *(block.text for block in first if block.tag in WRITTEN),
        text[start:end],
        *(block.text for block in last if block.tag in WRITTEN),
    ]
    return Prompt(
        text="\n\n".join(piece.strip() for piece in written if piece.strip()),
        added=tuple(_notice(block) for block in found if block.tag in ADDED),
    )


def _next(text: str, start: int, block: _Block) -> int:
    """The end of a block if it follows `start` with nothing between, otherwise `start`."""
    return start if text[start : block.start].strip() else block.end


def _blocks(text: str) -> Iterator[_Block]:
    """The tagged blocks of a text, which do not contain each other."""
    unclosed: set[str] = set()
    at = 0
    while (found := _OPENING.search(text, at)) is not None:
        at = found.end()
        tag = found[1]
        end = -1 if tag in unclosed else text.find(f"</{tag}>", at)
        if end < 0:
            unclosed.add(tag)
            continue
        inside, at = text[at:end].strip(), end + len(tag) + 3
        yield _Block(found.start(), at, tag.lower(), found[2] or "", inside)


def _notice(block: _Block) -> Notice:
    label, sender = ADDED[block.tag], _SENDER.search(block.attributes)
    return Notice(label=f"{label} from {sender[1]}" if sender else label, text=block.text)


# Titles


def clean_title(text: str, limit: int = LONGEST_TITLE) -> str:
    """A prompt or a stored title as a title: without what was added, placeholders and markup, on one line."""
    prompt = split_prompt(text)
    if prompt is not None:
        text = prompt.text or next((notice.text for notice in prompt.added if notice.text), "")
    plain = _PLACEHOLDER.sub(" ", text[: 8 * limit])
    return one_line(_MARKUP.sub("", plain.strip()), limit)


def is_telling(title: str) -> bool:
    """Whether a title says what a session is about, which `y` and `1` do not."""
    return (
        sum(1 for _, _ in zip(_WORD.finditer(title), range(FEWEST_LETTERS), strict=False)) == FEWEST_LETTERS
    )
