"""`read_tool_output`: the whole output of a tool call, page by page."""

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta

from partita.errors import NotFoundError
from partita.runtime.tools.outputs import output_text
from partita.store.values import PartFilter
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ErrorJsonOutput, JsonOutput, ToolResultPart
from partita.types.threads import Thread

from .archive import Archive
from .message_text import calls_of
from .redaction import ResultRedactor
from .tool import DEFAULT_CHARS, Arguments, MaxChars, Result, SessionId, Tool, result_text

if TYPE_CHECKING:  # loaded with the store
    from partita.store.store import Store

PAGE_SIZE: Final = 1000


class OutputArguments(Arguments, kw_only=True):
    """Which output to read."""

    session: SessionId
    call: Annotated[str, Meta(min_length=1, description="The id of the call, from read_session.")]
    offset: Annotated[int, Meta(ge=0, description="How many characters to skip: next_offset.")] = 0
    max_chars: MaxChars = DEFAULT_CHARS


class OutputResult(Result, kw_only=True):
    """A slice of an output."""

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


async def read_tool_output(archive: Archive, arguments: OutputArguments) -> OutputResult:
    """Read as much of the output of a call as fits."""
    store = await archive.store()
    thread = await archive.find(arguments.session)
    message, part = await _find(store, thread, arguments.call)
    output, shown = await _slice(archive.redactor(), part, arguments)
    end = min(arguments.offset + arguments.max_chars, len(output))
    next_offset = end if end < len(output) else None
    return OutputResult(
        session=thread.id,
        message=message.id,
        call=arguments.call,
        tool=part.name,
        state=part.state if isinstance(part, ToolCallPart) else None,
        text=shown,
        offset=arguments.offset,
        total_chars=len(output),
        next_offset=next_offset,
        note=_note(part, arguments.offset, len(output), next_offset),
    )


async def _slice(
    redactor: ResultRedactor, part: ToolCallPart | ToolResultPart, arguments: OutputArguments
) -> tuple[str, str]:
    """The whole output as text, and the requested slice without secrets.

    JSON is redacted before it becomes text: the names of its members also reveal secrets.
    """
    if part.output is None:
        return "", ""
    end = arguments.offset + arguments.max_chars
    if isinstance(part.output, JsonOutput | ErrorJsonOutput):
        text = output_text(await redactor.redact(part.output))
        return text, text[arguments.offset : end]
    text = output_text(part.output)
    return text, await redactor.redact_slice(text, arguments.offset, end)


async def _find(
    store: "Store", thread: Thread, call_id: str
) -> tuple[Message, ToolCallPart | ToolResultPart]:
    cursor: str | None = None
    while True:
        page = await store.messages.find_parts(
            PartFilter(thread_id=thread.id, types=["tool-call", "tool-result"]),
            limit=PAGE_SIZE,
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
                f"no call {call_id!r} in session {thread.id!r}", hint="read_session returns the ids of calls"
            )


def _note(
    part: ToolCallPart | ToolResultPart, offset: int, total: int, next_offset: int | None
) -> str | None:
    if part.output is None:
        return "the call has no output"
    if next_offset is not None:
        return f"{total - next_offset:,} of {total:,} characters are left: offset {next_offset}"
    return f"the output has {total:,} characters" if offset >= total and offset else None


def _render(result: OutputResult) -> str:
    return result_text([f"[{result.tool}, call {result.call}, {result.state}]", result.text], result.note)


READ_TOOL_OUTPUT = Tool(
    name="read_tool_output",
    title="Read the output of a tool",
    summary=(
        "Read what one tool call of a past session gave back, whole: read_session shortens long outputs. "
        "Takes the id of the session and of the call; with offset, reads on."
    ),
    takes=OutputArguments,
    gives=OutputResult,
    function=read_tool_output,
    render=_render,
)
