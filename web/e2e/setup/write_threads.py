"""Write threads for the tests of exports: markup, images and the messages of recordings.

Called with the URL of a store. With `PARTITA_FULL=1` all recordings are written, else a sample of our own.
"""

import struct
import sys
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from partita import AssistantMessage, Message, TextOutput, ToolCallPart, UserMessage, open_store_sync
from partita.errors import PartitaError
from partita.formats.conversion import convert
from partita.types.codec import MESSAGES
from partita.types.json import Json, JsonObject, dumps
from partita.types.parts import DataPart, FilePart, ImagePart, JsonOutput, TextPart
from tests.converting import read_payload
from tests.recordings import CORPORA, FIXTURES, recordings
from tests.sampling import FULL, sampled

OF_THREAD = ("parentId", "threadId", "resourceId", "runId", "seq")
"""Members of a message that a store fills in."""

DEEP = 200
"""Nesting depth of JSON, in pairs of an object and an array."""

LONGEST = 500
"""Messages of recordings per thread."""

HTML = (
    '<!doctype html>\n<!-- a note --><script>let a = "</script><script>";</script>\n<p onclick="x()">Tide</p>'
)
XML = '<?xml version="1.0"?>\n<!-- lamp --><lamp:post xmlns:lamp="urn:l"><![CDATA[<wick/>]]></lamp:post>'
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><!-- ring --><circle r="4" onload="x()"/></svg>'
LANGUAGES = {"html": HTML, "xml": XML, "svg": SVG, "vue": HTML, "js": f"const page = `{HTML}`", "md": HTML}


def markup() -> Iterator[Message]:
    """Markup inside and outside of code blocks, in all parts that display text."""
    for language, text in LANGUAGES.items():
        yield AssistantMessage(
            id=language, content=f"A block of {language}:\n\n```{language}\n{text}\n```\n\nDone."
        )
    everything = "\n".join([*LANGUAGES.values(), "</ScRiPt>", "<!-", "-->", "\u2028\u2029", "\u202egnp.exe"])
    call = ToolCallPart("c", "Write", "output-available", {"file_path": "page.html", "content": HTML})
    other = ToolCallPart("d", "Bash", "output-available", {"command": XML}, output=TextOutput(everything))
    yield UserMessage(id="plain", content=everything)
    yield AssistantMessage(id="calls", content=[call, other, TextPart(everything)])


def hostile() -> Iterator[Message]:
    """Text with scripts, with hidden characters, and text that is slow to render."""
    run = "window.hit = 1"
    links = [
        f"[one](javascript:{run})",
        f"![two](javascript:{run})",
        f"<javascript:{run}>",
        "[three](data:text/html,x)",
    ]
    tags = [f'<img src=x onerror="{run}">', f'<svg onload="{run}">', f"</script><script>{run}</script>"]
    yield UserMessage(id="run", content="\n\n".join([*links, *tags, "![far](https://far.example/x.png)"]))
    yield AssistantMessage(
        id="hide", content="a\u202etxt.exe\u202c b\u200bc d\u2066e\u2069 \x07\x1b[31mred \x00 end"
    )
    deep: Json = "bottom"
    for _ in range(DEEP):
        deep = {"in": [deep]}
    call = ToolCallPart("e", "look", "output-available", {"deep": deep}, output=JsonOutput(deep))
    yield AssistantMessage(id="deep", content=[DataPart(name="deep", data=deep), call])
    for id_, start in {"quotes": "> ", "lists": "- ", "brackets": "[", "stars": "**"}.items():
        yield AssistantMessage(id=id_, content=f"{start * 5000}end")
    yield UserMessage(id="large", content="QUJD" * 100_000)


def png(size: int) -> bytes:
    """A random image, so that its Base64 text contains most short texts."""
    rows = b"".join(b"\0" + Random(f"{size}/{row}").randbytes(size * 3) for row in range(size))
    chunks = {b"IHDR": struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0), b"IDAT": zlib.compress(rows)}
    written = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in [*chunks.items(), (b"IEND", b"")]
    )
    return b"\x89PNG\r\n\x1a\n" + written


def pictures() -> Iterator[Message]:
    """Images of several sizes, as file and image parts."""
    for size in (1, 16, 64):
        url = f"data:image/png;base64,{b64encode(png(size)).decode()}"
        name = f"{size}.png"
        file = FilePart(url=url, media_type="image/png", filename=name)
        yield UserMessage(id=name, content=[TextPart(f"Look at {name}."), file])
        yield UserMessage(id=f"i{name}", content=[ImagePart(url=url, media_type="image/png")])


def messages_of(name: str, payload: Json, format_name: str | None) -> Iterator[JsonObject]:
    """The messages of a recording with unique ids."""
    found = convert(payload, format_name).payload
    assert isinstance(found, list)
    for index, message in enumerate(found):
        assert isinstance(message, dict)
        kept = {key: value for key, value in message.items() if key not in OF_THREAD}
        yield kept | {"id": f"{name}/{index}"}


def other_recordings() -> Iterator[JsonObject]:
    """The recordings in folders without a table of formats, as far as they can be read."""
    for folder in ("agent-logs-more", "otlp"):
        for path in sorted((CORPORA / folder).rglob("*.json*")):
            if path.suffix not in {".json", ".jsonl"} or path.name.endswith("truth.json"):
                continue
            try:
                yield from messages_of(path.relative_to(CORPORA).as_posix(), read_payload(path), None)
            except (PartitaError, ValueError):
                continue  # not messages; other tests check what can be read


def recorded(root: Path) -> Iterator[JsonObject]:
    """The messages of the recordings in a folder."""
    for one in sampled(recordings(root), 4, key=lambda one: one.name):
        yield from messages_of(one.name, one.payload(), one.format)


def main(url: str) -> None:
    """Write the threads, and print their names."""
    threads: dict[str, Iterable[Message]] = {
        "markup and pictures": [*markup(), *hostile(), *pictures()],
        "fixtures": MESSAGES.read(list(recorded(FIXTURES))),
    }
    if FULL and CORPORA.is_dir():
        others = [*recorded(CORPORA), *other_recordings()]
        for first in range(0, len(others), LONGEST):
            threads[f"corpora-{first}"] = MESSAGES.read(others[first : first + LONGEST])
    with open_store_sync(url) as store:
        for name, messages in threads.items():
            store.threads.create(name, title=f"All of {name}")
            store.messages.save(list(messages), thread_id=name)
    sys.stdout.buffer.write(dumps(list(threads)))


main(*sys.argv[1:])
