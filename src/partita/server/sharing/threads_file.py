"""One file with several threads: HTML with an index, Markdown, or canonical messages."""

from collections.abc import Sequence
from typing import Final

from partita.errors import FormatError
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps
from partita.views.text import counted

from .html import (
    DATA,
    MAX_FILE_BYTES,
    FileLimit,
    data_element,
    html_end,
    html_start,
    thread_data,
    thread_head,
)
from .request import ShareRequest
from .shared_file import SharedFile, markdown, redact_content, replaced_and_removed, with_limited_size
from .thread_content import ThreadContent

CANONICAL: Final = "canonical"


class ThreadsFile:
    """Writes a file with several threads: its `start`, the pieces that `add` returns, its `end`."""

    def __init__(self, request: ShareRequest, version: str) -> None:
        if request.format == "fixture" or request.target != CANONICAL:
            name = request.format if request.target == CANONICAL else request.target
            raise FormatError(
                f"a file in the format {name} has one thread",
                hint="write a file for each thread: -o FOLDER/",
            )
        self._request = request
        self._version = version
        self._limit = FileLimit(MAX_FILE_BYTES)
        self._index: list[JsonObject] = []
        self._has_messages = False

    def start(self, count: int) -> Sequence[bytes]:
        """The beginning of the file. `count`: how many threads there will be."""
        match self._request.format:
            case "html":
                return html_start(counted(count, "thread"), self._version)
            case "json":
                return [b"["]
            case _:
                return []

    def add(self, content: ThreadContent) -> SharedFile:
        """The next thread. Its pieces follow those before."""
        redacted = redact_content(content, self._request)
        is_first = not self._index
        head: JsonObject = {"thread": thread_head(redacted.thread), "messages": len(redacted.messages)}
        notices: list[str] = []
        match self._request.format:
            case "html":
                before = self._limit.left_out
                facts = replaced_and_removed(redacted)
                data = thread_data(redacted, facts, self._limit)
                head["element"] = f"thread-{len(self._index) + 1}"
                pieces = [data_element(head["element"], data)]
                if left_out := self._limit.left_out - before:
                    notices.append(f"{left_out} files are too large for the page")
            case "markdown":
                text = "".join(markdown(redacted.thread, redacted.messages, redacted.responses))
                pieces = [("" if is_first else "\n---\n\n").encode() + text.encode(errors="replace")]
            case _:
                items = [dumps(to_json(message)) for message in redacted.messages]
                pieces = [item + b"\n" for item in items]
                if self._request.format == "json" and items:
                    pieces = [b",\n" if self._has_messages else b"\n", b",\n".join(items)]
                    self._has_messages = True
        self._index.append(head)
        return with_limited_size(SharedFile(pieces, "", redacted, (), notices))

    def end(self) -> Sequence[bytes]:
        """The end of the file."""
        match self._request.format:
            case "html":
                data: JsonObject = {"partita": self._version, "threads": list(self._index)}
                return [data_element(DATA, data), *html_end()]
            case "json":
                return [b"\n]\n"]
            case _:
                return []
