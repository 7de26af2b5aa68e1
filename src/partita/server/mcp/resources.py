"""Resources: sessions as Markdown, for clients in which people attach them."""

import asyncio
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from partita.errors import NotFoundError, PartitaError
from partita.store.values import MessageFilter, ThreadFilter
from partita.types.messages import Message
from partita.types.threads import Thread

from . import untrusted
from .archive import Archive
from .message_text import format_time
from .redaction import beginning
from .tool import MAX_TITLE

PREFIX: Final = "partita://thread/"
URI: Final = re.compile(rf"{PREFIX}(?P<id>.+)")
MARKDOWN: Final = "text/markdown"
PAGE_SIZE: Final = 20
MAX_CHARS: Final = 100_000
"""How many characters a resource may have."""

RESOURCE_NOT_FOUND: Final = -32002
"""The error code of an unknown resource until 2025-11-25. Later versions use `INVALID_PARAMS`."""

SESSION: Final = ResourceTemplate(
    uri_template=f"{PREFIX}{{id}}",
    name="session",
    title="A past session",
    description="A session as Markdown; id is that of the session, the beginning of it, or last. "
    + untrusted.DESCRIPTION,
    mime_type=MARKDOWN,
)


def list_templates() -> ListResourceTemplatesResult:
    """The template of the URIs of sessions."""
    return ListResourceTemplatesResult(resource_templates=[SESSION])


async def list_resources(archive: Archive, cursor: str | None) -> ListResourcesResult:
    """The newest sessions, and the cursor of the next page. Without an archive, the list is empty."""
    try:
        store = await archive.store()
        page = await store.threads.list(
            ThreadFilter(agent=archive.scope.agent, project=archive.scope.project),
            limit=PAGE_SIZE,
            cursor=cursor,
        )
    except NotFoundError:  # there is no archive yet
        return ListResourcesResult(resources=[])
    except PartitaError as error:
        raise MCPError(INVALID_PARAMS if cursor else INTERNAL_ERROR, str(error)) from error
    titled = await store.threads.with_display_titles(page.items)
    listed = [_resource(thread) for thread in await archive.redactor().redact(titled)]
    return ListResourcesResult(resources=listed, next_cursor=page.next)


def _resource(thread: Thread) -> Resource:
    facts = ["untrusted text of a session", thread.agent, thread.project, format_time(thread.updated_at)]
    return Resource(
        uri=f"{PREFIX}{quote(thread.id, safe='')}",
        name=" ".join((thread.title or thread.id)[:MAX_TITLE].split()),
        description=" · ".join(fact for fact in facts if fact),
        mime_type=MARKDOWN,
    )


async def read_resource(archive: Archive, uri: str, protocol_version: str) -> ReadResourceResult:
    """A session as Markdown, as much of it as fits."""
    try:
        found = URI.fullmatch(uri)
        if found is None:
            raise NotFoundError(f"no resource {uri!r}: there is {SESSION.uri_template}")
        text = await _markdown(archive, await archive.find(unquote(found["id"])))
    except NotFoundError as error:
        code = INVALID_PARAMS if protocol_version in MODERN_PROTOCOL_VERSIONS else RESOURCE_NOT_FOUND
        raise MCPError(code, str(error), {"uri": uri}) from error
    except PartitaError as error:
        raise MCPError(INTERNAL_ERROR, str(error)) from error
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])


async def _markdown(archive: Archive, thread: Thread) -> str:
    from partita.server.sharing.shared_file import markdown

    store, redactor = await archive.store(), archive.redactor()
    messages: list[Message] = []
    after, has_more = 0, True
    while has_more and len("".join(markdown(thread, messages))) <= MAX_CHARS:
        page = await store.messages.list(thread.id, MessageFilter(after=after), limit=PAGE_SIZE)
        messages += await redactor.redact(page.items, beginning(MAX_CHARS))
        after, has_more = (messages[-1].seq or 0) if messages else 0, page.has_more
    redacted = await redactor.redact(thread)
    return await asyncio.to_thread(_fitting, redacted, messages, has_more=has_more)


def _fitting(thread: Thread, messages: Sequence[Message], *, has_more: bool) -> str:
    """The first messages, as many as fit. If even the first one does not fit, it is cut."""
    from partita.server.sharing.shared_file import markdown

    kept = len(messages)
    while len(text := "".join(markdown(thread, messages[:kept]))) > MAX_CHARS and kept > 1:
        kept -= 1
    if kept == len(messages) and not has_more and len(text) <= MAX_CHARS:
        return untrusted.marked(text)
    last = messages[kept - 1].seq
    cut = f"*Cut after message {last}: read_session continues from there.*\n"
    return f"{untrusted.marked(text[:MAX_CHARS])}\n\n{cut}"
