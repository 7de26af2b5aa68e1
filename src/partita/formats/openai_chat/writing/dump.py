"""Canonical messages → the messages of a request for Chat Completions, in the dialect of a server.

What came from the server goes back as it came. Rules that servers insist on are kept by repairing what
breaks them, and each repair is told, as is everything that the messages cannot hold.
"""

from collections.abc import Sequence
from typing import Final

from partita.formats.format import Dumped, Request
from partita.formats.losses import Loss
from partita.formats.openai_chat.dialects import DIALECTS, Dialect
from partita.formats.openai_chat.looking import items
from partita.formats.openai_chat.placing import place
from partita.formats.openai_chat.request import tools_of
from partita.formats.openai_chat.talk import Talk
from partita.types.fold import fold
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage

from .plainly import MADE_ID, Written, write_plainly
from .untold import Untold

NO_SCHEMA: Final = "a tool says what it takes: nothing"


def dump(messages: Sequence[Message], server: str = "openai") -> Dumped:
    """The messages of a request: `{"messages": […]}`. The model and the settings are the caller's."""
    written = write(messages, DIALECTS[server])
    return Dumped({"messages": written.messages}, tuple(written.losses))


def ask(messages: Sequence[Message], request: Request, server: str = "openai") -> Dumped:
    """A whole request: messages, tools, and settings in the server's words."""
    written = write(messages, DIALECTS[server])
    losses = written.losses
    losses += [
        Loss(f"$.tools[{index}].inputSchema", "none", NO_SCHEMA, "repaired")
        for index, tool in enumerate(request.tools)
        if tool.input_schema is None
    ]
    declared = [*tools_of(request.tools, losses), *items(request.settings.get("tools"))]
    payload: JsonObject = {**request.settings, "messages": written.messages}
    return Dumped({**payload, "tools": declared} if declared else payload, tuple(losses))


def write(messages: Sequence[Message], dialect: Dialect) -> Written:
    """The messages of a request in a dialect."""
    return write_plainly(messages, dialect) or write_at_length(messages, dialect)


def write_at_length(messages: Sequence[Message], dialect: Dialect) -> Written:
    """The messages of a request, whatever there is in them."""
    folded = fold(messages)
    losses: list[Loss] = []
    talk = Talk(dialect, losses)
    place(folded, talk, dialect)
    talk.end()
    Untold(dialect, losses).tell(folded, _ids(folded, talk), talk.plain)
    return Written(talk.messages, losses)


def _ids(folded: Sequence[Message], talk: Talk) -> list[str | None]:
    """The ids that the messages are read with again; none where one becomes part of another."""
    ids: list[str | None] = []
    for index, message in enumerate(folded):
        spot = talk.begun.get(f"$[{index}]")
        if spot is not None and talk.is_hoisted:
            spot = 0 if isinstance(message, SystemMessage) else spot + 1
        goes_on = type(message) is AssistantMessage and _is_result_before(talk.messages, spot)
        ids.append(None if spot is None or goes_on else f"{MADE_ID}{spot + 1}")
    return ids


def _is_result_before(messages: Sequence[JsonObject], spot: int | None) -> bool:
    if spot is None or not 0 < spot <= len(messages):
        return False
    return messages[spot - 1]["role"] in ("tool", "function")
