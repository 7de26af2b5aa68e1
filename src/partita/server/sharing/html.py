"""A self-contained HTML file: the messages of threads, and the script and style that display them."""

import re
from base64 import b64encode
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from typing import Final, NamedTuple

from partita.server.page.files import web_files
from partita.server.problems import Problem
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.overview import ThreadOverview
from partita.types.threads import Thread
from partita.views.messages import part_views
from partita.views.overview import OverviewBuilder, Tokens

from .thread_content import RedactedThread, spent_on

DATA: Final = "partita"
"""The id of the element with the data of a page."""

SCRIPT: Final = "/reader/reader.js"
STYLE: Final = "/reader/reader.css"

MAX_FILE_BYTES: Final = 24 * 1024 * 1024
"""The largest number of bytes of files (as data URLs) in the page. The rest is replaced by names."""

FILES: Final = ("file", "image", "reasoning-file")
THREAD_MEMBERS: Final = ("id", "title", "agent", "project", "createdAt", "updatedAt")
"""The members of a thread that the file contains."""

_MARKUP: Final = re.compile(rb"<(/script|!--)", re.IGNORECASE)
"""Text that ends a script, or makes the parser ignore its end. `\\x3c` is `<` in strings, templates and all
regular expressions; `\\!` would be a syntax error in one with the flag u or v."""

_STYLE_END: Final = re.compile(rb"</(?=style)", re.IGNORECASE)

HEAD: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Partita {version}">
<title>{title}</title>
<style>"""
BODY: Final = """</style>
</head>
<body>
<div id="root"></div>
<noscript>This file needs JavaScript to show the conversation.</noscript>
"""
END: Final = """</script>
</body>
</html>
"""


class HtmlFile(NamedTuple):
    """The file in pieces, and the number of files of messages that were too large for it."""

    pieces: Sequence[bytes]
    left_out: int


def html(redacted: RedactedThread, facts: JsonObject, version: str) -> HtmlFile:
    """The HTML file of a thread. `facts` are shown to the reader."""
    limit = FileLimit(MAX_FILE_BYTES)
    data = thread_data(redacted, facts, limit)
    pieces = [
        *html_start(redacted.thread.title or "A conversation", version),
        data_element(DATA, {"partita": version, **data}),
        *html_end(),
    ]
    return HtmlFile(pieces, limit.left_out)


def html_start(title: str, version: str) -> list[bytes]:
    """The beginning of a page, up to its data."""
    script, style = _reader()
    head = HEAD.format(
        policy=escape(_policy(script, style), quote=True), version=escape(version), title=escape(title)
    )
    return [head.encode(errors="replace"), style, BODY.encode()]


def html_end() -> list[bytes]:
    """The end of a page, after its data."""
    script, _ = _reader()
    return [b"<script>", script, END.encode()]


def data_element(id: str, data: JsonObject) -> bytes:
    """Data of a page, which its script reads by the id."""
    return b'<script type="application/json" id="%b">%b</script>\n' % (id.encode(), _inert(dumps(data)))


def thread_data(redacted: RedactedThread, facts: JsonObject, limit: "FileLimit") -> JsonObject:
    """What the page has of a thread."""
    thread, messages, before = redacted.thread, redacted.messages, limit.left_out
    data: JsonObject = {
        "thread": thread_head(thread),
        "messages": limit.limited(to_json(messages)),
        "views": [to_json(dict(part_views(message, thread.project))) for message in messages],
        "overview": to_json(_overview(redacted)),
    }
    return {**data, "facts": facts | {"filesLeftOut": limit.left_out - before}}


def _overview(redacted: RedactedThread) -> ThreadOverview:
    """What happened in the messages that the page has. The repository of the thread is not shared."""
    consumed: defaultdict[str, list[Tokens]] = defaultdict(list)
    for one in spent_on(redacted.messages, redacted.responses):
        consumed[one.message_id or ""].append(Tokens(one.input_tokens, one.output_tokens, one.cost))
    built = OverviewBuilder(redacted.thread.project, None, consumed)
    for message in redacted.messages:
        built.add(message, {})
    return built.overview()


def thread_head(thread: Thread) -> JsonObject:
    """The members of a thread that the page has."""
    members: JsonObject = to_json(thread)
    return {name: members[name] for name in THREAD_MEMBERS if name in members}


def _reader() -> tuple[bytes, bytes]:
    """The script and the style of the reader, escaped for `<script>` and `<style>`."""
    files = web_files()
    if SCRIPT not in files or STYLE not in files:
        raise Problem(
            501,
            "the reader of shared files is not built",
            hint="in a checkout, `make web` builds it; the other formats do not need it",
        )
    return _MARKUP.sub(rb"\\x3c\1", files[SCRIPT].data), _STYLE_END.sub(rb"<\\/", files[STYLE].data)


def _policy(script: bytes, style: bytes) -> str:
    """A policy that allows only the reader to run, and no requests."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data: blob:",
            "media-src data: blob:",
            "font-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _hash(data: bytes) -> str:
    return f"sha256-{b64encode(sha256(data).digest()).decode()}"


def _inert(data: bytes) -> bytes:
    """JSON that cannot start or end a tag."""
    return data.replace(b"<", b"\\u003c")


class FileLimit:
    """Replaces the files of messages that exceed a total size."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.left_out = 0

    def limited(self, value: Json) -> Json:
        """The same JSON, with a text instead of each file that is too large.

        Loops, not comprehensions, which would use a second stack frame for each level of nesting.
        """
        if is_array(value):
            items: list[Json] = []
            for item in value:
                items.append(self.limited(item))  # noqa: PERF401
            return items
        if not is_object(value):
            return value
        url = value.get("url")
        if value.get("type") in FILES and isinstance(url, str) and url.startswith("data:"):
            if len(url) > self._room:
                self.left_out += 1
                name = value.get("filename") or value.get("name") or value.get("mediaType") or "file"
                return {"type": "text", "text": f"[left out: {name}, which is too large for this page]"}
            self._room -= len(url)
            return value
        members: JsonObject = {}
        for name, member in value.items():
            members[name] = self.limited(member)
        return members
