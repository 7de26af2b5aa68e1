"""Resources: sessions as Markdown, for clients that let people attach them."""

import asyncio
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

from partita.errors import NotFoundError, PartitaError
from partita.store.values import MessageFilter, ThreadFilter
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.threads import Thread

from .archive import Archive
from .cleaning import beginning
from .rpc import INTERNAL_ERROR, INVALID_PARAMS, NO_RESOURCE, RpcError
from .untrusted import DESCRIPTION, marked
from .versions import Dialect
from .wording import time_of

PREFIX: Final = "partita://thread/"
ADDRESS: Final = re.compile(rf"{PREFIX}(?P<id>.+)")
MARKDOWN: Final = "text/markdown"
NEWEST: Final = 20
AT_ONCE: Final = 20
LONGEST_TITLE: Final = 200
MOST: Final = 100_000
"""How many characters a resource may have."""

TEMPLATES: Final[JsonObject] = {
    "resourceTemplates": [
        {
            "uriTemplate": f"{PREFIX}{{id}}",
            "name": "session",
            "title": "A past session",
            "description": "A session as Markdown; id is that of the session, the beginning of it, or last. "
            + DESCRIPTION,
            "mimeType": MARKDOWN,
        }
    ]
}


async def list_resources(archive: Archive, params: JsonObject) -> JsonObject:
    """The newest sessions, and a cursor for those before them."""
    cursor = params.get("cursor")
    try:
        store = await archive.store()
        page = await store.threads.list(
            ThreadFilter(agent=archive.scope.agent, project=archive.scope.project),
            limit=NEWEST,
            cursor=cursor if isinstance(cursor, str) else None,
        )
    except NotFoundError:  # there is no archive yet
        return {"resources": []}
    except PartitaError as error:
        raise RpcError(INVALID_PARAMS if cursor else INTERNAL_ERROR, str(error)) from None
    listed = await store.threads.with_display_titles(page.items)
    told: JsonObject = {"resources": [_listed(thread) for thread in await archive.cleaner().clean(listed)]}
    return told if page.next is None else told | {"nextCursor": page.next}


def _listed(thread: Thread) -> JsonObject:
    facts = ["untrusted text of a session", thread.agent, thread.project, time_of(thread.updated_at)]
    return {
        "uri": f"{PREFIX}{quote(thread.id, safe='')}",
        "name": " ".join((thread.title or thread.id)[:LONGEST_TITLE].split()),
        "description": " · ".join(fact for fact in facts if fact),
        "mimeType": MARKDOWN,
    }


async def read_resource(archive: Archive, params: JsonObject, dialect: Dialect) -> JsonObject:
    """A session as Markdown, as much of it as there is room for."""
    address = params.get("uri")
    found = ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None:
        raise _missing(dialect, f"no resource {address!r}: there is {PREFIX}{{id}}", address)
    try:
        thread = await archive.find(unquote(found["id"]))
        text = await _markdown(archive, thread)
    except NotFoundError as error:
        raise _missing(dialect, str(error), address) from None
    except PartitaError as error:
        raise RpcError(INTERNAL_ERROR, str(error)) from None
    return {"contents": [{"uri": address, "mimeType": MARKDOWN, "text": text}]}


def _missing(dialect: Dialect, message: str, address: object) -> RpcError:
    return RpcError(INVALID_PARAMS if dialect.stateless else NO_RESOURCE, message, {"uri": address})


async def _markdown(archive: Archive, thread: Thread) -> str:
    from partita.server.sharing.shared_file import markdown

    store, cleaner = await archive.store(), archive.cleaner()
    messages: list[Message] = []
    after, left = 0, True
    while left and len("".join(markdown(thread, messages))) <= MOST:
        page = await store.messages.list(thread.id, MessageFilter(after=after), limit=AT_ONCE)
        messages += await cleaner.clean(page.items, beginning(MOST))
        after, left = (messages[-1].seq or 0) if messages else 0, page.has_more
    told = await cleaner.clean(thread)
    return await asyncio.to_thread(_fitted, told, messages, left=left)


def _fitted(thread: Thread, messages: Sequence[Message], *, left: bool) -> str:
    """The messages that have room, from the first on; of the first one, as much as has."""
    from partita.server.sharing.shared_file import markdown

    kept = len(messages)
    while len(text := "".join(markdown(thread, messages[:kept]))) > MOST and kept > 1:
        kept -= 1
    if kept == len(messages) and not left and len(text) <= MOST:
        return marked(text)
    last = messages[kept - 1].seq
    return f"{marked(text[:MOST])}\n\n*Cut after message {last}: read_session reads on from there.*\n"
