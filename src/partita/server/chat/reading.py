"""What a client's messages mean, seen from what is stored: what is new, and what is a reply to a call.

A client's history is a claim. New are only messages of the user; what a client says of an assistant's message
counts only as a reply to a call that waits for one, and that reply is checked against the stored call.
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.ai_sdk.ui.format import load_message
from partita.runtime.principal import Principal
from partita.runtime.session.approvals import Answer
from partita.runtime.session.client_outputs import ClientOutput
from partita.server.files import same_files
from partita.server.roles import require
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart

Reply: TypeAlias = Answer | ClientOutput


def read_message(raw: JsonObject, place: int, thread_id: str) -> Message:
    """A message of a client. Whose it is and where it stands is not for the client to say."""
    message = load_message(raw, f"$.messages[{place}]", place)
    if isinstance(message, SystemMessage):
        raise ConversionError(
            "a system message from a client",
            where=f"$.messages[{place}].role",
            hint="instructions are given to the agent, on the server",
        )
    return replace(message, thread_id=thread_id, parent_id=None, run_id=None, internal=False)


def same_words(one: Message, other: Message) -> bool:
    """Whether two messages say the same."""
    return type(one) is type(other) and (one.parts == other.parts or same_files(one, other))


def check_roles(said: Sequence[JsonObject], principal: Principal) -> None:
    """Refuse instructions and outputs of tools from a caller who may only send messages of its own."""
    for place, raw in enumerate(said):
        role = raw.get("role")
        if role not in ("user", "assistant"):
            where = f"$.messages[{place}].role"
            require(principal, "write", f"send a message of the role {str(role)[:20]!r}", where=where)


def check_seed(message: Message, place: int, principal: Principal) -> None:
    """Refuse an answer that the server did not write, unless the caller may write any message; and always
    one with a call that could still be run.
    """
    require(
        principal,
        "write",
        f"add answer {message.id!r}, which is not of this chat",
        where=f"$.messages[{place}]",
        hint="load the messages of the chat again",
    )
    for number, part in enumerate(message.parts):
        if isinstance(part, ToolCallPart) and part.output is None:
            raise ConversionError(
                f"call {part.id!r} of a message that this server did not write has no output",
                where=f"$.messages[{place}].parts[{number}]",
                hint="only a call that the server knows can go on",
            )


def replies_in(message: Message, waiting: Sequence[str], by: str) -> list[Reply]:
    """The replies that a client's copy of a message holds, to those of its calls that wait for one."""
    if not isinstance(message, AssistantMessage):
        return []
    found = [
        _reply(part, by) for part in message.parts if isinstance(part, ToolCallPart) and part.id in waiting
    ]
    return [reply for reply in found if reply is not None]


def _reply(call: ToolCallPart, by: str) -> Reply | None:
    match call.state:
        case "output-available" | "output-error" if call.output is not None:
            return ClientOutput(call.id, call.output, call.name, call.input)
        case "approval-responded" if call.approval is not None and call.approval.approved is not None:
            return Answer(
                call.approval.id,
                call.approval.approved,
                by=by,
                reason=call.approval.reason,
                tool_call_id=call.id,
                tool_name=call.name,
                input=call.input,
            )
        case _:
            return None
