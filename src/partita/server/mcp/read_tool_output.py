"""`read_tool_output`: what a tool gave back, whole, page by page."""

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta

from partita.errors import NotFoundError
from partita.runtime.tools.outputs import output_text
from partita.store.values import PartFilter
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ErrorJsonOutput, JsonOutput, ToolResultPart
from partita.types.threads import Thread

from .archive import Archive
from .budget import USUAL, MaxChars
from .cleaning import Cleaner
from .filters import SessionId
from .tool import Answer, Arguments, Tool, noted
from .wording import calls_of

if TYPE_CHECKING:  # loaded with the store
    from partita.store.store import Store

PARTS_AT_ONCE: Final = 1000


class OutputArguments(Arguments, kw_only=True):
    """Which output to read."""

    session: SessionId
    call: Annotated[str, Meta(min_length=1, description="The id of the call, as read_session tells it.")]
    offset: Annotated[int, Meta(ge=0, description="How many characters to leave out: next_offset.")] = 0
    max_chars: MaxChars = USUAL


class OutputAnswer(Answer, kw_only=True):
    """A stretch of an output."""

    session: str
    message: str
    call: str
    tool: str
    state: str | None = None
    text: str
    offset: int = 0
    total_chars: int = 0
    next_offset: int | None = None
    note: str | None = None


async def read_output(archive: Archive, given: OutputArguments) -> OutputAnswer:
    """As much of the output of a call as there is room for."""
    store = await archive.store()
    thread = await archive.find(given.session)
    message, part = await _find(store, thread, given.call)
    whole, shown = await _stretch(archive.cleaner(), part, given)
    end = min(given.offset + given.max_chars, len(whole))
    following = end if end < len(whole) else None
    return OutputAnswer(
        session=thread.id,
        message=message.id,
        call=given.call,
        tool=part.name,
        state=part.state if isinstance(part, ToolCallPart) else None,
        text=shown,
        offset=given.offset,
        total_chars=len(whole),
        next_offset=following,
        note=_note(part, given.offset, len(whole), following),
    )


async def _stretch(
    cleaner: Cleaner, part: ToolCallPart | ToolResultPart, given: OutputArguments
) -> tuple[str, str]:
    """The whole output as text, and what of it is asked for. Of JSON, names tell secrets too."""
    if part.output is None:
        return "", ""
    if isinstance(part.output, JsonOutput | ErrorJsonOutput):
        whole = output_text(await cleaner.clean(part.output))
        return whole, whole[given.offset : given.offset + given.max_chars]
    whole = output_text(part.output)
    return whole, await cleaner.stretch(whole, given.offset, given.offset + given.max_chars)


async def _find(
    store: "Store", thread: Thread, call_id: str
) -> tuple[Message, ToolCallPart | ToolResultPart]:
    cursor: str | None = None
    while True:
        page = await store.messages.find_parts(
            PartFilter(thread_id=thread.id, types=["tool-call", "tool-result"]),
            limit=PARTS_AT_ONCE,
            cursor=cursor,
        )
        for stored in page:
            if stored.call_id == call_id:
                message = await store.messages.get(thread.id, stored.message_id)
                if message is not None and not message.internal:
                    for part in calls_of(message):
                        if part.id == call_id:
                            return message, part
        cursor = page.next
        if cursor is None:
            raise NotFoundError(
                f"no call {call_id!r} in session {thread.id!r}", hint="read_session gives the ids of calls"
            )


def _note(part: ToolCallPart | ToolResultPart, offset: int, total: int, following: int | None) -> str | None:
    if part.output is None:
        return "the call has no output"
    if following is not None:
        return f"{total - following:,} of {total:,} characters are left: offset {following}"
    return f"the output has {total:,} characters" if offset >= total and offset else None


def text(answer: OutputAnswer) -> str:
    """The answer in words."""
    return noted([f"[{answer.tool}, call {answer.call}, {answer.state}]", answer.text], answer.note)


OUTPUT = Tool(
    name="read_tool_output",
    title="Read the output of a tool",
    description=(
        "Read what one tool call of a past session gave back, whole: read_session shortens long outputs. "
        "Takes the id of the session and of the call; with offset, reads on."
    ),
    takes=OutputArguments,
    gives=OutputAnswer,
    call=read_output,
    text=text,
)
